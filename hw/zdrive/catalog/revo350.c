/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SSD profile of the RevoDrive 350 (SF-2282, firmware 2.50).
 *
 * real-cards.md 2.4 gives its differences from firmware 2.25: flags of 1, 171,
 * 181 and 187, ATA-8, TRIM that is not deterministic, self-test times, SCT
 * 0025h, and the device statistics log.  Inferred: all else is as in sf2282.c.
 */
#include "internal.h"

#define SMART_READ_ERRORS   ZD_SMART_POCK
#define SMART_FAILURES      (ZD_SMART_O | ZD_SMART_R)
#define SMART_REPORTED      (ZD_SMART_O | ZD_SMART_C)

static const ZdSmartAttr revo350_smart[] = {
#include "smart-sandforce.h.inc"
    { 0 }
};

/* Inferred: eight pages, as many as ACS-3 has of them. */
static const ZdLogEntry revo350_logs[] = {
    { 0x04, 8, 8 },             /* device statistics */
#include "logs-2-25.h.inc"
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
