/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DOWNLOAD MICROCODE (DMA): a new firmware revision (ACS-2 7.10 and 7.11).
 *
 * The format of SandForce's images is not public and they are encrypted.  What
 * counts as a good image here is this, and all else is aborted without effect:
 *
 *   byte  0  "ZDRIVEFW"
 *   byte  8  revision, 8 printable characters, blanks at the end
 *   byte 16  length in blocks of 512 bytes, 32 bits, little endian
 *            the 32-bit words of the image sum up to 0
 *
 * The revision is what IDENTIFY reports from the next reset on; nothing else
 * changes, and no data is touched.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ata-internal.h"

/* Subcommands, ACS-2 table 43 */
enum {
    DOWNLOAD_OFFSETS    = 0x03,     /* in pieces, then save */
    DOWNLOAD_WHOLE      = 0x07,
};

#define IMAGE_MAGIC         "ZDRIVEFW"
#define IMAGE_REVISION      8
#define IMAGE_BLOCKS        16

/* Count field 1 after a piece, ACS-2 7.10.5 */
#define MORE_EXPECTED       0x01
#define WILL_BE_USED        0x02

static bool image_is_good(const uint8_t *image, uint32_t blocks)
{
    uint32_t sum = 0;
    uint32_t i;

    if (memcmp(image, IMAGE_MAGIC, strlen(IMAGE_MAGIC)) ||
        ldl_le_p(image + IMAGE_BLOCKS) != blocks) {
        return false;
    }
    for (i = 0; i < 8; i++) {
        if (!g_ascii_isprint(image[IMAGE_REVISION + i])) {
            return false;
        }
    }
    for (i = 0; i < blocks * ZD_SECTOR_SIZE; i += 4) {
        sum += ldl_le_p(image + i);
    }
    return sum == 0;
}

void zd_ata_microcode_forget(ZdSsd *ssd)
{
    g_free(ssd->image);
    ssd->image = NULL;
    ssd->image_len = 0;
}

void zd_ata_microcode_reset(ZdSsd *ssd)
{
    zd_ata_microcode_forget(ssd);
    if (ssd->new_firmware[0]) {
        memcpy(ssd->firmware, ssd->new_firmware, sizeof(ssd->firmware));
        ssd->new_firmware[0] = 0;
    }
}

/* All that was announced is there. */
static void finish(ZdSsd *ssd, ZdRequest *req)
{
    bool good = image_is_good(ssd->image, ssd->image_len / ZD_SECTOR_SIZE);

    if (good) {
        memcpy(ssd->new_firmware, ssd->image + IMAGE_REVISION, 8);
        ssd->new_firmware[8] = 0;
        g_strchomp(ssd->new_firmware);
        req->d2h[FIS_COUNT] = WILL_BE_USED;
    }
    zd_ata_microcode_forget(ssd);
    if (good) {
        zd_ata_good_later(req);
    } else {
        zd_ata_abort_command(req);
    }
}

void zd_ata_microcode(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint8_t mode = req->fis[FIS_FEATURES];
    uint32_t blocks = req->fis[FIS_COUNT] | req->fis[FIS_LBA_LOW] << 8;
    uint32_t offset = req->fis[FIS_LBA_MID] | req->fis[FIS_LBA_HIGH] << 8;
    uint32_t have = ssd->image_len / ZD_SECTOR_SIZE;
    uint32_t want;

    if (mode == DOWNLOAD_WHOLE || offset == 0) {
        zd_ata_microcode_forget(ssd);
        have = 0;
    }
    if ((mode != DOWNLOAD_WHOLE && mode != DOWNLOAD_OFFSETS) ||
        (mode == DOWNLOAD_OFFSETS && offset != have) ||
        blocks == 0 || blocks > ATA_IMAGE_BLOCKS - have) {
        zd_ata_microcode_forget(ssd);
        zd_ata_abort_command(req);
        return;
    }
    if (!zd_ata_data_out(req, blocks * ZD_SECTOR_SIZE)) {
        zd_ata_microcode_forget(ssd);
        return;
    }
    ssd->image = g_realloc(ssd->image, (have + blocks) * ZD_SECTOR_SIZE);
    memcpy(ssd->image + ssd->image_len, req->buffer, blocks * ZD_SECTOR_SIZE);
    ssd->image_len += blocks * ZD_SECTOR_SIZE;

    want = ldl_le_p(ssd->image + IMAGE_BLOCKS);
    if (mode == DOWNLOAD_OFFSETS && want <= ATA_IMAGE_BLOCKS &&
        have + blocks < want) {
        req->d2h[FIS_COUNT] = MORE_EXPECTED;
        zd_ata_good_later(req);
    } else {
        finish(ssd, req);
    }
}
