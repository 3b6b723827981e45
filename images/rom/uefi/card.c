/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A card from PciIo to its disks, and what is wrong with it.
 */
#include "driver.h"
#include "words.h"
#include "hw/zdrive/bridge/mv94xx/regs.h"

/* The fields used here of an ACPI QWORD address space descriptor. */
#define ACPI_QWORD      0x8A
#define ACPI_LENGTH_AT  38

/*
 * BAR 2 by its size: EDK II counts a 64-bit BAR as one, the specification
 * as two, so that its number is not the same everywhere.
 */
static EFI_STATUS find_registers(Card *card)
{
    EFI_PCI_IO_PROTOCOL *pci = card->pci;
    UINT8 n;

    for (n = 0; n < 6; n++) {
        uint8_t *resource;
        uint64_t length = 0;

        if (EFI_ERROR(pci->GetBarAttributes(pci, n, NULL,
                                            (void **)&resource))) {
            continue;
        }
        if (resource[0] == ACPI_QWORD) {
            memcpy(&length, resource + ACPI_LENGTH_AT, sizeof(length));
        }
        boot_services->FreePool(resource);
        if (length == MV_BAR2_SIZE) {
            card->hba.bar.pci = pci;
            card->hba.bar.number = n;
            return EFI_SUCCESS;
        }
    }
    return EFI_UNSUPPORTED;
}

static EFI_STATUS enable_pci(Card *card)
{
    EFI_PCI_IO_PROTOCOL *pci = card->pci;
    EFI_STATUS status;

    status = pci->Attributes(pci, EfiPciIoAttributeOperationGet, 0,
                             &card->attributes);
    if (EFI_ERROR(status)) {
        return status;
    }
    /* data above 4 GiB without bounce buffers; not every bridge can */
    pci->Attributes(pci, EfiPciIoAttributeOperationEnable,
                    EFI_PCI_IO_ATTRIBUTE_DUAL_ADDRESS_CYCLE, NULL);
    return pci->Attributes(pci, EfiPciIoAttributeOperationEnable,
                           EFI_PCI_IO_ATTRIBUTE_MEMORY |
                           EFI_PCI_IO_ATTRIBUTE_BUS_MASTER, NULL);
}

static void restore_pci(Card *card)
{
    card->pci->Attributes(card->pci, EfiPciIoAttributeOperationSet,
                          card->attributes, NULL);
}

static EFI_STATUS allocate_dma(Card *card)
{
    EFI_PCI_IO_PROTOCOL *pci = card->pci;
    UINTN bytes = DMA_PAGES * EFI_PAGE_SIZE, mapped = bytes;
    EFI_PHYSICAL_ADDRESS address;
    EFI_STATUS status;
    void *memory;

    status = pci->AllocateBuffer(pci, AllocateAnyPages, EfiBootServicesData,
                                 DMA_PAGES, &memory, 0);
    if (EFI_ERROR(status)) {
        return status;
    }
    status = pci->Map(pci, EfiPciIoOperationBusMasterCommonBuffer, memory,
                      &mapped, &address, &card->dma_mapping);
    if (!EFI_ERROR(status) && mapped != bytes) {
        pci->Unmap(pci, card->dma_mapping);
        status = EFI_OUT_OF_RESOURCES;
    }
    if (EFI_ERROR(status)) {
        pci->FreeBuffer(pci, DMA_PAGES, memory);
        return status;
    }
    boot_services->SetMem(memory, bytes, 0);
    card->hba.dma = memory;
    card->hba.dma_address = address;
    return EFI_SUCCESS;
}

static void free_dma(Card *card)
{
    card->pci->Unmap(card->pci, card->dma_mapping);
    card->pci->FreeBuffer(card->pci, DMA_PAGES, card->hba.dma);
}

/* The operating system gets a card that moves no data. */
static void EFIAPI on_exit_boot_services(EFI_EVENT event, void *context)
{
    Card *card = context;

    (void)event;
    hba_stop(&card->hba);
}

