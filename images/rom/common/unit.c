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

/*
 * Issue the command for what follows the first @at sectors of @io: at most
 * @most, as far as they are on one SSD.  Returns how many; *@phy is the SSD.
 */
static uint32_t issue(Hba *h, const Unit *unit, const UnitIo *io, uint32_t at,
                      uint32_t most, uint8_t *phy)
{
    HbaCommand cmd = { .command = io->command };
    uint32_t run = locate(unit, io->lba + at, phy, &cmd.lba);

    run = run < most ? run : most;
    cmd.count = (uint16_t)run;
    cmd.address = io->address + (uint64_t)at * HBA_SECTOR;
    cmd.bytes = io->command != ATA_READ_VERIFY_EXT ? run * HBA_SECTOR : 0;
    hba_issue(h, *phy, &cmd);
    return run;
}

/* The same for the next @run sectors alone, to their end. */
static HbaResult repeat(Hba *h, const Unit *unit, const UnitIo *io,
                        uint32_t run)
{
    uint8_t phy;

    issue(h, unit, io, io->done, run, &phy);
    hba_wait_io(h, 1u << phy);
    return h->phy[phy].result;
}

/*
 * The SSD names the first sector that it cannot read.  ACS-2 does not say what
 * it has sent of those before, so read them once more.
 */
static void read_up_to_error(Hba *h, const Unit *unit, UnitIo *io,
                             uint32_t run)
{
    HbaPhy *phy = &h->phy[io->phy], failed = *phy;
    uint64_t at;
    uint8_t n;

    locate(unit, io->lba + io->done, &n, &at);
    at = hba_result_lba(h, n) - at;
    if (at && at < run) {
        if (repeat(h, unit, io, (uint32_t)at) == HBA_OK) {
            io->done += (uint32_t)at;
        }
        *phy = failed;
    }
}

/* The command for the next @run sectors has ended, on the SSD io->phy. */
static HbaResult finish(Hba *h, const Unit *unit, UnitIo *io, uint32_t run)
{
    const HbaPhy *phy = &h->phy[io->phy];
    unsigned tries = 1;

    while (phy->result == HBA_ERROR && (phy->error & ATA_ERROR_ICRC) &&
           tries++ < UNIT_TRIES) {
        repeat(h, unit, io, run);
    }
    if (phy->result == HBA_OK) {
        io->done += run;
    } else if (phy->result == HBA_ERROR && (phy->error & ATA_ERROR_UNC)) {
        read_up_to_error(h, unit, io, run);
    }
    return phy->result;
}

HbaResult unit_io(Hba *h, const Unit *unit, UnitIo *io)
{
    io->done = 0;
    while (io->done < io->count) {
        uint32_t piece[HBA_PHYS];
        uint8_t phy[HBA_PHYS], phys = 0;
        uint32_t issued = io->done;
        unsigned n, pieces = 0;

        while (issued < io->count && pieces < unit->members) {
            piece[pieces] = issue(h, unit, io, issued, io->count - issued,
                                  &phy[pieces]);
            issued += piece[pieces];
            phys |= 1u << phy[pieces];
            pieces++;
        }
        hba_wait_io(h, phys);
        for (n = 0; n < pieces; n++) {
            HbaResult result;

            io->phy = phy[n];
            result = finish(h, unit, io, piece[n]);
            if (result != HBA_OK) {
                return result;
            }
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
