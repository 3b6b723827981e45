/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replay of traces: fio's iolog (versions 2 and 3) and the text that blkparse
 * prints.  Requests are begun at their times, or with --trace-fast as soon as
 * the queue has room; offsets beyond the card wrap around.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

typedef struct Replay {
    const BenchOptions *o;
    BenchCard *card;
    BenchResult *r;
    GArray *ios;                /* BenchIo; start_ns as recorded */
    unsigned next, flying, depth;
    int64_t busy_since;
} Replay;

/* "1234.5" seconds without the rounding of a double. */
static int64_t seconds_ns(const char *text)
{
    return (int64_t)(g_ascii_strtod(text, NULL) * 1e9 + 0.5);
}

static bool add(GArray *ios, const char *what, uint64_t offset,
                uint64_t bytes, int64_t when)
{
    BenchIo io = { .offset = offset, .bytes = bytes, .start_ns = when };

    if (strchr("rR", *what)) {
        io.op = ZD_FLASH_READ;
    } else if (strchr("wW", *what)) {
        io.op = ZD_FLASH_WRITE;
    } else if (strchr("tTD", *what)) {
        io.op = ZD_FLASH_WRITE;
        io.trim = true;
    } else if (strchr("sdF", *what)) {
        io.op = ZD_FLASH_WRITE;
        io.flush = true;
    } else {
        return false;
    }
    if (!io.flush && !io.bytes) {
        return false;
    }
    g_array_append_val(ios, io);
    return true;
}

/*
 * iolog 2: "FILE ACTION OFFSET LENGTH", and "FILE wait USECS" with times since
 * the last entry; iolog 3: "MSECS FILE ACTION OFFSET LENGTH".
 */
static void parse_iolog(char **word, unsigned words, int version, int64_t *now,
                        GArray *ios)
{
    unsigned at = version == 3;
    uint64_t offset, bytes;

    if (words < at + 2) {
        return;
    }
    if (at) {
        *now = g_ascii_strtoll(word[0], NULL, 10) * 1000000;
    }
    offset = words > at + 2 ? g_ascii_strtoull(word[at + 2], NULL, 10) : 0;
    bytes = words > at + 3 ? g_ascii_strtoull(word[at + 3], NULL, 10) : 0;
    if (strcmp(word[at + 1], "wait") == 0) {
        *now = offset * 1000;
    } else if (strcmp(word[at + 1], "datasync") == 0) {
        add(ios, "d", 0, 0, *now);
    } else {
        add(ios, word[at + 1], offset, bytes, *now);
    }
}

/* "8,0 1 42 0.001234567 789 Q WS 2048 + 8 [fio]"; queue events only. */
static void parse_blkparse(char **word, unsigned words, GArray *ios)
{
    const char *rwbs = words > 6 ? word[6] : "";

    if (words < 7 || strcmp(word[5], "Q") != 0) {
        return;
    }
    if (words < 10 || strcmp(word[8], "+") != 0) {
        if (strchr(rwbs, 'F')) {
            add(ios, "F", 0, 0, seconds_ns(word[3]));
        }
        return;
    }
    rwbs += *rwbs == 'F' && rwbs[1];
    add(ios, rwbs, g_ascii_strtoull(word[7], NULL, 10) * SECTOR,
        g_ascii_strtoull(word[9], NULL, 10) * SECTOR, seconds_ns(word[3]));
}

static GArray *read_trace(const char *name)
{
    GArray *ios = g_array_new(FALSE, FALSE, sizeof(BenchIo));
    FILE *in = fopen(name, "r");
    char line[1024];
    int version = 0;
    int64_t now = 0;

    if (!in) {
        g_printerr("zdrive-bench: cannot read %s\n", name);
        exit(2);
    }
    while (fgets(line, sizeof(line), in)) {
        char *word[12], *rest = line, *next;
        unsigned words = 0;

        if (sscanf(line, "fio version %d iolog", &version) == 1) {
            continue;
        }
        while (words < G_N_ELEMENTS(word) &&
               (next = strsep(&rest, " \t\r\n")) != NULL) {
            if (*next) {
                word[words++] = next;
            }
        }
        if (version) {
            parse_iolog(word, words, version, &now, ios);
        } else {
            parse_blkparse(word, words, ios);
        }
    }
    fclose(in);
    if (!ios->len) {
        g_printerr("zdrive-bench: %s is neither a fio iolog nor blkparse "
                   "text\n", name);
        exit(2);
    }
    return ios;
}

static void begin(Replay *t, int64_t now)
{
    uint64_t all = bench_card_bytes(t->card);

    while (t->next < t->ios->len && t->flying < t->depth) {
        BenchIo *io = &g_array_index(t->ios, BenchIo, t->next);

        if (t->o->trace_timed && io->start_ns > now) {
            bench_card_tick(t->card, io->start_ns);
            return;
        }
        t->next++;
        io->bytes = MIN(io->bytes, all);
        io->offset %= all;
        io->offset = MIN(io->offset, all - io->bytes);
        if (!t->flying++) {
            t->busy_since = now;
        }
        zd_flash_hist_add(&t->r->depth, t->flying);
        bench_card_submit(t->card, io, now);
    }
}

static void done(void *opaque, BenchIo *io)
{
    Replay *t = opaque;

    if (!--t->flying) {
        t->r->busy_ns += io->end_ns - t->busy_since;
    }
    bench_count(t->r, io, 0);
    if (!t->o->trace_timed) {
        begin(t, io->end_ns);
    }
}

static void tick(void *opaque, int64_t now)
{
    begin(opaque, now);
}

void bench_trace(const BenchOptions *o, BenchCard *card, BenchResult *r)
{
    Replay t = { .o = o, .card = card, .r = r };
    BenchIo *first;
    int64_t zero;

    t.ios = read_trace(o->trace);
    first = &g_array_index(t.ios, BenchIo, 0);
    zero = first->start_ns;
    for (unsigned i = 0; i < t.ios->len; i++) {
        first[i].start_ns -= zero;
    }
    t.depth = o->trace_timed ? UINT32_MAX :
              g_array_index(o->depths, BenchShare, 0).value;
    bench_card_prepare(card, o, o->span ? o->span : bench_card_bytes(card));
    bench_card_tick(card, 0);
    r->measured_ns = bench_card_run(card, done, tick, &t);
    r->measured_ns = MAX(r->measured_ns, 1);
    g_array_free(t.ios, TRUE);
}
