/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power cuts that are armed: the grammar and the counting.  Plain C, no QEMU
 * header; what a cut does is power.c's.
 *
 * Two tables say everything: what can set a cut off, and which keys say how it
 * goes.  Messages and the way back to text are made from the same tables.
 */
#include <string.h>

#include "hw/zdrive/card/cuts.h"
#include "hw/zdrive/text.h"

typedef enum ValueType {
    VALUE_NONE,
    VALUE_NUMBER,
    VALUE_TIME,
} ValueType;

static const struct {
    const char *name;
    ValueType type;
    uint64_t min, max;
    const char *wants;
} triggers[ZD_CUT_TRIGGERS] = {
    [ZD_CUT_COMMANDS] = { "commands", VALUE_NUMBER, 1, UINT64_MAX,
                          "a number from 1" },
    [ZD_CUT_WRITES] = { "writes", VALUE_NUMBER, 1, UINT64_MAX,
                        "a number from 1" },
    [ZD_CUT_FLUSHES] = { "flushes", VALUE_NUMBER, 1, UINT64_MAX,
                         "a number from 1" },
    [ZD_CUT_PROGRAMS] = { "programs", VALUE_NUMBER, 1, UINT64_MAX,
                          "a number from 1" },
    [ZD_CUT_ERASES] = { "erases", VALUE_NUMBER, 1, UINT64_MAX,
                        "a number from 1" },
    [ZD_CUT_COLLECTION] = { "collection", VALUE_NONE },
    [ZD_CUT_TIME] = { "time", VALUE_TIME,
                      .wants = "a time up to one day: 500us, 20ms, 3s" },
    [ZD_CUT_LBA] = { "lba", VALUE_NUMBER, 0, (1ull << 48) - 1, "a sector" },
    [ZD_CUT_RECOVERY] = { "recovery", VALUE_NONE },
};

typedef enum Key {
    KEY_SSD,
    KEY_LOSS,
    KEY_SEED,
    KEY_RAMP,
    KEY_THEN,
    KEY_FOR,
    KEY_PANIC,
    KEY_GONE,
    KEY_BAD_BLOCKS,
    KEY_ONE_IN,
    KEY_SEEN,
    KEYS
} Key;

static const struct {
    const char *name;
    ValueType type;
    size_t offset;              /* of its field in ZdCut */
    uint64_t max;               /* of a number */
    const char *choices;        /* one blank between them */
    const char *wants;
} keys[KEYS] = {
    [KEY_SSD] = { "ssd", VALUE_NUMBER, offsetof(ZdCut, ssd), 7,
                  .wants = "the number of an SSD" },
    [KEY_LOSS] = { "loss", .offset = offsetof(ZdCut, loss),
                   .choices = ZD_LOSS_CHOICES },
    [KEY_SEED] = { "seed", VALUE_NUMBER, offsetof(ZdCut, seed), UINT64_MAX,
                   .wants = "a number" },
    [KEY_RAMP] = { "ramp", VALUE_TIME, offsetof(ZdCut, ramp_ns),
                   .wants = "a time up to one day: 500us, 20ms" },
    [KEY_THEN] = { "then", .offset = offsetof(ZdCut, then),
                   .choices = "stay on reset pause quit" },
    [KEY_FOR] = { "for", VALUE_TIME, offsetof(ZdCut, for_ns),
                  .wants = "a time up to one day: 20ms, 3s" },
    [KEY_PANIC] = { "panic", .offset = offsetof(ZdCut, panic),
                    .choices = "no-capacity diagnostic busy" },
    [KEY_GONE] = { "gone", .offset = offsetof(ZdCut, gone),
                   .choices = "no yes" },
    [KEY_BAD_BLOCKS] = { "bad-blocks", VALUE_NUMBER,
                         offsetof(ZdCut, bad_blocks), 1000000,
                         .wants = "a number" },
    [KEY_ONE_IN] = { "one-in", VALUE_NUMBER, offsetof(ZdCut, one_in),
                     UINT32_MAX, .wants = "a number from 1" },
    [KEY_SEEN] = { "seen", VALUE_NUMBER, offsetof(ZdCut, seen), UINT64_MAX,
                   .wants = "a number" },
};

