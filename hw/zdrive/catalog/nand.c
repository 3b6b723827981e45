/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NAND parts of the family.
 *
 * Beside each value: unit; where it is from; "data sheet", "measured" (by
 * someone, on the part) or "fitted" (to ../shared/targets/published.csv).
 * flash-science.md A.4 lists the data sheets, real-cards.md 6.3 which card has
 * which part.  Where a data sheet gives a mean tPROG only, lower and upper
 * pages have the ratio 1:2.7 that FEMU measured on a sibling (L95B).
 */
#include "internal.h"

/* Intel 29F32G08AAMDB and siblings, 34 nm MLC, ONFI 1 (RevoDrive, X2). */
const ZdFlashNand zd_nand_imft34 = {
    .name = "IMFT 34 nm MLC 32 Gb",
    .page_bytes = 4096,         /* B; real-cards.md 6.3 [unverified] */
    .spare_bytes = 224,         /* B; SLC sibling of A.4; data sheet */
    .pages_per_block = 256,     /* as its 25 nm successor; fitted */
    .planes = 2,                /* as its 25 nm successor; data sheet */
    .die_gib = 4,               /* GiB; 4 GB package; data sheet */
    .bus_mbps = 40,             /* MB/s; ONFI 1 mode 4, 25 ns; data sheet */
    .read_ns = 50000,           /* ns; tR of the class; data sheet */
    .prog_lower_ns = 490000,    /* ns; 900 us mean, 1:2.7; data sheet */
    .prog_upper_ns = 1310000,
    .erase_ns = 2000000,        /* ns; data sheet of the class */
    .endurance = 5000,          /* cycles; real-cards.md 6.3; data sheet */
};

/* Micron L74A 64 Gb, 25 nm MLC, asynchronous bus (RevoDrive 3, X2). */
const ZdFlashNand zd_nand_l74a_async = {
    .name = "IMFT 25 nm MLC 64 Gb async",
    .page_bytes = 8192,         /* B; A.4; data sheet */
    .spare_bytes = 448,         /* B; A.4; data sheet */
    .pages_per_block = 256,     /* A.4; data sheet */
    .planes = 2,                /* A.4; data sheet */
    .die_gib = 8,               /* GiB; A.4; data sheet */
    .bus_mbps = 50,             /* MB/s; A.4, async mode 5; data sheet */
    .read_ns = 65000,           /* ns; 75 us max (A.4), 50-75 (6.3) */
    .prog_lower_ns = 700000,    /* ns; A.4, 1,300 us typ, 1:2.7; data sheet */
    .prog_upper_ns = 1900000,
    .erase_ns = 3800000,        /* ns; A.4, typ; data sheet */
    .endurance = 3000,          /* cycles; A.4; data sheet */
};

/* The same die with its synchronous bus (Z-Drive R4). */
const ZdFlashNand zd_nand_l74a_sync = {
    .name = "IMFT 25 nm MLC 64 Gb sync",
    .page_bytes = 8192,
    .spare_bytes = 448,
    .pages_per_block = 256,
    .planes = 2,
    .die_gib = 8,
    .bus_mbps = 200,            /* MB/s; A.4, ONFI 2.2 mode 5; data sheet */
    .read_ns = 65000,           /* the rest as above */
    .prog_lower_ns = 700000,
    .prog_upper_ns = 1900000,
    .erase_ns = 3800000,
    .endurance = 3000,
};

/* Toshiba TC58TEG6DDK 64 Gb, 19 nm MLC, Toggle DDR 1.0 (RevoDrive 350). */
const ZdFlashNand zd_nand_toshiba19 = {
    .name = "Toshiba 19 nm MLC 64 Gb toggle",
    .page_bytes = 16384,        /* B; real-cards.md 6.3; data sheet */
    .spare_bytes = 1280,        /* B; real-cards.md 6.3; data sheet */
    .pages_per_block = 256,     /* real-cards.md 6.3; data sheet */
    .planes = 2,                /* as the class; data sheet */
    .die_gib = 8,               /* GiB; real-cards.md 6.3; data sheet */
    .bus_mbps = 133,            /* MB/s; A.4 [mem]; slowest of 133-400 */
    .read_ns = 65000,           /* ns; 50-75 us (6.3) */
    .prog_lower_ns = 750000,    /* ns; A.4, 1.4 ms mean [mem], 1:2.7 */
    .prog_upper_ns = 2050000,
    .erase_ns = 5000000,        /* ns; A.4 [mem] */
    .endurance = 3000,          /* cycles; not found, as the 25 nm part */
};
