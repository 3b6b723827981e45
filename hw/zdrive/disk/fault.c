/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults: the grammar and the matching.
 *
 * Two tables say everything: which keys exist and how a value is read, and
 * which faults exist, whose they are and which keys they take.  Messages and
 * the way back to text are made from the same tables.
 */
#include <string.h>

#include "hw/zdrive/fault.h"
#include "hw/zdrive/text.h"

typedef enum Key {
    KEY_LBA,
    KEY_OPCODE,
    KEY_TAG,
    KEY_TIMES,
    KEY_AFTER,
    KEY_ONE_IN,
    KEY_DELAY,
    KEY_FORM,
    KEY_FIELD,
    KEY_WIDTH,
    KEY_SEEN,
    KEY_HITS,
    KEYS
} Key;

typedef enum ValueType {
    VALUE_NUMBER,
    VALUE_RANGE,
    VALUE_TIME,
    VALUE_CHOICE,
} ValueType;

static const struct {
    const char *name;
    ValueType type;
    uint64_t min, max;          /* of a number */
    const char *choices;        /* of a choice, one blank between them */
    const char *wants;
} keys[KEYS] = {
    [KEY_LBA] = { "lba", VALUE_RANGE, .wants = "a sector, or FIRST-LAST" },
    [KEY_OPCODE] = { "opcode", VALUE_NUMBER, 0, 0xff,
                     .wants = "an ATA command, 0 to 0xff" },
    [KEY_TAG] = { "tag", VALUE_NUMBER, 0, 31, .wants = "0 to 31" },
    [KEY_TIMES] = { "times", VALUE_NUMBER, 0, UINT32_MAX,
                    .wants = "a number, 0 for ever" },
    [KEY_AFTER] = { "after", VALUE_NUMBER, 0, UINT32_MAX,
                    .wants = "a number" },
    [KEY_ONE_IN] = { "one-in", VALUE_NUMBER, 1, UINT32_MAX,
                     .wants = "a number from 1" },
    [KEY_DELAY] = { "delay", VALUE_TIME,
                    .wants = "a time up to one day: 500us, 20ms, 3s" },
    [KEY_FORM] = { "form", VALUE_CHOICE,
                   .choices = "no-capacity diagnostic busy" },
    [KEY_FIELD] = { "field", VALUE_CHOICE,
                    .choices = "signature checksum drive-count serial" },
    [KEY_WIDTH] = { "width", VALUE_CHOICE, .choices = "1 2 4" },
    [KEY_SEEN] = { "seen", VALUE_NUMBER, 0, UINT64_MAX, .wants = "a number" },
    [KEY_HITS] = { "hits", VALUE_NUMBER, 0, UINT64_MAX, .wants = "a number" },
};

#define BIT_OF(key)     (1u << (key))
#define COUNTERS        (BIT_OF(KEY_SEEN) | BIT_OF(KEY_HITS))
#define WHEN            (BIT_OF(KEY_TIMES) | BIT_OF(KEY_AFTER) | \
                         BIT_OF(KEY_ONE_IN))
#define COMMAND         (BIT_OF(KEY_LBA) | BIT_OF(KEY_OPCODE) | \
                         BIT_OF(KEY_TAG) | WHEN)
#define DELAY           BIT_OF(KEY_DELAY)

#define ACCESS(a)       (1u << ZD_ACCESS_ ## a)

static const struct {
    const char *name;
    ZdFaultScope scope;
    uint32_t takes;
    uint32_t needs;
    unsigned accesses;          /* commands that it can hit; 0: all */
    bool data_only;             /* only commands that move data */
    uint32_t times;             /* when the user gives none */
} kinds[ZD_FAULT_KINDS] = {
    [ZD_FAULT_READ_ERROR] = { "read-error", ZD_FAULT_OF_SSD, COMMAND,
                              .accesses = ACCESS(READ) },
    [ZD_FAULT_WRITE_FAULT] = { "write-fault", ZD_FAULT_OF_SSD, COMMAND,
                               .accesses = ACCESS(WRITE) | ACCESS(FLUSH) },
    [ZD_FAULT_HANG] = { "hang", ZD_FAULT_OF_SSD, COMMAND },
    [ZD_FAULT_SLOW] = { "slow", ZD_FAULT_OF_SSD, COMMAND, DELAY },
    [ZD_FAULT_CRC_ERROR] = { "crc-error", ZD_FAULT_OF_SSD, COMMAND,
                             .data_only = true },
    [ZD_FAULT_LINK_DROP] = { "link-drop", ZD_FAULT_OF_SSD, COMMAND | DELAY,
                             .times = 1 },
    [ZD_FAULT_MISSING] = { "missing", ZD_FAULT_OF_SSD },
    [ZD_FAULT_SIGNATURE_LATE] = { "signature-late", ZD_FAULT_OF_SSD, WHEN,
                                  DELAY },
    [ZD_FAULT_SIGNATURE_ABSENT] = { "signature-absent", ZD_FAULT_OF_SSD,
                                    WHEN },
    [ZD_FAULT_PANIC] = { "panic", ZD_FAULT_OF_SSD, 0, BIT_OF(KEY_FORM) },
    [ZD_FAULT_COMPLETION_LATE] = { "completion-late", ZD_FAULT_OF_CARD, WHEN,
                                   DELAY },
    [ZD_FAULT_IRQ_LOST] = { "irq-lost", ZD_FAULT_OF_CARD, WHEN },
    [ZD_FAULT_INTX_DEAD] = { "intx-dead", ZD_FAULT_OF_CARD },
    [ZD_FAULT_SPI_CORRUPT] = { "spi-corrupt", ZD_FAULT_OF_CARD, 0,
                               BIT_OF(KEY_FIELD) },
    [ZD_FAULT_LINK_WIDTH] = { "link-width", ZD_FAULT_OF_CARD, 0,
                              BIT_OF(KEY_WIDTH) },
};

