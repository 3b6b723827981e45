/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs as text, for the corpus and for people:
 *
 *   # what it once broke
 *   machine memory
 *   seed 1234
 *   ops 0-99,104,117-118
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "fuzz.h"

#define MOST_OPS    1000000

static FuzzProgram *program_alloc(uint64_t seed, unsigned machine)
{
    FuzzProgram *p = g_new0(FuzzProgram, 1);

    p->seed = seed;
    p->machine = machine;
    p->ops = g_array_new(false, false, sizeof(unsigned));
    return p;
}

FuzzProgram *fuzz_program_new(uint64_t seed, unsigned machine, unsigned ops)
{
    FuzzProgram *p = program_alloc(seed, machine);
    unsigned i;

    for (i = 0; i < ops; i++) {
        g_array_append_val(p->ops, i);
    }
    return p;
}

void fuzz_program_free(FuzzProgram *p)
{
    g_array_free(p->ops, true);
    g_free(p);
}

static unsigned op_at(const FuzzProgram *p, unsigned i)
{
    return g_array_index(p->ops, unsigned, i);
}

char *fuzz_program_text(const FuzzProgram *p)
{
    GString *s = g_string_new(NULL);
    unsigned i, end;

    g_string_append_printf(s, "machine %s\nseed %" PRIu64 "\nops ",
                           fuzz_machine_name(p->machine), p->seed);
    for (i = 0; i < p->ops->len; i = end) {
        end = i + 1;
        while (end < p->ops->len && op_at(p, end) == op_at(p, end - 1) + 1) {
            end++;
        }
        g_string_append_printf(s, "%s%u", i ? "," : "", op_at(p, i));
        if (end > i + 1) {
            g_string_append_printf(s, "-%u", op_at(p, end - 1));
        }
    }
    g_string_append_c(s, '\n');
    return g_string_free(s, false);
}

static bool parse_ops(FuzzProgram *p, const char *text)
{
    while (*text) {
        unsigned first, last;

        if (qemu_strtoui(text, &text, 10, &first) < 0) {
            return false;
        }
        last = first;
        if (*text == '-' && qemu_strtoui(text + 1, &text, 10, &last) < 0) {
            return false;
        }
        if (last >= MOST_OPS) {
            return false;
        }
        for (; first <= last; first++) {
            g_array_append_val(p->ops, first);
        }
        if (*text && *text++ != ',') {
            return false;
        }
    }
    return true;
}

static bool parse_machine(FuzzProgram *p, const char *name)
{
    for (p->machine = 0; p->machine < fuzz_machine_kinds(); p->machine++) {
        if (!strcmp(fuzz_machine_name(p->machine), name)) {
            return true;
        }
    }
    return false;
}

static bool parse_line(FuzzProgram *p, const char *line)
{
    const char *rest;

    if (!*line || *line == '#') {
        return true;
    }
    if (strstart(line, "seed ", &rest)) {
        return qemu_strtou64(rest, NULL, 10, &p->seed) == 0;
    }
    if (strstart(line, "machine ", &rest)) {
        return parse_machine(p, rest);
    }
    return strstart(line, "ops ", &rest) && parse_ops(p, rest);
}

FuzzProgram *fuzz_program_load(const char *path, GError **err)
{
    g_autoptr(FuzzProgram) p = program_alloc(0, 0);
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    unsigned i;

    if (!g_file_get_contents(path, &text, NULL, err)) {
        return NULL;
    }
    lines = g_strsplit(text, "\n", -1);
    for (i = 0; lines[i]; i++) {
        if (!parse_line(p, g_strstrip(lines[i]))) {
            g_set_error(err, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                        "%s:%u: '%s' is not a line of a program", path, i + 1,
                        lines[i]);
            return NULL;
        }
    }
    return g_steal_pointer(&p);
}

static FuzzProgram *without(const FuzzProgram *p, unsigned from, unsigned n)
{
    FuzzProgram *q = program_alloc(p->seed, p->machine);

    n = MIN(n, p->ops->len - from);
    g_array_append_vals(q->ops, p->ops->data, from);
    g_array_append_vals(q->ops, &g_array_index(p->ops, unsigned, from + n),
                        p->ops->len - from - n);
    return q;
}

FuzzProgram *fuzz_program_shorten(FuzzProgram *p, unsigned seconds,
                                  bool (*fails)(const FuzzProgram *p))
{
    gint64 end = g_get_monotonic_time() + seconds * (gint64)G_USEC_PER_SEC;
    unsigned size = p->ops->len / 2;

    /* from the end on: what comes after the crash is gone at once */
    while (size) {
        unsigned from = QEMU_ALIGN_DOWN(p->ops->len - 1, size);

        for (;;) {
            FuzzProgram *q;

            if (g_get_monotonic_time() > end) {
                return p;
            }
            q = without(p, from, size);
            if (q->ops->len && fails(q)) {
                fuzz_program_free(p);
                p = q;
            } else {
                fuzz_program_free(q);
            }
            if (from < size) {
                break;
            }
            from -= size;
        }
        size /= 2;
    }
    return p;
}
