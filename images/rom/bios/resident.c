/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data that stays after POST, and the clock: the interval timer, which
 * counts whether interrupts are let in or not.
 */
#include "bios.h"

#define PIT_COUNTER     0x40
#define PIT_CONTROL     0x43
#define PIT_READ_BACK   0xC2        /* status and count of counter 0 */
#define PIT_MODE_MASK   0x06
#define PIT_MODE_3      0x06        /* counts down by two */

Hba hba;
Disk disks[MAX_UNITS];
uint8_t drive_number[MAX_UNITS];
uint32_t old_int13;
uint16_t pci_address;
bool interrupts;

/* Looks without a tick after which the timer is taken for dead. */
#define STILL           16

static uint16_t last_count;
static uint8_t still;

uint32_t hba_pause(void)
{
    uint16_t count, passed;
    uint8_t status;

    if (interrupts) {
        __asm__ volatile("sti; nop; nop; cli" : : : "memory");
        flat_enter();
    }
    outb(PIT_CONTROL, PIT_READ_BACK);
    status = inb(PIT_COUNTER);
    count = inb(PIT_COUNTER);
    count |= inb(PIT_COUNTER) << 8;
    passed = last_count - count;
    last_count = count;
    if ((status & PIT_MODE_MASK) == PIT_MODE_3) {
        passed /= 2;
    }
    if (passed) {
        still = 0;
    } else if (still < STILL) {
        still++;
    } else {
        /* it must not make a wait endless; a look takes this long, too */
        passed = 1;
    }
    return passed;
}
