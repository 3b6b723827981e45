/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flash translation layer: where pages are stored.
 *
 * Data is appended to the open superblock of its stream, one program unit
 * after the other over all dies.  Stored pages have any size; the next begins
 * where the last ends, across the border of a unit too, so that nothing but
 * the end of a flushed unit is wasted.
 */
#include <string.h>

#include "internal.h"

#define MIN_ROWS            8       /* pages per block of a scaled-down SSD */
#define WANTED_SUPERBLOCKS  1024
#define MIN_SPARE           8       /* superblocks */
/*
 * A log is rewritten when all of them take much memory and less than a quarter
 * of it is current; if they take so much that a page, with its 4 bytes in the
 * map, comes near the 8 that it may have, when less than half of it is.
 */
#define COMPACT_FROM        64      /* entries */
#define LOG_BYTES           (16 * 1024)
#define LOG_PAGES_BYTES     7       /* and for each two pages that are stored */

uint32_t zd_flash_dies(const ZdFlashParams *p, uint64_t sectors)
{
    uint64_t raw = sectors * 512 / 1000000 * p->raw_ppm;
    uint64_t die = (uint64_t)p->nand->die_gib << 30;

    return CLAMP((raw + die / 2) / die, p->channels, ZD_MAX_DIES);
}

static bool ftl_geometry(ZdFlash *f, const ZdFlashOptions *options)
{
    const ZdFlashParams *p = f->p;
    const ZdFlashNand *nand = p->nand;
    uint64_t user = (uint64_t)f->pages * ZD_FLASH_PAGE;
    uint64_t raw = user / 1000000 * p->raw_ppm;
    uint64_t row_bytes, usable, count, least;
    uint32_t dies = options->dies;

    if (!dies) {
        dies = zd_flash_dies(p, f->sectors);
    }
    dies = CLAMP(dies, 2, ZD_MAX_DIES);
    f->raise = p->raise_dies && dies >= p->raise_dies;
    f->row_units = dies;
    f->page_shift = __builtin_ctz(nand->page_bytes);
    f->unit_bytes = nand->page_bytes * nand->planes;
    row_bytes = (uint64_t)f->unit_bytes * dies;
    f->rows = nand->pages_per_block;
    while (f->rows > MIN_ROWS &&
           raw / (row_bytes * f->rows) < WANTED_SUPERBLOCKS) {
        f->rows /= 2;
    }
    f->sb_units = f->rows * dies;
    if (f->sb_units * nand->planes > ZD_MAX_SB_PAGES) {
        return false;
    }
    f->sb_bytes = f->rows * (dies - f->raise) * f->unit_bytes;
    if (options->spare_ppm) {
        usable = user + user / 1000000 * options->spare_ppm;
        count = (usable + f->sb_bytes - 1) / f->sb_bytes + ZD_COLLECT_AT + 1;
        f->n.reserve_blocks = dies * nand->planes;
    } else {
        uint64_t all = raw / (row_bytes * f->rows);
        uint64_t kept = raw / 1000000 * p->reserve_ppm /
                        (row_bytes * f->rows);

        count = all - kept;
        f->n.reserve_blocks = MAX(kept, 1) * dies * nand->planes;
    }
    least = (user + f->sb_bytes - 1) / f->sb_bytes + MIN_SPARE;
    count = MAX(count, least) + 1;
    if (count > ZD_MAX_SUPERBLOCKS) {
        return false;
    }
    f->superblocks = count;
    return true;
}

bool zd_ftl_init(ZdFlash *f, const ZdFlashOptions *options)
{
    if (!ftl_geometry(f, options)) {
        return false;
    }
    f->sb = g_new0(ZdSuperblock, f->superblocks);
    f->n.raw_bytes = (uint64_t)(f->superblocks - 1) * f->sb_bytes;
    zd_map_init(&f->map, f->pages, f->p->nand->planes + 1);
    return true;
}

static void ftl_forget(ZdFlash *f, ZdSuperblock *sb)
{
    f->log_bytes -= sb->log.bytes;
    zd_log_free(&sb->log);
}

static void stream_reset(ZdStream *s)
{
    g_free(s->pages);
    *s = (ZdStream) { 0 };
}

void zd_ftl_fresh(ZdFlash *f)
{
    zd_map_clear(&f->map);
    stream_reset(&f->host);
    stream_reset(&f->moved);
    f->gc = (ZdCollector) { 0 };
    f->sb[0].state = ZD_SB_DEAD;
    f->free = 0;
    for (uint32_t i = 1; i < f->superblocks; i++) {
        ZdSuperblock *sb = &f->sb[i];

        ftl_forget(f, sb);
        sb->valid = sb->live = 0;
        if (sb->state != ZD_SB_DEAD) {
            sb->state = ZD_SB_FREE;
            sb->fresh = true;
            f->free++;
        }
    }
}

