/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two halves of the real-mode test program know of each other.
 */
#ifndef TESTS_BOOT_INT13_H
#define TESTS_BOOT_INT13_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Regs {
    uint32_t eax, ebx, ecx, edx, esi, edi;
    uint16_t ds, es, flags;
} Regs;

/* int13.S: call interrupt @number; its way into C */
void bios(uint8_t number, Regs *r);
void main(void);

#endif
