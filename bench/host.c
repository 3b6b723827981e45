/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card and the computer that it is in: RAID-0 over the SSDs in chunks of
 * 64 KiB, native queuing of 32 commands per SSD, commands of at most 512 KiB
 * (what mvsas allows), and what the host's driver takes.
 *
 * The event queue holds what happens at the host; inside the card, times are
 * computed when a command is given to it.
 */
#include <math.h>
#include <string.h>

#include "bench.h"

#define CHUNK               65536
#define NCQ_DEPTH           32
#define COMMAND_BYTES       524288

/*
 * A PC of the cards' time.  A request takes HOST_IO_NS until the bridge sees it
 * and from its interrupt to the program (assumed, 2011's drivers), and before
 * anything moves, each page of its buffer is pinned, mapped and put into a
 * scatter list (HOST_PAGE_NS).  That is what a queue depth of 1 with 16 MiB
 * requests pays and a deeper queue hides: fitted to the AS-SSD reads.
 */
#define HOST_IO_NS          12000
#define HOST_PAGE_NS        320

/* Conditioning for the steady state, in units of the whole card's capacity. */
#define SETTLE_WINDOW       0.25
#define SETTLE_WINDOWS_MAX  96
#define SETTLE_CHANGE       0.005

/* SSDs are scaled down to this when a test needs all of the card. */
#define SCALED_BYTES        2147483648.0

typedef struct Event {
    int64_t time;
    uint64_t order;
    BenchIo *io;                /* NULL: a tick */
    int ssd;                    /* of a part that ends; -1: io begins */
} Event;

typedef struct Part {
    BenchIo *io;
    uint64_t lba;
    uint32_t sectors;
    bool flush, trim;
} Part;

typedef struct Ssd {
    ZdFlash *flash;
    unsigned busy;
    GQueue waiting;
} Ssd;

struct BenchCard {
    const BenchOptions *o;
    ZdFlashParams params;
    double scale;
    unsigned ssds;
    uint64_t sectors;           /* of each SSD */
    Ssd ssd[BENCH_MAX_SSDS];
    ZdFlashCard *bridge;
    uint8_t class_all;
    uint8_t *classes;           /* of a file's pages */
    uint32_t class_count, class_at;
    uint8_t part_classes[COMMAND_BYTES / ZD_FLASH_PAGE + 1];
    GArray *heap;               /* Event */
    uint64_t order;
    unsigned flushing;
};

/* Event queue */

