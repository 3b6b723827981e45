/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int 13h for the disks of the card: the functions of a fixed disk and those
 * of the Enhanced Disk Drive specification 3.0.
 */
#include "bios.h"

#define RET_OK          0x00
#define RET_PARAMETER   0x01
#define RET_NOT_FOUND   0x04        /* no such sector */
#define RET_ECC         0x10
#define RET_CONTROLLER  0x20
#define RET_TIMEOUT     0x80
#define RET_NOT_READY   0xAA
#define RET_NOT_REMOVABLE 0xB2
#define RET_WRITE_FAULT 0xCC

#define EDD_VERSION     0x30
#define EDD_SUBSETS     0x0005      /* disk access, enhanced drive support */
#define EDD_DMA_SAFE    0x0001      /* no 64 KiB boundary is in the way */
#define EDD_CHS_VALID   0x0002

static uint32_t linear(uint16_t segment, uint16_t offset)
{
    return ((uint32_t)segment << 4) + offset;
}

static uint8_t error_code(const HbaPhy *phy, uint8_t command)
{
    if (phy->result == HBA_TIMEOUT) {
        return RET_TIMEOUT;
    }
    if (phy->status & ATA_STATUS_DF) {
        return command == ATA_WRITE_DMA_EXT ? RET_WRITE_FAULT :
               RET_CONTROLLER;
    }
    if (phy->error & (ATA_ERROR_UNC | ATA_ERROR_ICRC)) {
        return RET_ECC;
    }
    if (phy->error & ATA_ERROR_IDNF) {
        return RET_NOT_FOUND;
    }
    return RET_CONTROLLER;
}

/* SATA moves words: a buffer at an odd address goes through our own. */
static HbaResult odd_io(const Unit *unit, UnitIo *io)
{
    DmaByte *bounce = hba.dma->sector;
    bool reads = io->command == ATA_READ_DMA_EXT;
    uint32_t sector, i;

    for (sector = 0; sector < io->count; sector++) {
        uint32_t at = (uint32_t)io->address + sector * HBA_SECTOR;
        UnitIo one = {
            .command = io->command,
            .lba = io->lba + sector,
            .count = 1,
            .address = hba.dma_address + offsetof(HbaDma, sector),
        };
        HbaResult result;

        for (i = 0; !reads && i < HBA_SECTOR; i++) {
            bounce[i] = peek8(at + i);
        }
        result = unit_io(&hba, unit, &one);
        io->done = sector + one.done;
        io->phy = one.phy;
        if (result != HBA_OK) {
            return result;
        }
        for (i = 0; reads && i < HBA_SECTOR; i++) {
            poke8(at + i, bounce[i]);
        }
    }
    return HBA_OK;
}

static uint8_t transfer(const Disk *disk, UnitIo *io)
{
    HbaResult result;

    io->done = 0;
    if (io->lba >= disk->unit.sectors ||
        io->count > disk->unit.sectors - io->lba) {
        return RET_NOT_FOUND;
    }
    if ((io->address & 1) && io->command != ATA_READ_VERIFY_EXT) {
        if (io->address >> 32) {
            return RET_PARAMETER;
        }
        result = odd_io(&disk->unit, io);
    } else {
        result = unit_io(&hba, &disk->unit, io);
    }
    return result == HBA_OK ? RET_OK :
           error_code(&hba.phy[io->phy], io->command);
}

/* 02h to 04h: CH, CL, DH name the first sector, AL how many, ES:BX where. */
static uint8_t chs_io(const Disk *disk, Regs *r, uint8_t command)
{
    uint8_t cl = LOW8(r->ecx), head = HIGH8(r->edx), sector = cl & 0x3F;
    uint16_t cylinder = HIGH8(r->ecx) | (cl & 0xC0) << 2;
    UnitIo io = {
        .command = command,
        .count = LOW8(r->eax),
        .address = linear(r->es, LOW16(r->ebx)),
    };
    uint8_t ret;

    if (!io.count || io.count > 128 || !sector || sector > disk->sectors ||
        head >= disk->heads || cylinder >= disk->cylinders) {
        SET_LOW8(r->eax, 0);
        return RET_PARAMETER;
    }
    io.lba = ((uint32_t)cylinder * disk->heads + head) * disk->sectors +
             sector - 1;
    ret = transfer(disk, &io);
    SET_LOW8(r->eax, io.done);
    return ret;
}

