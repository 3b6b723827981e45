/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters, and histograms with buckets that grow with their values: 16 per
 * factor of two, so that a percentile is right within 6 %.
 */
#include <string.h>

#include "internal.h"

#define SUB_BITS    4

static unsigned hist_index(uint64_t value)
{
    unsigned log2;

    if (value < ZD_FLASH_HIST_SUB) {
        return value;
    }
    log2 = 63 - __builtin_clzll(value);
    return MIN((log2 - SUB_BITS + 1) * ZD_FLASH_HIST_SUB +
               (value >> (log2 - SUB_BITS) & (ZD_FLASH_HIST_SUB - 1)),
               ZD_FLASH_HIST_BUCKETS - 1);
}

static uint64_t hist_edge(unsigned index)
{
    unsigned shift = index / ZD_FLASH_HIST_SUB;

    if (!shift) {
        return index;
    }
    return (((uint64_t)index % ZD_FLASH_HIST_SUB + ZD_FLASH_HIST_SUB + 1) <<
            (shift - 1)) - 1;
}

void zd_flash_hist_add(ZdFlashHist *h, uint64_t value)
{
    h->count++;
    h->sum += value;
    h->max = MAX(h->max, value);
    h->bucket[hist_index(value)]++;
}

void zd_flash_hist_merge(ZdFlashHist *into, const ZdFlashHist *from)
{
    into->count += from->count;
    into->sum += from->sum;
    into->max = MAX(into->max, from->max);
    for (unsigned i = 0; i < ZD_FLASH_HIST_BUCKETS; i++) {
        into->bucket[i] += from->bucket[i];
    }
}

uint64_t zd_flash_hist_at(const ZdFlashHist *h, unsigned permille)
{
    uint64_t rank = (h->count * permille + 999) / 1000;
    uint64_t seen = 0;

    for (unsigned i = 0; i < ZD_FLASH_HIST_BUCKETS && h->count; i++) {
        seen += h->bucket[i];
        if (seen >= rank && seen) {
            return MIN(hist_edge(i), h->max);
        }
    }
    return h->max;
}

static uint64_t flash_memory(const ZdFlash *f)
{
    uint64_t bytes = sizeof(*f);

    bytes += f->map.leaves * (sizeof(*f->map.leaf) + sizeof(*f->map.breaks));
    bytes += (uint64_t)f->map.touched * ZD_LEAF_PAGES * sizeof(uint32_t);
    bytes += f->superblocks * sizeof(*f->sb);
    bytes += f->log_bytes;
    bytes += (f->host.room + f->moved.room) * sizeof(uint32_t);
    bytes += f->link.slots * sizeof(ZdSlot);
    bytes += f->nand.channels * f->nand.channel[0].slots * sizeof(ZdSlot);
    bytes += f->p->map_cached * sizeof(uint32_t);
    return bytes;
}

void zd_flash_counters(const ZdFlash *f, ZdFlashCounters *out)
{
    uint64_t sum = 0, count = 0;
    double worn;

    *out = f->n;
    out->mapped_pages = f->map.mapped;
    out->valid_bytes = 0;
    out->superblocks = f->superblocks - 1;
    out->free_superblocks = f->free;
    out->erase_min = UINT32_MAX;
    out->erase_max = 0;
    for (uint32_t i = 1; i < f->superblocks; i++) {
        const ZdSuperblock *sb = &f->sb[i];

        out->valid_bytes += sb->valid;
        if (sb->state != ZD_SB_DEAD) {
            out->erase_min = MIN(out->erase_min, sb->erases);
            out->erase_max = MAX(out->erase_max, sb->erases);
            sum += sb->erases;
            count++;
        }
    }
    out->erase_mean = count ? (double)sum / count : 0;
    out->write_amplification = f->n.host_written_bytes ?
        (double)f->n.nand_data_bytes / f->n.host_written_bytes : 0;
    worn = out->erase_mean / f->p->nand->endurance;
    out->life_left_percent = worn >= 0.99 ? 1 : 100 - (uint32_t)(worn * 100);
    out->wear_range_percent = (uint64_t)(out->erase_max - out->erase_min) *
                              100 / f->p->nand->endurance;
    out->life_curve = f->n.throttled_ns ? 90 : 100;
    out->collecting = f->gc.active;
    out->memory_bytes = flash_memory(f);
}

const ZdFlashHist *zd_flash_latency(const ZdFlash *f, ZdFlashOp op)
{
    return &f->latency[op == ZD_FLASH_WRITE];
}

const ZdFlashHist *zd_flash_depth(const ZdFlash *f)
{
    return &f->depth;
}

void zd_flash_stats_reset(ZdFlash *f)
{
    ZdFlashCounters kept = f->n;

    memset(&f->n, 0, sizeof(f->n));
    memset(f->latency, 0, sizeof(f->latency));
    memset(&f->depth, 0, sizeof(f->depth));
    /* these are state, not statistics */
    f->n.raw_bytes = kept.raw_bytes;
    f->n.reserve_blocks = kept.reserve_blocks;
    f->n.retired_blocks = kept.retired_blocks;
}

