/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a command: link, front end, then page by page through the map to
 * NAND and back over the link, or over the link into the write buffer.
 */
#include <string.h>

#include "internal.h"

#define SECTORS_PER_PAGE    (ZD_FLASH_PAGE / 512)

/* TRIM and secure erase: firmware time beside that of a write command. */
#define TRIM_PAGES_NS       100     /* per 64 pages */
#define SECURE_ERASE_NS     2000000000

ZdFlash *zd_flash_new(const ZdFlashParams *params, uint64_t sectors,
                      uint64_t seed, const ZdFlashOptions *options)
{
    static const ZdFlashOptions none;
    uint64_t pages = sectors / SECTORS_PER_PAGE +
                     (sectors % SECTORS_PER_PAGE != 0);
    ZdFlash *f;

    if (!sectors || pages > 1u << 27) {
        return NULL;
    }
    f = g_new0(ZdFlash, 1);
    f->p = params;
    f->seed = seed;
    f->sectors = sectors;
    f->pages = pages;
    options = options ? options : &none;
    f->spare_ppm = options->spare_ppm;
    zd_compress_init(f);
    if (!zd_ftl_init(f, options)) {
        g_free(f);
        return NULL;
    }
    zd_sata_init(f);
    zd_frontend_init(f);
    zd_nand_init(&f->nand, params, f->row_units);
    zd_buffer_init(&f->buffer, params->buffer_bytes, f->unit_bytes);
    f->store_rate = zd_rate(params->store_mbps);
    f->scan_rate = zd_rate(params->scan_mbps);
    zd_ftl_fresh(f);
    zd_wear_factory(f);
    return f;
}

void zd_flash_free(ZdFlash *f)
{
    if (!f) {
        return;
    }
    zd_ftl_free(f);
    zd_nand_free(&f->nand);
    zd_calendar_free(&f->link);
    g_free(f->map_cache);
    g_free(f);
}

/* Time of its own */

static int64_t flash_partial_due(const ZdFlash *f)
{
    return f->buffer.partial.count ?
           f->buffer.partial.start + f->p->buffer_idle_ns : INT64_MAX;
}

void zd_flash_advance(ZdFlash *f, int64_t now)
{
    int64_t due = flash_partial_due(f);
    int64_t idle = f->last_ns + f->p->idle_after_ns;

    if (due <= now && now - f->last_ns > f->p->buffer_idle_ns) {
        zd_ftl_pad(f, MAX(due, f->last_ns));
    }
    if (f->p->idle_collect && idle < now) {
        zd_gc_idle(f, MAX(idle, f->now), now);
    }
    f->now = MAX(f->now, now);
}

int64_t zd_flash_next_event(const ZdFlash *f)
{
    int64_t next = flash_partial_due(f);

    if (next != INT64_MAX) {
        next = MAX(next, f->last_ns + f->p->buffer_idle_ns + 1);
    }
    for (uint32_t i = 0; i < f->buffer.count; i++) {
        const ZdUnit *unit = zd_buffer_unit(&f->buffer, i);

        if (unit->end > f->now) {
            next = MIN(next, unit->end);
            break;
        }
    }
    return next == INT64_MAX ? -1 : next;
}

static inline int64_t flash_begin(ZdFlash *f, int64_t now)
{
    now = MAX(now, f->now);
    if (now - f->last_ns > f->p->buffer_idle_ns) {
        zd_flash_advance(f, now);
    }
    f->now = now;
    return now;
}

static inline int64_t flash_end(ZdFlash *f, int64_t end)
{
    f->last_ns = MAX(f->last_ns, end);
    return end;
}

/* Reads */

/* A page that takes @stored bytes, with its share of the spare area. */
static uint32_t flash_bus_bytes(const ZdFlash *f, uint32_t stored)
{
    return (uint64_t)stored * f->nand.moved_bytes >> f->page_shift;
}

