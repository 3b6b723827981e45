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

#define SMART_SF1200

static const ZdSmartAttr sf1222_smart[] = {
#include "smart-sandforce.h.inc"
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
