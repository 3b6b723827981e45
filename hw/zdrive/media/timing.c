/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When: every command of the host goes through the bridge to the flash model
 * and back, at the moment at which it starts.  What the model reserves then
 * stays reserved, also when the command is cancelled later: a real controller
 * does not stop in the middle either.
 */
#include "qemu/osdep.h"
#include "internal.h"

/* When the bridge has passed a command on that the host gives it now. */
static int64_t forward(ZdMedia *media, ZdFlashOp op)
{
    return zd_flash_card_forward(media->bridge, op,
                                 qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
}

static int64_t submit(ZdMedia *media, ZdFlashCmd *cmd)
{
    int64_t at = forward(media, cmd->op);
    int64_t end;

    cmd->depth = media->busy;
    end = zd_flash_submit(media->flash, cmd, at);
    return zd_flash_card_finish(media->bridge, cmd->op,
                                (uint64_t)cmd->sectors * ZD_SECTOR_SIZE,
                                cmd->data_ns, end);
}

static int64_t time_read(ZdMedia *media, const ZdTiming *t)
{
    ZdFlashCmd cmd = {
        .op = ZD_FLASH_READ,
        .lba = t->lba,
        .sectors = t->sectors,
    };

    return submit(media, &cmd);
}

static int64_t time_write(ZdMedia *media, const ZdTiming *t)
{
    ZdFlashCmd cmd = {
        .op = ZD_FLASH_WRITE,
        .through = t->through,
        .lba = t->lba,
        .sectors = t->sectors,
        .programs = t->programs,
    };

    if (media->class_all >= 0) {
        cmd.class_all = media->class_all;
    } else {
        zd_classify(media->flash, t->iov, t->lba, t->sectors, media->classes);
        cmd.classes = media->classes;
    }
    return submit(media, &cmd);
}

/* As a read, but nothing crosses the bridge. */
static int64_t time_verify(ZdMedia *media, const ZdTiming *t)
{
    ZdFlashCmd cmd = {
        .op = ZD_FLASH_READ,
        .lba = t->lba,
        .sectors = t->sectors,
        .depth = media->busy,
    };

    return zd_flash_submit(media->flash, &cmd, forward(media, ZD_FLASH_READ));
}

static int64_t time_flush(ZdMedia *media, const ZdTiming *t)
{
    return zd_flash_flush(media->flash, forward(media, ZD_FLASH_WRITE));
}

static int64_t time_trim(ZdMedia *media, const ZdTiming *t)
{
    int64_t at = forward(media, ZD_FLASH_WRITE);
    int64_t end = at;

    for (unsigned i = 0; i < t->range_count; i++) {
        end = zd_flash_trim(media->flash, t->ranges[i].lba,
                            t->ranges[i].sectors, at);
    }
    return end;
}

static int64_t time_erase(ZdMedia *media, const ZdTiming *t)
{
    return zd_flash_secure_erase(media->flash,
                                 forward(media, ZD_FLASH_WRITE));
}

static int64_t time_short(ZdMedia *media, const ZdTiming *t)
{
    return zd_flash_short(media->flash, forward(media, ZD_FLASH_READ));
}

int64_t zd_timing(ZdMedia *media, const ZdTiming *t)
{
    static int64_t (*const table[])(ZdMedia *media, const ZdTiming *t) = {
        [ZD_MEDIA_SHORT] = time_short,
        [ZD_MEDIA_READ] = time_read,
        [ZD_MEDIA_WRITE] = time_write,
        [ZD_MEDIA_VERIFY] = time_verify,
        [ZD_MEDIA_FLUSH] = time_flush,
        [ZD_MEDIA_TRIM] = time_trim,
        [ZD_MEDIA_ERASE] = time_erase,
    };

    return media->flash ? table[t->kind](media, t) :
                          qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}
