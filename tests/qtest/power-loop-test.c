/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thousand power cuts, each at another point of random queued writes,
 * flushes and FUA, and after each of them every sector on its own: it holds
 * what was last safe there or something that was written since, and it can be
 * unreadable only where a write was not safe.  What is safe depends on the
 * card: after FLUSH and with FUA on all, every write that has ended on an RM88
 * with good capacitors.
 *
 * No guest but this driver, whose writes never overlap one that has not ended.
 * The host looks at the image of the card, so a cut takes few milliseconds.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "qapi/qmp/qdict.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

#define SSDS            8
#define CARD_LEN        (128 * 1024 * 1024)
#define CUTS            1000

/* What of each SSD is written: small, so that much is written over. */
#define SECTORS         1024
#define MOST_SECTORS    16              /* of a write */
#define HISTORY         64

/* Contents come from a pool in guest memory, by the version of a write. */
#define POOL            1021
#define CONTENT_LEN     (MOST_SECTORS * ZT_SECTOR)

#define TAGS            32
#define SLOT(phy, tag)  ((phy) * TAGS + (tag))
#define FLUSH_SLOT(phy) (MVS_PHYS * TAGS + (phy))
#define SLOTS           (MVS_PHYS * TAGS + MVS_PHYS)

#define RX_ENTRIES      256
#define ROUNDS          20              /* then the cut is made by hand */
#define RECOVERY_NS     (700ll * 1000 * 1000)
#define ATA_FLUSH_EXT   0xea
#define FIS_FUA         0x80

typedef enum State {
    SENT,
    ENDED,
    SAFE,
} State;

/* One version of a sector; 0 is what was there before everything. */
typedef struct Version {
    uint32_t number;
    uint8_t part;                       /* sector of its content */
    uint8_t state;
} Version;

typedef struct Sector {
    unsigned count;
    Version version[HISTORY];           /* the first one is safe */
} Sector;

/* What is in a slot. */
typedef struct Command {
    bool busy;
    bool fua;
    uint32_t len;                       /* that its header has */
    uint32_t number;
    uint32_t lba;
    uint32_t sectors;                   /* 0: a flush */
} Command;

typedef struct Totals {
    unsigned cuts, by_hand;
    uint64_t written, at_risk, lost, unreadable, wrong;
} Totals;

typedef struct Loop {
    ZtCard *card;
    ZtCore *core;                       /* of this turn */
    GRand *rand;
    int image;
    bool capacitors;
    uint64_t pool;
    uint8_t *contents;                  /* of the pool */
    uint32_t number;                    /* of the last write */
    Command cmd[SLOTS];
    Sector (*sector)[SECTORS];          /* of each SSD */
    Totals totals;
} Loop;

static uint32_t pick(Loop *loop, uint32_t n)
{
    return g_rand_int_range(loop->rand, 0, n);
}

static Sector *sector_of(Loop *loop, unsigned phy, uint32_t lba)
{
    return &loop->sector[loop->core->number * MVS_PHYS + phy][lba];
}

static const uint8_t *content(const Loop *loop, uint32_t number)
{
    return loop->contents + number % POOL * CONTENT_LEN;
}

/* ---- the driver ---- */

static void start_core(Loop *loop)
{
    QPCIDevice *pci = loop->card->pci;

    qpci_config_writel(pci, PCI_BASE_ADDRESS_2, loop->card->bar2.addr);
    qpci_device_enable(pci);
    zt_core_program(loop->core);
    for (unsigned i = 0; i < SLOTS; i++) {
        loop->cmd[i].busy = false;
        loop->cmd[i].len = 0;
    }
}

/* Headers stay; a write needs only its FIS and its PRD. */
static void prepare_slots(ZtCore *core)
{
    for (unsigned phy = 0; phy < MVS_PHYS; phy++) {
        for (unsigned tag = 0; tag < TAGS; tag++) {
            ZtCmd cmd = zt_ncq(ATA_WRITE_FPDMA, tag, 0, 8);

            cmd = zt_in_slot(zt_with_data(cmd, core->slots, 4096),
                             SLOT(phy, tag));
            zt_prepare(core, &cmd);
        }
    }
}

