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

#define LONG_GAP        (1u << 14)  /* more than two bytes */
#define RADIX_BITS      9
#define RADIX_SIZE      (1u << RADIX_BITS)
#define RADIX_PASSES    3           /* 27 bits: 512 GiB */

static inline uint32_t log_digit(uint32_t page, unsigned pass)
{
    return page >> pass * RADIX_BITS & (RADIX_SIZE - 1);
}

static void log_sort(uint32_t *pages, uint32_t count)
{
    uint32_t at[RADIX_PASSES][RADIX_SIZE] = { 0 };
    uint32_t *other = g_new(uint32_t, count);
    uint32_t *from = pages, *to = other;

    for (uint32_t i = 0; i < count; i++) {
        for (unsigned pass = 0; pass < RADIX_PASSES; pass++) {
            at[pass][log_digit(pages[i], pass)]++;
        }
    }
    for (unsigned pass = 0; pass < RADIX_PASSES; pass++) {
        uint32_t sum = 0;
        uint32_t *swap = from;

        if (at[pass][log_digit(pages[0], pass)] == count) {
            /* all have the same digit, as the high ones of a small span */
            continue;
        }
        for (unsigned i = 0; i < RADIX_SIZE; i++) {
            uint32_t n = at[pass][i];

            at[pass][i] = sum;
            sum += n;
        }
        for (uint32_t i = 0; i < count; i++) {
            to[at[pass][log_digit(from[i], pass)]++] = from[i];
        }
        from = to;
        to = swap;
    }
    if (from != pages) {
        memcpy(pages, from, count * sizeof(*pages));
    }
    g_free(other);
}

void zd_log_append(ZdLog *log, uint32_t *room, uint32_t *last, uint32_t page)
{
    uint32_t gap = page - *last;

    if (*room - log->bytes < 5) {
        *room += *room / 8 + 64;
        log->data = g_realloc(log->data, *room);
    }
    if (gap < LONG_GAP) {
        /* which of both lengths it has no processor can foretell */
        uint32_t more = gap >= 0x80;

        log->data[log->bytes] = gap | more << 7;
        log->data[log->bytes + 1] = gap >> 7;
        log->bytes += 1 + more;
    } else {
        for (; gap >= 0x80; gap >>= 7) {
            log->data[log->bytes++] = gap | 0x80;
        }
        log->data[log->bytes++] = gap;
    }
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
    zd_log_trim(log);
}

void zd_log_trim(ZdLog *log)
{
    log->data = g_realloc(log->data, log->bytes + 1);
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
    uint32_t gap, more;

    if (r->at == r->end) {
        return false;
    }
    more = r->at[0] >> 7;
    gap = (r->at[0] & 0x7f) | (r->at[1] & (0x7f & -more)) << 7;
    if (r->at[1] & (more << 7)) {
        unsigned shift = 14;

        for (r->at += 2; *r->at & 0x80; shift += 7) {
            gap |= (uint32_t)(*r->at++ & 0x7f) << shift;
        }
        gap |= (uint32_t)*r->at++ << shift;
    } else {
        r->at += 1 + more;
    }
    *page = r->page += gap;
    return true;
}
