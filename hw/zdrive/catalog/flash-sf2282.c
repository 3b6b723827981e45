/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flash parameters of the SF-2282 with 25 nm synchronous NAND (Z-Drive R4 CM).
 *
 * Beside each value: unit; where it is from; "data sheet", "measured" or
 * "fitted" (to the calibration rows of published.csv).  Sections A are those of
 * flash-science.md, numbers those of real-cards.md.
 */
#include "internal.h"

const ZdFlashParams zd_flash_sf2282 = {
    .name = "sf2282",
    .nand = &zd_nand_l74a_sync,

    .link_mbps = 600,           /* MB/s; SATA 6 Gb/s after 8b/10b; data sheet */
    .fis_bytes = 8192,          /* B; SATA, largest data FIS; data sheet */
    .fis_ns = 600,              /* ns; primitives around it; data sheet */
    .link_command_ns = 1200,    /* ns; three short FISes; data sheet */

    .read_ns = 16700,           /* ns; A.3: 60K reads/s; data sheet */
    /* ns; 40K/s: 160K rated for four SSDs; data sheet */
    .write_ns = 25000,
    .read_latency_ns = 8000,    /* ns; firmware pipeline; fitted */
    .write_latency_ns = 12000,  /* ns; firmware pipeline; fitted */
    .read_mbps = 475,           /* MB/s; A.3: 500; fitted */
    .write_mbps = 470,          /* MB/s; A.3: 500; fitted */
    /* ns; 402 -> 182 MB/s after torture (A.3); fitted */
    .run_ns = 22400,
    /* ns; steady random reads of the RevoDrive 350; fitted */
    .map_load_ns = 4700,
    /* parts; 256 KiB of SRAM for the map; assumed */
    .map_cached = 64,
    /* runs in 4 MiB: 64 KiB each on average; assumed */
    .map_runs = 64,
    /* ns; A.3: sustained 20K/s; fitted to the RevoDrive 350 */
    .collect_write_ns = 21500,

    .buffer_bytes = 640 * 1024, /* B; a program on each die and some; assumed */
    .buffer_idle_ns = 2000000,  /* ns; assumed */

    /* MB/s; r4cm88-asssd-write, 200 to 214 MB/s per SSD (6.3); fitted */
    .store_mbps = 220,
    /* MB/s; 6.3 and AnandTech, as SF-1222 scaled; fitted */
    .scan_mbps = 200,

    .floor_ppm = 140000,        /* 1e-6; A.3, 0.1399; measured */

    .channels = 8,              /* A.3; data sheet */
    /* 1e-6; 256 GiB per 200 GB (3.2, 27 % spare); measured */
    .raw_ppm = 1374000,
    /* dies; 6.1: RAISE, but small drives may run without it */
    .raise_dies = 8,
    .reserve_ppm = 8000,        /* 1e-6; map, journal, bad blocks; assumed */
    .factory_bad_ppm = 2000,    /* 1e-6; of at most 2 %; data sheet */
    .wear_delta = 50,           /* cycles; assumed */
    .idle_collect = true,       /* 6.1, "foreground mostly" */
    .idle_after_ns = 500000000, /* ns; assumed */
    .life_throttle = false,     /* 6.1: only when the vendor sets it */
    .life_years = 5,            /* years; 6.1: 0, 1, 3 or 5 */
};