/* So long a machine stands dark when the user does not say. */
#define DEFAULT_FOR_NS  (100 * 1000 * 1000)

#define BIT_OF(key)     (1u << (key))

static uint64_t *field(ZdCut *cut, Key key)
{
    return (uint64_t *)((char *)cut + keys[key].offset);
}

static bool parse_trigger(ZdCut *cut, const char *word, char **error)
{
    g_auto(GStrv) parts = g_strsplit(word, "=", 2);
    GString *names = g_string_new(NULL);
    unsigned i;
    bool good = false;

    for (i = 0; i < ZD_CUT_TRIGGERS; i++) {
        g_string_append_printf(names, " %s", triggers[i].name);
        if (!strcmp(parts[0], triggers[i].name)) {
            break;
        }
    }
    if (i == ZD_CUT_TRIGGERS) {
        *error = g_strdup_printf("'%s' sets no power cut off; what does:%s",
                                 parts[0], names->str);
        g_string_free(names, TRUE);
        return false;
    }
    g_string_free(names, TRUE);
    cut->trigger = i;
    switch (triggers[i].type) {
    case VALUE_NONE:
        good = !parts[1];
        break;
    case VALUE_NUMBER:
        good = parts[1] && zd_text_number(parts[1], triggers[i].min,
                                          triggers[i].max, &cut->at);
        break;
    case VALUE_TIME:
        good = parts[1] && zd_text_time(parts[1], &cut->at);
        break;
    }
    if (!good) {
        *error = g_strdup_printf("'%s' of a power cut: %s wants %s", word,
                                 triggers[i].name, triggers[i].wants ?:
                                 "no value");
    }
    return good;
}

static bool parse_key(ZdCut *cut, const char *word, char **error)
{
    g_auto(GStrv) parts = g_strsplit(word, "=", 2);
    GString *names = g_string_new(NULL);
    unsigned i, choice = 0;
    bool good = false;

    for (i = 0; i < KEYS && strcmp(parts[0], keys[i].name); i++) {
        if (i != KEY_SEEN) {
            g_string_append_printf(names, " %s", keys[i].name);
        }
    }
    if (i == KEYS) {
        *error = g_strdup_printf("'%s' is nothing that a power cut takes; it "
                                 "takes:%s", parts[0], names->str);
        g_string_free(names, TRUE);
        return false;
    }
    g_string_free(names, TRUE);
    if (parts[1] && keys[i].choices) {
        good = zd_text_choice(parts[1], keys[i].choices, &choice);
        *field(cut, i) = choice;
    } else if (parts[1] && keys[i].type == VALUE_TIME) {
        good = zd_text_time(parts[1], field(cut, i));
    } else if (parts[1]) {
        good = zd_text_number(parts[1], i == KEY_ONE_IN, keys[i].max,
                              field(cut, i));
    }
    if (!good) {
        *error = g_strdup_printf("'%s' of a power cut: %s= wants %s%s", word,
                                 keys[i].name,
                                 keys[i].choices ? "one of: " : "",
                                 keys[i].choices ?: keys[i].wants);
        return false;
    }
    cut->given |= BIT_OF(i);
    return true;
}

static bool parse_cut(const char *text, ZdCut *cut, char **error)
{
    g_auto(GStrv) words = g_strsplit_set(text, ", \t", 0);
    bool first = true;

    *cut = (ZdCut) { .one_in = 1, .for_ns = DEFAULT_FOR_NS };
    for (unsigned i = 0; words[i]; i++) {
        if (!*words[i]) {
            continue;
        }
        if (!(first ? parse_trigger : parse_key)(cut, words[i], error)) {
            return false;
        }
        first = false;
    }
    return true;
}

