/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page map: 32 bits for each 4 KiB page, in leaves of 4 MiB of LBAs that
 * exist once something in them has been written.  Each leaf counts how often
 * neighbouring pages are not stored one behind the other.
 */
#include <string.h>

#include "internal.h"

void zd_map_init(ZdMap *m, uint32_t pages, uint32_t run_gap)
{
    *m = (ZdMap) {
        .pages = pages,
        .leaves = (pages >> ZD_LEAF_SHIFT) + 1,
        .run_gap = run_gap,
    };
    m->leaf = g_new0(uint32_t *, m->leaves);
    m->breaks = g_new0(uint16_t, m->leaves);
    m->blocks = g_ptr_array_new_with_free_func(g_aligned_free);
}

/* From so many blocks on, the rest of a huge page is no great waste. */
#define ADVISE_FROM     4

static ZdFlashAdvise *map_advise;

void zd_flash_set_advise(ZdFlashAdvise *advise)
{
    map_advise = advise;
}

/*
 * Memory comes in blocks of 2 MiB, which the kernel can back with one huge
 * page: random access to a large map is mostly misses of the TLB otherwise.
 */
uint32_t *zd_map_leaf(ZdMap *m, uint32_t leaf)
{
    const size_t size = ZD_LEAF_PAGES * sizeof(uint32_t);
    uint32_t at = m->touched % ZD_LEAF_BLOCK;
    uint32_t *block;

    if (!at) {
        block = g_aligned_alloc(ZD_LEAF_BLOCK, size, ZD_LEAF_BLOCK * size);
        g_ptr_array_add(m->blocks, block);
        if (map_advise && m->blocks->len > ADVISE_FROM) {
            map_advise(block, ZD_LEAF_BLOCK * size);
        }
    }
    block = g_ptr_array_index(m->blocks, m->touched / ZD_LEAF_BLOCK);
    m->leaf[leaf] = block + (size_t)at * ZD_LEAF_PAGES;
    memset(m->leaf[leaf], 0, size);
    m->touched++;
    return m->leaf[leaf];
}

void zd_map_clear(ZdMap *m)
{
    memset(m->leaf, 0, m->leaves * sizeof(*m->leaf));
    g_ptr_array_set_size(m->blocks, 0);
    memset(m->breaks, 0, m->leaves * sizeof(*m->breaks));
    m->touched = 0;
    m->mapped = 0;
}

void zd_map_free(ZdMap *m)
{
    g_ptr_array_free(m->blocks, TRUE);
    g_free(m->leaf);
    g_free(m->breaks);
}

uint32_t zd_map_set(ZdMap *m, uint32_t page, uint32_t entry)
{
    uint32_t number = page >> ZD_LEAF_SHIFT;
    uint32_t i = page & (ZD_LEAF_PAGES - 1);
    uint32_t *leaf = m->leaf[number];
    int change = 0;
    uint32_t old;

    if (!leaf) {
        leaf = zd_map_leaf(m, number);
    }
    old = leaf[i];
    if (i > 0) {
        change += zd_map_run(m, leaf[i - 1], old) -
                  zd_map_run(m, leaf[i - 1], entry);
    }
    if (i < ZD_LEAF_PAGES - 1) {
        change += zd_map_run(m, old, leaf[i + 1]) -
                  zd_map_run(m, entry, leaf[i + 1]);
    }
    m->breaks[number] += change;
    m->mapped += (entry > ZD_ENTRY_TRIMMED) - (old > ZD_ENTRY_TRIMMED);
    leaf[i] = entry;
    return old;
}

void zd_map_recount(ZdMap *m, uint32_t number)
{
    const uint32_t *leaf = m->leaf[number];

    m->breaks[number] = 0;
    for (uint32_t i = 0; leaf && i < ZD_LEAF_PAGES; i++) {
        m->mapped += leaf[i] > ZD_ENTRY_TRIMMED;
        m->breaks[number] += i && !zd_map_run(m, leaf[i - 1], leaf[i]);
    }
}
