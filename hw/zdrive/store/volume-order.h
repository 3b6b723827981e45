/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Volume order: where the bytes of each SSD lie in one image for the whole
 * card.  RAID-0 with 64 KiB chunks, as the card's option ROM and
 * "mdadm --build --level=0 --chunk=64" see the SSDs (real-cards.md 2.7); what
 * is left of each SSD after its last full chunk follows behind the last
 * stripe, SSD after SSD, so that the image holds every sector.
 *
 * Arithmetic only, so that the tests need no QEMU.
 */
#ifndef ZDRIVE_STORE_VOLUME_ORDER_H
#define ZDRIVE_STORE_VOLUME_ORDER_H

#include <stdint.h>

#define ZD_VOLUME_CHUNK     65536

static inline uint64_t zd_volume_bytes(unsigned members, uint64_t member_bytes)
{
    return members * member_bytes;
}

/*
 * Place in the volume of byte @offset of SSD @member; @offset is less than
 * @member_bytes.  *@run: from there on, so many bytes lie side by side in both.
 */
static inline uint64_t zd_volume_map(unsigned members, unsigned member,
                                     uint64_t member_bytes, uint64_t offset,
                                     uint64_t *run)
{
    uint64_t chunks = member_bytes / ZD_VOLUME_CHUNK;
    uint64_t tail = member_bytes % ZD_VOLUME_CHUNK;
    uint64_t chunk = offset / ZD_VOLUME_CHUNK;
    uint64_t within = offset % ZD_VOLUME_CHUNK;

    if (members == 1) {
        *run = member_bytes - offset;
        return offset;
    }
    if (chunk < chunks) {
        *run = ZD_VOLUME_CHUNK - within;
        return (chunk * members + member) * ZD_VOLUME_CHUNK + within;
    }
    *run = tail - within;
    return chunks * members * ZD_VOLUME_CHUNK + member * tail + within;
}

#endif