static const char *const owners[] = {
    [ZD_FAULT_OF_SSD] = "an SSD",
    [ZD_FAULT_OF_CARD] = "the card",
};

#define BETWEEN_FAULTS  ";\n"
#define BETWEEN_WORDS   ", \t"

/* Names of what there is, for a message */

static char *list_kinds(ZdFaultScope scope)
{
    GString *s = g_string_new(NULL);

    for (unsigned i = 0; i < ZD_FAULT_KINDS; i++) {
        if (kinds[i].scope == scope) {
            g_string_append_printf(s, " %s", kinds[i].name);
        }
    }
    return g_string_free(s, FALSE);
}

static char *list_keys(ZdFaultKind kind)
{
    GString *s = g_string_new(NULL);

    for (unsigned i = 0; i < KEYS; i++) {
        if ((kinds[kind].takes | kinds[kind].needs) & BIT_OF(i)) {
            g_string_append_printf(s, " %s", keys[i].name);
        }
    }
    return g_string_free(s, FALSE);
}

/* Values */

static bool parse_range(const char *text, ZdFault *f)
{
    const uint64_t max = (1ull << 48) - 1;
    const char *dash = strchr(text, '-');
    g_autofree char *first = dash ? g_strndup(text, dash - text)
                                  : g_strdup(text);

    return zd_text_number(first, 0, max, &f->lba_first) &&
           zd_text_number(dash ? dash + 1 : text, f->lba_first, max,
                        &f->lba_last);
}

static void set_number(ZdFault *f, Key key, uint64_t value)
{
    switch (key) {
    case KEY_OPCODE:
        f->opcode = value;
        break;
    case KEY_TAG:
        f->tag = value;
        break;
    case KEY_TIMES:
        f->times = value;
        break;
    case KEY_AFTER:
        f->after = value;
        break;
    case KEY_ONE_IN:
        f->one_in = value;
        break;
    case KEY_SEEN:
        f->seen = value;
        break;
    default:
        f->hits = value;
        break;
    }
}

static uint64_t get_number(const ZdFault *f, Key key)
{
    switch (key) {
    case KEY_OPCODE:
        return f->opcode;
    case KEY_TAG:
        return f->tag;
    case KEY_TIMES:
        return f->times;
    case KEY_AFTER:
        return f->after;
    case KEY_ONE_IN:
        return f->one_in;
    case KEY_SEEN:
        return f->seen;
    default:
        return f->hits;
    }
}

static bool parse_value(ZdFault *f, Key key, const char *text)
{
    uint64_t number;

    switch (keys[key].type) {
    case VALUE_RANGE:
        return parse_range(text, f);
    case VALUE_TIME:
        return zd_text_time(text, &f->delay_ns);
    case VALUE_CHOICE:
        return zd_text_choice(text, keys[key].choices, &f->choice);
    default:
        if (!zd_text_number(text, keys[key].min, keys[key].max, &number)) {
            return false;
        }
        set_number(f, key, number);
        return true;
    }
}

/* Faults */

static bool parse_key(ZdFault *f, const char *word, char **error)
{
    const char *equals = strchr(word, '=');
    g_autofree char *name = equals ? g_strndup(word, equals - word)
                                   : g_strdup(word);
    uint32_t takes = kinds[f->kind].takes | kinds[f->kind].needs | COUNTERS;
    g_autofree char *list = NULL;
    unsigned key;

    for (key = 0; key < KEYS; key++) {
        if ((takes & BIT_OF(key)) && !strcmp(name, keys[key].name)) {
            break;
        }
    }
    if (key == KEYS) {
        list = list_keys(f->kind);
        *error = g_strdup_printf("'%s' is nothing that fault '%s' takes; it "
                                 "takes:%s", name, kinds[f->kind].name,
                                 *list ? list : " nothing");
        return false;
    }
    if (!equals || !parse_value(f, key, equals + 1)) {
        *error = g_strdup_printf("'%s' of fault '%s': %s= wants %s%s", word,
                                 kinds[f->kind].name, name,
                                 keys[key].choices ? "one of: " : "",
                                 keys[key].choices ? keys[key].choices
                                                   : keys[key].wants);
        return false;
    }
    f->given |= BIT_OF(key);
    return true;
}

