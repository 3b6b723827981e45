/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wear: which blocks are used next, blocks that go bad, and the firmware's
 * life-time throttle.
 */
#include "internal.h"

/* Every so many collections, look for cold data on young blocks. */
#define LEVEL_EVERY         16

/* The slowest that the throttle makes a page: 10 MB/s. */
#define THROTTLE_MAX_NS     400000
#define THROTTLE_CREDIT     50      /* of the life: 2 % */
#define YEAR_NS             (365ull * 86400 * 1000000000)

static uint64_t wear_random(ZdFlash *f)
{
    return zd_flash_random(&f->random);
}

/* Data that was collected is likely to stay: it goes to the oldest blocks. */
uint32_t zd_wear_pick_free(const ZdFlash *f, bool cold)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < f->superblocks; i++) {
        if (f->sb[i].state == ZD_SB_FREE &&
            (!best || (cold ? f->sb[i].erases > f->sb[best].erases :
                              f->sb[i].erases < f->sb[best].erases))) {
            best = i;
        }
    }
    return best;
}

uint32_t zd_wear_victim(const ZdFlash *f)
{
    uint32_t best = 0, least = UINT32_MAX, most = 0;

    if (f->collections % LEVEL_EVERY != LEVEL_EVERY - 1) {
        return 0;
    }
    for (uint32_t i = 1; i < f->superblocks; i++) {
        const ZdSuperblock *sb = &f->sb[i];

        most = MAX(most, sb->erases);
        /* what is mostly stale comes round by itself */
        if (sb->state == ZD_SB_CLOSED && sb->valid > f->sb_bytes / 2 &&
            sb->erases < least) {
            least = sb->erases;
            best = i;
        }
    }
    return best && most - least > f->p->wear_delta ? best : 0;
}

/* Replace a block from the reserve; false when there is none. */
static bool wear_retire(ZdFlash *f)
{
    f->n.retired_blocks++;
    if (!f->n.reserve_blocks) {
        return false;
    }
    f->n.reserve_blocks--;
    return true;
}

void zd_flash_retire(ZdFlash *f, uint64_t count)
{
    while (count-- && wear_retire(f)) {
        continue;
    }
}

void zd_wear_factory(ZdFlash *f)
{
    uint64_t blocks = (uint64_t)f->superblocks * f->row_units *
                      f->nand.planes;
    uint64_t bad = blocks * f->p->factory_bad_ppm / 1000000;

    f->random = f->seed;
    if (bad) {
        /* between half and one and a half of the mean */
        bad = bad / 2 + wear_random(f) % (bad + 1);
    }
    f->n.reserve_blocks -= MIN(bad, f->n.reserve_blocks);
}

/*
 * A block fails an erase with a chance that is nil when it is new, and one in
 * a thousand at its rated endurance (real parts last longer; [mem]).
 */
bool zd_wear_erase(ZdFlash *f, uint32_t number)
{
    ZdSuperblock *sb = &f->sb[number];
    uint32_t blocks = f->row_units * f->nand.planes;
    double worn, chance;

    sb->erases++;
    worn = (double)sb->erases / f->p->nand->endurance;
    chance = worn * worn * worn * worn * blocks / 1000;
    f->n.erases += blocks;
    if ((wear_random(f) >> 11) / 9007199254740992.0 >= chance) {
        return true;
    }
    f->n.erase_fails++;
    if (wear_retire(f) || f->free <= ZD_COLLECT_AT + 1 ||
        f->n.raw_bytes < (uint64_t)f->pages * ZD_FLASH_PAGE +
        (uint64_t)(ZD_COLLECT_AT + 4) * f->sb_bytes) {
        return true;
    }
    sb->state = ZD_SB_DEAD;
    f->n.raw_bytes -= f->sb_bytes;
    return false;
}

/* Delay of a page that reaches the front end at @t. */
int64_t zd_wear_throttle(ZdFlash *f, int64_t t)
{
    const ZdFlashParams *p = f->p;
    double life = (double)p->life_years * YEAR_NS;
    double due, late;

    if (!p->life_throttle) {
        return 0;
    }
    /* when the wear budget would have allowed what has been written */
    due = f->n.nand_written_bytes / ((double)f->n.raw_bytes *
                                     p->nand->endurance) * life;
    late = due - life / THROTTLE_CREDIT - (f->life_ns + t);
    if (late <= 0) {
        return 0;
    }
    late = MIN(late, THROTTLE_MAX_NS);
    f->n.throttled_ns += late;
    return late;
}