static void send_flush(Loop *loop, unsigned phy)
{
    Command *c = &loop->cmd[FLUSH_SLOT(phy)];
    ZtCmd cmd = zt_in_slot(zt_on_phy(zt_ata(ATA_FLUSH_EXT, 0, 0), phy),
                           FLUSH_SLOT(phy));

    if (!c->busy) {
        *c = (Command) { .busy = true, .number = loop->number };
        zt_queue(loop->core, &cmd);
    }
}

/* Whether nothing of it is on its way, and there is room to remember it. */
static bool is_free(Loop *loop, unsigned phy, uint32_t lba, uint32_t sectors)
{
    for (uint32_t i = 0; i < sectors; i++) {
        const Sector *s = sector_of(loop, phy, lba + i);

        if (s->count == HISTORY ||
            s->version[s->count - 1].state == SENT) {
            return false;
        }
    }
    return true;
}

static void send_write(Loop *loop, unsigned phy)
{
    uint32_t sectors = pick(loop, 4) ? 8 : 1 + pick(loop, MOST_SECTORS);
    uint32_t lba = pick(loop, SECTORS / 8 - 2) * 8 +
                   (sectors == 8 ? 0 : pick(loop, 8));
    unsigned tag = pick(loop, TAGS), slot = SLOT(phy, tag);
    Command *c = &loop->cmd[slot];
    QTestState *qts = loop->card->qts;
    uint64_t buf = zt_slot_buf(loop->core, slot);
    ZtCmd cmd = zt_ncq(ATA_WRITE_FPDMA, tag, lba, sectors);
    uint8_t table[SLOT_PRD + sizeof(ZtPrd)] = { 0 };
    uint32_t number = loop->number + 1;
    ZtPrd prd = {
        cpu_to_le64(loop->pool + number % POOL * CONTENT_LEN),
        cpu_to_le32(sectors * ZT_SECTOR),
    };

    if (c->busy || !is_free(loop, phy, lba, sectors)) {
        return;
    }
    loop->number = number;
    if (c->len != sectors * ZT_SECTOR) {
        qtest_writel(qts, zt_header(loop->core, slot) + 12,
                     sectors * ZT_SECTOR);
    }
    *c = (Command) {
        .busy = true,
        .fua = !pick(loop, 16),
        .len = sectors * ZT_SECTOR,
        .number = number,
        .lba = lba,
        .sectors = sectors,
    };
    cmd.fis[7] |= c->fua ? FIS_FUA : 0;
    memcpy(table, cmd.fis, sizeof(cmd.fis));
    memcpy(table + SLOT_PRD, &prd, sizeof(prd));
    qtest_memwrite(qts, buf, table, sizeof(table));
    zt_queue_raw(loop->core, TXQ(TXQ_STP, phy, 1u << phy, slot));
    for (uint32_t i = 0; i < sectors; i++) {
        Sector *s = sector_of(loop, phy, lba + i);

        s->version[s->count++] = (Version) { number, i, SENT };
    }
    loop->totals.written += sectors;
}

/* ---- what has ended ---- */

/* Versions up to @last are of no interest any more once a later one is safe. */
static void make_safe(Sector *s, unsigned last)
{
    s->version[last].state = SAFE;
    s->count -= last;
    memmove(s->version, s->version + last, s->count * sizeof(Version));
}

static void flush_ended(Loop *loop, unsigned phy, uint32_t number)
{
    for (uint32_t lba = 0; lba < SECTORS; lba++) {
        Sector *s = sector_of(loop, phy, lba);
        unsigned i = s->count - 1;

        while (i && (s->version[i].number > number ||
                     s->version[i].state != ENDED)) {
            i--;
        }
        if (i) {
            make_safe(s, i);
        }
    }
}

