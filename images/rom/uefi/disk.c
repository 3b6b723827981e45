/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The disks: BlockIo, DiskInfo (from which the firmware's boot menu takes the
 * name) and the device path.
 */
#include "driver.h"

/* Data of one mapping; larger requests are split. */
#define MAX_SECTORS     0x8000
#define IO_ALIGN        4

#define ID_LBA28        60
#define ID_SECTORS      100

/* A node of either kind and the end of the path. */
typedef struct __attribute__((packed)) PathTail {
    union {
        SCSI_DEVICE_PATH scsi;
        SATA_DEVICE_PATH sata;
    } node;
} PathTail;

static Disk *disk_of_info(DiskInfo *info)
{
    return (Disk *)((uint8_t *)info - offsetof(Disk, info));
}

static Disk *disk_of_block_io(EFI_BLOCK_IO_PROTOCOL *block_io)
{
    return (Disk *)((uint8_t *)block_io - offsetof(Disk, block_io));
}

static EFI_STATUS EFIAPI block_reset(EFI_BLOCK_IO_PROTOCOL *block_io,
                                     BOOLEAN extended)
{
    (void)block_io;
    (void)extended;
    return EFI_SUCCESS;
}

/* One piece that the platform could map in one go. */
static EFI_STATUS mapped_io(Disk *disk, bool write, EFI_LBA lba,
                            uint32_t *sectors, uint8_t *buffer)
{
    EFI_PCI_IO_PROTOCOL *pci = disk->card->pci;
    UINTN bytes = (UINTN)*sectors * HBA_SECTOR;
    EFI_PHYSICAL_ADDRESS address;
    HbaResult result;
    EFI_STATUS status;
    void *mapping;
    EFI_TPL tpl;

    status = pci->Map(pci, write ? EfiPciIoOperationBusMasterRead :
                      EfiPciIoOperationBusMasterWrite, buffer, &bytes,
                      &address, &mapping);
    if (EFI_ERROR(status)) {
        return status;
    }
    *sectors = bytes / HBA_SECTOR;
    if (*sectors) {
        UnitIo io = {
            .command = write ? ATA_WRITE_DMA_EXT : ATA_READ_DMA_EXT,
            .lba = lba,
            .count = *sectors,
            .address = address,
        };

        /* the card is shared by its disks */
        tpl = boot_services->RaiseTPL(TPL_CALLBACK);
        result = unit_io(&disk->card->hba, &disk->unit, &io);
        boot_services->RestoreTPL(tpl);
    } else {
        result = HBA_ERROR;
    }
    status = pci->Unmap(pci, mapping);
    return result == HBA_OK ? status : EFI_DEVICE_ERROR;
}

