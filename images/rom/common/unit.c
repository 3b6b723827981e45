/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From sectors of a unit to commands of its SSDs: one chunk for each member at
 * a time, so that all of them work at once.
 */
#include "unit.h"

void unit_make(const Hba *h, uint8_t phys, Unit *unit)
{
    uint64_t least = 0;
    unsigned n;

    unit->members = 0;
    for (n = 0; n < HBA_PHYS; n++) {
        if (!(phys & (1u << n))) {
            continue;
        }
        if (!unit->members || h->phy[n].sectors < least) {
            least = h->phy[n].sectors;
        }
        unit->phy[unit->members++] = n;
    }
    if (unit->members == 1) {
        unit->sectors = least;
        return;
    }
    least &= ~(uint64_t)(UNIT_CHUNK - 1);
    unit->sectors = 0;
    for (n = 0; n < unit->members; n++) {
        unit->sectors += least;
    }
}

/* Where sector @lba is, and how many follow it there. */
static uint32_t locate(const Unit *unit, uint64_t lba, uint8_t *phy,
                       uint64_t *at)
{
    uint32_t offset = (uint32_t)lba & (UNIT_CHUNK - 1), member;
    uint64_t row;

    if (unit->members == 1) {
        *phy = unit->phy[0];
        *at = lba;
        return HBA_MAX_SECTORS;
    }
    row = hba_divide(lba / UNIT_CHUNK, unit->members, &member);
    *phy = unit->phy[member];
    *at = row * UNIT_CHUNK + offset;
    return UNIT_CHUNK - offset;
}

HbaResult unit_io(Hba *h, const Unit *unit, UnitIo *io)
{
    bool moves = io->command != ATA_READ_VERIFY_EXT;

    io->done = 0;
    while (io->done < io->count) {
        uint32_t piece[HBA_PHYS];
        uint8_t phy[HBA_PHYS], phys = 0;
        uint32_t issued = io->done;
        unsigned n, pieces = 0;

        while (issued < io->count && pieces < unit->members) {
            HbaCommand cmd = { .command = io->command };
            uint32_t left = io->count - issued, run;

            run = locate(unit, io->lba + issued, &phy[pieces], &cmd.lba);
            run = run < left ? run : left;
            piece[pieces] = run;
            cmd.count = (uint16_t)run;
            cmd.address = io->address + (uint64_t)issued * HBA_SECTOR;
            cmd.bytes = moves ? run * HBA_SECTOR : 0;
            hba_issue(h, phy[pieces], &cmd);
            phys |= 1u << phy[pieces];
            issued += run;
            pieces++;
        }
        hba_wait(h, phys, HBA_TIMEOUT_MS);
        for (n = 0; n < pieces; n++) {
            if (h->phy[phy[n]].result != HBA_OK) {
                io->phy = phy[n];
                return h->phy[phy[n]].result;
            }
            io->done += piece[n];
        }
    }
    return HBA_OK;
}

HbaResult unit_flush(Hba *h, const Unit *unit)
{
    const HbaCommand flush = { .command = ATA_FLUSH_EXT };
    HbaResult result = HBA_OK;
    uint8_t phys = 0;
    unsigned n;

    for (n = 0; n < unit->members; n++) {
        hba_issue(h, unit->phy[n], &flush);
        phys |= 1u << unit->phy[n];
    }
    /* a cache that is full takes longer than one command */
    hba_wait(h, phys, 2 * HBA_TIMEOUT_MS);
    for (n = 0; n < unit->members; n++) {
        if (h->phy[unit->phy[n]].result != HBA_OK) {
            result = h->phy[unit->phy[n]].result;
        }
    }
    return result;
}
