/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zdrive-bench: a card of the catalogue, without QEMU and without a guest,
 * under a load in virtual time.  What its files share.
 */
#ifndef ZDRIVE_BENCH_H
#define ZDRIVE_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "hw/zdrive/catalog.h"

#define BENCH_MAX_SSDS      8
#define BENCH_MAX_CLASSES   65536
#define SECTOR              512
#define NS_PER_S            1000000000ll

typedef enum BenchState {
    STATE_FOB,                  /* fresh; what is read was written once */
    STATE_STEADY,               /* two passes, 4 KiB random until it settles */
    STATE_TORTURED,             /* one pass, one capacity of 4 KiB random */
} BenchState;

/* One entry of a distribution. */
typedef struct BenchShare {
    uint64_t value;
    double share;
} BenchShare;

typedef struct BenchOptions {
    const ZdProduct *product;
    uint32_t capacity_gb;
    uint32_t lanes, lane_mbps;
    double scale;               /* 0: as the test needs */
    uint32_t spare_ppm;
    uint64_t seed;

    double read_share;          /* 0..1 */
    double seq_share;           /* 0..1 */
    GArray *sizes;              /* BenchShare */
    GArray *depths;
    uint64_t span;              /* 0: all */
    double stored;              /* fraction */
    const char *file;           /* instead: pages of this file */
    BenchState state;
    double torture_stored;      /* < 0: as @stored */
    bool trim_after, erase_after;
    double runtime_s, ramp_s;
    uint64_t ios;
    uint32_t flush_every;       /* writes; 0: never */
    bool through;
    bool series;
    const char *trace;
    bool trace_timed;
    bool json, stats, plain_host;
} BenchOptions;

/* host.c: the card and the computer that it is in. */

typedef struct BenchCard BenchCard;

typedef struct BenchIo {
    ZdFlashOp op;
    bool flush, trim;
    uint64_t offset;            /* bytes of the volume */
    uint64_t bytes;
    int64_t start_ns;
    unsigned pending;
    int64_t end_ns;
} BenchIo;

BenchCard *bench_card_new(const BenchOptions *o);
void bench_card_free(BenchCard *card);
uint64_t bench_card_bytes(const BenchCard *card);
double bench_card_scale(const BenchCard *card);
unsigned bench_card_ssds(const BenchCard *card);
ZdFlash *bench_card_ssd(BenchCard *card, unsigned i);
void bench_card_classes(BenchCard *card, const uint8_t *classes,
                        uint32_t count);
/* The state that a test begins with, for a test area of @span bytes. */
void bench_card_prepare(BenchCard *card, const BenchOptions *o, uint64_t span);

/* Calls back at each completion, which may submit more. */
typedef void BenchDone(void *opaque, BenchIo *io);
void bench_card_submit(BenchCard *card, BenchIo *io, int64_t now);
/* Let a call to @tick happen at @when. */
typedef void BenchTick(void *opaque, int64_t now);
void bench_card_tick(BenchCard *card, int64_t when);
/* Run until nothing is in flight; returns the time of the last event. */
int64_t bench_card_run(BenchCard *card, BenchDone *done, BenchTick *tick,
                       void *opaque);

/* report.c */

typedef struct BenchResult {
    int64_t measured_ns, busy_ns;
    uint64_t ios[2], bytes[2];
    ZdFlashHist latency[2], depth;
    GArray *series_ios;         /* uint64_t, of each second */
    GArray *series_lat;         /* uint64_t, their sum of latencies */
    uint64_t host_bytes, nand_bytes;
} BenchResult;

void bench_report(const BenchOptions *o, BenchCard *card,
                  const BenchResult *r);

/* work.c, trace.c, self.c */
void bench_work(const BenchOptions *o, BenchCard *card, BenchResult *r);
void bench_trace(const BenchOptions *o, BenchCard *card, BenchResult *r);
int bench_self(const BenchOptions *o);
void bench_count(BenchResult *r, const BenchIo *io, int64_t from);

static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* 0 <= result < 1 */
static inline double bench_chance(uint64_t *state)
{
    return (bench_random(state) >> 11) / 9007199254740992.0;
}

#endif
