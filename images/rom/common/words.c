/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and complaints.  No tables of pointers: the UEFI driver is not
 * relocated.
 */
#include "words.h"

char *decimal(char text[DECIMAL_LEN], uint32_t n)
{
    unsigned i = DECIMAL_LEN - 1;

    text[i] = 0;
    do {
        text[--i] = '0' + n % 10;
        n /= 10;
    } while (n);
    return text + i;
}

unsigned count_phys(uint8_t phys)
{
    unsigned count = 0;

    for (; phys; phys &= phys - 1) {
        count++;
    }
    return count;
}

const char *flash_words(FlashState state)
{
    switch (state) {
    case FLASH_SILENT:
        return "does not answer";
    case FLASH_BAD_SIGNATURE:
        return "has no valid signature";
    case FLASH_BAD_CHECKSUM:
        return "has a wrong checksum";
    default:
        return "is good";
    }
}

const char *ssd_words(SsdState state)
{
    switch (state) {
    case SSD_NONE:
        return "missing: no link";
    case SSD_BUSY:
        return "stays busy: a link, but no signature";
    case SSD_SILENT:
        return "does not answer";
    case SSD_FAILED:
        return "refuses IDENTIFY DEVICE";
    case SSD_PANIC:
        return "is in panic mode: its controller has lost its state";
    default:
        return "is good";
    }
}
