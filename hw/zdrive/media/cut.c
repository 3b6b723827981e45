/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A power cut: what is left of the writes that were not safe.
 *
 * Each 4 KiB page of each such write is at one of four stages: in the write
 * buffer; carried by a program that runs; in NAND while the map's journal does
 * not know of it; safe.  Capacitors save the buffer first, program by program
 * in order, as far as they last.  For the rest the rule decides, and whatever
 * it decides is something that a real controller could leave: any of the
 * versions of a page since the last safe one, or a page that cannot be read
 * because its program was torn.  What is safe is never touched.
 *
 * Sources: hardware/flash-science.md, power faults: shorn and torn programs,
 * paired pages, metadata that is lost with its journal.  The shares of what is
 * lost with loss=random are assumed.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "block/aio-wait.h"
#include "internal.h"

#define PAGE_SECTORS    (ZD_FLASH_PAGE / ZD_SECTOR_SIZE)

/* Keeps the seeds that a user counts up apart from the numbers of SSDs. */
#define ZD_SEED_STEP    0x2545f4914f6cdd1dULL

typedef enum Fate {
    SURVIVES,
    LOST,
    UNREADABLE,
} Fate;

typedef enum Stage {
    IN_BUFFER,
    IN_PROGRAM,
    IN_TAIL,                    /* of the journal */
    SAFE,
} Stage;

/* One page of one write. */
typedef struct Version {
    ZdWrite *write;
    uint64_t page;
    uint64_t program;
    uint8_t stage;
    uint8_t fate;
} Version;

typedef struct Cut {
    ZdMedia *media;
    const ZdCutRules *rules;
    ZdCutReport *report;
    GArray *versions;           /* not safe, in order of their coming */
} Cut;

static uint64_t cut_random(ZdMedia *media)
{
    return zd_flash_random(&media->random);
}

void zd_media_reseed(ZdMedia *media, uint64_t seed)
{
    media->random = seed * ZD_SEED_STEP + media->member;
}

static bool one_in(ZdMedia *media, unsigned n)
{
    return cut_random(media) % n == 0;
}

/* What there is */

static Stage stage_of(const ZdMedia *media, const ZdWrite *w, unsigned i,
                      int64_t now, uint64_t journaled)
{
    static const uint8_t stages[] = {
        [ZD_FLASH_BUFFERED] = IN_BUFFER,
        [ZD_FLASH_PROGRAMMING] = IN_PROGRAM,
        [ZD_FLASH_IN_NAND] = IN_TAIL,
    };

    if (w->durable || w->programs[i] < journaled) {
        return SAFE;
    }
    return stages[zd_flash_stage(media->flash, w->programs[i], now)];
}

/*
 * Versions of a page older than one that is safe are safe too, or rather of no
 * interest any more: walk from the newest write to the oldest.
 */
static void collect(Cut *cut, int64_t now)
{
    ZdMedia *media = cut->media;
    uint64_t journaled = zd_volatile_journaled(media->flash, now);
    g_autoptr(GHashTable) safe = g_hash_table_new(NULL, NULL);
    ZdWrite *w;

    QTAILQ_FOREACH_REVERSE(w, &media->risk.writes, next) {
        uint64_t first = w->lba / PAGE_SECTORS;

        for (unsigned i = zd_write_pages(w); i-- > 0;) {
            gpointer key = GUINT_TO_POINTER(first + i);
            Version v = {
                .write = w,
                .page = first + i,
                .program = w->programs ? w->programs[i] : 0,
            };

            v.stage = stage_of(media, w, i, now, journaled);
            if (v.stage == SAFE) {
                g_hash_table_add(safe, key);
            } else if (!g_hash_table_contains(safe, key)) {
                g_array_append_val(cut->versions, v);
            }
        }
    }
}

static gint by_coming(gconstpointer a, gconstpointer b)
{
    const Version *x = a, *y = b;

    return x->write->seq != y->write->seq ?
           (x->write->seq < y->write->seq ? -1 : 1) :
           (x->page > y->page) - (x->page < y->page);
}