static bool before(const Event *a, const Event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(BenchCard *card, int64_t time, BenchIo *io, int ssd)
{
    Event event = { time, card->order++, io, ssd };
    Event *heap;
    unsigned i;

    g_array_append_val(card->heap, event);
    heap = (Event *)card->heap->data;
    for (i = card->heap->len - 1; i; i = (i - 1) / 2) {
        if (!before(&event, &heap[(i - 1) / 2])) {
            break;
        }
        heap[i] = heap[(i - 1) / 2];
    }
    heap[i] = event;
}

static bool pop(BenchCard *card, Event *out)
{
    Event *heap = (Event *)card->heap->data;
    unsigned n = card->heap->len, i = 0;
    Event last;

    if (!n) {
        return false;
    }
    *out = heap[0];
    last = heap[--n];
    g_array_set_size(card->heap, n);
    while (2 * i + 1 < n) {
        unsigned child = 2 * i + 1;

        if (child + 1 < n && before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!before(&heap[child], &last)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    if (n) {
        heap[i] = last;
    }
    return true;
}

/* Set-up */

static double card_scale(const BenchOptions *o, uint64_t ssd_bytes)
{
    uint64_t span = o->span ? o->span : UINT64_MAX;

    if (o->scale > 0) {
        return o->scale;
    }
    /* what touches little of a fresh card can have the real one */
    if (o->state == STATE_FOB && span <= 16ull << 30) {
        return 1;
    }
    return MIN(1, SCALED_BYTES / ssd_bytes);
}

BenchCard *bench_card_new(const BenchOptions *o)
{
    const ZdCapacity *cap = zd_catalog_capacity(o->product, o->capacity_gb);
    uint64_t sectors = zd_catalog_idema_sectors(cap->ssd_gb);
    BenchCard *card = g_new0(BenchCard, 1);
    ZdFlashOptions options = {
        .dies = zd_flash_dies(o->product->flash, sectors),
        .spare_ppm = o->spare_ppm,
    };

    card->o = o;
    card->ssds = o->product->ssds;
    card->params = *o->product->flash;
    card->scale = card_scale(o, sectors * SECTOR);
    /* whole chunks, and the SRAM for the map in proportion */
    card->sectors = (uint64_t)(sectors * card->scale) / (CHUNK / SECTOR) *
                    (CHUNK / SECTOR);
    card->params.map_cached = MAX(1, card->params.map_cached * card->scale);
    for (unsigned i = 0; i < card->ssds; i++) {
        card->ssd[i].flash = zd_flash_new(&card->params, card->sectors,
                                          o->seed + i, &options);
        if (!card->ssd[i].flash) {
            g_printerr("zdrive-bench: this size does not fit the geometry\n");
            exit(2);
        }
        g_queue_init(&card->ssd[i].waiting);
    }
    card->bridge = zd_flash_card_new(o->product->card, o->lanes,
                                     o->lane_mbps);
    card->class_all = zd_flash_class_of(card->ssd[0].flash, o->stored);
    card->heap = g_array_new(FALSE, FALSE, sizeof(Event));
    return card;
}

void bench_card_free(BenchCard *card)
{
    for (unsigned i = 0; i < card->ssds; i++) {
        zd_flash_free(card->ssd[i].flash);
        g_queue_clear_full(&card->ssd[i].waiting, g_free);
    }
    zd_flash_card_free(card->bridge);
    g_array_free(card->heap, TRUE);
    g_free(card->classes);
    g_free(card);
}

uint64_t bench_card_bytes(const BenchCard *card)
{
    return card->sectors * SECTOR * card->ssds;
}

double bench_card_scale(const BenchCard *card)
{
    return card->scale;
}

unsigned bench_card_ssds(const BenchCard *card)
{
    return card->ssds;
}

ZdFlash *bench_card_ssd(BenchCard *card, unsigned i)
{
    return card->ssd[i].flash;
}

void bench_card_classes(BenchCard *card, const uint8_t *classes,
                        uint32_t count)
{
    card->classes = g_memdup2(classes, count);
    card->class_count = count;
}

/* States */

static uint8_t next_class(BenchCard *card, uint8_t otherwise)
{
    if (!card->class_count) {
        return otherwise;
    }
    card->class_at = (card->class_at + 1) % card->class_count;
    return card->classes[card->class_at];
}

static void fill(BenchCard *card, uint64_t span, uint8_t class)
{
    uint64_t sectors = span / card->ssds / SECTOR;

    for (unsigned i = 0; i < card->ssds; i++) {
        for (uint64_t lba = 0; lba < sectors; lba += 8) {
            zd_flash_prefill(card->ssd[i].flash, lba, 8,
                             next_class(card, class));
        }
    }
}

/* @pages random writes of 4 KiB to each SSD, in no time. */
static void scatter(BenchCard *card, uint64_t span, uint8_t class,
                    uint64_t pages, uint64_t *seed)
{
    uint64_t all = span / card->ssds / ZD_FLASH_PAGE;

    for (unsigned i = 0; i < card->ssds; i++) {
        for (uint64_t n = 0; n < pages; n++) {
            zd_flash_prefill(card->ssd[i].flash,
                             bench_random(seed) % all * 8, 8,
                             next_class(card, class));
        }
    }
}

static void settle(BenchCard *card, uint64_t span, uint8_t class,
                   uint64_t *seed)
{
    uint64_t pages = span / card->ssds / ZD_FLASH_PAGE * SETTLE_WINDOW;
    ZdFlash *first = card->ssd[0].flash;
    uint64_t turned = 0;        /* bytes programmed since space ran short */
    double last = 0;

    for (unsigned i = 0; i < SETTLE_WINDOWS_MAX; i++) {
        ZdFlashCounters n;

        zd_flash_stats_reset(first);
        scatter(card, span, class, pages, seed);
        zd_flash_counters(first, &n);
        turned += n.collecting ? n.nand_data_bytes : 0;
        if (turned > n.raw_bytes &&
            fabs(n.write_amplification - last) < SETTLE_CHANGE * last) {
            break;
        }
        last = n.write_amplification;
    }
}

void bench_card_prepare(BenchCard *card, const BenchOptions *o, uint64_t span)
{
    double stored = o->torture_stored < 0 ? o->stored : o->torture_stored;
    uint8_t class = zd_flash_class_of(card->ssd[0].flash, stored);
    uint64_t all = bench_card_bytes(card);
    uint64_t seed = o->seed ^ 0x5eed;

    switch (o->state) {
    case STATE_FOB:
        if (o->read_share > 0) {
            /* a benchmark's file */
            fill(card, span, card->class_all);
        }
        break;
    case STATE_STEADY:
        fill(card, all, class);
        fill(card, all, class);
        settle(card, all, class, &seed);
        break;
    case STATE_TORTURED:
        fill(card, all, class);
        scatter(card, all, class, all / card->ssds / ZD_FLASH_PAGE, &seed);
        break;
    }
    for (unsigned i = 0; i < card->ssds; i++) {
        if (o->trim_after) {
            zd_flash_trim(card->ssd[i].flash, 0, card->sectors, 0);
        }
        if (o->erase_after) {
            zd_flash_secure_erase(card->ssd[i].flash, 0);
        }
        zd_flash_settle(card->ssd[i].flash);
        zd_flash_stats_reset(card->ssd[i].flash);
    }
}

/* Commands */

static void part_start(BenchCard *card, unsigned i, const Part *part,
                       int64_t now)
{
    Ssd *ssd = &card->ssd[i];
    ZdFlashCmd cmd = {
        .op = part->io->op,
        .through = card->o->through,
        .lba = part->lba,
        .sectors = part->sectors,
        .depth = ++ssd->busy,
        .class_all = card->class_all,
    };
    int64_t at = zd_flash_card_forward(card->bridge, cmd.op, now);
    int64_t end;

    if (part->flush) {
        end = zd_flash_flush(ssd->flash, at);
    } else if (part->trim) {
        end = zd_flash_trim(ssd->flash, part->lba, part->sectors, at);
    } else {
        if (card->class_count && cmd.op == ZD_FLASH_WRITE) {
            for (uint32_t p = 0; p <= part->sectors / 8; p++) {
                card->part_classes[p] = next_class(card, 0);
            }
            cmd.classes = card->part_classes;
        }
        end = zd_flash_submit(ssd->flash, &cmd, at);
        end = zd_flash_card_finish(card->bridge, cmd.op,
                                   (uint64_t)part->sectors * SECTOR,
                                   cmd.data_ns, end);
    }
    push(card, end, part->io, i);
}

static void part_queue(BenchCard *card, unsigned i, const Part *part,
                       int64_t now)
{
    part->io->pending++;
    if (card->ssd[i].busy < NCQ_DEPTH) {
        part_start(card, i, part, now);
    } else {
        g_queue_push_tail(&card->ssd[i].waiting,
                          g_memdup2(part, sizeof(*part)));
    }
}

/* Cut a request into one run per SSD, and these into commands. */
static void io_split(BenchCard *card, BenchIo *io, int64_t now)
{
    uint64_t first = io->offset / CHUNK;
    uint64_t last = (io->offset + io->bytes - 1) / CHUNK;
    uint64_t count = last - first + 1;

    for (uint64_t n = 0; n < MIN(count, card->ssds); n++) {
        uint64_t chunk = first + n;
        unsigned ssd = chunk % card->ssds;
        uint64_t mine = (count - n - 1) / card->ssds + 1;
        uint64_t end = chunk + (mine - 1) * card->ssds;
        uint64_t from = chunk / card->ssds * CHUNK;
        uint64_t to = end / card->ssds * CHUNK + CHUNK;

        if (chunk == first) {
            from += io->offset % CHUNK;
        }
        if (end == last) {
            to -= CHUNK - ((io->offset + io->bytes - 1) % CHUNK + 1);
        }
        while (from < to) {
            uint64_t bytes = io->trim ? to - from :
                                        MIN(to - from, COMMAND_BYTES);
            Part part = {
                .io = io,
                .lba = from / SECTOR,
                .sectors = bytes / SECTOR,
                .trim = io->trim,
            };

            part_queue(card, ssd, &part, now);
            from += bytes;
        }
    }
}

static void io_begin(BenchCard *card, BenchIo *io, int64_t now)
{
    if (!io->flush) {
        io_split(card, io, now);
        return;
    }
    for (unsigned i = 0; i < card->ssds; i++) {
        Part part = { .io = io, .flush = true };

        part_queue(card, i, &part, now);
    }
}

void bench_card_submit(BenchCard *card, BenchIo *io, int64_t now)
{
    int64_t host = card->o->plain_host ? 0 :
        HOST_IO_NS + io->bytes / ZD_FLASH_PAGE * HOST_PAGE_NS;

    io->start_ns = now;
    io->pending = 0;
    push(card, now + (io->flush || io->trim ? HOST_IO_NS : host), io, -1);
}

void bench_card_tick(BenchCard *card, int64_t when)
{
    push(card, when, NULL, -1);
}

int64_t bench_card_run(BenchCard *card, BenchDone *done, BenchTick *tick,
                       void *opaque)
{
    int64_t now = 0;
    Event event;

    while (pop(card, &event)) {
        now = event.time;
        if (!event.io) {
            tick(opaque, now);
        } else if (event.ssd < 0) {
            io_begin(card, event.io, now);
        } else {
            Ssd *ssd = &card->ssd[event.ssd];
            Part *next;

            ssd->busy--;
            next = g_queue_pop_head(&ssd->waiting);
            if (next) {
                part_start(card, event.ssd, next, now);
                g_free(next);
            }
            if (--event.io->pending == 0) {
                event.io->end_ns = now;
                done(opaque, event.io);
            }
        }
    }
    return now;
}
