/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Card parameters of the RevoDrive 350 (88SE9485).
 *
 * Beside each value: unit; source; "data sheet", "measured" or "fitted".
 */
#include "internal.h"

const ZdFlashCardParams zd_card_revodrive350 = {
    .name = "revodrive350",
    .lanes = 8,                 /* real-cards.md 1.2, 1.4; measured */
    .lane_mbps = 500,           /* MB/s; PCIe 2.x after 8b/10b; data sheet */
    .payload_bytes = 128,       /* B; negotiated in 1.2; measured */
    /* B; header, LCRC, framing, DLLPs; data sheet */
    .packet_bytes = 28,
    .half_duplex = false,       /* full duplex */
    .read_mbps = 2880,          /* MB/s; bridge as on the Z-Drive R4; assumed */
    .write_mbps = 2650,         /* MB/s; bridge as on the Z-Drive R4; assumed */
    .read_ns = 2350,            /* ns; bridge as on the Z-Drive R4; assumed */
    .write_ns = 3335,           /* ns; bridge as on the Z-Drive R4; assumed */
    /* ns; one DMA round trip and the phy; assumed */
    .latency_ns = 2000,
};