static EFI_STATUS block_io(EFI_BLOCK_IO_PROTOCOL *this, bool write,
                           UINT32 media, EFI_LBA lba, UINTN bytes,
                           uint8_t *buffer)
{
    Disk *disk = disk_of_block_io(this);
    uint64_t left = bytes / HBA_SECTOR;
    EFI_STATUS status;

    if (media != disk->media.MediaId) {
        return EFI_MEDIA_CHANGED;
    }
    if (bytes % HBA_SECTOR) {
        return EFI_BAD_BUFFER_SIZE;
    }
    if (!bytes) {
        return EFI_SUCCESS;
    }
    if (!buffer || (UINTN)buffer % IO_ALIGN || lba > disk->media.LastBlock ||
        left > disk->media.LastBlock - lba + 1) {
        return EFI_INVALID_PARAMETER;
    }
    while (left) {
        uint32_t sectors = left < MAX_SECTORS ? left : MAX_SECTORS;

        status = mapped_io(disk, write, lba, &sectors, buffer);
        if (EFI_ERROR(status)) {
            return status;
        }
        lba += sectors;
        left -= sectors;
        buffer += (UINTN)sectors * HBA_SECTOR;
    }
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI block_read(EFI_BLOCK_IO_PROTOCOL *this, UINT32 media,
                                    EFI_LBA lba, UINTN bytes, void *buffer)
{
    return block_io(this, false, media, lba, bytes, buffer);
}

static EFI_STATUS EFIAPI block_write(EFI_BLOCK_IO_PROTOCOL *this, UINT32 media,
                                     EFI_LBA lba, UINTN bytes, void *buffer)
{
    return block_io(this, true, media, lba, bytes, buffer);
}

static EFI_STATUS EFIAPI block_flush(EFI_BLOCK_IO_PROTOCOL *this)
{
    Disk *disk = disk_of_block_io(this);
    EFI_TPL tpl = boot_services->RaiseTPL(TPL_CALLBACK);
    HbaResult result = unit_flush(&disk->card->hba, &disk->unit);

    boot_services->RestoreTPL(tpl);
    return result == HBA_OK ? EFI_SUCCESS : EFI_DEVICE_ERROR;
}

static EFI_STATUS EFIAPI info_inquiry(DiskInfo *this, void *buffer,
                                      uint32_t *size)
{
    (void)this;
    (void)buffer;
    (void)size;
    return EFI_NOT_FOUND;
}

static void put_words(uint16_t *words, unsigned count, uint64_t value)
{
    while (count--) {
        *words++ = value;
        value >>= 16;
    }
}

/* IDENTIFY DEVICE of the first member, with the size of the whole disk. */
static EFI_STATUS EFIAPI info_identify(DiskInfo *this, void *buffer,
                                       uint32_t *size)
{
    Disk *disk = disk_of_info(this);
    HbaCommand cmd = { .command = ATA_IDENTIFY };
    Hba *hba = &disk->card->hba;
    uint64_t sectors = disk->unit.sectors;
    HbaResult result;
    EFI_TPL tpl;

    if (*size < HBA_SECTOR) {
        *size = HBA_SECTOR;
        return EFI_BUFFER_TOO_SMALL;
    }
    *size = HBA_SECTOR;
    tpl = boot_services->RaiseTPL(TPL_CALLBACK);
    result = hba_run_sector(hba, disk->unit.phy[0], cmd, SSD_ANSWER_MS);
    if (result == HBA_OK) {
        memcpy(buffer, hba->dma->sector, HBA_SECTOR);
        put_words((uint16_t *)buffer + ID_SECTORS, 4, sectors);
        put_words((uint16_t *)buffer + ID_LBA28, 2,
                  sectors < 0x0FFFFFFF ? sectors : 0x0FFFFFFF);
    }
    boot_services->RestoreTPL(tpl);
    return result == HBA_OK ? EFI_SUCCESS : EFI_DEVICE_ERROR;
}

static EFI_STATUS EFIAPI info_sense(DiskInfo *this, void *buffer,
                                    uint32_t *size, uint8_t *number)
{
    (void)this;
    (void)buffer;
    (void)size;
    (void)number;
    return EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI info_which(DiskInfo *this, uint32_t *channel,
                                    uint32_t *device)
{
    *channel = disk_of_info(this)->unit.phy[0];
    *device = 0;
    return EFI_SUCCESS;
}

static UINTN path_bytes(const EFI_DEVICE_PATH *path)
{
    const EFI_DEVICE_PATH *node = path;

    while (!IsDevicePathEnd(node)) {
        node = NextDevicePathNode(node);
    }
    return (const uint8_t *)node - (const uint8_t *)path;
}

/* The card's path and one node: SCSI(0,0) for a volume, SATA for a member. */
static EFI_STATUS make_path(Disk *disk, const EFI_DEVICE_PATH *parent)
{
    bool member = disk->unit.members == 1;
    UINTN head = path_bytes(parent);
    UINTN size = member ? sizeof(SATA_DEVICE_PATH) : sizeof(SCSI_DEVICE_PATH);
    PathTail tail = { 0 };
    EFI_DEVICE_PATH *end;
    uint8_t *path;
    EFI_STATUS status;

    status = boot_services->AllocatePool(EfiBootServicesData,
                                         head + size + sizeof(*end),
                                         (void **)&path);
    if (EFI_ERROR(status)) {
        return status;
    }
    if (member) {
        tail.node.sata.HBAPortNumber = disk->unit.phy[0];
        tail.node.sata.PortMultiplierPortNumber = 0xFFFF;
    }
    tail.node.scsi.Header.Type = MESSAGING_DEVICE_PATH;
    tail.node.scsi.Header.SubType = member ? MSG_SATA_DP : MSG_SCSI_DP;
    SetDevicePathNodeLength(&tail.node.scsi.Header, size);
    memcpy(path, parent, head);
    memcpy(path + head, &tail, size);
    end = (EFI_DEVICE_PATH *)(path + head + size);
    SetDevicePathEndNode(end);
    disk->path = (EFI_DEVICE_PATH *)path;
    return EFI_SUCCESS;
}

static void fill(Disk *disk)
{
    disk->media.MediaPresent = TRUE;
    disk->media.WriteCaching = TRUE;
    disk->media.BlockSize = HBA_SECTOR;
    disk->media.IoAlign = IO_ALIGN;
    disk->media.LastBlock = disk->unit.sectors - 1;
    disk->media.LogicalBlocksPerPhysicalBlock = 1;
    if (disk->unit.members > 1) {
        disk->media.OptimalTransferLengthGranularity =
            UNIT_CHUNK * disk->unit.members;
    }
    disk->block_io.Revision = EFI_BLOCK_IO_PROTOCOL_REVISION3;
    disk->block_io.Media = &disk->media;
    disk->block_io.Reset = block_reset;
    disk->block_io.ReadBlocks = block_read;
    disk->block_io.WriteBlocks = block_write;
    disk->block_io.FlushBlocks = block_flush;
    disk->info.interface = guid_disk_info_ahci;
    disk->info.inquiry = info_inquiry;
    disk->info.identify = info_identify;
    disk->info.sense = info_sense;
    disk->info.which = info_which;
}

EFI_STATUS disk_publish(Disk *disk, EFI_HANDLE controller,
                        EFI_DEVICE_PATH *parent)
{
    EFI_PCI_IO_PROTOCOL *pci;
    EFI_STATUS status = make_path(disk, parent);

    if (EFI_ERROR(status)) {
        return status;
    }
    fill(disk);
    status = boot_services->InstallMultipleProtocolInterfaces(
        &disk->handle, &guid_device_path, disk->path,
        &guid_block_io, &disk->block_io, &guid_disk_info, &disk->info, NULL);
    if (EFI_ERROR(status)) {
        boot_services->FreePool(disk->path);
        disk->handle = NULL;
        return status;
    }
    return boot_services->OpenProtocol(controller, &guid_pci_io,
                                       (void **)&pci, image_handle,
                                       disk->handle,
                                       EFI_OPEN_PROTOCOL_BY_CHILD_CONTROLLER);
}

EFI_STATUS disk_withdraw(Disk *disk, EFI_HANDLE controller)
{
    EFI_PCI_IO_PROTOCOL *pci;
    EFI_STATUS status;

    boot_services->CloseProtocol(controller, &guid_pci_io, image_handle,
                                 disk->handle);
    status = boot_services->UninstallMultipleProtocolInterfaces(
        disk->handle, &guid_device_path, disk->path,
        &guid_block_io, &disk->block_io, &guid_disk_info, &disk->info, NULL);
    if (EFI_ERROR(status)) {
        /* someone still uses it: it stays a child */
        boot_services->OpenProtocol(controller, &guid_pci_io, (void **)&pci,
                                    image_handle, disk->handle,
                                    EFI_OPEN_PROTOCOL_BY_CHILD_CONTROLLER);
        return status;
    }
    boot_services->FreePool(disk->path);
    disk->handle = NULL;
    return EFI_SUCCESS;
}