static bool parse_fault(ZdFaultScope scope, char **words, ZdFault *f,
                        char **error)
{
    g_autofree char *list = NULL;
    unsigned kind, key;
    uint32_t lacks;

    for (kind = 0; kind < ZD_FAULT_KINDS; kind++) {
        if (kinds[kind].scope == scope && !strcmp(words[0],
                                                  kinds[kind].name)) {
            break;
        }
    }
    if (kind == ZD_FAULT_KINDS) {
        list = list_kinds(scope);
        *error = g_strdup_printf("'%s' is no fault of %s, which has:%s",
                                 words[0], owners[scope], list);
        return false;
    }
    *f = (ZdFault) {
        .kind = kind,
        .times = kinds[kind].times,
        .one_in = 1,
    };
    while (*++words) {
        if (**words && !parse_key(f, *words, error)) {
            return false;
        }
    }
    f->seen = MAX(f->seen, f->hits);
    lacks = kinds[kind].needs & ~f->given;
    for (key = 0; key < KEYS; key++) {
        if (lacks & BIT_OF(key)) {
            *error = g_strdup_printf("fault '%s' needs %s=",
                                     kinds[kind].name, keys[key].name);
            return false;
        }
    }
    return true;
}

/* The words of one fault, no empty one first; NULL when there is none. */
static char **split_words(const char *text)
{
    g_autofree char *copy = g_strdup(text);

    g_strdelimit(copy, BETWEEN_WORDS, ' ');
    g_strstrip(copy);
    return *copy ? g_strsplit(copy, " ", 0) : NULL;
}

bool zd_faults_parse(ZdFaults *faults, const char *text, char **error)
{
    g_autofree char *copy = g_strdelimit(g_strdup(text), BETWEEN_FAULTS, ';');
    g_auto(GStrv) parts = g_strsplit(copy, ";", 0);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(ZdFault));
    uint32_t armed = 0;

    for (unsigned i = 0; parts[i]; i++) {
        g_auto(GStrv) words = split_words(parts[i]);
        ZdFault f;

        if (!words) {
            continue;
        }
        if (!parse_fault(faults->scope, words, &f, error)) {
            return false;
        }
        g_array_append_val(list, f);
        armed |= 1u << f.kind;
    }
    g_free(faults->list);
    faults->count = list->len;
    faults->list = (ZdFault *)g_array_free(g_steal_pointer(&list), FALSE);
    faults->armed = armed;
    return true;
}

static void format_value(GString *s, const ZdFault *f, Key key)
{
    g_auto(GStrv) names = NULL;

    g_string_append_printf(s, ",%s=", keys[key].name);
    switch (keys[key].type) {
    case VALUE_RANGE:
        g_string_append_printf(s, "%" G_GUINT64_FORMAT, f->lba_first);
        if (f->lba_last != f->lba_first) {
            g_string_append_printf(s, "-%" G_GUINT64_FORMAT, f->lba_last);
        }
        break;
    case VALUE_TIME:
        zd_text_format_time(s, f->delay_ns);
        break;
    case VALUE_CHOICE:
        names = g_strsplit(keys[key].choices, " ", 0);
        g_string_append(s, names[f->choice]);
        break;
    default:
        g_string_append_printf(s, key == KEY_OPCODE ?
                               "0x%02" G_GINT64_MODIFIER "x" :
                               "%" G_GUINT64_FORMAT, get_number(f, key));
        break;
    }
}

char *zd_faults_format(const ZdFaults *faults)
{
    GString *s = g_string_new(NULL);

    for (unsigned i = 0; i < faults->count; i++) {
        const ZdFault *f = &faults->list[i];

        g_string_append_printf(s, "%s%s", i ? ";" : "", kinds[f->kind].name);
        for (unsigned key = 0; key < KEYS; key++) {
            if ((f->given & ~COUNTERS & BIT_OF(key)) || key == KEY_HITS ||
                (key == KEY_SEEN && f->seen != f->hits)) {
                format_value(s, f, key);
            }
        }
    }
    return g_string_free(s, FALSE);
}

