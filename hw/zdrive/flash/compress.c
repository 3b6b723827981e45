/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DuraWrite: how much room 4 KiB of data take.
 *
 * The size is that of the LZ4 block which a fast greedy compressor would make
 * of the page; the block itself is never written, as nobody reads it.  So this
 * needs no library, and what it saves makes it fast enough to run on every
 * write.  tests/unit/test-flash-compress.c compares it with liblz4.
 */
#include <string.h>

#include "internal.h"

#define HASH_BITS       10
#define MIN_MATCH       4
#define END_LITERALS    12          /* no match begins this close to the end */
#define SKIP_SHIFT      6           /* tries until the step grows by one */

static inline uint32_t load32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

/* Bytes that follow a token's four bits for a length of @n. */
static inline uint32_t length_bytes(uint32_t n)
{
    return n < 15 ? 0 : 1 + (n - 15) / 255;
}

static uint32_t match_length(const uint8_t *a, const uint8_t *b, uint32_t max)
{
    uint32_t n = 0;

    while (n + 8 <= max) {
        uint64_t diff = load64(a + n) ^ load64(b + n);

        if (diff) {
            return n + (__builtin_ctzll(GUINT64_TO_LE(diff)) >> 3);
        }
        n += 8;
    }
    while (n < max && a[n] == b[n]) {
        n++;
    }
    return n;
}

uint32_t zd_flash_compressed_bytes(const void *page)
{
    const uint32_t end = ZD_FLASH_PAGE - END_LITERALS;
    const uint8_t *p = page;
    uint16_t table[1 << HASH_BITS];
    uint32_t at = 1, anchor = 0, size = 0, tries = 1 << SKIP_SHIFT;

    /* one byte or word all over: the most common page of all */
    if (memcmp(p, p + 8, ZD_FLASH_PAGE - 8) == 0) {
        return 8;
    }
    memset(table, 0, sizeof(table));
    while (at < end) {
        uint32_t word = load32(p + at);
        uint16_t *slot = &table[word * 2654435761u >> (32 - HASH_BITS)];
        uint32_t candidate = *slot;

        *slot = at;
        if (load32(p + candidate) == word) {
            uint32_t literals, n;

            n = MIN_MATCH + match_length(p + at + MIN_MATCH,
                                         p + candidate + MIN_MATCH,
                                         ZD_FLASH_PAGE - 5 - MIN_MATCH - at);
            while (at > anchor && candidate > 0 &&
                   p[at - 1] == p[candidate - 1]) {
                at--;
                candidate--;
                n++;
            }
            literals = at - anchor;
            size += 1 + length_bytes(literals) + literals + 2 +
                    length_bytes(n - MIN_MATCH);
            at += n;
            anchor = at;
            tries = 1 << SKIP_SHIFT;
            if (at < end) {
                table[load32(p + at - 2) * 2654435761u >>
                      (32 - HASH_BITS)] = at - 2;
            }
        } else {
            at += tries++ >> SKIP_SHIFT;
        }
    }
    size += 1 + length_bytes(ZD_FLASH_PAGE - anchor) + ZD_FLASH_PAGE - anchor;
    return MIN(size, ZD_FLASH_PAGE);
}

void zd_compress_init(ZdFlash *f)
{
    uint32_t floor = (uint64_t)ZD_FLASH_PAGE * f->p->floor_ppm / 1000000;

    for (unsigned i = 0; i < ZD_FLASH_CLASSES; i++) {
        f->class_bytes[i] = floor + (ZD_FLASH_PAGE - floor) * i /
                            (ZD_FLASH_CLASSES - 1);
    }
}

/* The smallest class that holds @bytes. */
static uint8_t class_for(const ZdFlash *f, uint32_t bytes)
{
    uint32_t floor = f->class_bytes[0];

    if (bytes <= floor) {
        return 0;
    }
    if (bytes >= ZD_FLASH_PAGE) {
        return ZD_FLASH_CLASSES - 1;
    }
    return ((bytes - floor) * (ZD_FLASH_CLASSES - 1) + ZD_FLASH_PAGE - floor -
            1) / (ZD_FLASH_PAGE - floor);
}

uint8_t zd_flash_classify(const ZdFlash *f, const void *page)
{
    return class_for(f, zd_flash_compressed_bytes(page));
}

uint8_t zd_flash_class_of(const ZdFlash *f, double fraction)
{
    double bytes = fraction * ZD_FLASH_PAGE + 0.5;

    return class_for(f, bytes < 0 ? 0 : bytes > ZD_FLASH_PAGE ?
                     ZD_FLASH_PAGE : (uint32_t)bytes);
}

uint32_t zd_flash_class_bytes(const ZdFlash *f, uint8_t class)
{
    return f->class_bytes[class & (ZD_FLASH_CLASSES - 1)];
}