static int64_t flash_read(ZdFlash *f, ZdFlashCmd *cmd, int64_t now)
{
    uint64_t end_lba = cmd->lba + cmd->sectors;
    uint32_t first = cmd->lba / SECTORS_PER_PAGE;
    uint32_t last = (end_lba - 1) / SECTORS_PER_PAGE;
    uint32_t before = ZD_ENTRY_NONE;
    int64_t ready = 0, end = 0, t;
    bool loads;

    t = zd_frontend_read(f, now + f->p->link_command_ns, first,
                         last - first + 1, &loads);
    if (loads) {
        /* the map itself lies in NAND, spread over the dies */
        t = zd_nand_read(&f->nand, t, (first >> ZD_LEAF_SHIFT) %
                         f->row_units, ZD_FLASH_PAGE);
    }
    t += f->p->read_latency_ns;
    cmd->data_ns = INT64_MAX;
    for (uint32_t page = first; page <= last; page++) {
        uint32_t entry = zd_map_get(&f->map, page);
        uint32_t bytes = ZD_FLASH_PAGE;
        int64_t sent;

        if (page == first) {
            bytes -= cmd->lba % SECTORS_PER_PAGE * 512;
        }
        if (page == last && end_lba % SECTORS_PER_PAGE) {
            bytes -= ZD_FLASH_PAGE - end_lba % SECTORS_PER_PAGE * 512;
        }
        if (page != first && !zd_map_run(&f->map, before, entry)) {
            f->fe_busy += f->p->run_ns;
            t += f->p->run_ns;
        }
        if (entry <= ZD_ENTRY_TRIMMED) {
            ready = t;
        } else {
            uint32_t bus = flash_bus_bytes(f, f->class_bytes[
                                           zd_entry_class(entry)]);
            uint32_t die = zd_ftl_die(f, entry);

            if ((entry ^ before) >> ZD_ENTRY_PAGE_SHIFT == 0) {
                /* more of the NAND page that has just been read */
                ready = zd_calendar_take(
                    &f->nand.channel[die % f->nand.channels],
                    MAX(ready, t), zd_rate_ns(f->nand.bus, bus));
            } else if (zd_entry_sb(entry) == f->host.sb &&
                       zd_buffer_holds(&f->buffer, entry,
                                       f->nand.planes, t)) {
                ready = t;
            } else {
                ready = zd_nand_read(&f->nand, t, die, bus);
                f->n.nand_read_bytes += f->nand.page_bytes;
            }
        }
        sent = zd_sata_read(f, ready, bytes);
        cmd->data_ns = MIN(cmd->data_ns, ready);
        end = MAX(end, sent);
        before = entry;
    }
    f->n.reads++;
    f->n.host_read_bytes += (uint64_t)cmd->sectors * 512;
    return end;
}

/* Writes */

/* Both ends of a write may cover a page in part; its rest has to be read. */
static int64_t flash_fetch(ZdFlash *f, int64_t t, uint32_t page)
{
    uint32_t entry = zd_map_get(&f->map, page);

    if (entry <= ZD_ENTRY_TRIMMED ||
        zd_buffer_holds(&f->buffer, entry, f->nand.planes, t)) {
        return t;
    }
    f->n.nand_read_bytes += f->nand.page_bytes;
    return zd_nand_read(&f->nand, t, zd_ftl_die(f, entry),
                        flash_bus_bytes(f, f->class_bytes[
                                        zd_entry_class(entry)]));
}

