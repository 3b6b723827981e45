/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A synthetic load: sizes, queue depths, reads and sequential access drawn from
 * distributions, each of which may be a single value, as fio has it.
 *
 * The load is closed: when a request ends, as many are begun as are missing to
 * the queue depth.  A depth that was drawn is kept for a while, so that shares
 * of depths are shares of requests.
 */
#include <string.h>

#include "bench.h"

#define DEPTH_KEPT      128     /* requests */

typedef struct Work {
    const BenchOptions *o;
    BenchCard *card;
    BenchResult *r;
    uint64_t span;
    uint64_t seed;
    uint64_t next;              /* where sequential access goes on */
    unsigned flying, writes;
    unsigned depth, depth_left;
    uint64_t issued;
    int64_t from, until;
    int64_t busy_since;
    GPtrArray *pool;            /* BenchIo that are free */
} Work;

static uint64_t draw(GArray *shares, uint64_t *seed)
{
    double at;

    if (shares->len == 1) {
        return g_array_index(shares, BenchShare, 0).value;
    }
    at = bench_chance(seed);
    for (unsigned i = 0; i < shares->len; i++) {
        BenchShare *s = &g_array_index(shares, BenchShare, i);

        if (at < s->share) {
            return s->value;
        }
        at -= s->share;
    }
    return g_array_index(shares, BenchShare, shares->len - 1).value;
}

static bool drawn(double share, uint64_t *seed)
{
    return share >= 1 || (share > 0 && bench_chance(seed) < share);
}

static BenchIo *take(Work *w)
{
    return w->pool->len ? g_ptr_array_steal_index_fast(w->pool,
                                                       w->pool->len - 1) :
                          g_new(BenchIo, 1);
}

static void issue(Work *w, int64_t now)
{
    BenchIo *io = take(w);

    *io = (BenchIo) { .op = ZD_FLASH_WRITE };
    if (w->o->flush_every && w->writes >= w->o->flush_every) {
        w->writes = 0;
        io->flush = true;
    } else {
        uint64_t bytes = draw(w->o->sizes, &w->seed);
        bool seq = drawn(w->o->seq_share, &w->seed);

        io->op = drawn(w->o->read_share, &w->seed) ? ZD_FLASH_READ :
                                                      ZD_FLASH_WRITE;
        bytes = MIN(bytes, w->span);
        io->bytes = bytes;
        if (seq && w->next + bytes <= w->span) {
            io->offset = w->next;
        } else if (seq) {
            io->offset = 0;
        } else {
            uint64_t unit = MIN(bytes, ZD_FLASH_PAGE);

            /* aligned to the size, as fio does; sizes need not be powers */
            unit = w->o->sizes->len == 1 ? bytes : unit;
            io->offset = bench_random(&w->seed) % (w->span / unit) * unit;
            if (io->offset + bytes > w->span) {
                io->offset = (w->span - bytes) / unit * unit;
            }
        }
        w->next = io->offset + bytes;
        w->writes += io->op == ZD_FLASH_WRITE;
    }
    w->flying++;
    w->issued++;
    zd_flash_hist_add(&w->r->depth, w->flying);
    bench_card_submit(w->card, io, now);
}

static void refill(Work *w, int64_t now)
{
    while (now < w->until && (!w->o->ios || w->issued < w->o->ios)) {
        if (!w->depth_left) {
            w->depth = draw(w->o->depths, &w->seed);
            w->depth_left = DEPTH_KEPT;
        }
        if (w->flying >= w->depth) {
            break;
        }
        w->depth_left--;
        issue(w, now);
    }
}

static void done(void *opaque, BenchIo *io)
{
    Work *w = opaque;

    w->flying--;
    if (io->end_ns <= w->until) {
        bench_count(w->r, io, w->from);
    }
    g_ptr_array_add(w->pool, io);
    refill(w, io->end_ns);
}

static void tick(void *opaque, int64_t now)
{
    refill(opaque, now);
}

static void nand_bytes(BenchCard *card, uint64_t *host, uint64_t *nand)
{
    *host = *nand = 0;
    for (unsigned i = 0; i < bench_card_ssds(card); i++) {
        ZdFlashCounters n;

        zd_flash_counters(bench_card_ssd(card, i), &n);
        *host += n.host_written_bytes;
        *nand += n.nand_data_bytes;
    }
}

void bench_work(const BenchOptions *o, BenchCard *card, BenchResult *r)
{
    uint64_t all = bench_card_bytes(card);
    Work w = {
        .o = o,
        .card = card,
        .r = r,
        .span = o->span && o->span < all ? o->span : all,
        .seed = o->seed,
        .from = o->ramp_s * NS_PER_S,
        .until = (o->ramp_s + o->runtime_s) * NS_PER_S,
        .pool = g_ptr_array_new_with_free_func(g_free),
    };
    int64_t end;

    bench_card_prepare(card, o, w.span);
    bench_card_tick(card, 0);
    end = bench_card_run(card, done, tick, &w);
    r->measured_ns = MAX(MIN(end, w.until) - w.from, 1);
    r->busy_ns = r->measured_ns;
    nand_bytes(card, &r->host_bytes, &r->nand_bytes);
    g_ptr_array_free(w.pool, TRUE);
}
