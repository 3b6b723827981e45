/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast the model itself is, and how much memory it takes: one SSD at a time
 * on one core, driven as a card would drive it.
 *
 * All times are of the processor and not of a clock, so that what else runs on
 * the machine does not count.  It still takes caches and memory away, though;
 * so a load is measured in parts, and its figure is that of the best part, with
 * the mean of all beside it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

#define SPAN_PAGES      (1u << 18)      /* 1 GiB */
#define COMMANDS        8000000
#define AHEAD           8               /* of the queue that the device sees */
#define PARTS           16
#define TURNS           8
#define CLASS           8               /* stored at 0.36 of its size */

/* Of this process, in user mode and in the kernel. */
static int64_t cpu_us(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000ll +
           use.ru_utime.tv_usec + use.ru_stime.tv_usec;
}

typedef struct Speed {
    double best, mean;          /* commands per second of processor time */
    double wa;
} Speed;

static Speed drive(ZdFlash *f, uint32_t pages, uint64_t commands, uint8_t class,
                   ZdFlashOp op)
{
    const uint64_t part = commands / PARTS;
    uint64_t seed = 7, lba[AHEAD] = { 0 };
    int64_t now = 0, ring[32] = { 0 };
    ZdFlashCounters before, after;
    int64_t began, at;
    Speed s = { 0 };

    zd_flash_settle(f);
    zd_flash_counters(f, &before);
    began = at = cpu_us();
    for (uint64_t i = 0; i < part * PARTS; i++) {
        ZdFlashCmd cmd = {
            .op = op,
            .lba = lba[i % AHEAD],
            .sectors = 8,
            .depth = 32,
            .class_all = class,
        };

        lba[i % AHEAD] = ((bench_random(&seed) >> 32) * pages >> 32) * 8;
        zd_flash_expect(f, lba[i % AHEAD]);
        /* a queue of 32 */
        now = MAX(now, ring[i % 32]);
        ring[i % 32] = zd_flash_submit(f, &cmd, now);
        if ((i + 1) % part == 0) {
            int64_t end = cpu_us();

            s.best = MAX(s.best, part * 1e6 / MAX(end - at, 1));
            at = end;
        }
    }
    s.mean = part * PARTS * 1e6 / MAX(at - began, 1);
    zd_flash_counters(f, &after);
    s.wa = (double)(after.nand_data_bytes - before.nand_data_bytes) /
           MAX(after.host_written_bytes - before.host_written_bytes, 1);
    return s;
}

static void row(const char *what, double value, const char *unit)
{
    printf("%-58s %10.2f %s\n", what, value, unit);
}

static void speed_row(const char *what, Speed s)
{
    printf("%-58s %10.2f M/s   (mean %.2f)\n", what, s.best / 1e6,
           s.mean / 1e6);
}

static ZdFlash *fresh(const ZdFlashParams *p, uint32_t gb)
{
    uint64_t sectors = zd_catalog_idema_sectors(gb);
    ZdFlashOptions options = { .dies = zd_flash_dies(p, sectors) };

    return zd_flash_new(p, sectors, 1, &options);
}

/*
 * Equal touched size, growing capacity; in turns, so that what else runs on the
 * machine meets all alike.  The data is that of the rows above: of data that
 * takes next to no space, one superblock of a large SSD would hold the whole
 * span several times.
 */
static void capacities(const ZdFlashParams *p)
{
    static const uint32_t card_mb[] = {
        8000, 80000, 800000, 1600000, 3200000
    };
    Speed speed[G_N_ELEMENTS(card_mb)] = { 0 };
    ZdFlash *f[G_N_ELEMENTS(card_mb)];
    double least = INFINITY, most = 0;

    for (unsigned i = 0; i < G_N_ELEMENTS(card_mb); i++) {
        uint64_t sectors = (uint64_t)card_mb[i] * 1000000 / 8 / SECTOR;
        ZdFlashOptions options = {
            .dies = zd_flash_dies(p, MAX(sectors, 195371568)),
        };

        f[i] = zd_flash_new(p, sectors, 1, &options);
        drive(f[i], SPAN_PAGES / 2, SPAN_PAGES, CLASS, ZD_FLASH_WRITE);
    }
    for (unsigned i = 0; i < TURNS * G_N_ELEMENTS(card_mb); i++) {
        unsigned at = i % G_N_ELEMENTS(card_mb);
        Speed s = drive(f[at], SPAN_PAGES / 2, COMMANDS / 4, CLASS,
                        ZD_FLASH_WRITE);

        /* of whole turns: a smaller part may not close a superblock */
        speed[at].best = MAX(speed[at].best, s.mean);
        speed[at].mean += s.mean / TURNS;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(card_mb); i++) {
        char what[80];

        snprintf(what, sizeof(what),
                 "random write to 512 MiB of an SSD, card of %u GB",
                 card_mb[i] / 1000);
        speed_row(what, speed[i]);
        least = MIN(least, speed[i].best);
        most = MAX(most, speed[i].best);
        zd_flash_free(f[i]);
    }
    row("... a command on the slowest takes longer by",
        (most / least - 1) * 100, "%");
}