/* 42h to 44h: DS:SI is the disk address packet. */
static uint8_t lba_io(const Disk *disk, Regs *r, uint8_t command)
{
    uint32_t packet = linear(r->ds, LOW16(r->esi));
    uint8_t size = peek8(packet);
    UnitIo io = {
        .command = command,
        .count = peek16(packet + 2),
        .lba = (uint64_t)peek32(packet + 12) << 32 | peek32(packet + 8),
    };
    uint8_t ret;

    if (size < 0x10) {
        return RET_PARAMETER;
    }
    if (peek32(packet + 4) == 0xFFFFFFFF) {
        if (size < 0x18) {
            return RET_PARAMETER;
        }
        io.address = (uint64_t)peek32(packet + 20) << 32 | peek32(packet + 16);
    } else {
        io.address = linear(peek16(packet + 6), peek16(packet + 4));
    }
    ret = transfer(disk, &io);
    poke16(packet + 2, (uint16_t)io.done);
    return ret;
}

/* 43h with AL = 2: read what was written again. */
static uint8_t lba_write(const Disk *disk, Regs *r)
{
    uint8_t verify = LOW8(r->eax), ret;

    if (verify > 2) {
        return RET_PARAMETER;
    }
    ret = lba_io(disk, r, ATA_WRITE_DMA_EXT);
    return ret || verify != 2 ? ret : lba_io(disk, r, ATA_READ_VERIFY_EXT);
}

static uint8_t get_parameters(const Disk *disk, Regs *r)
{
    uint16_t last = disk->cylinders - 1;

    SET_LOW8(r->eax, 0);
    SET_LOW16(r->ecx, (last & 0xFF) << 8 | (last >> 2 & 0xC0) | disk->sectors);
    SET_LOW16(r->edx, (disk->heads - 1) << 8 | peek8(BDA_DISKS));
    return RET_OK;
}

/* 15h: a fixed disk of CX:DX sectors. */
static void get_type(const Disk *disk, Regs *r)
{
    uint64_t n = disk->unit.sectors;
    uint32_t sectors = n >> 32 ? 0xFFFFFFFF : (uint32_t)n;

    SET_LOW16(r->ecx, sectors >> 16);
    SET_LOW16(r->edx, sectors);
    SET_HIGH8(r->eax, 3);
    r->flags &= ~FLAG_CARRY;
}

static uint8_t check_extensions(Regs *r)
{
    if (LOW16(r->ebx) != 0x55AA) {
        return RET_PARAMETER;
    }
    SET_LOW16(r->ebx, 0xAA55);
    SET_LOW16(r->ecx, EDD_SUBSETS);
    return EDD_VERSION;
}

static void poke_text(uint32_t at, const char *s, unsigned len)
{
    while (len--) {
        poke8(at++, *s ? *s++ : ' ');
    }
}

/* The device path of 48h; @len is 36 or, with longer paths, 44. */
static void edd_device_path(const Disk *disk, uint32_t at, uint8_t len)
{
    uint8_t sum = 0;
    unsigned i;

    for (i = 0; i < len; i += 4) {
        poke32(at + i, 0);
    }
    poke16(at, 0xBEDD);
    poke8(at + 2, len);
    poke_text(at + 6, "PCI", 4);
    poke_text(at + 10, disk->unit.members > 1 ? "RAID" : "SATA", 8);
    poke8(at + 18, pci_address >> 8);
    poke8(at + 19, pci_address >> 3 & 0x1F);
    poke8(at + 20, pci_address & 7);
    poke8(at + 21, disk->unit.phy[0] >> 2);
    if (disk->unit.members == 1) {
        poke8(at + 26, disk->unit.phy[0]);
    }
    for (i = 0; i < len; i++) {
        sum += peek8(at + i);
    }
    poke8(at + len - 1, -sum);
}

