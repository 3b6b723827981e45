/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SSD profile of the SandForce SF-1222 (RevoDrive and X2), firmware 1.20.
 *
 * real-cards.md 2.4: SATA 2.6 at 3 Gb/s, ATA8-ACS revision 6, no APM, SCT
 * 003Dh, offline capabilities 7Fh, no attributes 201, 204 and 230, constant
 * temperature.  Inferred: that the SSD takes TRIM (the SiI3124's driver does
 * not pass it on), self-test times, logs and attribute values as in sf2282.c.
 */
#include "internal.h"

static const ZdSmartAttr sf1222_smart[] = {
    { 1, ZD_SMART_POSR, 120, 120, 50, 0, ZD_SMART_FIXED },
    { 5, ZD_SMART_POCK, 100, 100, 3, 0, ZD_SMART_RETIRED },
    { 9, ZD_SMART_OCK, 100, 100, 0, 0, ZD_SMART_POWER_ON_TIME },
    { 12, ZD_SMART_OCK, 100, 100, 0, 0, ZD_SMART_POWER_CYCLES },
    { 171, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_PROGRAM_FAILS },
    { 172, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_ERASE_FAILS },
    { 174, ZD_SMART_CK, 0, 0, 0, 0, ZD_SMART_UNSAFE_OFF },
    { 177, 0, 0, 0, 0, 0, ZD_SMART_WEAR_RANGE },
    { 181, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_PROGRAM_FAILS },
    { 182, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_ERASE_FAILS },
    { 187, ZD_SMART_OCK, 100, 100, 0, 0, ZD_SMART_UNCORRECTABLE },
    /* no sensor: raw is printed as 99 (0 127 0 129 0) */
    { 194, ZD_SMART_OK, 99, 129, 0, 0x0081007f0063ULL,
      ZD_SMART_FIXED },
    { 195, ZD_SMART_SRC, 120, 120, 0, 0, ZD_SMART_FIXED },
    { 196, ZD_SMART_POCK, 100, 100, 3, 0, ZD_SMART_RETIRED },
    { 231, ZD_SMART_POC, 100, 100, 10, 0, ZD_SMART_LIFE_LEFT },
    { 233, 0, 0, 0, 0, 0, ZD_SMART_NAND_WRITTEN_GIB },
    { 234, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_WRITTEN_GIB },
    { 241, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_WRITTEN_GIB },
    { 242, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_READ_GIB },
    { 0 }
};

const ZdSsdProfile zd_profile_sf1222 = {
    .name = "sf1222",
    .sata_gen = 2,
    .major_version = 0x01f0,
    .minor_version = 0x0028,
    .apm = false,
    .trim = true,
    .trim_deterministic = false,
    .supercap = false,
    .sct = 0x003d,
    .offline_caps = 0x7f,
    .selftest_short_min = 1,
    .selftest_ext_min = 48,
    .selftest_conv_min = 2,
    .smart = sf1222_smart,
    .logs = zd_logs_sf2000,
};