bool zd_cuts_parse(ZdCuts *cuts, const char *text, unsigned ssds, char **error)
{
    g_auto(GStrv) parts = g_strsplit_set(text, ";\n", 0);
    ZdCuts made = { 0 };

    for (unsigned i = 0; parts[i]; i++) {
        ZdCut cut;

        g_strstrip(parts[i]);
        if (!*parts[i]) {
            continue;
        }
        if (!parse_cut(parts[i], &cut, error)) {
            return false;
        }
        if (zd_cut_of_ssd(&cut) && cut.ssd >= ssds) {
            *error = g_strdup_printf("'%s': this card has SSDs 0 to %u",
                                     parts[i], ssds - 1);
            return false;
        }
        if (made.count == ZD_CUTS_MAX) {
            *error = g_strdup_printf("more than %d power cuts", ZD_CUTS_MAX);
            return false;
        }
        made.list[made.count++] = cut;
    }
    *cuts = made;
    return true;
}

char *zd_cuts_format(const ZdCuts *cuts)
{
    GString *s = g_string_new(NULL);

    for (unsigned i = 0; i < cuts->count; i++) {
        ZdCut cut = cuts->list[i];

        g_string_append_printf(s, "%s%s", i ? ";" : "",
                               triggers[cut.trigger].name);
        if (triggers[cut.trigger].type == VALUE_TIME) {
            g_string_append_c(s, '=');
            zd_text_format_time(s, cut.at);
        } else if (triggers[cut.trigger].type == VALUE_NUMBER) {
            g_string_append_printf(s, "=%" G_GUINT64_FORMAT, cut.at);
        }
        for (unsigned key = 0; key < KEYS; key++) {
            if (!(cut.given & BIT_OF(key)) &&
                !(key == KEY_SEEN && cut.seen)) {
                continue;
            }
            g_string_append_printf(s, ",%s=", keys[key].name);
            if (keys[key].choices) {
                g_auto(GStrv) names = g_strsplit(keys[key].choices, " ", 0);

                g_string_append(s, names[*field(&cut, key)]);
            } else if (keys[key].type == VALUE_TIME) {
                zd_text_format_time(s, *field(&cut, key));
            } else {
                g_string_append_printf(s, "%" G_GUINT64_FORMAT,
                                       *field(&cut, key));
            }
        }
    }
    return g_string_free(s, FALSE);
}

const char *zd_cut_name(const ZdCut *cut)
{
    return triggers[cut->trigger].name;
}

bool zd_cut_needs_flash(const ZdCut *cut)
{
    return cut->trigger == ZD_CUT_PROGRAMS || cut->trigger == ZD_CUT_ERASES ||
           cut->trigger == ZD_CUT_COLLECTION;
}

bool zd_cut_of_ssd(const ZdCut *cut)
{
    return cut->given & BIT_OF(KEY_SSD);
}

bool zd_cut_has_loss(const ZdCut *cut)
{
    return cut->given & BIT_OF(KEY_LOSS);
}

bool zd_cut_has_seed(const ZdCut *cut)
{
    return cut->given & BIT_OF(KEY_SEED);
}

bool zd_cut_panics(const ZdCut *cut)
{
    return cut->given & BIT_OF(KEY_PANIC);
}

const char *zd_cut_panic_form(const ZdCut *cut)
{
    static const char *const forms[] = { "no-capacity", "diagnostic", "busy" };

    return forms[cut->panic];
}

bool zd_cut_counts(ZdCut *cut, ZdCutTrigger trigger, unsigned ssd, uint64_t n)
{
    /* a trigger without a number, and one that is a place, waits for one */
    uint64_t wanted = triggers[trigger].min ? cut->at : 1;

    if (cut->trigger != trigger || (zd_cut_of_ssd(cut) && cut->ssd != ssd)) {
        return false;
    }
    cut->seen += n;
    return n && cut->seen >= wanted;
}

void zd_cuts_remove(ZdCuts *cuts, unsigned n)
{
    cuts->count--;
    memmove(&cuts->list[n], &cuts->list[n + 1],
            (cuts->count - n) * sizeof(cuts->list[0]));
}
