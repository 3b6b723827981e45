/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock: the time stamp counter, gauged with the firmware's Stall().  To
 * count the stalls alone will not do, since looking at eight phys takes
 * longer than a stall.
 */
#include "driver.h"

#define STALL_US        10
#define GAUGE_US        1000
#define GAUGES          4
/* The first look after a time without any. */
#define LONGEST_US      20000

static uint64_t counts_per_us;
static uint64_t last;

static uint64_t count(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
    return (uint64_t)high << 32 | low;
}

void clock_gauge(void)
{
    unsigned i;

    /* whatever interrupts a stall makes it longer: take the shortest */
    counts_per_us = UINT64_MAX;
    for (i = 0; i < GAUGES; i++) {
        uint64_t begin = count(), rate;

        boot_services->Stall(GAUGE_US);
        rate = (count() - begin) / GAUGE_US;
        counts_per_us = rate < counts_per_us ? rate : counts_per_us;
    }
    last = count();
}

uint32_t hba_pause(void)
{
    uint64_t now, passed = 0;

    boot_services->Stall(STALL_US);
    now = count();
    if (counts_per_us) {
        passed = (now - last) / counts_per_us;
    }
    last = now;
    return passed < STALL_US ? STALL_US :
           passed > LONGEST_US ? LONGEST_US : (uint32_t)passed;
}
