/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controller's firmware: one processor that takes commands one after the
 * other.  It has no DRAM.  A part of the map that was written in long runs is
 * held as runs and costs nothing extra; a part that random writes have broken
 * up has to be fetched from NAND unless SRAM still has it, and each run in it
 * has to be looked up.
 */
#include <string.h>

#include "internal.h"

void zd_frontend_init(ZdFlash *f)
{
    f->map_cache = g_new0(uint32_t, MAX(f->p->map_cached, 1));
}

void zd_frontend_idle(ZdFlash *f)
{
    memset(f->map_cache, 0, MAX(f->p->map_cached, 1) * sizeof(*f->map_cache));
    f->fe_busy = f->data_busy = f->store_busy = 0;
    f->next_lba = 0;
}

/* Whether the part of the map is in SRAM; it is afterwards. */
static bool frontend_cached(ZdFlash *f, uint32_t leaf)
{
    uint32_t *slot = &f->map_cache[leaf % MAX(f->p->map_cached, 1)];
    bool hit = *slot == leaf + 1;

    *slot = leaf + 1;
    return hit;
}

int64_t zd_frontend_read(ZdFlash *f, int64_t t, uint32_t first,
                         uint32_t pages, bool *loads)
{
    const ZdFlashParams *p = f->p;
    uint32_t leaf = first >> ZD_LEAF_SHIFT;
    uint32_t last = (first + pages - 1) >> ZD_LEAF_SHIFT;

    t = MAX(t, f->fe_busy) + p->read_ns;
    *loads = false;
    if (f->map.breaks[leaf] > p->map_runs) {
        t += p->run_ns;
    }
    for (; leaf <= last; leaf++) {
        if (f->map.breaks[leaf] > p->map_runs && !frontend_cached(f, leaf)) {
            t += p->map_load_ns;
            f->n.map_loads++;
            *loads = true;
        }
    }
    f->fe_busy = t;
    return t;
}

int64_t zd_frontend_write(ZdFlash *f, int64_t t, uint64_t lba,
                          uint32_t sectors)
{
    t = MAX(t, f->fe_busy) + f->p->write_ns;
    if (f->gc.active && lba != f->next_lba) {
        t += f->p->collect_write_ns;
    }
    f->next_lba = lba + sectors;
    f->fe_busy = t;
    return t;
}