static int64_t flash_write(ZdFlash *f, ZdFlashCmd *cmd, int64_t now)
{
    uint64_t end_lba = cmd->lba + cmd->sectors;
    uint32_t first = cmd->lba / SECTORS_PER_PAGE;
    uint32_t last = (end_lba - 1) / SECTORS_PER_PAGE;
    uint32_t head = cmd->lba % SECTORS_PER_PAGE;
    uint32_t tail = end_lba % SECTORS_PER_PAGE;
    int64_t page_ns = zd_rate_ns(f->write_rate, ZD_FLASH_PAGE);
    int64_t t, begin, arrived;
    uint64_t stored = 0;

    t = zd_frontend_write(f, now + f->p->link_command_ns, cmd->lba,
                          cmd->sectors) + f->p->write_latency_ns;
    arrived = zd_sata_write(f, t, cmd->sectors * 512, &begin);
    cmd->data_ns = t;
    for (uint32_t page = first; page <= last; page++) {
        uint8_t class = (cmd->classes ? cmd->classes[page - first] :
                         cmd->class_all) & (ZD_FLASH_CLASSES - 1);
        uint32_t bytes = f->class_bytes[class];
        int64_t at = begin;

        if ((page == first && head) || (page == last && tail)) {
            at = flash_fetch(f, at, page);
        }
        if (f->p->life_throttle) {
            at += zd_wear_throttle(f, at);
        }
        f->data_busy = MAX(f->data_busy, at) + page_ns;
        f->data_busy = zd_buffer_accept(&f->buffer, f->data_busy, bytes);
        zd_ftl_write(f, f->data_busy, page, class);
        if (cmd->programs) {
            cmd->programs[page - first] = f->buffer.number -
                                          !f->buffer.partial.count;
        }
        stored += bytes;
    }
    f->n.writes++;
    f->n.host_written_bytes += (uint64_t)cmd->sectors * 512;
    f->n.host_stored_bytes += stored;
    t = MAX(arrived, f->data_busy);
    if (cmd->through) {
        zd_ftl_pad(f, t);
        /* the newest program carries the end, which is the last to end */
        t = zd_buffer_drained(&f->buffer, t);
    }
    return t;
}

void zd_flash_expect(const ZdFlash *f, uint64_t lba)
{
    if (lba < f->sectors) {
        zd_map_prefetch(&f->map, lba / SECTORS_PER_PAGE);
    }
}

int64_t zd_flash_submit(ZdFlash *f, ZdFlashCmd *cmd, int64_t now)
{
    int64_t end;

    now = flash_begin(f, now);
    cmd->data_ns = now;
    if (cmd->lba >= f->sectors || !cmd->sectors) {
        return flash_end(f, now + f->p->link_command_ns);
    }
    cmd->sectors = MIN(cmd->sectors, f->sectors - cmd->lba);
    end = cmd->op == ZD_FLASH_WRITE ? flash_write(f, cmd, now) :
                                      flash_read(f, cmd, now);
    zd_flash_hist_add(&f->latency[cmd->op == ZD_FLASH_WRITE], end - now);
    if (cmd->depth) {
        zd_flash_hist_add(&f->depth, cmd->depth);
    }
    return flash_end(f, end);
}

int64_t zd_flash_flush(ZdFlash *f, int64_t now)
{
    int64_t t;

    now = flash_begin(f, now);
    t = MAX(now + f->p->link_command_ns, f->fe_busy) + f->p->write_ns;
    f->fe_busy = t;
    t = MAX(t, f->data_busy);
    zd_ftl_pad(f, t);
    f->n.flushes++;
    return flash_end(f, zd_buffer_drained(&f->buffer, t));
}

int64_t zd_flash_short(ZdFlash *f, int64_t now)
{
    now = flash_begin(f, now);
    f->fe_busy = MAX(now + f->p->link_command_ns, f->fe_busy) + f->p->read_ns;
    return flash_end(f, f->fe_busy + f->p->read_latency_ns);
}

int64_t zd_flash_trim(ZdFlash *f, uint64_t lba, uint64_t sectors, int64_t now)
{
    uint64_t first, end;
    int64_t t;

    now = flash_begin(f, now);
    lba = MIN(lba, f->sectors);
    sectors = MIN(sectors, f->sectors - lba);
    /* whole pages only, and the last one of the medium whatever its size */
    first = (lba + SECTORS_PER_PAGE - 1) / SECTORS_PER_PAGE;
    end = lba + sectors == f->sectors ? f->pages :
          (lba + sectors) / SECTORS_PER_PAGE;
    t = MAX(now + f->p->link_command_ns, f->fe_busy) + f->p->write_ns;
    if (first < end) {
        t += (end - first) / 64 * TRIM_PAGES_NS;
        zd_ftl_trim(f, first, end);
    }
    f->fe_busy = t;
    f->n.trims++;
    return flash_end(f, t);
}