static Version *version(const Cut *cut, unsigned i)
{
    return &g_array_index(cut->versions, Version, i);
}

/* What is left of it */

/* Programs that the capacitors have the energy for; the journal takes one. */
static uint32_t saved_programs(const Cut *cut)
{
    uint32_t need = zd_flash_buffer_programs(cut->media->flash) + 1;

    return cut->rules->capacitor ?
           (uint64_t)need * ZD_CAPACITOR_RESERVE * cut->rules->health /
           (100 * 100) : 0;
}

/* The journal is saved first, or else nobody would find what else is. */
static void save_by_capacitor(Cut *cut)
{
    uint32_t budget = saved_programs(cut);
    uint64_t first = UINT64_MAX;

    if (!budget) {
        return;
    }
    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->stage != IN_TAIL) {
            first = MIN(first, v->program);
        }
    }
    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->stage == IN_TAIL || v->program - first + 1 < budget) {
            v->stage = SAFE;
            cut->report->saved++;
        }
    }
}

static uint64_t first_sector(const Version *v)
{
    return MAX(v->write->lba, v->page * PAGE_SECTORS);
}

static uint64_t end_sector(const Version *v)
{
    return MIN(v->write->lba + v->write->sectors,
               (v->page + 1) * PAGE_SECTORS);
}

/*
 * The map is changed when a program has ended, so a page that had data before
 * is found where they are: torn, it is as it was.  File systems write over
 * their superblocks and rely on that.
 */
static bool had_data(const Version *v)
{
    const ZdWrite *w = v->write;
    uint64_t at = first_sector(v) - w->lba;

    return w->old && !buffer_is_zero(w->old + at * ZD_SECTOR_SIZE,
                                     (end_sector(v) - first_sector(v)) *
                                     ZD_SECTOR_SIZE);
}

static void spare_old_data(Cut *cut)
{
    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->fate == UNREADABLE && had_data(v)) {
            v->fate = LOST;
        }
    }
}

static void lose_all(Cut *cut)
{
    for (unsigned i = 0; i < cut->versions->len; i++) {
        version(cut, i)->fate = LOST;
    }
}

/*
 * The worst for who relies on an order that nobody promised: what came first
 * is lost, what came last survives, and what was being programmed is torn.
 */
static void lose_adversarial(Cut *cut)
{
    unsigned half = (cut->versions->len + 1) / 2;

    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        v->fate = v->stage == IN_PROGRAM ? UNREADABLE :
                  i < half ? LOST : SURVIVES;
    }
}

/*
 * A torn program: what it had written before the cut is there, one page cannot
 * be read, the rest is not there.  It may take the page that shares the cells
 * with it, the program before, along.
 */
static void tear(Cut *cut, uint64_t program)
{
    ZdMedia *media = cut->media;
    unsigned count = 0, at, n = 0;
    bool none = one_in(media, 2), paired = one_in(media, 4);

    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        count += v->stage == IN_PROGRAM && v->program == program;
    }
    at = cut_random(media) % (count + 1);
    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->stage == IN_PROGRAM && v->program == program) {
            v->fate = none || n > at ? LOST : n < at ? SURVIVES : UNREADABLE;
            n++;
        } else if (v->stage == IN_TAIL && v->program + 1 == program &&
                   paired && !none) {
            v->fate = UNREADABLE;
        }
    }
}

static void lose_random(Cut *cut)
{
    ZdMedia *media = cut->media;
    g_autoptr(GHashTable) torn = g_hash_table_new(NULL, NULL);
    uint64_t low = UINT64_MAX, high = 0, journal;

    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->stage == IN_TAIL) {
            low = MIN(low, v->program);
            high = MAX(high, v->program);
        }
    }
    /* the journal got as far as that */
    journal = low <= high ? low + cut_random(media) % (high - low + 2) : 0;
    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->stage == IN_BUFFER) {
            v->fate = one_in(media, 4) ? SURVIVES : LOST;
        } else if (v->stage == IN_TAIL && v->fate == SURVIVES) {
            v->fate = v->program < journal ? SURVIVES : LOST;
        }
    }
    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->stage == IN_PROGRAM &&
            g_hash_table_add(torn, GSIZE_TO_POINTER(v->program + 1))) {
            tear(cut, v->program);
        }
    }
    spare_old_data(cut);
}

