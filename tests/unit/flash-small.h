/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small SSD with round numbers for the tests of flash/: 8 dies on 4 channels,
 * superblocks of 512 KiB, no parity, nothing that wears out.
 */
#ifndef TEST_FLASH_SMALL_H
#define TEST_FLASH_SMALL_H

#include "hw/zdrive/flash/internal.h"

static const ZdFlashNand small_nand = {
    .name = "small",
    .page_bytes = 4096,
    .spare_bytes = 0,
    .pages_per_block = 8,
    .planes = 2,
    .die_gib = 1,
    .bus_mbps = 100,            /* 4 KiB in 40,960 ns */
    .read_ns = 50000,
    .prog_lower_ns = 500000,
    .prog_upper_ns = 1500000,
    .erase_ns = 3000000,
    .endurance = 1000000000,
};

static const ZdFlashParams small_params = {
    .name = "small",
    .nand = &small_nand,
    .link_mbps = 600,
    .fis_bytes = 8192,
    .fis_ns = 0,
    .link_command_ns = 1000,
    .read_ns = 10000,
    .write_ns = 20000,
    .read_mbps = 600,
    .write_mbps = 600,
    .run_ns = 10000,
    .map_load_ns = 5000,
    .map_cached = 4,
    .map_runs = 64,
    .buffer_bytes = 128 * 1024,
    .buffer_idle_ns = 2000000,
    .store_mbps = 1000,
    .scan_mbps = 1000,
    .floor_ppm = 140000,
    .channels = 4,
    .raw_ppm = 1280000,
    .wear_delta = 1000000000,
    .idle_after_ns = 500000000,
    .life_years = 5,
};

static const ZdFlashOptions small_options = { .dies = 8 };

static inline int64_t small_write(ZdFlash *f, uint64_t page, uint8_t class,
                                  int64_t now)
{
    ZdFlashCmd cmd = {
        .op = ZD_FLASH_WRITE,
        .lba = page * 8,
        .sectors = 8,
        .class_all = class,
    };

    return zd_flash_submit(f, &cmd, now);
}

static inline int64_t small_read(ZdFlash *f, uint64_t page, uint32_t pages,
                                 int64_t now)
{
    ZdFlashCmd cmd = {
        .op = ZD_FLASH_READ,
        .lba = page * 8,
        .sectors = pages * 8,
    };

    return zd_flash_submit(f, &cmd, now);
}

#endif