static void write_ended(Loop *loop, unsigned phy, const Command *c)
{
    for (uint32_t i = 0; i < c->sectors; i++) {
        Sector *s = sector_of(loop, phy, c->lba + i);

        g_assert_cmpint(s->version[s->count - 1].number, ==, c->number);
        s->version[s->count - 1].state = ENDED;
        if (c->fua) {
            make_safe(s, s->count - 1);
        }
    }
}

static void take_completions(Loop *loop)
{
    ZtCore *core = loop->core;
    QTestState *qts = loop->card->qts;
    uint32_t ring[RX_ENTRIES + 1];
    uint32_t end;

    qtest_memread(qts, core->rx, ring, sizeof(ring));
    end = le32_to_cpu(ring[0]);
    while (core->rx_last != end) {
        uint32_t entry;
        unsigned slot, phy;
        Command *c;

        core->rx_last = (core->rx_last == MVS_NONE ? 0 : core->rx_last + 1) %
                        core->rx_entries;
        entry = le32_to_cpu(ring[1 + core->rx_last]);
        slot = RXQ_SLOT(entry);
        g_assert_cmpint(slot, <, SLOTS);
        g_assert_cmphex(entry, ==, RXQ_DONE | RXQ_GOOD | slot);
        c = &loop->cmd[slot];
        g_assert_true(c->busy);
        c->busy = false;
        phy = slot < MVS_PHYS * TAGS ? slot / TAGS : slot % TAGS;
        if (c->sectors) {
            write_ended(loop, phy, c);
        } else {
            flush_ended(loop, phy, c->number);
        }
    }
}

/* ---- the cut ---- */

static void arm(Loop *loop, bool twice)
{
    static const char *const loss[] = {
        "", "", "", "", ",loss=all", ",loss=adversarial", ",loss=none",
    };
    static const char *const ramp[] = { "", "", "", ",ramp=200us" };
    g_autofree char *text = NULL;
    const struct {
        const char *name;
        unsigned most;
    } trigger[] = {
        { "commands", 60 }, { "writes", 60 }, { "flushes", 3 },
        { "programs", 4 }, { "lba", SECTORS }, { "time", 1000 },
    };
    unsigned n = pick(loop, ARRAY_SIZE(trigger));

    text = g_strdup_printf("%s=%u%s%s%s,seed=%u%s", trigger[n].name,
                           1 + pick(loop, trigger[n].most),
                           strcmp(trigger[n].name, "time") ? "" : "us",
                           loss[pick(loop, ARRAY_SIZE(loss))],
                           ramp[pick(loop, ARRAY_SIZE(ramp))],
                           loop->totals.cuts, twice ? ";recovery" : "");
    zt_set(loop->card, -1, "power-cut", text);
}

static bool is_off(Loop *loop)
{
    return zt_core_read(loop->core, MVS_PCS) == UINT32_MAX;
}

static void work_until_cut(Loop *loop, bool twice)
{
    unsigned flush_one_in = 10 + pick(loop, 90);
    unsigned phys = 1 + pick(loop, MVS_PHYS);

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned n = 1 + pick(loop, 16); n; n--) {
            if (pick(loop, flush_one_in)) {
                send_write(loop, pick(loop, phys));
            } else {
                send_flush(loop, pick(loop, phys));
            }
        }
        zt_doorbell(loop->core);
        qtest_clock_step(loop->card->qts, pick(loop, 2 * ZT_COMMAND_NS));
        take_completions(loop);
        if (is_off(loop)) {
            return;
        }
    }
    loop->totals.by_hand++;
    zt_set(loop->card, -1, "power-cut", twice ? "recovery" : "");
    zt_set(loop->card, -1, "power", "off");
    take_completions(loop);
}

