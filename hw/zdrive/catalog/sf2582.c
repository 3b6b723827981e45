/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SSD profile of the SandForce SF-2582 with enterprise firmware (RM cards): the
 * silicon of the SF-2282 beside a super capacitor (real-cards.md 6.1).  No dump
 * of one was found, so everything but attribute 235 is inferred from the client
 * profile in sf2282.c; see there for sources.
 */
#include "internal.h"

#define SMART_SUPERCAP

static const ZdSmartAttr sf2582_smart[] = {
#include "smart-sandforce.h.inc"
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
