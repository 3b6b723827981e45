/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the common files of the ROM need, as a UEFI driver.
 */
#ifndef ZDRIVE_ROM_PLATFORM_H
#define ZDRIVE_ROM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <efi.h>
#include <efipciio.h>

/* All memory is one. */
#define DMA_SPACE

/* The number under which PciIo knows BAR 2: card.c finds it. */
typedef struct HbaBar {
    EFI_PCI_IO_PROTOCOL *pci;
    UINT8 number;
} HbaBar;

/* Polls of the memory between two looks at the clock. */
#define HBA_POLLS       50
/* Microseconds. */
#define HBA_TICKS_PER_MS 1000

/* driver.c */
extern EFI_BOOT_SERVICES *boot_services;

/* clock.c: stall a little and tell how long ago the last call was. */
uint32_t hba_pause(void);

static inline void hba_barrier(void)
{
    __asm__ volatile("mfence" : : : "memory");
}

static inline uint32_t hba_read(HbaBar bar, uint32_t offset)
{
    uint32_t value = 0;

    bar.pci->Mem.Read(bar.pci, EfiPciIoWidthUint32, bar.number, offset, 1,
                      &value);
    return value;
}

static inline void hba_write(HbaBar bar, uint32_t offset, uint32_t value)
{
    bar.pci->Mem.Write(bar.pci, EfiPciIoWidthUint32, bar.number, offset, 1,
                       &value);
}

static inline uint64_t hba_divide(uint64_t n, uint32_t by, uint32_t *rest)
{
    *rest = n % by;
    return n / by;
}

#endif
