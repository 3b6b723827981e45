/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SSD profile of the SandForce SF-2281 (RevoDrive 3, X2), firmware 2.25: the
 * one that was dumped (real-cards.md 2.4).  The Z-Drive R4's profile in
 * sf2282.c is inferred from it; the attributes are the same table.
 */
#include "internal.h"

const ZdSsdProfile zd_profile_sf2281 = {
    .name = "sf2281",
    .sata_gen = 3,
    .major_version = 0x01e0,
    .minor_version = 0x0110,
    .apm = true,
    .trim = true,
    .trim_deterministic = true,
    .supercap = false,
    .sct = 0x0021,
    .offline_caps = 0x7b,
    .selftest_short_min = 1,
    .selftest_ext_min = 48,
    .selftest_conv_min = 2,
    .smart = zd_smart_sf2000,
    .logs = zd_logs_sf2000,
};
