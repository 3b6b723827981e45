/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SSD profile of the SandForce SF-2582 with enterprise firmware (RM cards): the
 * silicon of the SF-2282 beside a super capacitor (real-cards.md 6.1).  No dump
 * of one was found, so everything but attribute 235 is inferred from the client
 * profile in sf2282.c; see there for sources.
 */
#include "internal.h"

static const ZdSmartAttr sf2582_smart[] = {
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
    /*
     * SuperCap_Health: the name and that RM cards have it are seen (2.3).
     * No dump shows its numbers: flags of the other reserve attributes (5,
     * 196) and a full 100 over threshold 10 (that of 231) are inferred.
     */
    { 235, ZD_SMART_POCK, 100, 100, 10, 0, ZD_SMART_CAPACITOR },
    { 241, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_WRITTEN_GIB },
    { 242, ZD_SMART_OCK, 0, 0, 0, 0, ZD_SMART_HOST_READ_GIB },
    { 0 }
};

const ZdSsdProfile zd_profile_sf2582 = {
    .name = "sf2582",
    .sata_gen = 3,
    .major_version = 0x01e0,
    .minor_version = 0x0110,
    .apm = true,
    .trim = true,
    .trim_deterministic = true,
    .supercap = true,
    .sct = 0x0021,
    .offline_caps = 0x7b,
    .selftest_short_min = 1,
    .selftest_ext_min = 48,
    .selftest_conv_min = 2,
    .smart = sf2582_smart,
    .logs = zd_logs_sf2000,
};
