/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of the setup utility.
 */
#ifndef ZDRIVE_ROM_SETUP_H
#define ZDRIVE_ROM_SETUP_H

#include "bios.h"

/* setup.c: have the user type a word before something is lost. */
bool confirm(const char *what, const char *word);

/* health.c: one line for each SSD, and all that SMART says of one */
void health_show(const Card *card);
void health_details(const Card *card);

/* erase.c */
void erase_run(Card *card);

#endif
