/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of zdrive-bench; `scripts/zdrive bench` builds and runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

static struct {
    char *card, *rw, *bs, *qd, *span, *data, *state, *runtime, *ramp;
    char *torture_data, *trace, *scale, *spare, *link;
    char *size_mix, *depth_mix;
    int capacity, rwmixread, seq_percent, flush_every;
    gint64 ios, seed;
    gboolean through, series, json, stats, trim, erase, plain, fast, self;
} a = {
    .rwmixread = -1, .seq_percent = -1, .seed = 1, .capacity = 0,
};

static void G_GNUC_NORETURN bad(const char *format, ...) G_GNUC_PRINTF(1, 2);

static void bad(const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    fprintf(stderr, "zdrive-bench: %s\n", text);
    exit(2);
}

/* "4K", "128k", "2M", "1G": powers of 1024, as fio has them. */
static uint64_t parse_size(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double value = g_ascii_strtod(text, &end);
    const char *unit = *end ? strchr(units, g_ascii_toupper(*end)) : NULL;

    if (end == text || value <= 0 || (*end && !unit)) {
        bad("%s is no size: write 4K, 2M, 8G", text);
    }
    if (unit) {
        value *= (double)(1ull << 10 * (unit - units + 1));
    }
    return value;
}

static double parse_seconds(const char *text)
{
    char *end;
    double value = g_ascii_strtod(text, &end);

    if (end == text || value < 0) {
        bad("%s is no time: write 1.5, 30, 2m", text);
    }
    return strcmp(end, "m") == 0 ? value * 60 :
           strcmp(end, "ms") == 0 ? value / 1000 : value;
}

/* "4K:28,16K:10" or one value; shares are put right to a sum of 1. */
static GArray *parse_shares(const char *text, bool size)
{
    GArray *shares = g_array_new(FALSE, FALSE, sizeof(BenchShare));
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    double sum = 0;

    for (char **part = parts; *part; part++) {
        g_auto(GStrv) pair = g_strsplit(*part, ":", 2);
        BenchShare s = { .share = 1 };

        if (!pair[0]) {
            bad("an entry of %s is empty", text);
        }
        s.value = size ? parse_size(pair[0]) :
                  g_ascii_strtoull(pair[0], NULL, 10);
        if (size) {
            s.value = MAX(s.value / SECTOR * SECTOR, SECTOR);
        }
        if (!s.value || s.value > (size ? 1ull << 30 : 65536)) {
            bad("%s is out of range", pair[0]);
        }
        if (pair[1]) {
            s.share = g_ascii_strtod(pair[1], NULL);
        }
        if (!(s.share >= 0)) {
            bad("%s is no share", pair[1]);
        }
        sum += s.share;
        g_array_append_val(shares, s);
    }
    if (!shares->len || !(sum > 0)) {
        bad("%s is empty", text);
    }
    for (unsigned i = 0; i < shares->len; i++) {
        g_array_index(shares, BenchShare, i).share /= sum;
    }
    return shares;
}

static void parse_card(BenchOptions *o)
{
    g_auto(GStrv) pair = g_strsplit(a.card ? a.card : "zdrive-r4:cm88", ":",
                                    2);
    const ZdProduct *p = NULL;
    bool known = false;

    while ((p = zd_catalog_next(pair[0], p)) != NULL) {
        if (pair[1] && strcmp(pair[1], p->model) != 0) {
            continue;
        }
        known = true;
        o->capacity_gb = a.capacity ? a.capacity : p->default_gb;
        if (zd_catalog_capacity(p, o->capacity_gb)) {
            o->product = p;
            return;
        }
    }
    if (known) {
        bad("%s was never sold with %d GB", a.card, a.capacity);
    }
    fprintf(stderr, "zdrive-bench: there is no card %s: choose from", a.card);
    while ((p = zd_catalog_next(NULL, p)) != NULL) {
        fprintf(stderr, " %s:%s", p->type, p->model);
    }
    fprintf(stderr, "\n");
    exit(2);
}

static const struct {
    const char *name;
    int read_percent, seq_percent;
} loads[] = {
    { "read", 100, 100 },
    { "write", 0, 100 },
    { "randread", 100, 0 },
    { "randwrite", 0, 0 },
    { "rw", 50, 100 },
    { "readwrite", 50, 100 },
    { "randrw", 50, 0 },
};

static void parse_load(BenchOptions *o)
{
    const char *rw = a.rw ? a.rw : "randread";
    int read = -1, seq = -1;

    for (unsigned i = 0; i < G_N_ELEMENTS(loads); i++) {
        if (strcmp(loads[i].name, rw) == 0) {
            read = loads[i].read_percent;
            seq = loads[i].seq_percent;
        }
    }
    if (read < 0) {
        bad("--rw %s: choose from read, write, randread, randwrite, rw, "
            "randrw", rw);
    }
    if (a.rwmixread >= 0 && read == 50) {
        read = a.rwmixread;
    }
    if (a.seq_percent >= 0) {
        seq = a.seq_percent;
    }
    o->read_share = CLAMP(read, 0, 100) / 100.0;
    o->seq_share = CLAMP(seq, 0, 100) / 100.0;
}

