/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both parts of the ROM say alike.
 */
#ifndef ZDRIVE_ROM_WORDS_H
#define ZDRIVE_ROM_WORDS_H

#include "flash.h"
#include "ssd.h"

#define DECIMAL_LEN     11

/* @n in decimal, at the end of @text; returns where it begins. */
char *decimal(char text[DECIMAL_LEN], uint32_t n);
unsigned count_phys(uint8_t phys);
/* What is wrong with the flash, or with an SSD, as the end of a sentence. */
const char *flash_words(FlashState state);
const char *ssd_words(SsdState state);

#endif
