/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages a superblock holds, for its collection.
 *
 * A table of 32 bits per stored page would need more memory than the map:
 * compressed pages are small, so there are several times as many stored pages,
 * stale ones included, as there are pages of the medium.  So the pages of a
 * superblock are sorted when it is closed and kept as gaps of 7 bits per byte,
 * one or two bytes each; ftl.c rewrites a log when most of it is stale.
 */
#include <string.h>

#include "internal.h"

#define RADIX_BITS      9
#define RADIX_SIZE      (1u << RADIX_BITS)
#define RADIX_PASSES    3           /* 27 bits: 512 GiB */

static void log_sort(uint32_t *pages, uint32_t count)
{
    uint32_t *other = g_new(uint32_t, count);
    uint32_t *from = pages, *to = other;

    for (unsigned pass = 0; pass < RADIX_PASSES; pass++) {
        unsigned shift = pass * RADIX_BITS;
        uint32_t at[RADIX_SIZE] = { 0 };
        uint32_t sum = 0;
        uint32_t *swap = from;

        for (uint32_t i = 0; i < count; i++) {
            at[from[i] >> shift & (RADIX_SIZE - 1)]++;
        }
        for (unsigned i = 0; i < RADIX_SIZE; i++) {
            uint32_t n = at[i];

            at[i] = sum;
            sum += n;
        }
        for (uint32_t i = 0; i < count; i++) {
            to[at[from[i] >> shift & (RADIX_SIZE - 1)]++] = from[i];
        }
        from = to;
        to = swap;
    }
    memcpy(pages, from, count * sizeof(*pages));
    g_free(other);
}

void zd_log_append(ZdLog *log, uint32_t *room, uint32_t *last, uint32_t page)
{
    uint32_t gap = page - *last;

    if (*room - log->bytes < 5) {
        *room += *room / 8 + 64;
        log->data = g_realloc(log->data, *room);
    }
    for (; gap >= 0x80; gap >>= 7) {
        log->data[log->bytes++] = gap | 0x80;
    }
    log->data[log->bytes++] = gap;
    log->count++;
    *last = page;
}

void zd_log_build(ZdLog *log, uint32_t *pages, uint32_t count)
{
    uint32_t room = count * 2 + 64, last = 0;

    zd_log_free(log);
    if (!count) {
        return;
    }
    log_sort(pages, count);
    log->data = g_malloc(room);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || pages[i] != pages[i - 1]) {
            zd_log_append(log, &room, &last, pages[i]);
        }
    }
    log->data = g_realloc(log->data, log->bytes);
}

void zd_log_free(ZdLog *log)
{
    g_free(log->data);
    *log = (ZdLog) { 0 };
}

void zd_log_begin(ZdLogReader *r, const ZdLog *log)
{
    r->at = log->data;
    r->end = log->data + log->bytes;
    r->page = 0;
}

bool zd_log_next(ZdLogReader *r, uint32_t *page)
{
    uint32_t gap = 0;
    unsigned shift = 0;

    if (r->at == r->end) {
        return false;
    }
    while (*r->at & 0x80) {
        gap |= (uint32_t)(*r->at++ & 0x7f) << shift;
        shift += 7;
    }
    gap |= (uint32_t)*r->at++ << shift;
    *page = r->page += gap;
    return true;
}