/*
 * "comp" is the fill of the period's benchmarks; published.csv gives 0.14 to
 * 0.3 for it.
 */
static double parse_data(const char *text, const char **file)
{
    char *end;
    double value;

    if (strcmp(text, "comp") == 0) {
        return 0.22;
    }
    if (strcmp(text, "incomp") == 0) {
        return 1;
    }
    if (strcmp(text, "zero") == 0) {
        return 0;
    }
    value = g_ascii_strtod(text, &end);
    if (end != text && !*end && value >= 0 && value <= 1) {
        return value;
    }
    if (!file || !g_file_test(text, G_FILE_TEST_EXISTS)) {
        bad("--data %s: write comp, incomp, zero, a stored fraction or the "
            "name of a file", text);
    }
    *file = text;
    return 1;
}

static void parse_state(BenchOptions *o)
{
    static const char *const names[] = { "fob", "steady", "tortured" };

    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(a.state ? a.state : "fob", names[i]) == 0) {
            o->state = i;
            return;
        }
    }
    bad("--state %s: choose from fob, steady, tortured", a.state);
}

/* "x4", "gen1x4": what the slot gives. */
static void parse_link(BenchOptions *o)
{
    unsigned gen = 0, lanes = 0;

    if (!a.link) {
        return;
    }
    if (sscanf(a.link, "gen%ux%u", &gen, &lanes) < 1 &&
        sscanf(a.link, "x%u", &lanes) != 1) {
        bad("--link %s: write x4, gen1x8", a.link);
    }
    o->lanes = lanes;
    o->lane_mbps = gen ? 250u << (MIN(gen, 2) - 1) : 0;
}

static const GOptionEntry entries[] = {
    { "card", 0, 0, G_OPTION_ARG_STRING, &a.card,
      "card[:model], such as zdrive-r4:cm88", "CARD" },
    { "capacity-gb", 0, 0, G_OPTION_ARG_INT, &a.capacity,
      "a capacity that was sold", "N" },
    { "link", 0, 0, G_OPTION_ARG_STRING, &a.link,
      "PCI Express width and generation: x4, gen1x8", "LINK" },
    { "rw", 0, 0, G_OPTION_ARG_STRING, &a.rw,
      "read, write, randread, randwrite, rw, randrw", "LOAD" },
    { "rwmixread", 0, 0, G_OPTION_ARG_INT, &a.rwmixread,
      "percent of reads of a mixed load", "N" },
    { "bs", 0, 0, G_OPTION_ARG_STRING, &a.bs, "block size (4K)", "SIZE" },
    { "qd", 0, 0, G_OPTION_ARG_STRING, &a.qd,
      "requests in flight on the volume (32)", "N" },
    { "iodepth", 0, 0, G_OPTION_ARG_STRING, &a.qd, "same as --qd", "N" },
    { "span", 0, 0, G_OPTION_ARG_STRING, &a.span,
      "bytes that are touched, or full (8G)", "SIZE" },
    { "data", 0, 0, G_OPTION_ARG_STRING, &a.data,
      "comp, incomp, zero, a fraction, or a file (comp)", "DATA" },
    { "state", 0, 0, G_OPTION_ARG_STRING, &a.state,
      "fob, steady, tortured (fob)", "STATE" },
    { "torture-data", 0, 0, G_OPTION_ARG_STRING, &a.torture_data,
      "data of the state, if another", "DATA" },
    { "trim", 0, 0, G_OPTION_ARG_NONE, &a.trim,
      "TRIM all of the card once it is in its state", NULL },
    { "secure-erase", 0, 0, G_OPTION_ARG_NONE, &a.erase,
      "erase it then", NULL },
    { "runtime", 0, 0, G_OPTION_ARG_STRING, &a.runtime,
      "virtual time that is measured, seconds (1)", "TIME" },
    { "ramp", 0, 0, G_OPTION_ARG_STRING, &a.ramp,
      "virtual time before that (0.1)", "TIME" },
    { "ios", 0, 0, G_OPTION_ARG_INT64, &a.ios, "stop after N requests", "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &a.seed, "all randomness (1)", "N" },
    { "bs-mix", 0, 0, G_OPTION_ARG_STRING, &a.size_mix,
      "sizes and shares: 4K:28,16K:10,64K:62", "MIX" },
    { "qd-mix", 0, 0, G_OPTION_ARG_STRING, &a.depth_mix,
      "depths and shares: 1:59,4:30,32:11", "MIX" },
    { "seq-percent", 0, 0, G_OPTION_ARG_INT, &a.seq_percent,
      "percent of requests that follow the last one", "N" },
    { "flush-every", 0, 0, G_OPTION_ARG_INT, &a.flush_every,
      "FLUSH after so many writes", "N" },
    { "through", 0, 0, G_OPTION_ARG_NONE, &a.through,
      "write cache off", NULL },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &a.trace,
      "replay a fio iolog or blkparse text", "FILE" },
    { "trace-fast", 0, 0, G_OPTION_ARG_NONE, &a.fast,
      "as fast as --qd lets it, not at its times", NULL },
    { "scale", 0, 0, G_OPTION_ARG_STRING, &a.scale,
      "size of the SSDs, 1 is real (as the test needs)", "X" },
    { "spare", 0, 0, G_OPTION_ARG_STRING, &a.spare,
      "spare area in percent of the user's", "X" },
    { "plain-host", 0, 0, G_OPTION_ARG_NONE, &a.plain,
      "a host that takes no time", NULL },
    { "series", 0, 0, G_OPTION_ARG_NONE, &a.series,
      "requests of each second (JSON)", NULL },
    { "stats", 0, 0, G_OPTION_ARG_NONE, &a.stats,
      "counters of each SSD (JSON)", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &a.json, "JSON, no table", NULL },
    { "self", 0, 0, G_OPTION_ARG_NONE, &a.self,
      "how fast is the model itself", NULL },
    { NULL }
};

