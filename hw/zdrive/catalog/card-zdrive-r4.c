/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Card parameters of the Z-Drive R4 (88SE9485).
 *
 * Beside each value: unit; source; "data sheet", "measured" or "fitted".
 */
#include "internal.h"

const ZdFlashCardParams zd_card_zdrive_r4 = {
    .name = "zdrive-r4",
    .lanes = 8,                 /* real-cards.md 1.2, 1.4; measured */
    .lane_mbps = 500,           /* MB/s; PCIe 2.x after 8b/10b; data sheet */
    .payload_bytes = 128,       /* B; negotiated in 1.2; measured */
    /* B; header, LCRC, framing, DLLPs; data sheet */
    .packet_bytes = 28,
    .half_duplex = false,       /* full duplex */
    /* MB/s; rm88 and cm88 2 MiB reads, 2,883 and 2,950; fitted */
    .read_mbps = 2880,
    /* MB/s; cm88 and rm88 2 MiB writes, 2,520 to 2,800; fitted */
    .write_mbps = 2650,
    .read_ns = 2350,            /* ns; r4cm88-randread-rated, 410K/s; fitted */
    .write_ns = 3335,           /* ns; 275K/s rated, 297K/s measured; fitted */
    /* ns; one DMA round trip and the phy; assumed */
    .latency_ns = 2000,
};
