/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the BIOS part share: the data that stays after POST, and
 * the functions on either side of POST.
 */
#ifndef ZDRIVE_ROM_BIOS_H
#define ZDRIVE_ROM_BIOS_H

#include "unit.h"
#include "ssd.h"

#define ROM_NAME        "OCZ Z-Drive R4 BIOS"
#define ROM_VERSION     "1.0"

#define BDA_MEMORY_KIB  0x413
#define BDA_DISK_STATUS 0x474
#define BDA_DISKS       0x475
#define IVT_INT13       (4 * 0x13)

#define MAX_UNITS       HBA_PHYS
#define PRODUCT_LEN     48

/* The processor's registers around a BIOS call; head.S and entry.S know it. */
typedef struct Regs {
    uint32_t edi, esi, ebp, esp, ebx, edx, ecx, eax;
    uint16_t gs, fs, es, ds;
    uint32_t chain;             /* entry.S: the next handler */
    uint16_t ip, cs, flags;
} Regs;

#define FLAG_CARRY      0x0001
#define FLAG_ZERO       0x0040
#define FLAG_INTERRUPT  0x0200

#define SET_LOW8(reg, v)  ((reg) = ((reg) & ~0xFFu) | (uint8_t)(v))
#define SET_HIGH8(reg, v) \
    ((reg) = ((reg) & ~0xFF00u) | (uint32_t)(uint8_t)(v) << 8)
#define SET_LOW16(reg, v) ((reg) = ((reg) & ~0xFFFFu) | (uint16_t)(v))
#define LOW8(reg)       ((uint8_t)(reg))
#define HIGH8(reg)      ((uint8_t)((reg) >> 8))
#define LOW16(reg)      ((uint16_t)(reg))

typedef struct Disk {
    Unit unit;
    uint16_t cylinders;
    uint8_t heads;
    uint8_t sectors;
} Disk;

/* resident.c: all that int 13h needs. */
extern Hba hba;
extern Disk disks[MAX_UNITS];
extern uint8_t drive_number[MAX_UNITS];     /* 0: not attached */
extern uint32_t old_int13;
extern uint16_t pci_address;                /* bus, device, function */
extern bool interrupts;                     /* may be let in while waiting */

/* head.S: in the ROM's segment, so only for the time until POST ends. */
extern uint8_t rom_start[], rom_resident_end[], rom_data[], rom_data_end[];
extern char product_names[MAX_UNITS][PRODUCT_LEN];
extern uint8_t rom_size, rom_checksum;
extern uint16_t rom_data_segment, rom_dma_segment;
extern uint16_t pnp_headers[MAX_UNITS][16];

/* entry.S: call interrupt @number of the BIOS. */
void bios_call(uint8_t number, Regs *r);
/* entry.S: FS from now on. */
void set_dma_segment(uint16_t segment);

/* What entry.S calls.  init() returns what AX tells the BIOS. */
uint32_t init(uint32_t address);
void connect(uint32_t n, uint32_t vector);
void int13(Regs *r, uint32_t n);
void int13_refuse(Regs *r);

/* console.c */
void put_char(char c);
void put_text(const char *s);
void put_number(uint32_t n);
void put_hex(uint32_t n, unsigned digits);
/* Sectors as the decimal GB or MB that a label shows. */
void put_size(uint64_t sectors);
/* The same into a string; returns its end. */
char *format_text(char *to, const char *s);
char *format_size(char *to, uint64_t sectors);
char *format_number(char *to, uint32_t n);
/* ASCII code of the next key, 0 if there is none. */
uint8_t key_poll(void);
uint8_t key_wait(void);

/* setup.c */
typedef struct Card {
    FlashConfig config;
    FlashState flash;
    uint8_t good;               /* phys of SSDs that can be used */
    SsdInfo ssd[HBA_PHYS];
} Card;

/* Until the user leaves; the card has to be looked at again afterwards. */
void setup_run(Card *card);

/* post.c: what POST and the utility both show and ask */
/* One line of the SSD on phy @n. */
void show_ssd(const Card *card, unsigned n);
/* The phys that should have an SSD; 0: not known yet. */
uint8_t expected_phys(const Card *card);
const char *card_model(const Card *card);
void show_address(void);

#endif