static void load_file(BenchCard *card, const char *name)
{
    g_autofree char *data = NULL;
    g_autofree uint8_t *classes = NULL;
    gsize size;
    uint32_t count;

    if (!g_file_get_contents(name, &data, &size, NULL) ||
        size < ZD_FLASH_PAGE) {
        bad("cannot read 4 KiB or more from %s", name);
    }
    count = MIN(size / ZD_FLASH_PAGE, BENCH_MAX_CLASSES);
    classes = g_malloc(count);
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = zd_flash_classify(bench_card_ssd(card, 0),
                                       data + (gsize)i * ZD_FLASH_PAGE);
    }
    bench_card_classes(card, classes, count);
}

static void huge_pages(void *block, size_t size)
{
    madvise(block, size, MADV_HUGEPAGE);
}

int main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    BenchOptions o = { .torture_stored = -1 };
    g_autofree BenchResult *r = g_new0(BenchResult, 1);
    BenchCard *card;

    zd_flash_set_advise(huge_pages);
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        bad("%s: see --help", error->message);
    }
    if (argc > 1) {
        bad("%s: see --help", argv[1]);
    }
    parse_card(&o);
    parse_load(&o);
    parse_state(&o);
    parse_link(&o);
    o.sizes = parse_shares(a.size_mix ? a.size_mix : a.bs ? a.bs : "4K",
                           true);
    o.depths = parse_shares(a.depth_mix ? a.depth_mix : a.qd ? a.qd : "32",
                            false);
    o.span = !a.span ? 8ull << 30 :
             strcmp(a.span, "full") == 0 ? 0 : parse_size(a.span);
    o.stored = parse_data(a.data ? a.data : "comp", &o.file);
    if (a.torture_data) {
        o.torture_stored = parse_data(a.torture_data, NULL);
    }
    o.runtime_s = parse_seconds(a.runtime ? a.runtime : a.ios ? "1e6" : "1");
    o.ramp_s = parse_seconds(a.ramp ? a.ramp : a.ios ? "0" : "0.1");
    o.ios = MAX(a.ios, 0);
    o.seed = a.seed;
    o.scale = a.scale ? g_ascii_strtod(a.scale, NULL) : 0;
    if (a.scale && !(o.scale > 0 && o.scale <= 1)) {
        bad("--scale %s: write a number above 0 and up to 1", a.scale);
    }
    if (a.spare) {
        double spare = g_ascii_strtod(a.spare, NULL);

        if (!(spare >= 1 && spare <= 400)) {
            bad("--spare %s: 1 to 400 percent", a.spare);
        }
        o.spare_ppm = spare * 10000;
    }
    o.trim_after = a.trim;
    o.erase_after = a.erase;
    o.flush_every = MAX(a.flush_every, 0);
    o.through = a.through;
    o.series = a.series;
    o.trace = a.trace;
    o.trace_timed = !a.fast;
    o.json = a.json;
    o.stats = a.stats;
    o.plain_host = a.plain;
    if (a.self) {
        return bench_self(&o);
    }

    card = bench_card_new(&o);
    if (o.file) {
        load_file(card, o.file);
    }
    if (o.series) {
        r->series_ios = g_array_new(FALSE, TRUE, sizeof(uint64_t));
        r->series_lat = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    }
    if (o.trace) {
        bench_trace(&o, card, r);
    } else {
        bench_work(&o, card, r);
    }
    bench_report(&o, card, r);
    bench_card_free(card);
    return 0;
}
