/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SSD profile of the RevoDrive 350 (SF-2282, firmware 2.50).
 *
 * real-cards.md 2.4 gives its differences from firmware 2.25: flags of 1, 171,
 * 181 and 187, ATA-8, TRIM that is not deterministic, self-test times, SCT
 * 0025h, and the device statistics log.  Inferred: all else is as in sf2282.c.
 */
#include "internal.h"

static const ZdSmartAttr revo350_smart[] = {
    { 1, ZD_SMART_POCK, 120, 120, 50, 0, ZD_SMART_FIXED },
    { 5, ZD_SMART_POCK, 100, 100, 3, 0, ZD_SMART_RETIRED },
    { 9, ZD_SMART_OCK, 100, 100, 0, 0, ZD_SMART_POWER_ON_TIME },
    { 12, ZD_SMART_OCK, 100, 100, 0, 0, ZD_SMART_POWER_CYCLES },
    { 171, ZD_SMART_O | ZD_SMART_R, 0, 0, 0, 0, ZD_SMART_PROGRAM_FAILS },
    { 172, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_ERASE_FAILS },
    { 174, ZD_SMART_CK, 0, 0, 0, 0, ZD_SMART_UNSAFE_OFF },
    { 177, 0, 0, 0, 0, 0, ZD_SMART_WEAR_RANGE },
    { 181, ZD_SMART_O | ZD_SMART_R, 0, 0, 0, 0, ZD_SMART_PROGRAM_FAILS },
    { 182, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_ERASE_FAILS },
    { 187, ZD_SMART_O | ZD_SMART_C, 100, 100, 0, 0, ZD_SMART_UNCORRECTABLE },
    /* current, lowest and highest temperature in three 16-bit words */
    { 194, ZD_SMART_OK, 30, 30, 0, 0x001e001e001eULL,
      ZD_SMART_TEMPERATURE },
    { 195, ZD_SMART_SRC, 120, 120, 0, 0, ZD_SMART_FIXED },
    { 196, ZD_SMART_POCK, 100, 100, 3, 0, ZD_SMART_RETIRED },
    { 201, ZD_SMART_SRC, 120, 120, 0, 0, ZD_SMART_SOFT_ERRORS },
    { 204, ZD_SMART_SRC, 120, 120, 0, 0, ZD_SMART_FIXED },
    { 230, ZD_SMART_POC, 100, 100, 0, 100, ZD_SMART_LIFE_CURVE },
    { 231, ZD_SMART_POC, 100, 100, 10, 0, ZD_SMART_LIFE_LEFT },
    { 233, 0, 0, 0, 0, 0, ZD_SMART_NAND_WRITTEN_GIB },
    { 234, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_WRITTEN_GIB },
    { 241, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_WRITTEN_GIB },
    { 242, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_READ_GIB },
    { 0 }
};

/* As firmware 2.25, and 0x04. */
static const ZdLogEntry revo350_logs[] = {
    { 0x04, 8, 8 },             /* device statistics */
    { 0x07, 1, 0 },
    { 0x09, 0, 1 },
    { 0x10, 1, 0 },
    { 0x11, 1, 0 },
    /* host specific */
    { 0x80, 16, 16 }, { 0x81, 16, 16 }, { 0x82, 16, 16 }, { 0x83, 16, 16 },
    { 0x84, 16, 16 }, { 0x85, 16, 16 }, { 0x86, 16, 16 }, { 0x87, 16, 16 },
    { 0x88, 16, 16 }, { 0x89, 16, 16 }, { 0x8a, 16, 16 }, { 0x8b, 16, 16 },
    { 0x8c, 16, 16 }, { 0x8d, 16, 16 }, { 0x8e, 16, 16 }, { 0x8f, 16, 16 },
    { 0x90, 16, 16 }, { 0x91, 16, 16 }, { 0x92, 16, 16 }, { 0x93, 16, 16 },
    { 0x94, 16, 16 }, { 0x95, 16, 16 }, { 0x96, 16, 16 }, { 0x97, 16, 16 },
    { 0x98, 16, 16 }, { 0x99, 16, 16 }, { 0x9a, 16, 16 }, { 0x9b, 16, 16 },
    { 0x9c, 16, 16 }, { 0x9d, 16, 16 }, { 0x9e, 16, 16 }, { 0x9f, 16, 16 },
    { 0xb7, 16, 16 },           /* vendor specific */
    { 0xe0, 1, 1 },             /* SCT command and status */
    { 0xe1, 1, 1 },             /* SCT data transfer */
    { 0 }
};

const ZdSsdProfile zd_profile_revo350 = {
    .name = "revo350",
    .sata_gen = 3,
    .major_version = 0x01e0,
    .minor_version = 0x0110,
    .apm = true,
    .trim = true,
    .trim_deterministic = false,
    .supercap = false,
    .sct = 0x0025,
    .offline_caps = 0x79,
    .selftest_short_min = 1,
    .selftest_ext_min = 36,
    .selftest_conv_min = 2,
    .smart = revo350_smart,
    .logs = revo350_logs,
};
