/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SPI flash controller and its 256 KiB flash: option ROM, the card
 * configuration block and the HBA information page.
 *
 * mvsas never comes here; the card's own driver and its option ROM do
 * (88se9485.md 8, real-cards.md 1.5).  The part answers as an Adesto
 * AT25DF021, whose identification 1Fh 43h is among those the vendor's driver
 * takes, with that data sheet's commands.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/range.h"
#include "internal.h"
#include "trace.h"

/* Control word: command 15:8, length 7:4, the rest single bits. */
#define SPI_CMD(ctrl)       (((ctrl) >> 8) & 0xFF)
#define SPI_LEN(ctrl)       (((ctrl) >> 4) & 0xF)
#define SPI_START           (1u << 0)

#define SPI_ADDR_MASK       (MV_SPI_FLASH_SIZE - 1)
#define SPI_PAGE            256

#define SPI_STATUS_WEL      (1u << 1)

/* Offsets in the flash. */
#define FLASH_CARD_CONFIG   0x20000
#define FLASH_HBA_PAGE      0x3FF00
#define CONFIG_PRODUCT_ID   0x08
#define CONFIG_VCA_MODE     0x0C
#define CONFIG_SSDS         0x0D
#define CONFIG_PORTMAP      0x0E
#define CONFIG_ROM_VIEW     0x0F    /* ours: the vendor's meaning is unknown */
#define CONFIG_SERIALS      0x10
#define CONFIG_SERIAL_LEN   20
#define CONFIG_ERROR_FLAGS  0xB0
#define CONFIG_CHECKSUM     0xB4
#define CONFIG_LEN          0xB8
#define CONFIG_SIGNATURE    0x00
#define HBA_LEN             0x100
#define HBA_SAS_ADDR        56
#define HBA_FFE             120
#define HBA_RATE            176
#define HBA_TUNING          184
#define HBA_RATE_6G         2

static void changed(MvSpi *spi, uint32_t addr, uint32_t len)
{
    if (spi->changed) {
        spi->changed(spi->opaque, addr, len);
    }
}

static void program(MvSpi *spi, uint32_t addr, unsigned len)
{
    uint32_t page = addr & ~(SPI_PAGE - 1);
    unsigned i;

    /* Programming clears bits only, and wraps inside its page. */
    for (i = 0; i < len; i++) {
        uint32_t a = page | ((addr + i) & (SPI_PAGE - 1));

        spi->flash[a] &= spi->wr_data >> (8 * i);
    }
    changed(spi, page, SPI_PAGE);
}

static void erase(MvSpi *spi, uint32_t addr, uint32_t size)
{
    addr &= ~(size - 1);
    memset(spi->flash + addr, 0xFF, size);
    changed(spi, addr, size);
}

static uint32_t config_sum(const uint8_t *p, unsigned len)
{
    uint32_t sum = 0;
    unsigned i;

    for (i = 0; i < len; i += 4) {
        sum += ldl_le_p(p + i);
    }
    return sum;
}

/*
 * How the vendor computes the checksum is not known; here the dwords before it
 * and the checksum itself sum up to zero.
 */
static void seal_config_block(uint8_t *p)
{
    stl_le_p(p + CONFIG_CHECKSUM, -config_sum(p, CONFIG_CHECKSUM));
}

/*
 * The configuration block as one that was damaged: one field is wrong and the
 * checksum fits again, unless it is the one that is wrong.  The flash itself
 * keeps its contents.
 */
static void corrupt_config_block(MvSpi *spi, const ZdFault *fault,
                                 uint8_t p[CONFIG_LEN])
{
    static const struct {
        uint8_t offset, len;
    } fields[] = {
        [ZD_SPI_SIGNATURE] = { CONFIG_SIGNATURE, 4 },
        [ZD_SPI_CHECKSUM] = { CONFIG_CHECKSUM, 4 },
        [ZD_SPI_DRIVE_COUNT] = { CONFIG_SSDS, 1 },
        [ZD_SPI_SERIAL] = { CONFIG_SERIALS, CONFIG_SERIAL_LEN },
    };
    unsigned i, field = fault->choice;

    memcpy(p, spi->flash + FLASH_CARD_CONFIG, CONFIG_LEN);
    for (i = 0; i < fields[field].len; i++) {
        p[fields[field].offset + i] ^= 0x01;
    }
    if (field != ZD_SPI_CHECKSUM) {
        seal_config_block(p);
    }
}