static uint8_t expected_phys(const Card *card)
{
    return ssd_expected(card->flash, &card->config, card->ssd);
}

static bool shows_members(const Card *card)
{
    return card->flash == FLASH_GOOD &&
           card->config.rom_view == FLASH_VIEW_MEMBERS;
}

static bool volume_complete(const Card *card)
{
    return !(expected_phys(card) & ~card->good) &&
           (card->flash != FLASH_GOOD ||
            card->config.ssds == count_phys(card->good));
}

static const char *model(const Card *card)
{
    unsigned n;

    for (n = 0; n < HBA_PHYS - 1 && !(card->good & (1u << n)); n++) {
        continue;
    }
    return card->ssd[n].model;
}

static void name_disk(Disk *disk, const char *model, bool member)
{
    CHAR16 *to = text_add(disk->name, model);

    if (member) {
        to = text_add_number(text_add(to, " SSD "), disk->unit.phy[0]);
    }
    text_add_size(text_add(to, " "), disk->unit.sectors);
}

static void make_disks(Card *card)
{
    unsigned n, count = 0;

    if (!shows_members(card)) {
        if (card->good && volume_complete(card)) {
            unit_make(&card->hba, card->good, &card->disk[0].unit);
            name_disk(&card->disk[0], model(card), false);
        }
        return;
    }
    for (n = 0; n < HBA_PHYS; n++) {
        if (card->good & (1u << n)) {
            unit_make(&card->hba, 1u << n, &card->disk[count].unit);
            name_disk(&card->disk[count++], card->ssd[n].model, true);
        }
    }
}

EFI_STATUS card_open(Card *card)
{
    EFI_STATUS status = find_registers(card);

    if (EFI_ERROR(status)) {
        return status;
    }
    status = enable_pci(card);
    if (EFI_ERROR(status)) {
        return status;
    }
    status = allocate_dma(card);
    if (EFI_ERROR(status)) {
        restore_pci(card);
        return status;
    }
    clock_gauge();
    hba_start(&card->hba);
    status = boot_services->CreateEvent(EVT_SIGNAL_EXIT_BOOT_SERVICES,
                                        TPL_NOTIFY, on_exit_boot_services,
                                        card, &card->exit_event);
    if (EFI_ERROR(status)) {
        hba_stop(&card->hba);
        free_dma(card);
        restore_pci(card);
        return status;
    }
    card->flash = flash_read_config(&card->hba, &card->config);
    card->good = ssd_find(&card->hba, expected_phys(card), card->ssd);
    make_disks(card);
    return EFI_SUCCESS;
}

void card_close(Card *card)
{
    boot_services->CloseEvent(card->exit_event);
    hba_stop(&card->hba);
    free_dma(card);
    restore_pci(card);
}

static void report_flash(const Card *card)
{
    CHAR16 line[128], *to;

    if (card->flash != FLASH_GOOD) {
        to = text_add(line, "Z-Drive: configuration in SPI flash ");
        text_add(text_add(to, flash_words(card->flash)),
                 ": using all SSDs");
        text_print(line);
    }
}

static void report_ssd(const Card *card, unsigned n)
{
    uint8_t state = card->ssd[n].state;
    CHAR16 line[128], *to;

    if (state == SSD_GOOD ||
        (state == SSD_NONE && !(expected_phys(card) & (1u << n)))) {
        return;
    }
    to = text_add_number(text_add(line, "Z-Drive: SSD "), n);
    text_add(text_add(to, " "), ssd_words(state));
    text_print(line);
}

void card_report(Card *card)
{
    unsigned n;

    report_flash(card);
    for (n = 0; n < HBA_PHYS; n++) {
        report_ssd(card, n);
    }
    if (!card->good) {
        text_print(L"Z-Drive: no SSD can be used");
    } else if (!shows_members(card) && !volume_complete(card)) {
        text_print(L"Z-Drive: the volume is incomplete and not shown");
    }
}
