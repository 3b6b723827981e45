/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flash parameters of the SF-1222 with 34 nm NAND (RevoDrive, RevoDrive X2).
 *
 * Beside each value: unit; where it is from; "data sheet", "measured" or
 * "fitted" (to the calibration rows of published.csv).  Sections A are those of
 * flash-science.md, numbers those of real-cards.md.
 */
#include "internal.h"

const ZdFlashParams zd_flash_sf1222 = {
    .name = "sf1222",
    .nand = &zd_nand_imft34,

    .link_mbps = 300,           /* MB/s; SATA 3 Gb/s after 8b/10b; data sheet */
    .fis_bytes = 8192,          /* B; SATA, largest data FIS; data sheet */
    .fis_ns = 600,              /* ns; primitives around it; data sheet */
    .link_command_ns = 1200,    /* ns; three short FISes; data sheet */

    .read_ns = 20000,           /* ns; 50K reads/s, class figure; assumed */
    .write_ns = 24600,          /* ns; revo-randwrite-qd32; fitted */
    .read_latency_ns = 8000,    /* ns; firmware pipeline; fitted */
    .write_latency_ns = 12000,  /* ns; firmware pipeline; fitted */
    .read_mbps = 268,           /* MB/s; revo-seqread-rated; fitted */
    .write_mbps = 262,          /* MB/s; 6.1 class figure; fitted */
    /* ns; 251 -> 151 MB/s after torture (A.3); fitted */
    .run_ns = 28000,
    .map_load_ns = 4700,        /* ns; as SF-2000; assumed */
    /* parts; 256 KiB of SRAM for the map; assumed */
    .map_cached = 64,
    /* runs in 4 MiB: 64 KiB each on average; assumed */
    .map_runs = 64,
    /* ns; OCZ's firmware has no cap (A.3 is SF-2000); assumed */
    .collect_write_ns = 0,

    .buffer_bytes = 512 * 1024, /* B; a program on each die and some; assumed */
    .buffer_idle_ns = 2000000,  /* ns; assumed */

    /* MB/s; AnandTech, 131.7 MB/s incompressible (5); measured */
    .store_mbps = 135,
    /* MB/s; same, 70.3 dirty and 71 after TRIM (5); measured */
    .scan_mbps = 160,

    .floor_ppm = 140000,        /* 1e-6; A.3, 0.1399; measured */

    .channels = 8,              /* A.3; data sheet */
    .raw_ppm = 1145000,         /* 1e-6; 64 GiB per 60 GB; 1.4, 5; data sheet */
    /* dies; 6.1: RAISE, but small drives may run without it */
    .raise_dies = 16,
    .reserve_ppm = 8000,        /* 1e-6; map, journal, bad blocks; assumed */
    .factory_bad_ppm = 2000,    /* 1e-6; of at most 2 %; data sheet */
    .wear_delta = 50,           /* cycles; assumed */
    .idle_collect = false,      /* 6.1, "foreground mostly" */
    .idle_after_ns = 500000000, /* ns; assumed */
    .life_throttle = false,     /* 6.1: only when the vendor sets it */
    .life_years = 5,            /* years; 6.1: 0, 1, 3 or 5 */
};
