/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the common files of the ROM need, in real mode.
 *
 * Three segments: DS, SS and ES hold the program's data, FS what the bridge
 * reads and writes, GS all of memory ("big real mode": base 0, no limit).  Code
 * runs at CS, which is the ROM.  Interrupts are off but in hba_pause() and in
 * calls to the BIOS; both set up GS anew, since a handler may have been in
 * protected mode.
 */
#ifndef ZDRIVE_ROM_PLATFORM_H
#define ZDRIVE_ROM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DMA_SPACE       __seg_fs

typedef uint32_t HbaBar;

/* Registers, or memory that others change, too. */
typedef volatile uint8_t __seg_gs FlatByte;     /* volatile: see above */
typedef volatile uint16_t __seg_gs FlatWord;    /* volatile: see above */
typedef volatile uint32_t __seg_gs FlatDword;   /* volatile: see above */

/* Polls of the memory between two looks at the clock. */
#define HBA_POLLS       64
/* Of the interval timer, 1.193 MHz. */
#define HBA_TICKS_PER_MS 1193

/* Let interrupts in and tell how many ticks passed since the last call. */
uint32_t hba_pause(void);
/* entry.S: make GS reach all of memory again; interrupts have to be off. */
void flat_enter(void);

static inline void hba_barrier(void)
{
    __asm__ volatile("" : : : "memory");
}

static inline uint32_t hba_read(HbaBar bar, uint32_t offset)
{
    return *(FlatDword *)(bar + offset);
}

static inline void hba_write(HbaBar bar, uint32_t offset, uint32_t value)
{
    *(FlatDword *)(bar + offset) = value;
}

/* @n / @by, with a quotient of up to 64 bits in two steps of the processor. */
static inline uint64_t hba_divide(uint64_t n, uint32_t by, uint32_t *rest)
{
    uint32_t high = (uint32_t)(n >> 32), low;
    uint32_t quotient = high / by;

    __asm__("divl %4" : "=a" (low), "=d" (*rest)
            : "0" ((uint32_t)n), "1" (high % by), "rm" (by));
    return (uint64_t)quotient << 32 | low;
}

static inline uint8_t inb(uint16_t port)
{
    uint8_t value;

    __asm__ volatile("inb %1, %0" : "=a" (value) : "Nd" (port));
    return value;
}

static inline void outb(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a" (value), "Nd" (port));
}

/* Linear addresses, through GS. */
static inline uint8_t peek8(uint32_t at)
{
    return *(FlatByte *)at;
}

static inline uint16_t peek16(uint32_t at)
{
    return *(FlatWord *)at;
}

static inline uint32_t peek32(uint32_t at)
{
    return *(FlatDword *)at;
}

static inline void poke8(uint32_t at, uint8_t value)
{
    *(FlatByte *)at = value;
}

static inline void poke16(uint32_t at, uint16_t value)
{
    *(FlatWord *)at = value;
}

static inline void poke32(uint32_t at, uint32_t value)
{
    *(FlatDword *)at = value;
}

#endif