static void state_speed(const ZdFlashParams *p)
{
    ZdFlash *f = fresh(p, 200), *g = fresh(p, 200);
    /* an eighth of 100 GB on each of 8 SSDs */
    uint64_t sectors = 12500000000ull / SECTOR;
    g_autofree uint8_t *data = NULL;
    int64_t began;
    size_t size;
    bool good;

    zd_flash_prefill(f, 0, sectors, 31);
    began = cpu_us();
    data = zd_flash_save(f, &size);
    row("saving 12.5 GB of one SSD, eight of which make 100 GB",
        (cpu_us() - began) / 1e6, "s");
    row("... size", size / 1e6, "MB");
    began = cpu_us();
    good = zd_flash_load(g, data, size, NULL);
    row("loading it", (cpu_us() - began) / 1e6, "s");
    if (!good) {
        printf("LOADING FAILED\n");
    }
    zd_flash_free(f);
    zd_flash_free(g);
}

static void compress_speed(void)
{
    static const char *const words[] = {
        "the ", "of ", "int ", "return ", "struct ", "page ", "if (", ");\n",
        "command", "->", "flash", " = ", "{\n", "}\n", "    ", "uint32_t ",
        "channel", "0x", "1", "42", "_busy", "_ns", "/* ", " */",
    };
    const unsigned pages = 256, rounds = 100;
    g_autofree uint8_t *data = g_malloc(pages * ZD_FLASH_PAGE);
    uint64_t seed = 3;

    for (unsigned kind = 0; kind < 3; kind++) {
        static const char *const names[] = { "zeros", "random", "text" };
        uint64_t sum = 0;
        int64_t began;
        char what[80];

        memset(data, 0, pages * ZD_FLASH_PAGE);
        for (unsigned i = 0; kind == 1 && i < pages * ZD_FLASH_PAGE; i++) {
            data[i] = bench_random(&seed);
        }
        for (unsigned i = 0; kind == 2 && i < pages * ZD_FLASH_PAGE;) {
            const char *word = words[bench_random(&seed) %
                                     G_N_ELEMENTS(words)];

            while (*word && i < pages * ZD_FLASH_PAGE) {
                data[i++] = *word++;
            }
        }
        began = cpu_us();
        for (unsigned n = 0; n < rounds; n++) {
            for (unsigned i = 0; i < pages; i++) {
                sum += zd_flash_compressed_bytes(data + i * ZD_FLASH_PAGE);
            }
        }
        snprintf(what, sizeof(what), "estimating 4 KiB of %s (ratio %.3f)",
                 names[kind], sum / (double)rounds / pages / ZD_FLASH_PAGE);
        row(what, (cpu_us() - began) / (double)(rounds * pages),
            "us");
    }
}

int bench_self(const BenchOptions *o)
{
    const ZdFlashParams *p = o->product->flash;
    ZdFlash *f = fresh(p, 200);
    uint64_t sectors = zd_catalog_idema_sectors(200);
    uint32_t pages = sectors / 8;
    ZdFlashCounters n;
    Speed s;

    zd_flash_counters(f, &n);
    row("memory of a fresh 1.6 TB card (8 SSDs)", n.memory_bytes * 8 / 1e6,
        "MB");
    s = drive(f, SPAN_PAGES, COMMANDS, CLASS, ZD_FLASH_WRITE);
    speed_row("fresh 200 GB SSD, 4 KiB random write over 1 GiB", s);
    s = drive(f, SPAN_PAGES, COMMANDS, CLASS, ZD_FLASH_READ);
    speed_row("... then random read", s);
    zd_flash_free(f);

    capacities(p);
    compress_speed();
    state_speed(p);

    f = fresh(p, 200);
    zd_flash_prefill(f, 0, sectors, 31);
    for (uint64_t i = 0, seed = 5; i < pages * 3ull / 4; i++) {
        zd_flash_prefill(f, bench_random(&seed) % pages * 8, 8, 31);
    }
    s = drive(f, pages, COMMANDS, 31, ZD_FLASH_WRITE);
    speed_row("200 GB SSD (1 of 1.6 TB), steady, random write all over", s);
    row("... write amplification", s.wa, "");
    zd_flash_counters(f, &n);
    row("... memory per mapped 4 KiB page", (double)n.memory_bytes /
        n.mapped_pages, "B");
    zd_flash_free(f);
    return 0;
}
