/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocols that the driver consumes and produces.
 */
#include "driver.h"

EFI_GUID guid_pci_io = EFI_PCI_IO_PROTOCOL_GUID;
EFI_GUID guid_device_path = EFI_DEVICE_PATH_PROTOCOL_GUID;
EFI_GUID guid_driver_binding = EFI_DRIVER_BINDING_PROTOCOL_GUID;
EFI_GUID guid_block_io = EFI_BLOCK_IO_PROTOCOL_GUID;
EFI_GUID guid_component_name2 = EFI_COMPONENT_NAME2_PROTOCOL_GUID;
/* PI 1.7 volume 5, 8.2 */
EFI_GUID guid_disk_info = {
    0xd432a67f, 0x14dc, 0x484b,
    { 0xb3, 0xbb, 0x3f, 0x02, 0x91, 0x84, 0x93, 0x27 }
};
EFI_GUID guid_disk_info_ahci = {
    0x9e498932, 0x4abc, 0x45af,
    { 0xa3, 0x4d, 0x02, 0x47, 0x78, 0x7b, 0xe7, 0xc6 }
};
/* Ours; random */
EFI_GUID guid_card = {
    0x5b6b1e0c, 0x2f4a, 0x4d7e,
    { 0x9a, 0x31, 0x7c, 0x10, 0x84, 0x1b, 0x85, 0xe4 }
};
