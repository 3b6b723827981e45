/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NAND timing: dies that do one operation at a time behind channels that move
 * one page at a time.
 *
 * Reads go first: one that arrives while a program runs waits for it to end,
 * but passes a program that is still queued, which is then that much later (the
 * transfer of its data stays where it was reserved).
 */
#include <string.h>

#include "internal.h"

/* 67 ms of 33 us */
#define CHANNEL_SLOTS   2048
#define CHANNEL_SHIFT   15

void zd_nand_init(ZdNand *n, const ZdFlashParams *p, uint32_t dies)
{
    const ZdFlashNand *nand = p->nand;

    *n = (ZdNand) { .dies = dies };
    n->channels = MIN(MAX(p->channels, 1), ZD_MAX_CHANNELS);
    n->planes = nand->planes;
    n->read_ns = nand->read_ns;
    n->erase_ns = nand->erase_ns;
    n->prog_ns[0] = nand->prog_lower_ns;
    n->prog_ns[1] = nand->prog_upper_ns;
    n->page_bytes = nand->page_bytes;
    n->moved_bytes = nand->page_bytes + nand->spare_bytes;
    n->bus = zd_rate(nand->bus_mbps);
    for (unsigned i = 0; i < n->channels; i++) {
        zd_calendar_init(&n->channel[i], CHANNEL_SLOTS, CHANNEL_SHIFT);
    }
}

void zd_nand_idle(ZdNand *n)
{
    memset(n->die, 0, sizeof(n->die));
    for (unsigned i = 0; i < n->channels; i++) {
        zd_calendar_clear(&n->channel[i]);
    }
}

void zd_nand_free(ZdNand *n)
{
    for (unsigned i = 0; i < n->channels; i++) {
        zd_calendar_free(&n->channel[i]);
    }
}

int64_t zd_nand_read(ZdNand *n, int64_t t, uint32_t die, uint32_t bytes)
{
    ZdDie *d = &n->die[die];
    int64_t start = MAX(t, d->read_busy);
    /* what counts is whether it has begun when the read comes */
    bool passes = t < d->prog_start;
    int64_t end;

    start = MAX(start, passes ? d->prog_end_before : d->prog_end);
    end = zd_calendar_take(&n->channel[die % n->channels],
                           start + n->read_ns, zd_rate_ns(n->bus, bytes));
    d->read_busy = end;
    if (passes) {
        int64_t late = MAX(end - d->prog_start, 0);

        d->prog_start += late;
        d->prog_end += late;
    }
    return end;
}

int64_t zd_nand_program(ZdNand *n, int64_t t, uint32_t die, bool upper,
                        bool erase, int64_t *start)
{
    ZdDie *d = &n->die[die];
    int64_t moved;

    *start = MAX(MAX(t, d->read_busy), d->prog_end);
    moved = *start;
    if (erase) {
        moved += n->erase_ns;
        n->erases++;
        n->erase_start = *start;
        n->erase_end = moved;
    }
    moved = zd_calendar_take(&n->channel[die % n->channels], moved,
                             zd_rate_ns(n->bus, n->moved_bytes * n->planes));
    d->prog_end_before = d->prog_end;
    d->prog_start = *start;
    d->prog_end = moved + n->prog_ns[upper];
    return d->prog_end;
}
