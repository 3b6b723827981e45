/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes the SPI flash, four bytes at a time as its controller does
 * (88se9485.md 8).
 */
#include "flash.h"
#include "hw/zdrive/bridge/mv94xx/regs.h"

#define CONFIG_AT       0x20000
#define SECTOR_BYTES    0x1000

#define CTRL_START      (1u << 0)
#define CTRL_ADDRESS    (1u << 1)
#define CTRL_READ       (1u << 2)
#define CTRL(command, len) ((uint32_t)(command) << 8 | (len) << 4)

#define CMD_PROGRAM     0x02
#define CMD_READ        0x03
#define CMD_STATUS      0x05
#define CMD_WREN        0x06
#define CMD_ERASE_4K    0x20
#define STATUS_BUSY     1

#define OPERATION_MS    100     /* the vendor's driver waits as long */
#define ERASE_MS        1000

static bool start(Hba *h, uint32_t ctrl)
{
    uint32_t left = OPERATION_MS * HBA_TICKS_PER_MS, passed;

    hba_write(h->bar, MV_SPI_CTRL, ctrl | CTRL_START);
    while (hba_read(h->bar, MV_SPI_CTRL) & CTRL_START) {
        passed = hba_pause();
        if (passed >= left) {
            return false;
        }
        left -= passed;
    }
    return true;
}

static bool read_dword(Hba *h, uint32_t at, uint32_t *value)
{
    hba_write(h->bar, MV_SPI_ADDR, at);
    if (!start(h, CTRL(CMD_READ, 4) | CTRL_ADDRESS | CTRL_READ)) {
        return false;
    }
    *value = hba_read(h->bar, MV_SPI_RD_DATA);
    return true;
}

/* Until the part has done what it was told. */
static bool ready(Hba *h)
{
    uint32_t left = ERASE_MS * HBA_TICKS_PER_MS, passed;

    for (;;) {
        if (!start(h, CTRL(CMD_STATUS, 1) | CTRL_READ)) {
            return false;
        }
        if (!(hba_read(h->bar, MV_SPI_RD_DATA) & STATUS_BUSY)) {
            return true;
        }
        passed = hba_pause();
        if (passed >= left) {
            return false;
        }
        left -= passed;
    }
}

static bool change(Hba *h, uint32_t ctrl, uint32_t at, uint32_t value)
{
    if (!start(h, CTRL(CMD_WREN, 0))) {
        return false;
    }
    hba_write(h->bar, MV_SPI_ADDR, at);
    hba_write(h->bar, MV_SPI_WR_DATA, value);
    return start(h, ctrl | CTRL_ADDRESS) && ready(h);
}

static uint32_t sum(const FlashConfig *config)
{
    const uint32_t *p = (const uint32_t *)config;
    uint32_t total = 0;
    unsigned i;

    for (i = 0; i < sizeof(*config) / 4; i++) {
        total += p[i];
    }
    return total;
}

FlashState flash_read_config(Hba *h, FlashConfig *config)
{
    uint32_t *p = (uint32_t *)config;
    unsigned i;

    for (i = 0; i < sizeof(*config) / 4; i++) {
        if (!read_dword(h, CONFIG_AT + 4 * i, &p[i])) {
            return FLASH_SILENT;
        }
    }
    if (p[0] != 0x205A434F) {           /* "OCZ " */
        return FLASH_BAD_SIGNATURE;
    }
    return sum(config) ? FLASH_BAD_CHECKSUM : FLASH_GOOD;
}

bool flash_write_config(Hba *h, FlashConfig *config)
{
    const uint32_t *p = (const uint32_t *)config;
    DmaDword *buffer = (DmaDword *)h->dma->fis;
    uint32_t value;
    unsigned i;

    config->checksum = 0;
    config->checksum = -sum(config);
    for (i = 0; i < SECTOR_BYTES / 4; i++) {
        if (!read_dword(h, CONFIG_AT + 4 * i, &value)) {
            return false;
        }
        buffer[i] = i < sizeof(*config) / 4 ? p[i] : value;
    }
    if (!change(h, CTRL(CMD_ERASE_4K, 0), CONFIG_AT, 0)) {
        return false;
    }
    for (i = 0; i < SECTOR_BYTES / 4; i++) {
        value = buffer[i];
        if (value != 0xFFFFFFFF &&
            !change(h, CTRL(CMD_PROGRAM, 4), CONFIG_AT + 4 * i, value)) {
            return false;
        }
    }
    return true;
}
