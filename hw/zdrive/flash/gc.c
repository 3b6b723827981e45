/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Garbage collection: greedy, in step with the host.
 *
 * When free superblocks run short, the one with the least current data is
 * collected, and by the time the host has filled as much as this frees, it is
 * done.  So the host feels it as less bandwidth, not as pauses.
 *
 * The controller has no memory for a table of what a superblock holds; it finds
 * out by reading all of it.  So a superblock that a TRIM has emptied still
 * costs its reading, and only secure erase makes blocks that cost nothing.
 */
#include "internal.h"

/* Free superblocks at which the collector rests again. */
#define COLLECT_UNTIL       (ZD_COLLECT_AT + 2)
/* It does not help to collect what is nearly full. */
#define LEAST_GAIN          64
/* Share of the superblocks that idle collection keeps free: one in ... */
#define IDLE_SHARE          16

static uint32_t gc_pick(const ZdFlash *f)
{
    uint32_t best = 0, least = UINT32_MAX;

    for (uint32_t i = 1; i < f->superblocks; i++) {
        if (f->sb[i].state == ZD_SB_CLOSED && f->sb[i].valid < least) {
            least = f->sb[i].valid;
            best = i;
        }
    }
    return best;
}

static bool gc_begin(ZdFlash *f)
{
    ZdCollector *gc = &f->gc;
    uint32_t victim = zd_wear_victim(f);

    if (victim) {
        f->n.wear_moves++;
    } else {
        victim = gc_pick(f);
    }
    if (!victim) {
        return false;
    }
    f->sb[victim].state = ZD_SB_VICTIM;
    gc->victim = victim;
    gc->next_page = 0;
    gc->valid = f->sb[victim].valid;
    gc->moved = gc->scanned = 0;
    gc->batch_at = gc->batch_count = 0;
    zd_log_begin(&gc->reader, &f->sb[victim].log);
    f->collections++;
    return true;
}

/* After the log was rebuilt; see state.c. */
void zd_gc_resume(ZdFlash *f)
{
    ZdCollector *gc = &f->gc;
    ZdLogReader r;
    uint32_t page;

    gc->batch_at = gc->batch_count = 0;
    if (!gc->victim) {
        return;
    }
    zd_log_begin(&gc->reader, &f->sb[gc->victim].log);
    for (r = gc->reader; zd_log_next(&r, &page) && page < gc->next_page;) {
        gc->reader = r;
    }
}

static uint64_t gc_gain(const ZdFlash *f)
{
    return MAX(f->sb_bytes - MIN(f->gc.valid, f->sb_bytes),
               f->sb_bytes / LEAST_GAIN);
}

/* The next page of the victim's log; the map has been asked for it before. */
static bool gc_next(ZdFlash *f, uint32_t *page)
{
    ZdCollector *gc = &f->gc;

    while (gc->batch_count < ZD_GC_BATCH) {
        uint32_t at = (gc->batch_at + gc->batch_count) % ZD_GC_BATCH;

        if (!zd_log_next(&gc->reader, &gc->batch[at])) {
            break;
        }
        zd_map_prefetch(&f->map, gc->batch[at]);
        gc->batch_count++;
    }
    if (!gc->batch_count) {
        return false;
    }
    *page = gc->batch[gc->batch_at];
    gc->batch_at = (gc->batch_at + 1) % ZD_GC_BATCH;
    gc->batch_count--;
    return true;
}

/* Read the victim up to @scanned bytes and move up to @moved of them. */
static void gc_run(ZdFlash *f, int64_t t, uint64_t scanned, uint64_t moved)
{
    ZdCollector *gc = &f->gc;
    bool all = scanned >= f->sb_bytes;
    uint32_t page;

    if (scanned > gc->scanned) {
        uint64_t unit = gc->scanned / f->unit_bytes;

        f->store_busy = MAX(f->store_busy, t) +
                        zd_rate_ns(f->scan_rate, scanned - gc->scanned);
        for (; unit < scanned / f->unit_bytes; unit++) {
            zd_nand_read(&f->nand, t,
                         (gc->victim * 5 + unit) % f->row_units,
                         f->nand.moved_bytes * f->nand.planes);
        }
        f->n.nand_read_bytes += scanned - gc->scanned;
        gc->scanned = scanned;
    }
    while (all || gc->moved < moved) {
        uint32_t entry;

        if (!gc_next(f, &page)) {
            break;
        }
        gc->next_page = page + 1;
        entry = zd_map_get(&f->map, page);
        if (zd_entry_sb(entry) == gc->victim) {
            uint32_t bytes = f->class_bytes[zd_entry_class(entry)];

            zd_ftl_move(f, t, page, entry);
            gc->moved += bytes;
            f->n.moved_bytes += bytes;
            f->n.moved_pages++;
        }
    }
    if (all) {
        uint32_t victim = gc->victim;

        gc->victim = 0;
        f->n.collected_superblocks++;
        zd_ftl_release(f, victim);
    }
}

void zd_gc_pace(ZdFlash *f, int64_t t, uint32_t bytes)
{
    ZdCollector *gc = &f->gc;

    if (!gc->active && f->free > ZD_COLLECT_AT) {
        return;
    }
    gc->active = true;
    gc->host += bytes;
    for (;;) {
        uint64_t gain, part;

        if (!gc->victim) {
            if (f->free >= COLLECT_UNTIL || !gc_begin(f)) {
                gc->active = f->free < COLLECT_UNTIL;
                gc->host = 0;
                return;
            }
        }
        gain = gc_gain(f);
        part = MIN(gc->host, gain);
        gc_run(f, t, f->sb_bytes * part / gain, gc->valid * part / gain);
        if (gc->victim) {
            return;
        }
        gc->host -= part;
    }
}

void zd_gc_force(ZdFlash *f, int64_t t)
{
    ZdCollector *gc = &f->gc;
    uint32_t tries = f->superblocks;

    gc->active = true;
    while (f->free <= 1 && tries--) {
        if (!gc->victim && !gc_begin(f)) {
            return;
        }
        gc_run(f, t, f->sb_bytes, gc->valid);
    }
    gc->host = 0;
}

/*
 * In pieces of one program unit, so that the host finds the dies busy no longer
 * than a unit takes when it comes back.
 */
void zd_gc_idle(ZdFlash *f, int64_t from, int64_t until)
{
    ZdCollector *gc = &f->gc;
    int64_t t = from;

    while (t < until && f->free < f->superblocks / IDLE_SHARE) {
        uint64_t scanned;

        if (!gc->victim) {
            uint32_t victim = gc_pick(f);

            if (!victim || f->sb[victim].valid > f->sb_bytes / 2 ||
                !gc_begin(f)) {
                break;
            }
        }
        scanned = MIN(gc->scanned + f->unit_bytes, f->sb_bytes);
        gc_run(f, t, scanned, gc->valid * scanned / f->sb_bytes);
        t = MAX(t, f->store_busy);
    }
    if (!gc->victim && f->free >= COLLECT_UNTIL) {
        gc->active = false;
        gc->host = 0;
    }
}
