/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text and keys at POST, through int 10h and int 16h as teletype, so that they
 * go wherever the firmware sends its own: screen or serial console.
 */
#include "bios.h"
#include "words.h"

void put_char(char c)
{
    Regs r = { .eax = 0x0E00 | (uint8_t)c, .ebx = 7 };

    bios_call(0x10, &r);
}

void put_text(const char *s)
{
    for (; *s; s++) {
        if (*s == '\n') {
            put_char('\r');
        }
        put_char(*s);
    }
}

char *format_text(char *to, const char *s)
{
    while (*s) {
        *to++ = *s++;
    }
    *to = 0;
    return to;
}

char *format_number(char *to, uint32_t n)
{
    char text[DECIMAL_LEN];

    return format_text(to, decimal(text, n));
}

char *format_size(char *to, uint64_t sectors)
{
    uint32_t rest;
    uint64_t gb = hba_divide(sectors, 1953125, &rest);

    if (gb >= 10) {
        return format_text(format_number(to, (uint32_t)gb), " GB");
    }
    to = format_number(to, (uint32_t)hba_divide(sectors * 8, 15625, &rest));
    return format_text(to, " MB");
}

void put_number(uint32_t n)
{
    char text[DECIMAL_LEN];

    put_text(decimal(text, n));
}

void put_size(uint64_t sectors)
{
    char text[16];

    format_size(text, sectors);
    put_text(text);
}

void put_hex(uint32_t n, unsigned digits)
{
    while (digits--) {
        put_char("0123456789abcdef"[n >> (4 * digits) & 15]);
    }
}

uint8_t key_wait(void)
{
    Regs r = { .eax = 0 };

    bios_call(0x16, &r);
    return LOW8(r.eax);
}

uint8_t key_poll(void)
{
    Regs r = { .eax = 0x0100 };

    bios_call(0x16, &r);
    return r.flags & FLAG_ZERO ? 0 : key_wait();
}
