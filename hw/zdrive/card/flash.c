/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of the SPI flash: what the factory programs, or a block node
 * that keeps what guests change.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "sysemu/block-backend.h"
#include "hw/zdrive/card/card.h"

static void fill_info(ZdCard *card, MvFlashInfo *info)
{
    const ZdProduct *product = card->plan.product;
    unsigned i;

    info->ssds = product->ssds;
    info->sas_address = card->plan.hba_wwn;
    info->rom_view = card->plan.rom_view;
    memcpy(info->product_id, product->product_id, sizeof(info->product_id));
    for (i = 0; i < product->ssds; i++) {
        info->serial[i] = card->plan.serial[i];
    }
}

/* The bridge has changed its flash; keep it, as the part would. */
static void flash_changed(void *opaque, uint32_t addr, uint32_t len)
{
    ZdCard *card = opaque;
    int ret = blk_pwrite(card->props.flash, addr, len,
                         card->bridge.spi.flash + addr, 0);

    if (ret < 0) {
        warn_report_once("flash of %s cannot be written: %s",
                         DEVICE(card)->canonical_path, strerror(-ret));
    }
}

bool zd_card_open_flash(ZdCard *card, Error **errp)
{
    BlockBackend *blk = card->props.flash;
    int64_t len;

    if (!blk) {
        return true;
    }
    len = blk_getlength(blk);
    if (len != MV_SPI_FLASH_SIZE) {
        error_setg(errp, "flash has %" PRId64 " bytes; the SPI flash of the "
                   "card has %d", len, MV_SPI_FLASH_SIZE);
        return false;
    }
    if (!blk_supports_write_perm(blk)) {
        error_setg(errp, "flash is read-only; the card needs to write");
        return false;
    }
    return blk_set_perm(blk, BLK_PERM_CONSISTENT_READ | BLK_PERM_WRITE,
                        BLK_PERM_ALL, errp) == 0;
}

/*
 * A node of nothing but zeros, as truncate makes it, is a new part that the
 * factory still has to program; erased flash reads as ones and stays so.
 */
bool zd_card_load_flash(ZdCard *card, Error **errp)
{
    BlockBackend *blk = card->props.flash;
    MvSpi *spi = &card->bridge.spi;
    MvFlashInfo info = { 0 };
    int ret = 0;

    fill_info(card, &info);
    if (blk) {
        ret = blk_pread(blk, 0, MV_SPI_FLASH_SIZE, spi->flash, 0);
    }
    if (ret >= 0 && (!blk || buffer_is_zero(spi->flash, MV_SPI_FLASH_SIZE))) {
        memset(spi->flash, 0xFF, MV_SPI_FLASH_SIZE);
        mv_spi_write_card_info(&card->bridge, &info);
        ret = blk ? blk_pwrite(blk, 0, MV_SPI_FLASH_SIZE, spi->flash, 0) : 0;
    } else if (ret >= 0 && card->props.rom_view) {
        mv_spi_write_rom_view(&card->bridge, info.rom_view);
    }
    if (ret < 0) {
        error_setg_errno(errp, -ret, "flash cannot be read and written");
        return false;
    }
    if (blk) {
        spi->changed = flash_changed;
        spi->opaque = card;
    }
    return true;
}