static void power_on(Loop *loop, bool twice)
{
    zt_set(loop->card, -1, "power", "on");
    qtest_clock_step(loop->card->qts, RECOVERY_NS);
    if (twice) {
        zt_set(loop->card, -1, "power", "on");
        qtest_clock_step(loop->card->qts, RECOVERY_NS);
    }
}

/* ---- the verdict ---- */

static void read_member(Loop *loop, unsigned ssd, uint8_t *buf)
{
    for (uint64_t at = 0; at < SECTORS * ZT_SECTOR; at += ZT_CHUNK) {
        uint64_t chunk = at / ZT_CHUNK * SSDS + ssd;

        g_assert_cmpint(pread(loop->image, buf + at, ZT_CHUNK,
                              chunk * ZT_CHUNK), ==, ZT_CHUNK);
    }
}

static bool holds(const Loop *loop, const uint8_t *data, const Version *v)
{
    return v->number ? !memcmp(data, content(loop, v->number) +
                               v->part * ZT_SECTOR, ZT_SECTOR)
                     : buffer_is_zero(data, ZT_SECTOR);
}

/* Number of the version of @s that is there, or -1. */
static int found(const Loop *loop, const Sector *s, const uint8_t *data)
{
    for (int i = s->count - 1; i >= 0; i--) {
        if (holds(loop, data, &s->version[i])) {
            return i;
        }
    }
    return -1;
}

static void wrong(Loop *loop, unsigned phy, uint32_t lba, const char *what)
{
    const Sector *s = sector_of(loop, phy, lba);

    loop->totals.wrong++;
    g_test_message("cut %u: SSD %u sector %u %s; safe is version %u, %u came "
                   "after it", loop->totals.cuts,
                   loop->core->number * MVS_PHYS + phy, lba, what,
                   s->version[0].number, s->count - 1);
}

static void mark_unreadable(Loop *loop, unsigned phy, bool *dead)
{
    unsigned ssd = loop->core->number * MVS_PHYS + phy;
    QDict *reply = zt_get(loop->card, ssd, "unreadable");
    const char *text = qdict_get_str(reply, "return");
    g_auto(GStrv) ranges = g_strsplit(text, ",", 0);

    if (*text) {
        zt_set(loop->card, ssd, "unreadable", "");
    }
    qobject_unref(reply);

    for (unsigned i = 0; ranges[i]; i++) {
        unsigned first, last;

        g_assert_cmpint(sscanf(ranges[i], "%u-%u", &first, &last), ==, 2);
        g_assert_cmpint(last, <, SECTORS);
        memset(dead + first, true, last - first + 1);
    }
}

static int last_ended(const Sector *s)
{
    int i = s->count - 1;

    while (s->version[i].state == SENT) {
        i--;
    }
    return i;
}

/* What is found is safe from now on, and can be read again. */
static void judge_ssd(Loop *loop, unsigned phy)
{
    static uint8_t data[SECTORS * ZT_SECTOR];
    bool dead[SECTORS] = { false };

    read_member(loop, loop->core->number * MVS_PHYS + phy, data);
    mark_unreadable(loop, phy, dead);
    for (uint32_t lba = 0; lba < SECTORS; lba++) {
        Sector *s = sector_of(loop, phy, lba);
        Version *last = &s->version[s->count - 1];
        bool at_risk = last->state == ENDED;
        int least = loop->capacitors ? last_ended(s) : 0;
        int i = found(loop, s, data + lba * ZT_SECTOR);

        loop->totals.at_risk += at_risk;
        if (dead[lba]) {
            loop->totals.unreadable++;
            if (s->count == least + 1) {
                wrong(loop, phy, lba, "was safe and cannot be read");
            }
        }
        if (i < 0) {
            wrong(loop, phy, lba, "holds nothing that was written there");
            i = 0;
        } else if (i < least) {
            wrong(loop, phy, lba, "has lost what the capacitors save");
        }
        loop->totals.lost += at_risk && !dead[lba] && i != s->count - 1;
        s->version[0] = s->version[i];
        s->version[0].state = SAFE;
        s->count = 1;
    }
}