/* 48h: DS:SI is a buffer whose first word is its size. */
static uint8_t edd_parameters(const Disk *disk, Regs *r)
{
    uint32_t at = linear(r->ds, LOW16(r->esi)), rest;
    uint16_t size = peek16(at);
    uint64_t cylinders;

    if (size < 26) {
        return RET_PARAMETER;
    }
    cylinders = hba_divide(disk->unit.sectors,
                           (uint32_t)disk->heads * disk->sectors, &rest);
    poke16(at, size < 30 ? 26 : size < 66 ? 30 : size < 74 ? 66 : 74);
    poke16(at + 2, EDD_DMA_SAFE | EDD_CHS_VALID);
    poke32(at + 4, cylinders >> 32 ? 0xFFFFFFFF : (uint32_t)cylinders);
    poke32(at + 8, disk->heads);
    poke32(at + 12, disk->sectors);
    poke32(at + 16, (uint32_t)disk->unit.sectors);
    poke32(at + 20, (uint32_t)(disk->unit.sectors >> 32));
    poke16(at + 24, HBA_SECTOR);
    if (size >= 30) {
        poke32(at + 26, 0xFFFFFFFF);        /* no parameter table extension */
    }
    if (size >= 66) {
        edd_device_path(disk, at + 30, size < 74 ? 36 : 44);
    }
    return RET_OK;
}

static uint8_t seek(const Disk *disk, Regs *r)
{
    uint32_t packet = linear(r->ds, LOW16(r->esi));
    uint64_t lba = (uint64_t)peek32(packet + 12) << 32 | peek32(packet + 8);

    return lba < disk->unit.sectors ? RET_OK : RET_NOT_FOUND;
}

static uint8_t dispatch(const Disk *disk, Regs *r)
{
    switch (HIGH8(r->eax)) {
    case 0x00:                              /* reset */
    case 0x09:                              /* set drive parameters */
    case 0x0C:                              /* seek */
    case 0x0D:                              /* reset, this one */
    case 0x10:                              /* ready? */
    case 0x11:                              /* recalibrate */
    case 0x14:                              /* diagnose */
        return RET_OK;
    case 0x01:
        return peek8(BDA_DISK_STATUS);
    case 0x02:
        return chs_io(disk, r, ATA_READ_DMA_EXT);
    case 0x03:
        return chs_io(disk, r, ATA_WRITE_DMA_EXT);
    case 0x04:
        return chs_io(disk, r, ATA_READ_VERIFY_EXT);
    case 0x05:
        /* format a track: SATA disks come formatted and stay so */
        return (HIGH8(r->ecx) | (LOW8(r->ecx) & 0xC0) << 2) < disk->cylinders &&
               HIGH8(r->edx) < disk->heads ? RET_OK : RET_PARAMETER;
    case 0x08:
        return get_parameters(disk, r);
    case 0x42:
        return lba_io(disk, r, ATA_READ_DMA_EXT);
    case 0x43:
        return lba_write(disk, r);
    case 0x44:
        return lba_io(disk, r, ATA_READ_VERIFY_EXT);
    case 0x45:                              /* lock: nothing to lock */
        SET_LOW8(r->eax, 0);
        return RET_OK;
    case 0x46:
        return RET_NOT_REMOVABLE;
    case 0x47:
        return seek(disk, r);
    case 0x48:
        return edd_parameters(disk, r);
    default:
        return RET_PARAMETER;
    }
}

static void finish(Regs *r, uint8_t ret, bool error)
{
    SET_HIGH8(r->eax, ret);
    r->flags = error ? r->flags | FLAG_CARRY : r->flags & ~FLAG_CARRY;
}

/* int 13h for disk @n. */
void int13(Regs *r, uint32_t n)
{
    uint8_t ret, function = HIGH8(r->eax);

    interrupts = r->flags & FLAG_INTERRUPT;
    if (function == 0x15) {
        get_type(&disks[n], r);
        poke8(BDA_DISK_STATUS, RET_OK);
    } else if (function == 0x41) {
        ret = check_extensions(r);
        finish(r, ret, ret == RET_PARAMETER);
    } else {
        ret = dispatch(&disks[n], r);
        finish(r, ret, ret);
        poke8(BDA_DISK_STATUS, ret);
    }
}

/*
 * The processor is in virtual 8086 mode, where the registers of the
 * card cannot be reached.
 */
void int13_refuse(Regs *r)
{
    finish(r, RET_NOT_READY, true);
}

/* The BIOS connects disk @n; our handler is at @vector. */
void connect(uint32_t n, uint32_t vector)
{
    uint8_t count = peek8(BDA_DISKS);

    if (drive_number[n]) {
        return;
    }
    if (!old_int13) {
        old_int13 = peek32(IVT_INT13);
        poke32(IVT_INT13, vector);
    }
    drive_number[n] = 0x80 + count;
    poke8(BDA_DISKS, count + 1);
}