static uint32_t read_flash(MvBridge *b, uint32_t addr, unsigned len)
{
    MvSpi *spi = &b->spi;
    uint8_t corrupt[CONFIG_LEN];
    const ZdFault *fault = NULL;
    uint32_t data = 0;
    unsigned i;

    if (ranges_overlap(addr, len, FLASH_CARD_CONFIG, CONFIG_LEN)) {
        fault = zd_faults_fire(&b->faults, ZD_FAULT_SPI_CORRUPT, NULL);
    }
    if (fault) {
        corrupt_config_block(spi, fault, corrupt);
    }
    for (i = 0; i < len; i++) {
        uint32_t a = (addr + i) & SPI_ADDR_MASK;
        bool in_block = fault && a - FLASH_CARD_CONFIG < CONFIG_LEN;

        data |= (uint32_t)(in_block ? corrupt[a - FLASH_CARD_CONFIG]
                                    : spi->flash[a]) << (8 * i);
    }
    return data;
}

typedef enum SpiAction {
    SPI_NONE,
    SPI_READ,
    SPI_STATUS,
    SPI_ID,
    SPI_SET_WEL,
    SPI_CLEAR_WEL,
    SPI_PROGRAM,
    SPI_ERASE,
} SpiAction;

static const struct {
    uint8_t opcode;
    SpiAction action;
    uint32_t arg;               /* identification, or bytes to erase */
} spi_commands[] = {
    { 0x01, SPI_CLEAR_WEL },                /* write status: no protection */
    { 0x02, SPI_PROGRAM },
    { 0x03, SPI_READ },
    { 0x04, SPI_CLEAR_WEL },
    { 0x05, SPI_STATUS },
    { 0x06, SPI_SET_WEL },
    { 0x0B, SPI_READ },
    { 0x20, SPI_ERASE, 4 * 1024 },
    { 0x52, SPI_ERASE, 32 * 1024 },
    { 0x60, SPI_ERASE, MV_SPI_FLASH_SIZE },
    { 0x9F, SPI_ID, 0x0000431F },
    { 0xC7, SPI_ERASE, MV_SPI_FLASH_SIZE },
    { 0xD8, SPI_ERASE, 64 * 1024 },
};

static void spi_execute(MvBridge *b)
{
    MvSpi *spi = &b->spi;
    unsigned len = MIN(SPI_LEN(spi->ctrl), 4);
    uint8_t opcode = SPI_CMD(spi->ctrl);
    SpiAction action = SPI_NONE;
    uint32_t arg = 0;
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(spi_commands); i++) {
        if (spi_commands[i].opcode == opcode) {
            action = spi_commands[i].action;
            arg = spi_commands[i].arg;
        }
    }
    trace_zd_mv_spi(opcode, spi->addr, len);

    if ((action == SPI_PROGRAM || action == SPI_ERASE) &&
        !spi->write_enabled) {
        mv_guest_error(b,
                       "SPI command 0x%02x without write enable (0x06)",
                       opcode);
        return;
    }
    if ((action == SPI_PROGRAM || action == SPI_READ) &&
        (!len || len < SPI_LEN(spi->ctrl))) {
        mv_guest_error(b, "SPI command 0x%02x for %u bytes, not 1 to 4",
                       opcode, SPI_LEN(spi->ctrl));
    }
    switch (action) {
    case SPI_READ:
        spi->rd_data = read_flash(b, spi->addr, len);
        break;
    case SPI_STATUS:
        spi->rd_data = spi->write_enabled ? SPI_STATUS_WEL : 0;
        break;
    case SPI_ID:
        spi->rd_data = arg;
        break;
    case SPI_SET_WEL:
        spi->write_enabled = true;
        break;
    case SPI_CLEAR_WEL:
        spi->write_enabled = false;
        break;
    case SPI_PROGRAM:
        program(spi, spi->addr, len);
        spi->write_enabled = false;
        break;
    case SPI_ERASE:
        erase(spi, spi->addr, arg);
        spi->write_enabled = false;
        break;
    case SPI_NONE:
        mv_guest_error(b, "unknown SPI command 0x%02x", opcode);
        /* No part drives the line. */
        spi->rd_data = 0xFFFFFFFF;
        break;
    }
}

