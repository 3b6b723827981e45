/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Card parameters of the RevoDrive (SiI3124 behind a PI7C9X130).
 *
 * Beside each value: unit; source; "data sheet", "measured" or "fitted".
 */
#include "internal.h"

const ZdFlashCardParams zd_card_revodrive = {
    .name = "revodrive",
    .lanes = 4,                 /* real-cards.md 1.2, 1.4; measured */
    .lane_mbps = 250,           /* MB/s; PCIe 1.1 after 8b/10b; data sheet */
    .payload_bytes = 128,       /* B; negotiated in 1.2; measured */
    /* B; header, LCRC, framing, DLLPs; data sheet */
    .packet_bytes = 28,
    .half_duplex = true,        /* PCI-X behind the bridge; data sheet */
    .read_mbps = 745,           /* MB/s; as the X2; assumed */
    .write_mbps = 725,          /* MB/s; as the X2; assumed */
    /* ns; one register write and a PRB fetch; assumed */
    .read_ns = 3000,
    .write_ns = 3000,           /* ns; as reads; assumed */
    /* ns; one DMA round trip and the phy; assumed */
    .latency_ns = 4000,
};
