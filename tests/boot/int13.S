/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Boot sector of a floppy that calls every function of int 13h on the first
 * hard disk: loads int13.c behind itself and runs it.  Code and data live in
 * one segment that begins at linear 0.
 */
        .code16
        .section .head, "ax"
        .globl start
start:
        ljmp $0, $1f
1:      xorw %ax, %ax
        movw %ax, %ds
        movw %ax, %es
        movw %ax, %ss
        movl $0x7C00, %esp
        sti
        cld
        movw $0x7E00, %bx
        movw $1, %di                    /* next sector of the floppy */
2:      movw %di, %ax
        movw $18, %cx
        xorw %dx, %dx
        divw %cx
        movb %dl, %cl
        incb %cl
        xorw %dx, %dx
        movb %al, %dh
        andb $1, %dh
        shrw $1, %ax
        movb %al, %ch
        movb $0, %dl
        movw $0x0201, %ax
        int $0x13
        jc 3f
        addw $512, %bx
        incw %di
        cmpw $sectors, %di
        jb 2b
        calll main
3:      hlt                             /* interrupts flush the console */
        jmp 3b

        .org 510
        .word 0xAA55

/* void bios(uint8_t number, Regs *r): EAX, EDX; see int13.c */
        .text
        .globl bios
bios:
        pushal
        movb %al, 1f + 1
        movl %edx, saved
        movl 0(%edx), %eax
        movl 4(%edx), %ebx
        movl 8(%edx), %ecx
        movl 16(%edx), %esi
        movl 20(%edx), %edi
        movw 26(%edx), %es
        pushw 24(%edx)
        movl 12(%edx), %edx
        popw %ds
        jmp 1f
1:      int $0
        pushw %es
        pushfw
        pushw %ss
        popw %ds
        pushl %edx
        movl saved, %edx
        movl %eax, 0(%edx)
        movl %ebx, 4(%edx)
        movl %ecx, 8(%edx)
        popl 12(%edx)
        popw 28(%edx)
        popw %ax
        pushw %ds
        popw %es
        popal
        retl

        .section .data
saved:  .long 0
