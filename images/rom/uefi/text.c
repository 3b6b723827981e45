/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few string functions that the driver needs.  memcpy and memset are
 * called by the compiler itself.
 */
#include "driver.h"
#include "words.h"

void *memcpy(void *to, const void *from, size_t len)
{
    uint8_t *d = to;
    const uint8_t *s = from;

    while (len--) {
        *d++ = *s++;
    }
    return to;
}

void *memset(void *at, int value, size_t len)
{
    uint8_t *d = at;

    while (len--) {
        *d++ = value;
    }
    return at;
}

CHAR16 *text_add(CHAR16 *to, const char *s)
{
    while (*s) {
        *to++ = (uint8_t)*s++;
    }
    *to = 0;
    return to;
}

CHAR16 *text_add_number(CHAR16 *to, uint32_t n)
{
    char text[DECIMAL_LEN];

    return text_add(to, decimal(text, n));
}

CHAR16 *text_add_size(CHAR16 *to, uint64_t sectors)
{
    uint64_t mb = sectors * 8 / 15625;

    if (mb >= 10000) {
        return text_add(text_add_number(to, mb / 1000), " GB");
    }
    return text_add(text_add_number(to, mb), " MB");
}

void text_print(const CHAR16 *s)
{
    SIMPLE_TEXT_OUTPUT_INTERFACE *out = system_table->ConOut;

    if (out) {
        out->OutputString(out, (CHAR16 *)s);
        out->OutputString(out, L"\r\n");
    }
}
