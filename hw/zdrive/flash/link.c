/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Serial ATA link.  It is half duplex for data: all commands in flight
 * share it in both directions.  A command costs its register, set-up and status
 * FISes, data the frames that carry it.
 */
#include "internal.h"

/*
 * 67 ms of 16 us: more than 32 commands of 512 KiB take.
 */
#define LINK_SLOTS      4096
#define LINK_SHIFT      14

void zd_sata_init(ZdFlash *f)
{
    const ZdFlashParams *p = f->p;

    if (!f->link.used) {
        zd_calendar_init(&f->link, LINK_SLOTS, LINK_SHIFT);
    } else {
        zd_calendar_clear(&f->link);
    }
    /* a frame's overhead is spread over the bytes that fill it */
    f->link_rate = zd_rate(p->link_mbps) +
                   ((uint64_t)p->fis_ns << 20) / p->fis_bytes;
    f->read_rate = zd_rate(p->read_mbps);
    f->write_rate = zd_rate(p->write_mbps);
}

/*
 * Data to the host.  The controller's data path feeds the link, so the slower
 * of the two paces it.
 */
int64_t zd_sata_read(ZdFlash *f, int64_t t, uint32_t bytes)
{
    return zd_calendar_take(&f->link, t,
                            zd_rate_ns(MAX(f->link_rate, f->read_rate),
                                       bytes));
}

/* Data from the host; @begin is when its first byte may have come. */
int64_t zd_sata_write(ZdFlash *f, int64_t t, uint32_t bytes, int64_t *begin)
{
    int64_t ns = zd_rate_ns(f->link_rate, bytes);
    int64_t end = zd_calendar_take(&f->link, t, ns);

    *begin = MAX(t, end - ns);
    return end;
}
