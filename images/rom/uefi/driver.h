/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the UEFI driver share: a card that is driven, and the
 * disks that it produces.
 */
#ifndef ZDRIVE_ROM_DRIVER_H
#define ZDRIVE_ROM_DRIVER_H

#include "ssd.h"
#include "unit.h"

#define NAME_LEN        64

typedef struct DiskInfo DiskInfo;
typedef struct Card Card;

/* EFI_DISK_INFO_PROTOCOL, PI 1.7 volume 5, 8.2; gnu-efi has no header. */
typedef EFI_STATUS EFIAPI DiskInfoData(DiskInfo *this, void *buffer,
                                       uint32_t *size);
typedef EFI_STATUS EFIAPI DiskInfoSense(DiskInfo *this, void *buffer,
                                        uint32_t *size, uint8_t *number);
typedef EFI_STATUS EFIAPI DiskInfoPlace(DiskInfo *this, uint32_t *channel,
                                        uint32_t *device);

struct DiskInfo {
    EFI_GUID interface;
    DiskInfoData *inquiry;
    DiskInfoData *identify;
    DiskInfoSense *sense;
    DiskInfoPlace *which;
};

/* One disk of a card: a handle with these protocols on it. */
typedef struct Disk {
    EFI_BLOCK_IO_PROTOCOL block_io;
    EFI_BLOCK_IO_MEDIA media;
    DiskInfo info;
    EFI_DEVICE_PATH *path;
    EFI_HANDLE handle;          /* NULL: not there */
    Card *card;
    Unit unit;
    CHAR16 name[NAME_LEN];
} Disk;

struct Card {
    EFI_PCI_IO_PROTOCOL *pci;
    UINT64 attributes;          /* of the PCI function before */
    void *dma_mapping;
    EFI_EVENT exit_event;
    Hba hba;
    FlashConfig config;
    FlashState flash;
    SsdInfo ssd[HBA_PHYS];
    uint8_t good;
    Disk disk[HBA_PHYS];
};

#define DMA_PAGES       EFI_SIZE_TO_PAGES(sizeof(HbaDma))

/* driver.c; the firmware enters at its efi_main() */
extern EFI_SYSTEM_TABLE *system_table;
extern EFI_HANDLE image_handle;
extern EFI_DRIVER_BINDING_PROTOCOL driver_binding;

void *memcpy(void *to, const void *from, size_t len);
void *memset(void *at, int value, size_t len);

/* clock.c: before hba_pause() */
void clock_gauge(void);

/* card.c: bring a card up and down; its disks are in card->disk. */
EFI_STATUS card_open(Card *card);
void card_close(Card *card);
/* Tell the user what is wrong with it, in words. */
void card_report(Card *card);

/* disk.c */
EFI_STATUS disk_publish(Disk *disk, EFI_HANDLE controller,
                        EFI_DEVICE_PATH *parent);
EFI_STATUS disk_withdraw(Disk *disk, EFI_HANDLE controller);

/* names.c */
EFI_STATUS names_install(EFI_HANDLE handle);

/* text.c: strings, since there is no library */
CHAR16 *text_add(CHAR16 *to, const char *s);
CHAR16 *text_add_number(CHAR16 *to, uint32_t n);
CHAR16 *text_add_size(CHAR16 *to, uint64_t sectors);
void text_print(const CHAR16 *s);

/* guids.c */
extern EFI_GUID guid_pci_io, guid_device_path, guid_driver_binding;
extern EFI_GUID guid_block_io, guid_disk_info, guid_disk_info_ahci;
/* guid_card: our own, a Card on the handle of its PCI function */
extern EFI_GUID guid_component_name2, guid_card;

#endif