static void json_hist(GString *s, const char *name, const ZdFlashHist *h)
{
    g_string_append_printf(s, "\"%s\":{\"count\":%" G_GUINT64_FORMAT
                           ",\"mean\":%.1f", name, h->count,
                           h->count ? (double)h->sum / h->count : 0.0);
    g_string_append_printf(s, ",\"p50\":%" G_GUINT64_FORMAT
                           ",\"p99\":%" G_GUINT64_FORMAT
                           ",\"p99.9\":%" G_GUINT64_FORMAT
                           ",\"max\":%" G_GUINT64_FORMAT "}",
                           zd_flash_hist_at(h, 500), zd_flash_hist_at(h, 990),
                           zd_flash_hist_at(h, 999), h->max);
}

#define COUNTER(name) { #name, offsetof(ZdFlashCounters, name) }

static const struct {
    const char *name;
    size_t offset;
} json_counters[] = {
    COUNTER(reads), COUNTER(writes), COUNTER(flushes), COUNTER(trims),
    COUNTER(host_read_bytes), COUNTER(host_written_bytes),
    COUNTER(host_stored_bytes), COUNTER(nand_written_bytes),
    COUNTER(nand_data_bytes), COUNTER(nand_read_bytes),
    COUNTER(collected_superblocks), COUNTER(moved_pages),
    COUNTER(moved_bytes), COUNTER(padded_bytes), COUNTER(erases),
    COUNTER(erase_fails), COUNTER(program_fails), COUNTER(retired_blocks),
    COUNTER(reserve_blocks), COUNTER(trimmed_pages), COUNTER(map_loads),
    COUNTER(wear_moves), COUNTER(throttled_ns), COUNTER(mapped_pages),
    COUNTER(valid_bytes), COUNTER(raw_bytes), COUNTER(memory_bytes),
};

/* All that can be added up, and the extremes of what cannot. */
static void counters_add(ZdFlashCounters *sum, const ZdFlashCounters *n)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(json_counters); i++) {
        size_t at = json_counters[i].offset;

        G_STRUCT_MEMBER(uint64_t, sum, at) += G_STRUCT_MEMBER(uint64_t, n, at);
    }
    sum->erase_min = MIN(sum->erase_min, n->erase_min);
    sum->erase_max = MAX(sum->erase_max, n->erase_max);
    sum->erase_mean += n->erase_mean;
    sum->superblocks += n->superblocks;
    sum->free_superblocks += n->free_superblocks;
    sum->collecting |= n->collecting;
    sum->life_left_percent = MIN(sum->life_left_percent,
                                 n->life_left_percent);
    sum->life_curve = MIN(sum->life_curve, n->life_curve);
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / b : 0;
}

char *zd_flash_stats_json(ZdFlash *const f[], unsigned count)
{
    GString *s = g_string_new("{");
    ZdFlashCounters n = {
        .erase_min = UINT32_MAX,
        .life_left_percent = 100,
        .life_curve = 100,
    };
    g_autofree ZdFlashHist *hist = g_new0(ZdFlashHist, 3);
    uint64_t sectors = 0;

    for (unsigned i = 0; i < count; i++) {
        ZdFlashCounters one;

        zd_flash_counters(f[i], &one);
        counters_add(&n, &one);
        zd_flash_hist_merge(&hist[0], &f[i]->latency[0]);
        zd_flash_hist_merge(&hist[1], &f[i]->latency[1]);
        zd_flash_hist_merge(&hist[2], &f[i]->depth);
        sectors += f[i]->sectors;
    }
    g_string_append_printf(s, "\"profile\":\"%s\",\"sectors\":%"
                           G_GUINT64_FORMAT, f[0]->p->name, sectors);
    for (unsigned i = 0; i < G_N_ELEMENTS(json_counters); i++) {
        g_string_append_printf(s, ",\"%s\":%" G_GUINT64_FORMAT,
                               json_counters[i].name,
                               G_STRUCT_MEMBER(uint64_t, &n,
                                               json_counters[i].offset));
    }
    g_string_append_printf(s, ",\"write_amplification\":%.4f"
                           ",\"compression\":%.4f",
                           ratio(n.nand_data_bytes, n.host_written_bytes),
                           ratio(n.host_stored_bytes, n.host_written_bytes));
    g_string_append_printf(s, ",\"erase_min\":%u,\"erase_mean\":%.2f"
                           ",\"erase_max\":%u", n.erase_min,
                           n.erase_mean / count, n.erase_max);
    g_string_append_printf(s, ",\"superblocks\":%u,\"free_superblocks\":%u"
                           ",\"collecting\":%s", n.superblocks,
                           n.free_superblocks,
                           n.collecting ? "true" : "false");
    g_string_append_printf(s, ",\"life_left_percent\":%u,\"life_curve\":%u,",
                           n.life_left_percent, n.life_curve);
    json_hist(s, "read_ns", &hist[0]);
    g_string_append_c(s, ',');
    json_hist(s, "write_ns", &hist[1]);
    g_string_append_c(s, ',');
    json_hist(s, "depth", &hist[2]);
    g_string_append_c(s, '}');
    return g_string_free(s, FALSE);
}
