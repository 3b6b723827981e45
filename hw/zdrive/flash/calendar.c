/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bandwidth of a shared resource as a ring of time slots.
 *
 * Commands are reserved when they arrive, but want the resource later and not
 * in the order in which they arrived: a page whose die is busy for another
 * millisecond must not keep the bus from the next one.  "Busy until" cannot
 * express that gap; slots can, at the price of their grain.  Of each slot, one
 * stretch is in use; what comes later goes behind it, what comes earlier before
 * it.  So whoever comes in order of time gets exactly first come first served.
 */
#include <string.h>

#include "internal.h"

void zd_calendar_init(ZdCalendar *c, uint32_t slots, uint32_t shift)
{
    *c = (ZdCalendar) {
        .used = g_new0(ZdSlot, slots),
        .slots = slots,
        .shift = shift,
    };
}

void zd_calendar_clear(ZdCalendar *c)
{
    memset(c->used, 0, c->slots * sizeof(*c->used));
    c->head = c->full_from = c->full_to = 0;
}

void zd_calendar_free(ZdCalendar *c)
{
    g_free(c->used);
    c->used = NULL;
}

static void calendar_clear(ZdCalendar *c, uint32_t first, uint32_t end)
{
    if (first < end) {
        memset(c->used + first, 0, (end - first) * sizeof(*c->used));
    }
}

/* Slots up to @slot come into use. */
static void calendar_reach(ZdCalendar *c, int64_t slot)
{
    const uint32_t mask = c->slots - 1;
    uint32_t first = c->head & mask, last = slot & mask;

    if (slot - c->head >= c->slots) {
        first = 0;
        last = mask;
    }
    if (first > last) {
        calendar_clear(c, first, c->slots);
        first = 0;
    }
    calendar_clear(c, first, last);
    /* nearly always the only one, and read at once: no call of memset() */
    c->used[last] = (ZdSlot) { 0 };
    c->head = slot + 1;
}

int64_t zd_calendar_search(ZdCalendar *c, int64_t t, int64_t amount)
{
    const int64_t size = (int64_t)1 << c->shift;
    const uint32_t mask = c->slots - 1;
    int64_t slot = t >> c->shift;

    if (slot <= c->head - (int64_t)c->slots) {
        /* too long ago: what was free then has been forgotten */
        slot = c->head - c->slots + 1;
        t = slot << c->shift;
    }
    for (;;) {
        int64_t start, from, part;
        ZdSlot *used;

        if (slot >= c->full_from && slot < c->full_to) {
            slot = c->full_to;
        }
        if (slot >= c->head) {
            calendar_reach(c, slot);
        }
        used = &c->used[slot & mask];
        start = slot << c->shift;
        from = MAX(t - start, 0);
        if (from < used->first) {
            part = MIN(amount, used->first - from);
            used->first = from;
            amount -= part;
            if (amount == 0) {
                return start + from + part;
            }
        }
        from = MAX(from, used->end);
        part = MIN(amount, size - from);
        if (part > 0) {
            if (!used->end) {
                used->first = from;
            }
            used->end = from + part;
            amount -= part;
            if (amount == 0) {
                return start + from + part;
            }
        }
        if (used->first == 0 && used->end == size) {
            if (slot != c->full_to) {
                c->full_from = slot;
            }
            c->full_to = slot + 1;
        }
        slot++;
    }
}