/* Nothing is in flight any more. */
static void flash_halt(ZdFlash *f)
{
    zd_buffer_clear(&f->buffer);
    zd_nand_idle(&f->nand);
    zd_calendar_clear(&f->link);
    zd_frontend_idle(f);
}

void zd_flash_settle(ZdFlash *f)
{
    zd_ftl_pad(f, f->now);
    flash_halt(f);
    f->life_ns += f->now;
    f->now = f->last_ns = 0;
}

void zd_flash_power_cut(ZdFlash *f, int64_t now)
{
    zd_ftl_pad(f, MAX(f->now, now));
    flash_halt(f);
    f->now = f->last_ns = MAX(f->now, now);
}

int64_t zd_flash_secure_erase(ZdFlash *f, int64_t now)
{
    uint64_t blocks = (uint64_t)f->row_units * f->nand.planes;

    now = flash_begin(f, now);
    for (uint32_t i = 1; i < f->superblocks; i++) {
        ZdSuperblock *sb = &f->sb[i];

        if (sb->state != ZD_SB_DEAD && !sb->fresh) {
            sb->erases++;
            f->n.erases += blocks;
        } else if (sb->state == ZD_SB_OPEN) {
            sb->erases++;
            f->n.erases += blocks;
        }
    }
    zd_ftl_fresh(f);
    flash_halt(f);
    return flash_end(f, now + SECURE_ERASE_NS);
}

void zd_flash_prefill(ZdFlash *f, uint64_t lba, uint64_t sectors,
                      uint8_t class)
{
    uint64_t first = lba / SECTORS_PER_PAGE;
    uint64_t end = MIN(lba + sectors + SECTORS_PER_PAGE - 1,
                       f->sectors + SECTORS_PER_PAGE - 1) / SECTORS_PER_PAGE;
    uint64_t pages = end > first ? end - first : 0;

    for (; first < end; first++) {
        zd_ftl_prefill(f, first, class & (ZD_FLASH_CLASSES - 1));
    }
    f->n.host_written_bytes += pages * ZD_FLASH_PAGE;
    f->n.host_stored_bytes += pages *
                              f->class_bytes[class & (ZD_FLASH_CLASSES - 1)];
}

/* Questions */

ZdFlashStage zd_flash_stage(const ZdFlash *f, uint64_t program, int64_t now)
{
    const ZdBuffer *b = &f->buffer;
    const ZdProgramTime *time = &b->time[program % ZD_PROGRAMS_KEPT];

    if (program >= b->number) {
        return ZD_FLASH_BUFFERED;
    }
    if (b->number - program > ZD_PROGRAMS_KEPT || time->end <= now) {
        return ZD_FLASH_IN_NAND;
    }
    return time->start > now ? ZD_FLASH_BUFFERED : ZD_FLASH_PROGRAMMING;
}

uint64_t zd_flash_first_unstable(const ZdFlash *f, int64_t now)
{
    const ZdBuffer *b = &f->buffer;
    uint64_t first = b->number - MIN(b->number, ZD_PROGRAMS_KEPT);

    while (first < b->number && b->time[first % ZD_PROGRAMS_KEPT].end <= now) {
        first++;
    }
    return first;
}

uint32_t zd_flash_buffer_programs(const ZdFlash *f)
{
    return f->buffer.capacity / f->unit_bytes + 1;
}

void zd_flash_activity(const ZdFlash *f, ZdFlashActivity *out)
{
    const ZdBuffer *b = &f->buffer;
    const ZdProgramTime *last = &b->time[(b->number - 1) % ZD_PROGRAMS_KEPT];

    *out = (ZdFlashActivity) {
        .programs = b->number,
        .program_start = last->start,
        .program_end = last->end,
        .erases = f->nand.erases,
        .erase_start = f->nand.erase_start,
        .erase_end = f->nand.erase_end,
        .collecting = f->gc.active,
    };
}

bool zd_flash_mapped(const ZdFlash *f, uint64_t page)
{
    return page < f->pages &&
           zd_map_get(&f->map, page) > ZD_ENTRY_TRIMMED;
}
