/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the register tests share: a stock QEMU with a card in it, and a driver
 * just large enough to send commands the way mvsas does.
 *
 * zdrive-qtest.c boots QEMU and reaches the card over PCI, zdrive-driver.c
 * runs the rings of its cores.  All waiting is done in virtual time.
 */
#ifndef TESTS_QTEST_ZDRIVE_QTEST_H
#define TESTS_QTEST_ZDRIVE_QTEST_H

#include "libqtest.h"
#include "libqos/pci.h"
#include "mvsas-regs.h"

#define ZT_SECTOR           512
#define ZT_CHUNK            65536       /* of the volume order */
/* Opcodes that many tests use. */
#define ATA_READ_DMA_EXT    0x25
#define ATA_READ_LOG_EXT    0x2f
#define ATA_WRITE_DMA_EXT   0x35
#define ATA_READ_FPDMA      0x60
#define ATA_WRITE_FPDMA     0x61
#define ATA_CHECK_POWER     0xe5
#define ATA_IDENTIFY        0xec

/* With timing=model: more than a command takes that does little, ... */
#define ZT_COMMAND_NS       100000
/* ... a time after which nothing that has just been started has ended, ... */
#define ZT_IN_FLIGHT_NS     10000
/*
 * ... and what a cm88 takes for a command without data: bridge 2350 + 2000,
 * link 1200, firmware 16700 + 8000 (catalog/card-zdrive-r4.c, flash-sf2282.c).
 */
#define ZT_CHEAP_NS         30250

/* The card where zt_boot() looks for it; properties can follow. */
#define ZT_DEVFN            QPCI_DEVFN(4, 0)
#define ZT_CARD             "-device zdrive-r4,id=zd,addr=4"

typedef struct ZtCard ZtCard;

/* struct mvs_prd */
typedef struct QEMU_PACKED ZtPrd {
    uint64_t addr;
    uint32_t len;
} ZtPrd;

typedef struct ZtCore {
    ZtCard *card;
    unsigned number;
    unsigned tx_entries;
    unsigned rx_entries;
    uint64_t tx, rx, list, fis, slots;  /* guest addresses */
    unsigned tx_next;                   /* entry to fill next */
    unsigned rx_last;                   /* last entry consumed */
} ZtCore;

struct ZtCard {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *pci;
    QPCIBar bar2;
    uint64_t memory;                    /* next free byte of guest memory */
    ZtCore core[MVS_CORES];
};

/* One SATA command. */
typedef struct ZtCmd {
    uint8_t fis[20];
    uint16_t slot;
    uint8_t phy;                        /* of the core */
    uint8_t reg_set;
    uint64_t data;                      /* guest address of its buffer */
    uint32_t len;                       /* data_len of the header */
    const ZtPrd *prd;                   /* instead of one PRD for @data */
    unsigned prds;
    unsigned prd_count;                 /* in the header; 0: the true one */
} ZtCmd;

/* ---- zdrive-qtest.c ---- */

/*
 * Start QEMU with a q35 board, zdrive.so and @fmt as further arguments; @card
 * of it is mapped and a bus master.  zt_qemu() leaves the card alone.
 */
ZtCard *zt_boot(const char *fmt, ...) G_GNUC_PRINTF(1, 2);
ZtCard *zt_qemu(const char *fmt, ...) G_GNUC_PRINTF(1, 2);
/*
 * zt_boot() of a card with timing=off and @props, with both cores started and
 * with a log of what the driver does wrong.
 */
ZtCard *zt_boot_logged(const char *props);
/* Its lines of the card with @text in them, and all that it holds. */
unsigned zt_log_lines(const char *text);
char *zt_log(void);
/* Map the card at @devfn; bits 15:8 are the bus number. */
void zt_map(ZtCard *card, int devfn);
/* Reset of the whole machine; the card is mapped again. */
void zt_system_reset(ZtCard *card);
void zt_quit(ZtCard *card);
/* Move @card to a new QEMU with the same arguments @args; ends the old one. */
ZtCard *zt_migrate(ZtCard *card, const char *args);

/* Path of zdrive.so, and of a file named @name in the test's own folder. */
const char *zt_module(void);
char *zt_tmp_file(const char *name);
/* Remove that folder. */
void zt_remove_tmp(void);
/* As zt_tmp_file(), made with @len zero bytes. */
char *zt_tmp_image(const char *name, uint64_t len);

/* Tests "zdrive/GROUP/NAME"; a table of variants gives each its index. */
typedef struct ZtCase {
    const char *name;
    void (*run)(void);
} ZtCase;

void zt_add_cases(const char *group, const ZtCase *cases, size_t count);
void zt_add_variant(const char *group, const char *name, const char *variant,
                    unsigned index, void (*run)(const void *index));
/* g_test_run(), with the folder of zt_tmp_file() removed afterwards. */
int zt_run_tests(void);

/* @len bytes of guest memory, page aligned. */
uint64_t zt_alloc(ZtCard *card, uint64_t len);

uint32_t zt_read(ZtCard *card, uint32_t offset);
void zt_write(ZtCard *card, uint32_t offset, uint32_t val);
uint32_t zt_core_read(ZtCore *core, uint32_t offset);
void zt_core_write(ZtCore *core, uint32_t offset, uint32_t val);

