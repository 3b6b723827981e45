/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The write buffer.  A page of the host is in it, compressed, from its arrival
 * until the program that carries it (all of them, if it spans two) has ended.
 * Programs in flight are kept in the order in which they end.
 */
#include <string.h>

#include "internal.h"

void zd_buffer_init(ZdBuffer *b, uint32_t capacity, uint32_t unit_bytes)
{
    b->capacity = MAX(capacity, 2 * unit_bytes);
    /* the ring must be able to hold what the capacity admits */
    b->capacity = MIN(b->capacity, (ZD_BUFFER_UNITS - 4) / 2 * unit_bytes);
    zd_buffer_clear(b);
}

void zd_buffer_clear(ZdBuffer *b)
{
    memset(b->time, 0, sizeof(b->time));
    b->used = b->first = b->count = 0;
    b->partial.count = b->partial.bytes = 0;
    b->partial.start = 0;
}

static int64_t buffer_pop(ZdBuffer *b)
{
    ZdUnit *unit = zd_buffer_unit(b, 0);

    b->used -= unit->bytes;
    b->first = (b->first + 1) & (ZD_BUFFER_UNITS - 1);
    b->count--;
    return unit->end;
}

void zd_buffer_retire(ZdBuffer *b, int64_t now)
{
    while (b->count && zd_buffer_unit(b, 0)->end <= now) {
        buffer_pop(b);
    }
}

int64_t zd_buffer_accept(ZdBuffer *b, int64_t t, uint32_t bytes)
{
    if (b->used + bytes > b->capacity) {
        zd_buffer_retire(b, t);
        while (b->used + bytes > b->capacity && b->count) {
            int64_t end = buffer_pop(b);

            t = MAX(t, end);
        }
    }
    b->used += bytes;
    return t;
}

void zd_buffer_send(ZdBuffer *b, int64_t start, int64_t end)
{
    ZdUnit *unit;
    uint32_t i;

    if (b->count == ZD_BUFFER_UNITS - 1) {
        buffer_pop(b);
    }
    /* nearly always at the end */
    for (i = b->count; i && zd_buffer_unit(b, i - 1)->end > end; i--) {
        ZdUnit moved = *zd_buffer_unit(b, i);

        *zd_buffer_unit(b, i) = *zd_buffer_unit(b, i - 1);
        *zd_buffer_unit(b, i - 1) = moved;
    }
    b->count++;
    unit = zd_buffer_unit(b, i);
    *unit = b->partial;
    unit->start = start;
    unit->end = end;
    b->time[b->number % ZD_PROGRAMS_KEPT] = (ZdProgramTime) { start, end };
    unit->number = b->number++;
    b->partial.count = b->partial.bytes = 0;
}

bool zd_buffer_holds(const ZdBuffer *b, uint32_t entry, uint32_t planes,
                     int64_t t)
{
    uint32_t sb = zd_entry_sb(entry), page = zd_entry_page(entry);

    for (uint32_t i = b->count; i-- > 0;) {
        const ZdUnit *unit = zd_buffer_unit(b, i);

        if (unit->end <= t) {
            break;
        }
        if (zd_entry_sb(unit->location) == sb &&
            page - zd_entry_page(unit->location) < planes) {
            return true;
        }
    }
    return b->partial.count && zd_entry_sb(b->partial.location) == sb &&
           page - zd_entry_page(b->partial.location) < planes;
}

int64_t zd_buffer_drained(const ZdBuffer *b, int64_t t)
{
    return b->count ? MAX(t, zd_buffer_unit(b, b->count - 1)->end) : t;
}
