/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The random tester: programs of a hostile guest, made from a seed.
 *
 * A program is a machine, a seed, and a set of operation numbers.  Operation n
 * draws all its numbers from (seed, n), so any of them can be left out without
 * a change to the others; that is how a failing program is made short.
 *
 *   program.c   text form of a program, and the shortening
 *   machine.c   QEMU with a card of one of several kinds, and its health
 *   ops.c       the operations: registers, resets, power, time, unplug
 *   commands.c  the operations on rings: valid commands with mutated fields
 *   main.c      runs programs in child processes under a watchdog
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "zdrive-qtest.h"

/* ---- numbers ---- */

typedef struct FuzzRng {
    uint64_t state;
} FuzzRng;

/* splitmix64 */
static inline uint64_t fuzz_rnd64(FuzzRng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline uint32_t fuzz_rnd(FuzzRng *rng)
{
    return fuzz_rnd64(rng) >> 32;
}

static inline uint32_t fuzz_below(FuzzRng *rng, uint32_t n)
{
    return fuzz_rnd(rng) % n;
}

static inline bool fuzz_one_in(FuzzRng *rng, uint32_t n)
{
    return fuzz_below(rng, n) == 0;
}

#define fuzz_pick(rng, array) ((array)[fuzz_below(rng, ARRAY_SIZE(array))])

/* A 32-bit value of the kind that finds mistakes. */
uint32_t fuzz_value(FuzzRng *rng);

/* ---- programs ---- */

typedef struct FuzzProgram {
    uint64_t seed;
    unsigned machine;
    GArray *ops;                /* of unsigned, ascending */
} FuzzProgram;

FuzzProgram *fuzz_program_new(uint64_t seed, unsigned machine, unsigned ops);
FuzzProgram *fuzz_program_load(const char *path, GError **err);
char *fuzz_program_text(const FuzzProgram *p);
void fuzz_program_free(FuzzProgram *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FuzzProgram, fuzz_program_free)

/*
 * Leave out operations as long as fails(p) says so, for at most @seconds.
 * Takes @p and returns the shortest program found.
 */
FuzzProgram *fuzz_program_shorten(FuzzProgram *p, unsigned seconds,
                                  bool (*fails)(const FuzzProgram *p));

/* ---- one run ---- */

/* Where its files go; the parent removes it. */
const char *fuzz_folder(void);

#define FUZZ_HISTORY    24
#define FUZZ_LINE       240

/* What a child shows its parent; lives in shared memory. */
typedef struct FuzzStatus {
    uint64_t beats;             /* operations and health checks done */
    pid_t qemu;
    unsigned next;              /* line of @history to write next */
    char history[FUZZ_HISTORY][FUZZ_LINE];
    char complaint[FUZZ_LINE];  /* why the child ended itself */
} FuzzStatus;

typedef struct FuzzMachine {
    ZtCard *card;
    unsigned kind;
    FuzzStatus *status;
    int devfn;
    uint32_t bar0;
    uint64_t data;              /* guest memory for data */
    uint64_t sectors;           /* of an SSD */
    unsigned ssds;
    unsigned cards;             /* that were there one after the other */
    uint64_t rss;               /* after boot */
    char *args;                 /* of QEMU */
} FuzzMachine;

#define FUZZ_DATA_BYTES (4 * 1024 * 1024)

unsigned fuzz_machine_kinds(void);
const char *fuzz_machine_name(unsigned kind);
FuzzMachine *fuzz_machine_start(unsigned kind, FuzzStatus *status);
/* Responsive, and neither memory nor log has grown out of bounds; or exit. */
void fuzz_machine_check(FuzzMachine *m);
/* Works as after power-on. */
void fuzz_machine_finish(FuzzMachine *m);

/* BARs and command register as a driver leaves them. */
void fuzz_machine_enable(FuzzMachine *m);
/* ... after a reset of the whole machine. */
void fuzz_machine_system_reset(FuzzMachine *m);
/* Go on in another QEMU, commands in flight and all. */
void fuzz_machine_migrate(FuzzMachine *m);
bool fuzz_machine_can_unplug(const FuzzMachine *m);
void fuzz_machine_unplug(FuzzMachine *m);
void fuzz_machine_replug(FuzzMachine *m);
/* Reset below the root port; false: there is none. */
bool fuzz_machine_bus_reset(FuzzMachine *m);
/* Configuration space of the card in memory. */
uint64_t fuzz_machine_ecam(FuzzMachine *m);
/* Both cores as mvsas programs them. */
void fuzz_machine_program(FuzzMachine *m);

/* Add to what is told about the operation that runs. */
void fuzz_note(FuzzMachine *m, const char *fmt, ...) G_GNUC_PRINTF(2, 3);
/* End the child: what it sees must not be. */
void fuzz_fail(FuzzMachine *m, const char *fmt, ...) G_GNUC_PRINTF(2, 3)
    G_GNUC_NORETURN;

/* Run operation @index of the program with @seed. */
void fuzz_op(FuzzMachine *m, uint64_t seed, unsigned index);

/* commands.c */
void fuzz_commands(FuzzMachine *m, FuzzRng *rng);
void fuzz_read_error_log(FuzzMachine *m, FuzzRng *rng);
void fuzz_memory_noise(FuzzMachine *m, FuzzRng *rng);

#endif