void zd_ftl_free(ZdFlash *f)
{
    zd_map_free(&f->map);
    stream_reset(&f->host);
    stream_reset(&f->moved);
    for (uint32_t i = 0; i < f->superblocks; i++) {
        zd_log_free(&f->sb[i].log);
    }
    g_free(f->sb);
}

/* RAISE: parity moves over the dies from row to row. */
static bool ftl_is_parity(const ZdFlash *f, uint32_t unit)
{
    uint32_t row = unit / f->row_units;

    return f->raise &&
           unit % f->row_units == f->row_units - 1 - row % f->row_units;
}

static uint32_t ftl_unit_die(const ZdFlash *f, uint32_t sb, uint32_t unit)
{
    /* different superblocks begin on different dies */
    return (unit + sb * 5) % f->row_units;
}

uint32_t zd_ftl_die(const ZdFlash *f, uint32_t entry)
{
    return ftl_unit_die(f, zd_entry_sb(entry),
                        zd_entry_page(entry) / f->nand.planes);
}

/* Logs */

static void ftl_compact(ZdFlash *f, uint32_t number)
{
    ZdSuperblock *sb = &f->sb[number];
    uint32_t room = sb->live * 2 + 64, last = 0, page;
    ZdLog log = { .data = g_malloc(room) };
    ZdLogReader r;

    zd_log_begin(&r, &sb->log);
    while (zd_log_next(&r, &page)) {
        if (zd_entry_sb(zd_map_get(&f->map, page)) == number) {
            zd_log_append(&log, &room, &last, page);
        }
    }
    zd_log_trim(&log);
    ftl_forget(f, sb);
    sb->log = log;
    f->log_bytes += log.bytes;
}

static bool ftl_crowded(const ZdFlash *f, const ZdSuperblock *sb)
{
    uint64_t limit = LOG_BYTES + f->map.mapped * LOG_PAGES_BYTES / 2;

    if (sb->live * 4 < sb->log.count) {
        limit -= limit / 4;
    }
    return f->log_bytes > limit && sb->log.count > COMPACT_FROM &&
           sb->state == ZD_SB_CLOSED;
}

/* The page at @entry is stale. */
static void ftl_drop(ZdFlash *f, uint32_t entry)
{
    uint32_t number = zd_entry_sb(entry);
    ZdSuperblock *sb = &f->sb[number];

    if (!number) {
        return;
    }
    sb->valid -= f->class_bytes[zd_entry_class(entry)];
    sb->live--;
    if (sb->live * 2 < sb->log.count && ftl_crowded(f, sb)) {
        ftl_compact(f, number);
    }
}

/* Superblocks */

static void ftl_close(ZdFlash *f, ZdStream *s)
{
    ZdSuperblock *sb = &f->sb[s->sb];

    zd_log_build(&sb->log, s->pages, s->count);
    f->log_bytes += sb->log.bytes;
    sb->state = ZD_SB_CLOSED;
    s->sb = 0;
    s->count = 0;
}

static void ftl_open(ZdFlash *f, ZdStream *s, int64_t t)
{
    uint32_t number;

    if (s == &f->host && f->free <= 1) {
        zd_gc_force(f, t);
    }
    do {
        number = zd_wear_pick_free(f, s == &f->moved);
        g_assert(number);
        f->free--;
        f->sb[number].state = ZD_SB_OPEN;
    } while (!f->sb[number].fresh && !zd_wear_erase(f, number));
    s->sb = number;
    s->unit = 0;
    s->fill = 0;
    s->count = 0;
}

void zd_ftl_release(ZdFlash *f, uint32_t number)
{
    ZdSuperblock *sb = &f->sb[number];

    ftl_forget(f, sb);
    sb->state = ZD_SB_FREE;
    sb->fresh = false;
    f->free++;
}

/* Programs */

static int64_t ftl_program(ZdFlash *f, ZdStream *s, int64_t t, int64_t *start)
{
    uint32_t row = s->unit / f->row_units;
    int64_t end;

    f->store_busy = MAX(f->store_busy, t) +
                    zd_rate_ns(f->store_rate, f->unit_bytes);
    end = zd_nand_program(&f->nand, f->store_busy,
                          ftl_unit_die(f, s->sb, s->unit), row & 1,
                          row == 0 && !f->sb[s->sb].fresh, start);
    f->n.nand_written_bytes += f->unit_bytes;
    return end;
}

/* The current unit has been programmed; go to the next one for data. */
static void ftl_next_unit(ZdFlash *f, ZdStream *s, int64_t t)
{
    int64_t start;

    f->n.nand_data_bytes += f->unit_bytes;
    s->unit++;
    while (s->unit < f->sb_units && ftl_is_parity(f, s->unit)) {
        ftl_program(f, s, t, &start);
        s->unit++;
    }
    if (s->unit == f->sb_units) {
        f->sb[s->sb].fresh = false;
        ftl_close(f, s);
    }
}

