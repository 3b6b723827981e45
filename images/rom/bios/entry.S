/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways into the C code of the BIOS part: initialisation at POST, the boot
 * connection vectors, int 13h; and the way out, calls to the BIOS.
 *
 * C code runs in real mode with 32-bit registers (gcc -m16): calls push four
 * bytes and the upper half of ESP has to be zero.
 */
#define REGS_SIZE       50              /* struct Regs */
#define REGS_CHAIN      40

        .code16
        .section .text.entry, "ax"

/*
 * POST, AX: bus, device and function.  Everything is in the ROM's own segment,
 * which can be written until this returns.
 */
        .globl init_entry
init_entry:
        pushal
        pushw %ds
        pushw %es
        pushw %fs
        pushw %gs
        pushfw
        cli
        cld
        movw %ss, %bx
        movw %sp, %si
        movw %cs, %cx
        movw %cx, %ds
        movw %cx, %es
        movw %cx, %ss
        movl $stack_top, %esp
        pushw %bx
        pushw %si
        movzwl %ax, %eax
        pushl %eax
        calll flat_enter
        popl %eax
        calll init                      /* returns what AX tells the BIOS */
        popw %si
        popw %bx
        movw %bx, %ss
        movzwl %si, %esp
        popfw
        movw %sp, %si
        movw %ax, %ss:36(%si)           /* EAX below four segments */
        popw %gs
        popw %fs
        popw %es
        popw %ds
        popal
        lretw

/* Connect the disk AL; AX is on the stack already. */
        .globl bcv_entry
bcv_entry:
        pushal
        pushw %ds
        pushw %es
        pushw %fs
        pushw %gs
        pushfw
        cli
        cld
        movw %ss, %bx
        movw %sp, %si
        movw %cs:rom_dma_segment, %fs
        movw %cs:rom_data_segment, %cx
        movw %cx, %ds
        movw %cx, %es
        movw %cx, %ss
        movl $stack_top, %esp
        pushw %bx
        pushw %si
        movzbl %al, %eax
        movw %cs, %dx
        shll $16, %edx
        movw $int13_entry, %dx
        pushl %edx
        pushl %eax
        calll flat_enter
        popl %eax
        popl %edx
        calll connect
        popw %si
        popw %bx
        movw %bx, %ss
        movzwl %si, %esp
        popfw
        popw %gs
        popw %fs
        popw %es
        popw %ds
        popal
        popw %ax
        lretw

/*
 * int 13h.  What is not for one of our disks goes to the handler before us,
 * with all registers as they came.
 */
int13_entry:
        pushl %eax                      /* room for the next handler */
        pushw %ds
        pushw %es
        pushw %fs
        pushw %gs
        pushal
        movw %cs:rom_data_segment, %ds
        movw $drive_number, %si
        movw $8, %cx
        testb $0x80, %dl                /* 0: a disk that is not connected */
        jz 3f
1:      cmpb %dl, (%si)
        je 2f
        incw %si
        loop 1b
3:      movl old_int13, %eax
        movw %sp, %si
        movl %eax, %ss:REGS_CHAIN(%si)
        popal
        popw %gs
        popw %fs
        popw %es
        popw %ds
        lretw

2:      /* Ours: a copy of the registers on our stack for C to work on. */
        cld
        negw %cx
        addw $8, %cx                    /* number of the disk */
        movzwl %cx, %ebp
        movw %ss, %bx
        movl %esp, %esi
        movw %ds, %ax
        movw %ax, %es
        movw %ax, %ss
        movl $stack_top - REGS_SIZE - 2, %esp
        movw %sp, %di
        movw %bx, %ds
        movw $REGS_SIZE / 2, %cx
        rep movsw
        movw %ax, %ds
        subw $REGS_SIZE, %si
        movl %esp, %edi
        pushl %ebx
        pushl %esi
        movw %cs:rom_dma_segment, %fs
        smsw %ax
        testb $1, %al                   /* virtual 8086 mode: no way to GS */
        jnz 5f
        calll flat_enter
        movl %edi, %eax
        movl %ebp, %edx
        calll int13
        jmp 4f
5:      movl %edi, %eax
        calll int13_refuse
4:      popl %edi
        popl %ebx
        movw %bx, %es
        movw %sp, %si
        movl %edi, %ebp
        movw $REGS_SIZE / 2, %cx
        rep movsw
        movw %bx, %ss
        movl %ebp, %esp
        popal
        popw %gs
        popw %fs
        popw %es
        popw %ds
        addw $4, %sp
        iretw

/* void flat_enter(void): GS with base 0 and a limit of 4 GiB. */
        .globl flat_enter
flat_enter:
        pushl %eax
        pushl %ebx
        subw $8, %sp
        movw %sp, %bx
        sgdtl %ss:(%bx)
        xorl %eax, %eax
        movw %ds, %ax
        shll $4, %eax
        addl $gdt, %eax
        movl %eax, gdt_pointer + 2
        lgdtl gdt_pointer
        movl %cr0, %eax
        orb $1, %al
        movl %eax, %cr0
        jmp 1f
1:      movw $8, %bx
        movw %bx, %gs
        andb $0xFE, %al
        movl %eax, %cr0
        jmp 2f
2:      xorw %bx, %bx
        movw %bx, %gs
        movw %sp, %bx
        lgdtl %ss:(%bx)
        addw $8, %sp
        popl %ebx
        popl %eax
        retl

/* void bios_call(uint8_t number, Regs *r): EAX, EDX */
        .section .init.text, "ax"
        .globl bios_call
bios_call:
        pushl %ebx
        pushl %esi
        pushl %edi
        pushl %ebp
        pushw %fs
        movb %al, 1f + 1
        pushl %edx
        movl 0(%edx), %edi
        movl 4(%edx), %esi
        movl 8(%edx), %ebp
        movl 16(%edx), %ebx
        movl 24(%edx), %ecx
        movl 28(%edx), %eax
        movw 36(%edx), %es
        movl 20(%edx), %edx
        sti
        jmp 1f
1:      int $0
        cli
        cld
        pushfw
        pushw %es
        pushl %edx
        pushl %eax
        movw %ss, %ax
        movw %ax, %ds
        movzwl %sp, %edx
        movl 12(%edx), %edx             /* the registers' address */
        popl 28(%edx)
        popl 20(%edx)
        popw 36(%edx)
        popw 48(%edx)
        movl %ebx, 16(%edx)
        movl %ecx, 24(%edx)
        movl %edi, 0(%edx)
        movl %esi, 4(%edx)
        popl %edx
        pushw %ds
        popw %es
        popw %fs
        popl %ebp
        popl %edi
        popl %esi
        popl %ebx
        calll flat_enter
        retl

        .globl set_dma_segment
set_dma_segment:
        movw %ax, %fs
        retl

        .section .data
        .balign 8
gdt:
        .quad 0
        .quad 0x008F92000000FFFF
gdt_pointer:
        .word 15
        .long 0
        .section .bss
        .balign 16
        .skip 1536
stack_top:
