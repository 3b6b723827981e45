/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entry and driver binding: which PCI functions are cards, and the life of one
 * from Start to Stop.
 */
#include "driver.h"

#define VENDOR_OCZ      0x1B85
#define DRIVER_VERSION  0x10

EFI_BOOT_SERVICES *boot_services;
EFI_SYSTEM_TABLE *system_table;
EFI_HANDLE image_handle;
EFI_DRIVER_BINDING_PROTOCOL driver_binding;

static bool is_card(EFI_PCI_IO_PROTOCOL *pci)
{
    uint16_t id[2] = { 0, 0 };

    return !EFI_ERROR(pci->Pci.Read(pci, EfiPciIoWidthUint16, 0, 2, id)) &&
           id[0] == VENDOR_OCZ && (id[1] == 0x1044 || id[1] == 0x1084);
}

static EFI_STATUS open_pci(EFI_HANDLE controller, EFI_PCI_IO_PROTOCOL **pci)
{
    return boot_services->OpenProtocol(controller, &guid_pci_io, (void **)pci,
                                       image_handle, controller,
                                       EFI_OPEN_PROTOCOL_BY_DRIVER);
}

static void close_pci(EFI_HANDLE controller)
{
    boot_services->CloseProtocol(controller, &guid_pci_io, image_handle,
                                 controller);
}

static EFI_STATUS EFIAPI supported(EFI_DRIVER_BINDING_PROTOCOL *this,
                                   EFI_HANDLE controller,
                                   EFI_DEVICE_PATH *remaining)
{
    EFI_PCI_IO_PROTOCOL *pci;
    EFI_STATUS status = open_pci(controller, &pci);

    (void)this;
    (void)remaining;
    if (EFI_ERROR(status)) {
        return status;
    }
    status = is_card(pci) ? EFI_SUCCESS : EFI_UNSUPPORTED;
    close_pci(controller);
    return status;
}

static EFI_STATUS EFIAPI start(EFI_DRIVER_BINDING_PROTOCOL *this,
                               EFI_HANDLE controller,
                               EFI_DEVICE_PATH *remaining)
{
    EFI_PCI_IO_PROTOCOL *pci;
    EFI_DEVICE_PATH *path;
    EFI_STATUS status;
    Card *card;
    unsigned n;

    (void)this;
    (void)remaining;
    status = open_pci(controller, &pci);
    if (EFI_ERROR(status)) {
        return status;
    }
    status = boot_services->HandleProtocol(controller, &guid_device_path,
                                           (void **)&path);
    if (!EFI_ERROR(status)) {
        status = boot_services->AllocatePool(EfiBootServicesData,
                                             sizeof(*card), (void **)&card);
    }
    if (EFI_ERROR(status)) {
        close_pci(controller);
        return status;
    }
    boot_services->SetMem(card, sizeof(*card), 0);
    card->pci = pci;
    status = card_open(card);
    if (!EFI_ERROR(status)) {
        /* how Stop finds the card again, even when it shows no disk */
        status = boot_services->InstallMultipleProtocolInterfaces(
            &controller, &guid_card, card, NULL);
        if (EFI_ERROR(status)) {
            card_close(card);
        }
    }
    if (EFI_ERROR(status)) {
        boot_services->FreePool(card);
        close_pci(controller);
        return status;
    }
    card_report(card);
    for (n = 0; n < HBA_PHYS; n++) {
        card->disk[n].card = card;
        if (card->disk[n].unit.members) {
            disk_publish(&card->disk[n], controller, path);
        }
    }
    return EFI_SUCCESS;
}

static EFI_STATUS stop_children(Card *card, EFI_HANDLE controller,
                                UINTN count, EFI_HANDLE *children)
{
    EFI_STATUS result = EFI_SUCCESS;
    unsigned n, i;

    for (n = 0; n < HBA_PHYS; n++) {
        for (i = 0; i < count; i++) {
            if (card->disk[n].handle && card->disk[n].handle == children[i] &&
                EFI_ERROR(disk_withdraw(&card->disk[n], controller))) {
                result = EFI_DEVICE_ERROR;
            }
        }
    }
    return result;
}

static EFI_STATUS EFIAPI stop(EFI_DRIVER_BINDING_PROTOCOL *this,
                              EFI_HANDLE controller, UINTN count,
                              EFI_HANDLE *children)
{
    EFI_STATUS status;
    Card *card;

    (void)this;
    status = boot_services->HandleProtocol(controller, &guid_card,
                                           (void **)&card);
    if (EFI_ERROR(status)) {
        return EFI_DEVICE_ERROR;
    }
    if (count) {
        return stop_children(card, controller, count, children);
    }
    status = boot_services->UninstallMultipleProtocolInterfaces(
        controller, &guid_card, card, NULL);
    if (EFI_ERROR(status)) {
        return EFI_DEVICE_ERROR;
    }
    card_close(card);
    boot_services->FreePool(card);
    close_pci(controller);
    return EFI_SUCCESS;
}

EFI_STATUS EFIAPI efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    EFI_STATUS status;

    system_table = table;
    boot_services = table->BootServices;
    image_handle = image;
    driver_binding.Supported = supported;
    driver_binding.Start = start;
    driver_binding.Stop = stop;
    driver_binding.Version = DRIVER_VERSION;
    driver_binding.ImageHandle = image;
    driver_binding.DriverBindingHandle = image;
    status = boot_services->InstallMultipleProtocolInterfaces(
        &driver_binding.DriverBindingHandle, &guid_driver_binding,
        &driver_binding, NULL);
    return EFI_ERROR(status) ? status : names_install(image);
}