void zd_faults_init(ZdFaults *faults, ZdFaultScope scope, uint64_t seed)
{
    memset(faults, 0, sizeof(*faults));
    faults->scope = scope;
    /* any constant will do that keeps the state from being 0 */
    faults->random = seed * 2 + 0x9e3779b97f4a7c15ull;
    faults->random = faults->random ? faults->random : 1;
}

void zd_faults_clear(ZdFaults *faults)
{
    g_free(faults->list);
    faults->list = NULL;
    faults->count = 0;
    faults->armed = 0;
    g_free(faults->saved);
    faults->saved = NULL;
}

/*
 * xorshift64*: S. Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", ACM TOMS 42 (2016)
 */
static uint32_t next_random(ZdFaults *faults)
{
    uint64_t x = faults->random;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    faults->random = x;
    return (x * 0x2545f4914f6cdd1dull) >> 32;
}

bool zd_faults_chance(ZdFaults *faults, uint32_t one_in)
{
    return one_in == 1 || next_random(faults) % one_in == 0;
}

static bool matches(const ZdFault *f, const ZdFaultCommand *cmd)
{
    if (!cmd) {
        return true;
    }
    if ((kinds[f->kind].accesses &&
         !(kinds[f->kind].accesses & (1u << cmd->access))) ||
        (kinds[f->kind].data_only && !cmd->data)) {
        return false;
    }
    return (!(f->given & BIT_OF(KEY_OPCODE)) || f->opcode == cmd->opcode) &&
           (!(f->given & BIT_OF(KEY_TAG)) || f->tag == cmd->tag) &&
           (!(f->given & BIT_OF(KEY_LBA)) ||
            (cmd->sectors && f->lba_first < cmd->lba + cmd->sectors &&
             f->lba_last >= cmd->lba));
}

ZdFault *zd_faults_fire(ZdFaults *faults, ZdFaultKind kind,
                        const ZdFaultCommand *cmd)
{
    if (!zd_faults_armed(faults, kind)) {
        return NULL;
    }
    for (unsigned i = 0; i < faults->count; i++) {
        ZdFault *f = &faults->list[i];

        if (f->kind != kind || (f->times && f->hits >= f->times) ||
            !matches(f, cmd)) {
            continue;
        }
        f->seen++;
        if (f->seen > f->after &&
            zd_faults_chance(faults, f->one_in)) {
            f->hits++;
            return f;
        }
    }
    return NULL;
}

const ZdFault *zd_faults_find(const ZdFaults *faults, ZdFaultKind kind)
{
    for (unsigned i = 0; i < faults->count; i++) {
        if (faults->list[i].kind == kind) {
            return &faults->list[i];
        }
    }
    return NULL;
}

uint64_t zd_faults_hits(const ZdFaults *faults)
{
    uint64_t hits = 0;

    for (unsigned i = 0; i < faults->count; i++) {
        hits += faults->list[i].hits;
    }
    return hits;
}

/* Faults of a whole card */

/* Where the fault @part goes, or NULL; *@fault is what comes after it. */
static GString *target_of(ZdFaultTexts *texts, const char *part, unsigned ssds,
                          const char **fault)
{
    const char *colon = strchr(part, ':');
    uint64_t n;

    if (!colon) {
        return NULL;
    }
    *fault = colon + 1;
    if (g_str_has_prefix(part, "card:")) {
        return texts->card;
    }
    if (g_str_has_prefix(part, "ssd") && colon == part + 4 &&
        g_ascii_isdigit(part[3])) {
        n = part[3] - '0';
        return n < ssds ? texts->ssd[n] : NULL;
    }
    return NULL;
}

bool zd_fault_texts_split(ZdFaultTexts *texts, const char *text, unsigned ssds,
                          char **error)
{
    g_autofree char *copy = g_strdelimit(g_strdup(text), BETWEEN_FAULTS, ';');
    g_auto(GStrv) parts = g_strsplit(copy, ";", 0);

    for (unsigned i = 0; i < ZD_FAULT_SSDS; i++) {
        texts->ssd[i] = g_string_new(NULL);
    }
    texts->card = g_string_new(NULL);
    for (unsigned i = 0; parts[i]; i++) {
        const char *fault;
        GString *target;

        g_strstrip(parts[i]);
        if (!*parts[i]) {
            continue;
        }
        target = target_of(texts, parts[i], ssds, &fault);
        if (!target) {
            *error = g_strdup_printf("'%s' does not say whose fault it is: "
                                     "put one of card: ssd0: to ssd%u: "
                                     "before it", parts[i], ssds - 1);
            return false;
        }
        g_string_append_printf(target, "%s;", fault);
    }
    return true;
}

void zd_fault_texts_free(ZdFaultTexts *texts)
{
    for (unsigned i = 0; i < ZD_FAULT_SSDS; i++) {
        g_string_free(texts->ssd[i], TRUE);
    }
    g_string_free(texts->card, TRUE);
}