/* Indirect spaces. */
uint32_t zt_cfg_read(ZtCore *core, unsigned phy, uint32_t index);
void zt_cfg_write(ZtCore *core, unsigned phy, uint32_t index, uint32_t val);
uint32_t zt_vsr_read(ZtCore *core, unsigned phy, uint32_t index);
void zt_vsr_write(ZtCore *core, unsigned phy, uint32_t index, uint32_t val);
uint32_t zt_cmd_read(ZtCore *core, uint32_t index);
void zt_cmd_write(ZtCore *core, uint32_t index, uint32_t val);
bool zt_slot_active(ZtCore *core, unsigned slot);

/* Level of the card's INTx pin. */
bool zt_intx(ZtCard *card);

/* @len bytes that depend on @seed and on their place. */
void zt_pattern(void *buf, size_t len, uint32_t seed);
void zt_fill(ZtCard *card, uint64_t addr, size_t len, uint32_t seed);
void zt_assert_pattern(ZtCard *card, uint64_t addr, size_t len, uint32_t seed);
void zt_assert_zero(ZtCard *card, uint64_t addr, size_t len);

/*
 * Properties of SSD @ssd, or of the card with -1.  zt_try_set() returns the
 * error or NULL; zt_get() the whole reply; zt_count() one number of a struct.
 */
char *zt_try_set(ZtCard *card, int ssd, const char *property,
                 const char *value);
void zt_set(ZtCard *card, int ssd, const char *property, const char *value);
QDict *zt_get(ZtCard *card, int ssd, const char *property);
void zt_assert_get(ZtCard *card, int ssd, const char *property,
                   const char *value);
int64_t zt_count(ZtCard *card, int ssd, const char *property,
                 const char *name);

/* ---- zdrive-driver.c ---- */

/* Reset @core, give it rings in fresh memory and start it, as mvsas does. */
void zt_core_start(ZtCore *core);
/* The same with rings of other sizes. */
void zt_core_start_rings(ZtCore *core, unsigned tx_entries,
                         unsigned rx_entries);
/* Program what zt_core_start() has allocated once more, after a reset. */
void zt_core_program(ZtCore *core);

/* Guest addresses of what belongs to a slot. */
uint64_t zt_header(ZtCore *core, unsigned slot);
uint64_t zt_slot_buf(ZtCore *core, unsigned slot);

/* ATA commands; @count is written to all 16 bits, @lba to all 48. */
ZtCmd zt_ata(uint8_t opcode, uint64_t lba, uint16_t count);
ZtCmd zt_ata_features(uint8_t opcode, uint8_t features, uint64_t lba,
                      uint16_t count);
/* @cmd with some fields set: the register set of a phy has its number. */
ZtCmd zt_on_phy(ZtCmd cmd, unsigned phy);
ZtCmd zt_with_data(ZtCmd cmd, uint64_t addr, uint32_t len);
ZtCmd zt_in_slot(ZtCmd cmd, unsigned slot);
/* A command that needs nothing: CHECK POWER MODE. */
ZtCmd zt_cheap(unsigned phy, unsigned slot);
/* FPDMA QUEUED; the slot is the tag unless the caller sets another. */
ZtCmd zt_ncq(uint8_t opcode, unsigned tag, uint64_t lba, uint16_t sectors);

/* Write header, command table and PRDs of @cmd; without the ring entry. */
void zt_prepare(ZtCore *core, const ZtCmd *cmd);
/* Put descriptor @desc into the delivery ring. */
void zt_queue_raw(ZtCore *core, uint32_t desc);
/* Both for a good command. */
void zt_queue(ZtCore *core, const ZtCmd *cmd);
/* Tell the chip what zt_queue() has put into the ring. */
void zt_doorbell(ZtCore *core);
/* True when the completion ring holds an entry that was not taken yet. */
bool zt_completed(ZtCore *core);
/* Wait for the next completion and take it. */
uint32_t zt_completion(ZtCore *core);
/* Let time pass and see that no completion comes. */
void zt_assert_quiet(ZtCore *core);

/* Queue @cmd, ring, and return the completion entry, which must be its. */
uint32_t zt_execute(ZtCore *core, const ZtCmd *cmd);
/* The same with a good end ... */
void zt_good(ZtCore *core, const ZtCmd *cmd);
/* ... or with an error of the SSD; returns the D2H FIS. */
void zt_fails(ZtCore *core, const ZtCmd *cmd, uint8_t status, uint8_t error);
/* A completion that the chip itself ends with error record @err0, @err1. */
void zt_assert_chip_error(ZtCore *core, const ZtCmd *cmd, uint32_t entry,
                          uint32_t err0, uint32_t err1);

/* The D2H Register FIS that register set @reg_set has received. */
void zt_d2h(ZtCore *core, unsigned reg_set, uint8_t fis[20]);
uint64_t zt_fis_lba(const uint8_t fis[20]);

/* IDENTIFY DEVICE into @id, words in host order. */
void zt_identify(ZtCore *core, unsigned phy, uint16_t id[256]);
/* A string of IDENTIFY without the blanks at its end. */
char *zt_id_string(const uint16_t id[256], unsigned word, unsigned words);
uint64_t zt_id_sectors(const uint16_t id[256]);

#endif
