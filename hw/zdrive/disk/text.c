/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values in the texts that a user writes for faults and power cuts.  Plain C,
 * no QEMU header.
 */
#include <string.h>

#include "hw/zdrive/text.h"

#define DAY_NS          (24ull * 3600 * 1000 * 1000 * 1000)

/* From the smallest; a number without unit is milliseconds. */
static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    { "us", 1000 },
    { "ms", 1000 * 1000 },
    { "s", 1000 * 1000 * 1000 },
};

bool zd_text_number(const char *text, uint64_t min, uint64_t max,
                    uint64_t *value)
{
    char *end;

    if (!g_ascii_isdigit(text[0])) {
        return false;
    }
    *value = g_ascii_strtoull(text, &end, 0);
    return !*end && *value >= min && *value <= max;
}

bool zd_text_time(const char *text, uint64_t *ns)
{
    const char *unit = text + strspn(text, "0123456789");
    g_autofree char *digits = g_strndup(text, unit - text);
    uint64_t scale = units[1].ns;

    if (*unit) {
        scale = 0;
        for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
            if (!strcmp(unit, units[i].name)) {
                scale = units[i].ns;
            }
        }
    }
    if (!scale || !zd_text_number(digits, 0, DAY_NS / scale, ns)) {
        return false;
    }
    *ns *= scale;
    return true;
}

bool zd_text_choice(const char *text, const char *choices,
                     unsigned *choice)
{
    g_auto(GStrv) names = g_strsplit(choices, " ", 0);

    for (unsigned i = 0; names[i]; i++) {
        if (!strcmp(text, names[i])) {
            *choice = i;
            return true;
        }
    }
    return false;
}

void zd_text_format_time(GString *s, uint64_t ns)
{
    unsigned i = G_N_ELEMENTS(units) - 1;

    while (i && ns % units[i].ns) {
        i--;
    }
    g_string_append_printf(s, "%" G_GUINT64_FORMAT "%s", ns / units[i].ns,
                           units[i].name);
}
