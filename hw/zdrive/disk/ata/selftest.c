/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SMART off-line and self-tests (ACS-2 7.48.5) and the extended self-test log.
 *
 * A test takes its time in QEMU_CLOCK_VIRTUAL and always passes.  It needs no
 * timer: whoever looks at its result first finds that it has ended.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/timer.h"
#include "ata-internal.h"

enum {
    TEST_OFFLINE    = 0x00,
    TEST_SHORT      = 0x01,
    TEST_EXTENDED   = 0x02,
    TEST_CONVEYANCE = 0x03,
    TEST_SELECTIVE  = 0x04,
    TEST_ABORT      = 0x7f,
    TEST_CAPTIVE    = 0x80,         /* added to one of the above */
};

/* SMART data byte 367 */
enum {
    CAP_OFFLINE     = 0x01,
    CAP_SELFTEST    = 0x10,
    CAP_CONVEYANCE  = 0x20,
    CAP_SELECTIVE   = 0x40,
};

#define STATUS_PASSED       0x00
#define STATUS_ABORTED      0x10
#define STATUS_RUNNING      0xf0

/* Tenths that are left, 0 to 9 */
static uint8_t tenths_left(const ZdSsd *ssd, int64_t now)
{
    int64_t total = ssd->selftest_end_ns - ssd->selftest_start_ns;
    int64_t left = ssd->selftest_end_ns - now;

    if (total <= 0 || left <= 0) {
        return 0;
    }
    return MIN(left / (total / 10 + 1), 9);
}

static void log_result(ZdSsd *ssd, uint8_t status, int64_t end_ns)
{
    int64_t ago = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - end_ns;

    ssd->selftest_last = ssd->selftest_last % ATA_SELFTEST_ENTRIES + 1;
    ssd->selftest_log[ssd->selftest_last - 1] = (ZdSelftest) {
        .number = ssd->selftest,
        .status = status,
        .hours = (zd_ata_power_on_ms(ssd) - ago / SCALE_MS) / 3600000,
    };
    ssd->selftest_status = status;
    ssd->selftest = 0;
}

/* Let a test that is over be over. */
static void selftest_update(ZdSsd *ssd)
{
    if (ssd->selftest && qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) >=
                         ssd->selftest_end_ns) {
        log_result(ssd, STATUS_PASSED, ssd->selftest_end_ns);
    }
}

void zd_ata_selftest_stop(ZdSsd *ssd, uint8_t status)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    selftest_update(ssd);
    if (ssd->selftest) {
        log_result(ssd, status | tenths_left(ssd, now), now);
    }
}

uint8_t zd_ata_selftest_status(ZdSsd *ssd)
{
    selftest_update(ssd);
    if (ssd->selftest) {
        return STATUS_RUNNING |
               tenths_left(ssd, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
    }
    return ssd->selftest_status;
}

/* ACS-2 A.11: one page, 19 descriptors of 26 bytes */
void zd_ata_selftest_page(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE])
{
    unsigned i;

    selftest_update(ssd);
    page[0] = 1;                        /* version */
    stw_le_p(page + 2, ssd->selftest_last);
    for (i = 0; i < ATA_SELFTEST_ENTRIES; i++) {
        const ZdSelftest *test = &ssd->selftest_log[i];
        uint8_t *p = page + 4 + 26 * i;

        p[0] = test->number;
        p[1] = test->status;
        stw_le_p(p + 2, test->hours);
    }
    zd_ata_checksum(page);
}

/*
 * ACS-2 A.13: what a host has written, and where a running test is; spans
 * count as tested from their start as one.
 */
void zd_ata_selective_page(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE])
{
    selftest_update(ssd);
    memcpy(page, ssd->selective, ZD_SECTOR_SIZE);
    stw_le_p(page, 1);                  /* revision */
    if (ssd->selftest == TEST_SELECTIVE) {
        memcpy(page + 492, page + 2, 8);        /* current LBA */
        stw_le_p(page + 500, 1);                /* current span */
    }
    zd_ata_checksum(page);
}

/* Minutes, or -1 for a test that the firmware does not have */
static int test_minutes(const ZdSsd *ssd, uint8_t test)
{
    const ZdSsdProfile *profile = ssd->profile;
    uint8_t caps = profile->offline_caps;

    switch (test) {
    case TEST_SHORT:
        return caps & CAP_SELFTEST ? profile->selftest_short_min : -1;
    case TEST_EXTENDED:
        return caps & CAP_SELFTEST ? profile->selftest_ext_min : -1;
    case TEST_CONVEYANCE:
        return caps & CAP_CONVEYANCE ? profile->selftest_conv_min : -1;
    case TEST_SELECTIVE:
        return caps & CAP_SELECTIVE ? profile->selftest_short_min : -1;
    default:
        return -1;
    }
}

void zd_ata_offline_immediate(ZdSsd *ssd, ZdRequest *req,
                              const ZdAtaCommand *cmd)
{
    uint8_t code = req->fis[FIS_LBA_LOW];
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    int minutes;

    if (code == TEST_OFFLINE && (ssd->profile->offline_caps & CAP_OFFLINE)) {
        ssd->offline_status = 0x02;     /* completed, takes 0 seconds */
        zd_ata_good_later(req);
        return;
    }
    if (code == TEST_ABORT) {
        zd_ata_selftest_stop(ssd, STATUS_ABORTED);
        zd_ata_good_later(req);
        return;
    }
    minutes = test_minutes(ssd, code & ~TEST_CAPTIVE);
    if (minutes < 0) {
        zd_ata_abort_command(req);
        return;
    }
    zd_ata_selftest_stop(ssd, STATUS_ABORTED);
    ssd->selftest = code;
    ssd->selftest_start_ns = now;
    ssd->selftest_end_ns = now + minutes * 60 * NANOSECONDS_PER_SECOND;
    if (code & TEST_CAPTIVE) {
        /*
         * In captive mode the command ends with the test.  Drivers give up
         * long before; this test takes no time instead.
         */
        ssd->selftest_end_ns = now;
        selftest_update(ssd);
        /* ACS-2 table 136: passed */
        req->d2h[FIS_LBA_MID] = 0x4f;
        req->d2h[FIS_LBA_HIGH] = 0xc2;
    }
    zd_ata_good_later(req);
}
