/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values in the texts that a user writes for faults and power cuts.
 */
#ifndef HW_ZDRIVE_TEXT_H
#define HW_ZDRIVE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

/* A number, decimal or 0x..., from @min to @max; false: @text is none. */
bool zd_text_number(const char *text, uint64_t min, uint64_t max,
                    uint64_t *value);
/* Up to a day, with us, ms or s behind it; without a unit milliseconds. */
bool zd_text_time(const char *text, uint64_t *ns);
void zd_text_format_time(GString *s, uint64_t ns);
/* The number of @text among @choices, which have one blank between them. */
bool zd_text_choice(const char *text, const char *choices, unsigned *choice);

#endif
