/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option ROM: zdrive-r4.rom beside the module unless the user names
 * another file, and what a file has to look like to be of any use.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/datadir.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include <dlfcn.h>
#include "hw/zdrive/card/card.h"

/* Option ROM BAR of the Marvell cards, real-cards.md 1.2. */
#define ROM_BAR_SIZE    (64 * KiB)
#define ROM_NAME        "zdrive-r4.rom"

/* PCI Firmware 3.0, 5.1: fields of header and PCI data structure. */
#define ROM_SIGNATURE   0xAA55
#define ROM_PCIR        0x18
#define PCIR_VENDOR     0x04
#define PCIR_DEVICE     0x06
#define PCIR_LENGTH     0x10
#define PCIR_INDICATOR  0x15
#define PCIR_SIZE       0x18
#define PCIR_LAST       0x80
#define ROM_BLOCK       512

const char *zd_card_default_rom(void)
{
    static char *path;
    Dl_info info;

    if (!path && dladdr(&zd_card_type_info, &info) && info.dli_fname) {
        g_autofree char *file = realpath(info.dli_fname, NULL);
        g_autofree char *dir = g_path_get_dirname(file ? file : ".");

        path = g_build_filename(dir, ROM_NAME, NULL);
    }
    return path && access(path, R_OK) == 0 ? path : NULL;
}

/* Firmware takes the images of a ROM that have the ids of the function. */
static bool has_image_for(const uint8_t *rom, size_t len, uint16_t vendor,
                          uint16_t device)
{
    size_t at = 0;

    while (at + ROM_PCIR + 2 <= len && lduw_le_p(rom + at) == ROM_SIGNATURE) {
        size_t pcir = at + lduw_le_p(rom + at + ROM_PCIR);

        if (pcir + PCIR_SIZE > len || memcmp(rom + pcir, "PCIR", 4)) {
            return false;
        }
        if (lduw_le_p(rom + pcir + PCIR_VENDOR) == vendor &&
            lduw_le_p(rom + pcir + PCIR_DEVICE) == device) {
            return true;
        }
        if ((rom[pcir + PCIR_INDICATOR] & PCIR_LAST) ||
            !lduw_le_p(rom + pcir + PCIR_LENGTH)) {
            return false;
        }
        at += lduw_le_p(rom + pcir + PCIR_LENGTH) * ROM_BLOCK;
    }
    return false;
}

/* QEMU itself complains about a file that is missing, empty or too large. */
static bool check_file(const char *name, const ZdProduct *product,
                       Error **errp)
{
    g_autofree char *path = qemu_find_file(QEMU_FILE_TYPE_BIOS, name);
    g_autofree char *rom = NULL;
    gsize len;

    if (!g_file_get_contents(path ? path : name, &rom, &len, NULL) || !len) {
        return true;
    }
    if (len < ROM_PCIR + 2 || lduw_le_p(rom) != ROM_SIGNATURE) {
        error_setg(errp, "romfile '%s' is not an option ROM: it does not "
                   "begin with 55 AA", name);
        return false;
    }
    if (!has_image_for((const uint8_t *)rom, len, product->vendor_id,
                       product->device_id)) {
        error_setg(errp, "romfile '%s' has no image for %04x:%04x; leave "
                   "romfile away for the ROM of a %s", name,
                   product->vendor_id, product->device_id, product->model);
        return false;
    }
    return true;
}

/*
 * QEMU loads pci->romfile or, without one, the default of the class, into
 * which it puts the card's device id.  Where there is neither, the BAR reads
 * as erased flash.  romfile= (empty) and rombar=0 take it away.
 */
bool zd_card_init_rom(ZdCard *card, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(card);
    Error *err = NULL;

    if (pci->romsize == UINT32_MAX) {
        pci->romsize = ROM_BAR_SIZE;
    }
    if (pci->romfile && *pci->romfile) {
        return check_file(pci->romfile, card->plan.product, errp);
    }
    if (!pci->rom_bar && !pci->romfile) {
        /* not the default by way of fw_cfg, either */
        pci->romfile = g_strdup("");
    }
    if (pci->romfile || PCI_DEVICE_GET_CLASS(pci)->romfile) {
        return true;
    }
    memory_region_init_rom(&card->blank_rom, OBJECT(card), "zdrive-rom",
                           ROM_BAR_SIZE, &err);
    if (err) {
        error_propagate(errp, err);
        return false;
    }
    memset(memory_region_get_ram_ptr(&card->blank_rom), 0xFF, ROM_BAR_SIZE);
    pci_register_bar(pci, PCI_ROM_SLOT, 0, &card->blank_rom);
    return true;
}
