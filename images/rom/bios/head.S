/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers of the BIOS image: the expansion ROM's own (PCI Firmware 3.0, 5.1),
 * the PCI data structure, and one Plug and Play header with a boot connection
 * vector for each disk that the card can have (BIOS Boot Specification 1.01).
 * The packer fills sizes and checksums.
 */
#define PNP_HEADERS     8
#define PRODUCT_LEN     48

        .code16
        .section .head, "awx"
        .globl rom_start, rom_size, rom_checksum
rom_start:
        .word 0xAA55
rom_size:
        .byte 0
        .byte 0xE9                      /* jmp, always with 16 bits */
        .word init_entry - . - 2
        /* QEMU corrects the sum here when it puts a card's id in place */
rom_checksum:
        .byte 0
        .org 0x18
        .word pcir
        .word pnp_headers

        .balign 4
pcir:
        .ascii "PCIR"
        .word 0x1B85                    /* vendor: OCZ */
        .word 0x1084
        .word device_list - pcir
        .word pcir_end - pcir
        .byte 3                         /* revision: PCI Firmware 3.0 */
        .byte 0x00, 0x00, 0x01          /* class: SCSI controller */
        .word 0                         /* image length: by the packer */
        .word 0x0100                    /* revision of the code */
        .byte 0                         /* PC-AT */
        .byte 0                         /* last image: by the packer */
        .word 0                         /* most that the code needs while it */
        .word 0                         /* initialises; no configuration code */
        .word 0                         /* no DMTF CLP entry point */
pcir_end:
device_list:
        .word 0x1044, 0x1084, 0

        .macro pnp number
        .ascii "$PnP"
        .byte 1
        .byte 2                         /* length in 16 bytes */
        .word 0                         /* next one: by init.c */
        .byte 0
        .byte 0                         /* checksum: by init.c */
        .long 0
        .word manufacturer
        .word product_names + \number * PRODUCT_LEN
        .byte 0x00, 0x00, 0x01          /* class as above */
        .byte 0x64                      /* DDIM, shadowed read only, boots */
        .word bcv_entries + 8 * \number
        .word 0                         /* disconnect vector */
        .word 0                         /* no bootstrap entry vector */
        .word 0
        .word 0
        .endm

        .balign 16
        .globl pnp_headers
pnp_headers:
        .set number, 0
        .rept PNP_HEADERS
        pnp number
        .set number, number + 1
        .endr

        .globl rom_data_segment, rom_dma_segment
rom_data_segment:
        .word 0
rom_dma_segment:
        .word 0
manufacturer:
        .asciz "OCZ Technology"
        .globl product_names
product_names:
        .ascii "OCZ Z-DRIVE R4"
        .fill PNP_HEADERS * PRODUCT_LEN - 14, 1, 0

        /* The number of the disk in AL, then the code that all share. */
        .balign 8
bcv_entries:
        .set number, 0
        .rept PNP_HEADERS
        pushw %ax
        movb $number, %al
        jmp bcv_entry
        .balign 8
        .set number, number + 1
        .endr