uint32_t mv_spi_read(MvBridge *b, uint32_t offset)
{
    switch (offset) {
    case MV_SPI_CTRL:
        return b->spi.ctrl;
    case MV_SPI_ADDR:
        return b->spi.addr;
    case MV_SPI_WR_DATA:
        return b->spi.wr_data;
    default:
        return b->spi.rd_data;
    }
}

void mv_spi_write(MvBridge *b, uint32_t offset, uint32_t val)
{
    switch (offset) {
    case MV_SPI_CTRL:
        b->spi.ctrl = val;
        if (val & SPI_START) {
            spi_execute(b);
            b->spi.ctrl &= ~SPI_START;
        }
        break;
    case MV_SPI_ADDR:
        if (val & ~SPI_ADDR_MASK) {
            mv_guest_error(b, "SPI address 0x%x is past the 0x%x bytes of the "
                           "flash", val, MV_SPI_FLASH_SIZE);
        }
        b->spi.addr = val & SPI_ADDR_MASK;
        break;
    case MV_SPI_WR_DATA:
        b->spi.wr_data = val;
        break;
    case MV_SPI_RD_DATA:
        mv_guest_error(b, "write of 0x%x to read-only BAR 2 offset 0x%x", val,
                       MV_SPI_RD_DATA);
        break;
    }
}

static uint8_t byte_sum(const uint8_t *p, unsigned len)
{
    uint8_t sum = 0;

    while (len--) {
        sum += *p++;
    }
    return sum;
}

/* The configuration block of the card (real-cards.md 1.5). */
static void write_config_block(uint8_t *p, const MvFlashInfo *info)
{
    unsigned i;

    memset(p, 0, CONFIG_LEN);
    memcpy(p, "OCZ ", 4);
    p[4] = 1;                               /* version: major */
    memcpy(p + CONFIG_PRODUCT_ID, info->product_id, 4);
    p[CONFIG_VCA_MODE] = 1;
    p[CONFIG_SSDS] = info->ssds;
    p[CONFIG_PORTMAP] = MAKE_64BIT_MASK(0, info->ssds);
    p[CONFIG_ROM_VIEW] = info->rom_view;
    for (i = 0; i < info->ssds; i++) {
        memcpy(p + CONFIG_SERIALS + i * CONFIG_SERIAL_LEN, info->serial[i],
               CONFIG_SERIAL_LEN);
    }
    stl_le_p(p + CONFIG_ERROR_FLAGS, 0xFFFFFFFF);
    seal_config_block(p);
}

/* struct hba_info_page of mvsas; the bytes of the page sum to zero. */
static void write_hba_page(uint8_t *p, const MvFlashInfo *info)
{
    unsigned i;

    memset(p, 0xFF, HBA_LEN);
    memcpy(p, "MRVL", 4);
    for (i = 0; i < MV_CORES * MV_PHYS; i++) {
        stq_be_p(p + HBA_SAS_ADDR + 8 * i, info->sas_address + i);
        p[HBA_RATE + i] = HBA_RATE_6G;
    }
    p[HBA_LEN - 1] = 0;
    p[HBA_LEN - 1] = -byte_sum(p, HBA_LEN);
}

void mv_spi_write_card_info(MvBridge *b, const MvFlashInfo *info)
{
    write_config_block(b->spi.flash + FLASH_CARD_CONFIG, info);
    write_hba_page(b->spi.flash + FLASH_HBA_PAGE, info);
}

void mv_spi_write_rom_view(MvBridge *b, uint8_t view)
{
    uint8_t *p = b->spi.flash + FLASH_CARD_CONFIG;

    if (!memcmp(p, "OCZ ", 4) && !config_sum(p, CONFIG_LEN)) {
        p[CONFIG_ROM_VIEW] = view;
        stl_le_p(p + CONFIG_CHECKSUM, -config_sum(p, CONFIG_CHECKSUM));
        changed(&b->spi, FLASH_CARD_CONFIG, SPI_PAGE);
    }
}

void mv_spi_init(MvSpi *spi)
{
    spi->flash = g_malloc(MV_SPI_FLASH_SIZE);
    memset(spi->flash, 0xFF, MV_SPI_FLASH_SIZE);
}

void mv_spi_cleanup(MvSpi *spi)
{
    g_free(spi->flash);
    spi->flash = NULL;
}