static void turn(Loop *loop)
{
    bool twice = !pick(loop, 16);

    loop->core = &loop->card->core[loop->totals.cuts % MVS_CORES];
    start_core(loop);
    arm(loop, twice);
    work_until_cut(loop, twice);
    power_on(loop, twice);
    for (unsigned phy = 0; phy < MVS_PHYS; phy++) {
        judge_ssd(loop, phy);
    }
    loop->totals.cuts++;
}

/* ---- the loop ---- */

typedef struct Kind {
    const char *name;
    const char *model;
    unsigned health;
    unsigned least, most;           /* % of what was at risk that is lost */
} Kind;

static const Kind kinds[] = {
    { "cm88", "cm88", 100, 20, 90 },
    { "rm88", "rm88", 100, 0, 0 },
    { "drained", "rm88", 0, 20, 90 },
};

static void fill_pool(Loop *loop)
{
    loop->contents = g_malloc(POOL * CONTENT_LEN);
    for (unsigned i = 0; i < POOL; i++) {
        zt_pattern(loop->contents + i * CONTENT_LEN, CONTENT_LEN, i + 1);
    }
    loop->pool = zt_alloc(loop->card, POOL * CONTENT_LEN);
    qtest_bufwrite(loop->card->qts, loop->pool, loop->contents,
                   POOL * CONTENT_LEN);
}

static void start(Loop *loop, const Kind *kind)
{
    g_autofree char *image = zt_tmp_image("card", CARD_LEN);

    loop->rand = g_rand_new_with_seed(6);
    loop->image = open(image, O_RDONLY);
    loop->capacitors = strchr(kind->model, 'r') && kind->health;
    loop->sector = g_malloc0(SSDS * sizeof(*loop->sector));
    for (unsigned i = 0; i < SSDS * SECTORS; i++) {
        loop->sector[i / SECTORS][i % SECTORS].count = 1;
        loop->sector[i / SECTORS][i % SECTORS].version[0].state = SAFE;
    }
    loop->card = zt_boot("-drive if=none,id=d0,format=raw,file=%s " ZT_CARD
                         ",drive=d0,model=%s,supercap-health=%u", image,
                         kind->model, kind->health);
    fill_pool(loop);
    for (unsigned i = 0; i < MVS_CORES; i++) {
        zt_core_start_rings(&loop->card->core[i], 1024, RX_ENTRIES);
        prepare_slots(&loop->card->core[i]);
    }
}

static void test_loop(const void *index)
{
    const Kind *kind = &kinds[GPOINTER_TO_UINT(index)];
    Loop loop = { 0 };
    Totals *t = &loop.totals;
    gint64 begin;

    start(&loop, kind);
    begin = g_get_monotonic_time();
    while (t->cuts < CUTS) {
        turn(&loop);
    }
    g_test_message("%-10s  %4u cuts  %7" PRIu64 " sectors written  %6" PRIu64
                   " at risk  %6" PRIu64 " lost (%" PRIu64 " %%)  %5" PRIu64
                   " unreadable  %" PRIu64 " violations  %.1f s", kind->name,
                   t->cuts, t->written, t->at_risk, t->lost,
                   t->lost * 100 / MAX(t->at_risk, 1), t->unreadable,
                   t->wrong, (g_get_monotonic_time() - begin) / 1e6);
    g_test_message("%u cuts by hand", t->by_hand);
    g_assert_cmpint(t->wrong, ==, 0);
    g_assert_cmpint(t->lost * 100, >=, t->at_risk * kind->least);
    g_assert_cmpint(t->lost * 100, <=, t->at_risk * kind->most);
    zt_quit(loop.card);
    close(loop.image);
    g_rand_free(loop.rand);
    g_free(loop.sector);
    g_free(loop.contents);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        zt_add_variant("power", "loop", kinds[i].name, i, test_loop);
    }
    return zt_run_tests();
}