static void lose_none(Cut *cut)
{
}

static void decide(Cut *cut)
{
    static void (*const rules[])(Cut *cut) = {
        [ZD_LOSS_NONE] = lose_none,
        [ZD_LOSS_ALL] = lose_all,
        [ZD_LOSS_RANDOM] = lose_random,
        [ZD_LOSS_ADVERSARIAL] = lose_adversarial,
    };

    rules[cut->rules->loss](cut);
    for (unsigned i = 0; i < cut->versions->len; i++) {
        Version *v = version(cut, i);

        if (v->stage == SAFE) {
            v->fate = SURVIVES;
        }
    }
}

/* And so it is */

typedef struct Wait {
    bool done;
    int ret;
} Wait;

static void stop_waiting(void *opaque, int ret)
{
    Wait *wait = opaque;

    wait->done = true;
    wait->ret = ret;
}

/* The sectors of its page that the write of @v covers. */
/*
 * Put back what stood at the sectors of @v's page before its write.  False when
 * the image cannot be written: then the version survives, as it might have.
 */
static bool undo(Cut *cut, const Version *v)
{
    ZdMedia *media = cut->media;
    ZdWrite *w = v->write;
    uint64_t first = first_sector(v);
    uint64_t end = end_sector(v);
    ZdStoreOp op = { .done = stop_waiting, .quiet = true };
    Wait wait = { 0 };
    QEMUIOVector iov;

    op.opaque = &wait;
    qemu_iovec_init_buf(&iov, w->old + (first - w->lba) * ZD_SECTOR_SIZE,
                        (end - first) * ZD_SECTOR_SIZE);
    zd_store_write(media->store, media->member, first * ZD_SECTOR_SIZE, &iov,
                   false, &op);
    AIO_WAIT_WHILE_UNLOCKED(NULL, !wait.done);
    return wait.ret == 0;
}

/*
 * Newest first: a version that is lost gives way to the one before; the first
 * that is not lost ends it for its page.
 */
static void apply(Cut *cut)
{
    ZdVolatile *risk = &cut->media->risk;
    g_autoptr(GHashTable) ended = g_hash_table_new(NULL, NULL);

    for (unsigned i = cut->versions->len; i-- > 0;) {
        Version *v = version(cut, i);
        gpointer key = GUINT_TO_POINTER(v->page);

        if (g_hash_table_contains(ended, key)) {
            continue;
        }
        if (v->fate == UNREADABLE) {
            /* what it did not write is where it was */
            cut->report->unreadable++;
            zd_bad_add(risk, first_sector(v), end_sector(v));
        } else if (v->fate == LOST && v->write->old && undo(cut, v)) {
            cut->report->lost++;
            cut->report->lost_acknowledged += v->write->acked;
            continue;
        }
        g_hash_table_add(ended, key);
    }
}

static void count_stages(Cut *cut)
{
    uint64_t *const counter[] = {
        [IN_BUFFER] = &cut->report->buffered,
        [IN_PROGRAM] = &cut->report->programming,
        [IN_TAIL] = &cut->report->journal_tail,
    };

    for (unsigned i = 0; i < cut->versions->len; i++) {
        ++*counter[version(cut, i)->stage];
    }
}

void zd_media_power_cut(ZdMedia *media, const ZdCutRules *rules,
                        ZdCutReport *report)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    Cut cut = { media, rules, report };

    *report = (ZdCutReport) { 0 };
    media->frozen = false;
    if (!media->flash) {
        return;
    }
    cut.versions = g_array_new(false, false, sizeof(Version));
    zd_flash_advance(media->flash, now);
    collect(&cut, now);
    g_array_sort(cut.versions, by_coming);
    count_stages(&cut);
    save_by_capacitor(&cut);
    decide(&cut);
    apply(&cut);
    g_array_free(cut.versions, true);
    zd_flash_power_cut(media->flash, now);
    zd_volatile_settle(&media->risk);
}
