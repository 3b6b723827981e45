/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ComponentName2: what firmware menus call driver, card and disks.
 */
#include "driver.h"

static EFI_COMPONENT_NAME2_PROTOCOL names;
static CHAR8 languages[] = "en;en-US";

static bool speaks(const CHAR8 *language)
{
    return language[0] == 'e' && language[1] == 'n' &&
           (!language[2] || language[2] == '-');
}

static EFI_STATUS EFIAPI driver_name(EFI_COMPONENT_NAME2_PROTOCOL *this,
                                     CHAR8 *language, uint16_t **name)
{
    (void)this;
    if (!language || !name) {
        return EFI_INVALID_PARAMETER;
    }
    if (!speaks(language)) {
        return EFI_UNSUPPORTED;
    }
    *name = L"OCZ Z-Drive R4 Driver";
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI controller_name(EFI_COMPONENT_NAME2_PROTOCOL *this,
                                         EFI_HANDLE controller,
                                         EFI_HANDLE child, CHAR8 *language,
                                         uint16_t **name)
{
    Card *card;
    unsigned n;

    (void)this;
    if (!controller || !language || !name) {
        return EFI_INVALID_PARAMETER;
    }
    if (!speaks(language) ||
        EFI_ERROR(boot_services->HandleProtocol(controller, &guid_card,
                                                (void **)&card))) {
        return EFI_UNSUPPORTED;
    }
    if (!child) {
        *name = L"OCZ Z-Drive R4";
        return EFI_SUCCESS;
    }
    for (n = 0; n < HBA_PHYS; n++) {
        if (card->disk[n].handle == child) {
            *name = card->disk[n].name;
            return EFI_SUCCESS;
        }
    }
    return EFI_UNSUPPORTED;
}

EFI_STATUS names_install(EFI_HANDLE handle)
{
    names.GetDriverName = driver_name;
    names.GetControllerName = controller_name;
    names.SupportedLanguages = languages;
    return boot_services->InstallMultipleProtocolInterfaces(
        &handle, &guid_component_name2, &names, NULL);
}
