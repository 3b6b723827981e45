/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SSD profile of the SandForce SF-2282 with client firmware (CM cards).
 *
 * No public dump of a Z-Drive R4 member shows IDENTIFY or SMART data.  The
 * nearest sibling that was dumped is the RevoDrive 3 with firmware 2.25
 * (SF-2281; the same die in a smaller package, real-cards.md 6.1), so values
 * are those of real-cards.md 2.4 unless a comment says otherwise.
 * smartmontools calls the attributes of the Z-Drive R4 "bogus under Linux"
 * (2.3) without saying how; here they are the sibling's.
 */
#include "internal.h"

/*
 * Flags, and value/worst/threshold where 2.4 prints them, are seen.  Inferred:
 * attributes 9 and 12 start at 100 (seen around 090 and 099 on used cards);
 * 174, 177, 233, 234, 241 and 242 have the normalised value 0, as 171, 172,
 * 181 and 182 have; threshold 0 wherever 2.4 gives none; 195, 201 and 204
 * take 120 of the two values seen.
 */
const ZdSmartAttr zd_smart_sf2000[] = {
#include "smart-sandforce.h.inc"
    { 0 }
};

/*
 * Log directory of firmware 2.25, real-cards.md 2.4.  Which addresses exist,
 * and that 0x07 and 0x10 are for READ LOG EXT and 0x09 for SMART READ LOG, is
 * seen, as are the 16 sectors of 0x80-0x9f and 0xb7.  Inferred: one sector for
 * each of the others, all by both ways (for 0x11 a RevoDrive 3 X2 in the
 * linuxhw/SMART collection, 2FEC900950B9, shows GPL and SL).  Absent on the
 * real thing and therefore here: 0x03, 0x04, 0x08, 0x0c, 0x30.
 */
const ZdLogEntry zd_logs_sf2000[] = {
#include "logs-2-25.h.inc"
    { 0 }
};

/*
 * IDENTIFY words: smartctl prints "ATA8-ACS, ACS-2 revision 3" (2.4), so bit 8
 * is the highest of word 80 and word 81 is 0110h (ACS-2 table 30); that the
 * lower bits run down to bit 5 is inferred.  TRIM deterministic, APM, offline
 * capabilities 7Bh, 1/48/2 minutes, SCT 0021h: seen in 2.4.
 */
const ZdSsdProfile zd_profile_sf2282 = {
    .name = "sf2282",
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
