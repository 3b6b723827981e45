/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Default serial numbers and world wide names, made from the card's seed.
 *
 * Shapes are seen (real-cards.md 2.1): a serial is "OCZ-" and 16 characters of
 * base 36, a WWN starts with 5 e8:3a:97.  The digits here are random.
 */
#include <string.h>

#include "hw/zdrive/catalog.h"

/* One step from state @x. */
static uint64_t splitmix64(uint64_t x)
{
    return zd_flash_random(&x);
}

/* One step is a bijection, so different (seed, word) give different values. */
static uint64_t identity_word(uint64_t seed, unsigned member, unsigned word)
{
    return splitmix64(splitmix64(seed) + member * 4 + word);
}

/* The lowest 8 digits of @value in base 36. */
static void base36(uint64_t value, char *out)
{
    static const char digits[36] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (int i = 7; i >= 0; i--) {
        out[i] = digits[value % 36];
        value /= 36;
    }
}

void zd_catalog_serial(uint64_t seed, unsigned member, char out[21])
{
    memcpy(out, "OCZ-", 4);
    base36(identity_word(seed, member, 0), out + 4);
    base36(identity_word(seed, member, 1), out + 12);
    out[20] = '\0';
}

/*
 * 36 bits of which the lowest three are the member, so that the SSDs of one
 * card never collide whatever the seed.
 */
uint64_t zd_catalog_wwn(uint64_t seed, unsigned member)
{
    uint64_t unique = identity_word(seed, 0, 2) >> 31 << 3 | (member & 7);

    return 0x5e83a97ULL << 36 | (unique & 0xfffffffffULL);
}