static inline void stream_note(ZdStream *s, uint32_t page)
{
    if (s->count == s->room) {
        s->room = MAX(s->room * 2, 256);
        s->pages = g_renew(uint32_t, s->pages, s->room);
    }
    s->pages[s->count++] = page;
}

/* Where the next page of @s begins. */
static inline uint32_t stream_entry(const ZdFlash *f, const ZdStream *s,
                                    uint32_t class)
{
    return zd_entry(s->sb, s->unit * f->nand.planes +
                    (s->fill >> f->page_shift), class);
}

/* Let @page live where @s is now. */
static inline void ftl_place(ZdFlash *f, ZdStream *s, uint32_t page,
                             uint32_t class)
{
    ZdSuperblock *sb = &f->sb[s->sb];

    sb->valid += f->class_bytes[class];
    sb->live++;
    stream_note(s, page);
    ftl_drop(f, zd_map_set(&f->map, page, stream_entry(f, s, class)));
    s->fill += f->class_bytes[class];
}

static inline void buffer_note(ZdFlash *f, int64_t t)
{
    ZdUnit *unit = &f->buffer.partial;

    if (!unit->count) {
        unit->start = t;
        unit->location = stream_entry(f, &f->host, 0) &
                         ~((f->nand.planes - 1) << ZD_ENTRY_PAGE_SHIFT);
    }
    unit->count++;
}

/* Give the host's current unit to NAND. */
static void ftl_send(ZdFlash *f, int64_t t)
{
    int64_t start, end = ftl_program(f, &f->host, t, &start);

    zd_buffer_send(&f->buffer, start, end);
    ftl_next_unit(f, &f->host, t);
}

void zd_ftl_write(ZdFlash *f, int64_t t, uint32_t page, uint32_t class)
{
    ZdStream *s = &f->host;
    uint32_t over;

    if (!s->sb) {
        ftl_open(f, s, t);
    }
    buffer_note(f, t);
    ftl_place(f, s, page, class);
    f->buffer.partial.bytes += f->class_bytes[class];
    if (s->fill < f->unit_bytes) {
        return;
    }
    over = s->fill - f->unit_bytes;
    f->buffer.partial.bytes -= over;
    ftl_send(f, t);
    s->fill = over;
    if (over) {
        if (!s->sb) {
            /* the last page of a superblock is squeezed in */
            f->buffer.used -= over;
            s->fill = 0;
        } else {
            buffer_note(f, t);
            f->buffer.partial.bytes = over;
        }
    }
    zd_gc_pace(f, t, f->unit_bytes);
}

void zd_ftl_pad(ZdFlash *f, int64_t t)
{
    ZdStream *s = &f->host;
    uint32_t fill = s->fill;

    if (!s->sb || !fill) {
        return;
    }
    f->n.padded_bytes += f->unit_bytes - fill;
    ftl_send(f, t);
    s->fill = 0;
    zd_gc_pace(f, t, f->unit_bytes);
}

void zd_ftl_move(ZdFlash *f, int64_t t, uint32_t page, uint32_t entry)
{
    ZdStream *s = &f->moved;
    int64_t start;

    if (!s->sb) {
        ftl_open(f, s, t);
    }
    ftl_place(f, s, page, zd_entry_class(entry));
    if (s->fill >= f->unit_bytes) {
        ftl_program(f, s, t, &start);
        s->fill -= f->unit_bytes;
        ftl_next_unit(f, s, t);
        if (!s->sb) {
            s->fill = 0;
        }
    }
}

/* As a long sequential write would leave it, without its time. */
void zd_ftl_prefill(ZdFlash *f, uint32_t page, uint32_t class)
{
    ZdStream *s = &f->host;

    if (!s->sb) {
        ftl_open(f, s, f->now);
    }
    ftl_place(f, s, page, class);
    if (s->fill >= f->unit_bytes) {
        s->fill -= f->unit_bytes;
        f->n.nand_data_bytes += f->unit_bytes;
        f->n.nand_written_bytes += f->unit_bytes;
        do {
            s->unit++;
        } while (s->unit < f->sb_units && ftl_is_parity(f, s->unit));
        if (s->unit == f->sb_units) {
            f->sb[s->sb].fresh = false;
            ftl_close(f, s);
            s->fill = 0;
        }
        zd_gc_pace(f, f->now, f->unit_bytes);
    }
}

void zd_ftl_trim(ZdFlash *f, uint32_t first, uint32_t end)
{
    while (first < end) {
        if (!f->map.leaf[first >> ZD_LEAF_SHIFT]) {
            first = (first | (ZD_LEAF_PAGES - 1)) + 1;
            continue;
        }
        if (zd_map_get(&f->map, first) > ZD_ENTRY_TRIMMED) {
            ftl_drop(f, zd_map_set(&f->map, first, ZD_ENTRY_TRIMMED));
            f->n.trimmed_pages++;
        }
        first++;
    }
}
