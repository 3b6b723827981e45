/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power rail at the level of registers: what is dead without power, what
 * comes back and when, what a cut takes and what it never takes, every way to
 * set one off, and that a cut is the same in another QEMU.
 */
#include "qemu/osdep.h"
#include "qapi/qmp/qdict.h"
#include "qapi/qmp/qjson.h"
#include "qapi/qmp/qlist.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

#define PHY             2
#define MSEC_NS         (1000ll * 1000)
#define RECOVERY_NS     (700 * MSEC_NS)
#define ATA_FLUSH_EXT   0xea
#define ATA_WRITE_FUA   0x3d

static ZtCard *boot(const char *properties)
{
    ZtCard *card = zt_boot(ZT_CARD ",size=512M%s", properties);

    zt_core_start(&card->core[0]);
    return card;
}

static ZtCmd transfer(ZtCard *card, uint8_t opcode, uint64_t lba)
{
    uint64_t buf = zt_slot_buf(&card->core[0], 900) + SLOT_DATA;

    return zt_on_phy(zt_with_data(zt_ata(opcode, lba, 8), buf, 4096), PHY);
}

static void write_page(ZtCard *card, uint8_t opcode, uint64_t lba,
                       uint32_t seed)
{
    ZtCmd cmd = transfer(card, opcode, lba);

    zt_fill(card, cmd.data, 4096, seed);
    zt_good(&card->core[0], &cmd);
}

/* @seed 0: the page must be as new. */
static void check_page(ZtCard *card, uint64_t lba, uint32_t seed)
{
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, lba);

    zt_good(&card->core[0], &cmd);
    if (seed) {
        zt_assert_pattern(card, cmd.data, 4096, seed);
    } else {
        zt_assert_zero(card, cmd.data, 4096);
    }
}

static void flush(ZtCard *card)
{
    ZtCmd cmd = zt_on_phy(zt_ata(ATA_FLUSH_EXT, 0, 0), PHY);

    zt_good(&card->core[0], &cmd);
}

/* The card has forgotten its addresses. */
static void map_again(ZtCard *card)
{
    g_free(card->pci);
    card->bus->mmio_alloc_ptr = card->bar2.addr;
    zt_map(card, ZT_DEVFN);
}

/* The driver starts again after the power has come back. */
static void revive(ZtCard *card)
{
    map_again(card);
    qtest_clock_step(card->qts, RECOVERY_NS);
    zt_core_program(&card->core[0]);
}

static void power_on(ZtCard *card)
{
    zt_set(card, -1, "power", "on");
    revive(card);
}

static void cycle(ZtCard *card, const char *loss)
{
    zt_set(card, -1, "power-loss", loss);
    zt_set(card, -1, "power", "off");
    power_on(card);
}

static char *trigger_of_last_cut(ZtCard *card)
{
    QDict *reply = zt_get(card, -1, "last-cut");
    QDict *cut = qdict_get_qdict(reply, "return");
    char *trigger = g_strdup(qdict_get_try_str(cut, "trigger"));

    qobject_unref(reply);
    return trigger;
}

static void assert_cut_by(ZtCard *card, const char *trigger)
{
    g_autofree char *found = trigger_of_last_cut(card);

    g_assert_cmpstr(found, ==, trigger);
    zt_assert_get(card, -1, "power", "off");
    zt_assert_get(card, -1, "power-cut", "");
}

/* A number of the last cut's record of the SSD. */
static int64_t of_last_cut(ZtCard *card, const char *name)
{
    QDict *reply = zt_get(card, -1, "last-cut");
    QDict *cut = qdict_get_qdict(reply, "return");
    const QListEntry *entry = qlist_first(qdict_get_qlist(cut, "ssds"));
    int64_t value;

    for (unsigned i = 0; i < PHY; i++) {
        entry = qlist_next(entry);
    }
    value = qdict_get_int(qobject_to(QDict, qlist_entry_obj(entry)), name);
    qobject_unref(reply);
    return value;
}

static void system_reset(ZtCard *card)
{
    qtest_qmp_assert_success(card->qts, "{'execute': 'system_reset'}");
    qtest_qmp_eventwait(card->qts, "RESET");
}

/* Nothing answers, and nothing that is written is remembered. */
static void test_rail(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint32_t bar;

    bar = qpci_config_readl(card->pci, PCI_BASE_ADDRESS_2);
    zt_set(card, -1, "power", "off");
    zt_set(card, -1, "power", "off");
    g_assert_cmphex(qpci_config_readw(card->pci, PCI_VENDOR_ID), ==, 0xffff);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, 0xffffffff);
    qpci_config_writel(card->pci, PCI_BASE_ADDRESS_2, 0);
    zt_core_write(core, MVS_TX_PROD_IDX, 5);
    zt_assert_get(card, PHY, "link", "down");
    /* a reset of the machine does not bring the power back */
    system_reset(card);
    g_assert_cmphex(qpci_config_readw(card->pci, PCI_VENDOR_ID), ==, 0xffff);

    zt_set(card, -1, "power", "on");
    g_assert_cmphex(qpci_config_readw(card->pci, PCI_VENDOR_ID), ==, 0x1b85);
    /* as after power-on: without an address */
    g_assert_cmphex(qpci_config_readl(card->pci, PCI_BASE_ADDRESS_2), !=,
                    bar);
    revive(card);
    zt_assert_get(card, PHY, "link", "up");
    check_page(card, 0, 0);
    g_assert_cmpint(zt_count(card, PHY, "smart", "12"), ==, 2);
    g_assert_cmpint(zt_count(card, PHY, "smart", "174"), ==, 1);
    zt_quit(card);
}

/*
 * A card without power does not say that it has lost its links: mvsas would
 * look for the reason in registers that are not there, and never return.
 */
static void test_silent(void)
{
    ZtCard *card = boot("");
    int64_t before;

    zt_write(card, MVS_GBL_PI, MVS_IRQ_SAS(0));
    flush(card);
    zt_core_write(&card->core[0], MVS_INT_STAT,
                  zt_core_read(&card->core[0], MVS_INT_STAT));
    g_assert_false(zt_intx(card));
    before = zt_count(card, -1, "stats", "interrupts");
    g_assert_cmpint(before, >, 0);
    zt_set(card, -1, "power", "off");
    g_assert_cmpint(zt_count(card, -1, "stats", "interrupts"), ==, before);
    zt_quit(card);
}

/* No signature before the map is back; longer after a cut. */
static void test_recovery(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd standby = zt_on_phy(zt_ata(0xe0, 0, 0), PHY);
    ZtCmd cmd = zt_cheap(PHY, 3);
    uint64_t first;

    zt_set(card, -1, "power", "off");
    zt_set(card, -1, "power", "on");
    map_again(card);
    zt_core_program(core);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    qtest_clock_step(card->qts, 500 * MSEC_NS);
    g_assert_false(zt_completed(core));
    /* the command was given to an SSD that did not listen: a reset helps */
    zt_core_program(core);
    qtest_clock_step(card->qts, 200 * MSEC_NS);
    zt_good(core, &cmd);

    /* prepared for it, the SSD is back sooner and does not count it */
    first = zt_count(card, PHY, "smart", "174");
    zt_good(core, &standby);
    zt_set(card, -1, "power", "off");
    zt_set(card, -1, "power", "on");
    map_again(card);
    zt_core_program(core);
    qtest_clock_step(card->qts, 150 * MSEC_NS);
    zt_good(core, &cmd);
    g_assert_cmpint(zt_count(card, PHY, "smart", "174"), ==, first);
    zt_quit(card);
}

/* The rule of every controller: flushed and FUA stay, the rest may go. */
static void test_lost(void)
{
    ZtCard *card = boot("");

    write_page(card, ATA_WRITE_DMA_EXT, 0, 1);
    flush(card);
    write_page(card, ATA_WRITE_FUA, 8, 2);
    write_page(card, ATA_WRITE_DMA_EXT, 0, 3);
    write_page(card, ATA_WRITE_DMA_EXT, 16, 4);
    cycle(card, "all");
    check_page(card, 0, 1);
    check_page(card, 8, 2);
    check_page(card, 16, 0);
    g_assert_cmpint(of_last_cut(card, "lost"), ==, 2);
    g_assert_cmpint(of_last_cut(card, "lost-acknowledged"), ==, 2);

    write_page(card, ATA_WRITE_DMA_EXT, 0, 5);
    cycle(card, "none");
    check_page(card, 0, 5);

    /* write cache off: what is done is safe */
    {
        ZtCmd cache = zt_on_phy(zt_ata_features(0xef, 0x82, 0, 0), PHY);

        zt_good(&card->core[0], &cache);
    }
    write_page(card, ATA_WRITE_DMA_EXT, 24, 6);
    cycle(card, "all");
    check_page(card, 24, 6);
    zt_quit(card);
}

/* Suspend to RAM takes the supply away as well. */
static void test_suspend(void)
{
    ZtCard *card = boot("");
    QPCIDevice *lpc = qpci_device_find(card->bus, QPCI_DEVFN(0x1f, 0));

    write_page(card, ATA_WRITE_FUA, 0, 1);
    write_page(card, ATA_WRITE_DMA_EXT, 8, 2);
    zt_set(card, -1, "power-loss", "all");
    /* ICH9: power management at 600h, then SLP_TYP 1 and SLP_EN */
    qpci_config_writel(lpc, 0x40, 0x600 | 1);
    qpci_config_writeb(lpc, 0x44, 0x80);
    qtest_outw(card->qts, 0x604, 1 << 10 | 1 << 13);
    qtest_qmp_eventwait(card->qts, "SUSPEND");
    zt_assert_get(card, PHY, "link", "down");
    qtest_qmp_assert_success(card->qts, "{'execute': 'system_wakeup'}");
    qtest_qmp_eventwait(card->qts, "WAKEUP");
    revive(card);
    check_page(card, 0, 1);
    check_page(card, 8, 0);
    g_assert_cmpint(zt_count(card, PHY, "smart", "12"), ==, 2);
    g_assert_cmpint(zt_count(card, PHY, "smart", "174"), ==, 1);
    g_free(lpc);
    zt_quit(card);
}

/* A reset ends that as well, without a wake-up. */
static void test_suspend_reset(void)
{
    ZtCard *card = boot("");
    QPCIDevice *lpc = qpci_device_find(card->bus, QPCI_DEVFN(0x1f, 0));

    write_page(card, ATA_WRITE_FUA, 0, 1);
    qpci_config_writel(lpc, 0x40, 0x600 | 1);
    qpci_config_writeb(lpc, 0x44, 0x80);
    qtest_outw(card->qts, 0x604, 1 << 10 | 1 << 13);
    qtest_qmp_eventwait(card->qts, "SUSPEND");
    zt_assert_get(card, PHY, "link", "down");
    system_reset(card);
    zt_assert_get(card, PHY, "link", "up");
    qtest_qmp_assert_success(card->qts, "{'execute': 'cont'}");
    revive(card);
    check_page(card, 0, 1);
    g_assert_cmpint(zt_count(card, PHY, "smart", "12"), ==, 2);
    g_free(lpc);
    zt_quit(card);
}

/* With timing=off there is no buffer that could lose anything. */
static void test_untimed(void)
{
    ZtCard *card = boot(",timing=off");

    write_page(card, ATA_WRITE_DMA_EXT, 0, 1);
    cycle(card, "all");
    check_page(card, 0, 1);
    {
        g_autofree char *error = zt_try_set(card, -1, "power-cut",
                                            "programs=1");

        g_assert_cmpstr(error, ==, "power-cut 'programs' waits for what NAND "
                        "does; with timing=off it does nothing, use "
                        "timing=model");
    }
    zt_quit(card);
}

/* Capacitors save all of it while they are well. */
static void test_capacitor(void)
{
    ZtCard *card = boot(",model=rm88");
    QDict *reply;

    g_assert_cmpint(zt_count(card, PHY, "smart", "235"), ==, 100);
    write_page(card, ATA_WRITE_DMA_EXT, 0, 1);
    cycle(card, "all");
    check_page(card, 0, 1);
    g_assert_cmpint(of_last_cut(card, "saved"), ==, 1);

    reply = qtest_qmp(card->qts, "{'execute': 'qom-set', 'arguments': {"
                      "'path': '/machine/peripheral/zd', "
                      "'property': 'supercap-health', 'value': 0}}");
    g_assert_false(qdict_haskey(reply, "error"));
    qobject_unref(reply);
    g_assert_cmpint(zt_count(card, PHY, "smart", "235"), ==, 0);
    write_page(card, ATA_WRITE_DMA_EXT, 0, 2);
    cycle(card, "all");
    check_page(card, 0, 1);
    reply = qtest_qmp(card->qts, "{'execute': 'qom-set', 'arguments': {"
                      "'path': '/machine/peripheral/zd', "
                      "'property': 'supercap-health', 'value': 101}}");
    g_assert_true(qdict_haskey(reply, "error"));
    qobject_unref(reply);
    zt_quit(card);
}

/* A page whose program was torn: UNC until it is written again. */
static void test_torn(void)
{
    ZtCard *card = boot(",power-cut='programs=1 loss=adversarial'");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, 0);
    ZtCmd verify = zt_on_phy(zt_ata(0x42, 4, 4), PHY);
    uint8_t fis[20];

    /* alone in its page; the firmware programs it when it is idle */
    write_page(card, ATA_WRITE_DMA_EXT, 0, 1);
    cmd.fis[2] = ATA_FLUSH_EXT;
    {
        ZtCmd flush_cmd = zt_on_phy(zt_ata(ATA_FLUSH_EXT, 0, 0), PHY);

        zt_queue(core, &flush_cmd);
        zt_doorbell(core);
    }
    qtest_clock_step(card->qts, 20 * MSEC_NS);
    assert_cut_by(card, "programs");
    g_assert_cmpint(of_last_cut(card, "programming"), ==, 1);
    g_assert_cmpint(of_last_cut(card, "unreadable"), ==, 1);
    power_on(card);
    cmd.fis[2] = ATA_READ_DMA_EXT;
    zt_fails(core, &cmd, 0x51, 0x40);
    zt_d2h(core, PHY, fis);
    g_assert_cmphex(zt_fis_lba(fis), ==, 0);
    zt_fails(core, &verify, 0x51, 0x40);
    g_assert_cmpint(zt_count(card, PHY, "smart", "187"), ==, 2);
    write_page(card, ATA_WRITE_DMA_EXT, 0, 2);
    check_page(card, 0, 2);
    zt_good(core, &verify);
    zt_quit(card);
}

/* What sets a cut off */
static void test_triggers(void)
{
    static const struct {
        const char *cut, *trigger;
    } table[] = {
        { "commands=3", "commands" },
        { "writes=2", "writes" },
        { "writes=2,ssd=2", "writes" },
        { "flushes=1", "flushes" },
        { "programs=1,ssd=2", "programs" },
        { "lba=8", "lba" },
        { "time=5ms", "time" },
    };
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];

    for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
        ZtCmd flush_cmd = zt_on_phy(zt_ata(ATA_FLUSH_EXT, 0, 0), PHY);

        zt_set(card, -1, "power-cut", table[i].cut);
        for (unsigned n = 0; n < 2; n++) {
            ZtCmd cmd = transfer(card, ATA_WRITE_DMA_EXT, 8 * n);

            cmd.slot = n;
            zt_queue(core, &cmd);
        }
        flush_cmd.slot = 3;
        zt_queue(core, &flush_cmd);
        zt_doorbell(core);
        qtest_clock_step(card->qts, 20 * MSEC_NS);
        assert_cut_by(card, table[i].trigger);
        power_on(card);
        check_page(card, 800, 0);
    }
    /* not of this SSD */
    zt_set(card, -1, "power-cut", "writes=1,ssd=3");
    write_page(card, ATA_WRITE_DMA_EXT, 0, 1);
    zt_assert_get(card, -1, "power", "on");
    /* while an SSD recovers */
    zt_set(card, -1, "power-cut", "recovery;commands=100");
    zt_set(card, -1, "power", "off");
    zt_set(card, -1, "power", "on");
    qtest_clock_step(card->qts, 200 * MSEC_NS);
    zt_assert_get(card, -1, "power", "on");
    qtest_clock_step(card->qts, 200 * MSEC_NS);
    zt_assert_get(card, -1, "power", "off");
    zt_quit(card);
}

/* What comes after it */
static void test_then(void)
{
    static const char *const left[] = {
        "time=1ms,ssd=2,panic=no-capacity",
        "time=1ms,ssd=3,gone=yes",
        "time=1ms,ssd=4,bad-blocks=7",
    };
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    QDict *reply;

    zt_set(card, -1, "power-cut", "time=1ms,then=on,for=50ms");
    qtest_clock_step(card->qts, 40 * MSEC_NS);
    zt_assert_get(card, -1, "power", "off");
    qtest_clock_step(card->qts, 20 * MSEC_NS);
    zt_assert_get(card, -1, "power", "on");
    revive(card);
    check_page(card, 0, 0);

    zt_set(card, -1, "power-cut", "time=1ms,then=pause");
    qtest_clock_step(card->qts, 2 * MSEC_NS);
    qtest_qmp_eventwait(card->qts, "STOP");
    zt_assert_get(card, -1, "power", "off");
    reply = qtest_qmp(card->qts, "{'execute': 'cont'}");
    qobject_unref(reply);
    power_on(card);
    check_page(card, 0, 0);

    /* the supply falls slowly: nothing is answered on the way */
    zt_set(card, -1, "power-cut", "time=1ms,ramp=10ms");
    qtest_clock_step(card->qts, 2 * MSEC_NS);
    zt_assert_get(card, -1, "power", "on");
    {
        ZtCmd cmd = zt_cheap(PHY, 5);

        zt_queue(core, &cmd);
        zt_doorbell(core);
    }
    qtest_clock_step(card->qts, 5 * MSEC_NS);
    g_assert_false(zt_completed(core));
    qtest_clock_step(card->qts, 5 * MSEC_NS);
    zt_assert_get(card, -1, "power", "off");
    power_on(card);

    /* what is left of the SSDs */
    for (unsigned i = 0; i < ARRAY_SIZE(left); i++) {
        zt_set(card, -1, "power-cut", left[i]);
        qtest_clock_step(card->qts, 5 * MSEC_NS);
        zt_assert_get(card, -1, "power", "off");
        power_on(card);
    }
    reply = zt_get(card, 2, "faults");
    g_assert_true(g_str_has_prefix(qdict_get_str(reply, "return"),
                                   "panic,form=no-capacity,hits="));
    qobject_unref(reply);
    zt_assert_get(card, 3, "link", "down");
    zt_set(card, 3, "faults", "");
    zt_assert_get(card, 3, "link", "up");
    g_assert_cmpint(zt_count(card, 4, "smart", "5"), ==, 7);
    zt_quit(card);
}

static void test_bad_values(void)
{
    static const struct {
        const char *property, *value, *message;
    } table[] = {
        { "power", "maybe", "power 'maybe' is unknown; it is one of: on off" },
        { "power-loss", "some",
          "power-loss 'some' is unknown; it is one of: random none all "
          "adversarial" },
        { "power-cut", "writes", "'writes' of a power cut: writes wants a "
                                 "number from 1" },
        { "power-cut", "never", "'never' sets no power cut off; what does: "
                                "commands writes flushes programs erases "
                                "collection time lba recovery" },
        { "power-cut", "recovery=1",
          "'recovery=1' of a power cut: recovery wants no value" },
        { "power-cut", "time=1ms,then=explode",
          "'then=explode' of a power cut: then= wants one of: stay on reset "
          "pause quit" },
        { "power-cut", "time=1ms,colour=red",
          "'colour' is nothing that a power cut takes; it takes: ssd loss "
          "seed ramp then for panic gone bad-blocks one-in" },
    };
    ZtCard *card = boot(",model=cm84");

    zt_set(card, -1, "power-cut", "writes=7,ssd=3,loss=none;time=20s");
    for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
        g_autofree char *error = zt_try_set(card, -1, table[i].property,
                                            table[i].value);

        g_assert_cmpstr(error, ==, table[i].message);
    }
    {
        g_autofree char *error = zt_try_set(card, -1, "power-cut",
                                            "commands=1,ssd=4");

        g_assert_cmpstr(error, ==, "'commands=1,ssd=4': this card has SSDs 0 "
                        "to 3");
    }
    /* nothing has changed */
    zt_assert_get(card, -1, "power-cut",
                  "writes=7,ssd=3,loss=none;time=20s");
    zt_quit(card);
}

/* The same cut here and in the QEMU that goes on: to the bit. */
static char *cut_after(bool migrate)
{
    const char *args = ZT_CARD ",size=512M,seed=7";
    ZtCard *card = zt_boot("%s", args);
    QDict *reply;
    GString *json;

    zt_core_start(&card->core[0]);
    zt_set(card, -1, "power-cut", "writes=60");
    for (unsigned i = 0; i < 40; i++) {
        write_page(card, ATA_WRITE_DMA_EXT, i % 11 * 8, i + 1);
    }
    if (migrate) {
        card = zt_migrate(card, args);
    }
    for (unsigned i = 0; i < 20; i++) {
        write_page(card, ATA_WRITE_DMA_EXT, i % 7 * 8, i + 100);
    }
    qtest_clock_step(card->qts, 1);
    assert_cut_by(card, "writes");
    reply = zt_get(card, -1, "last-cut");
    json = qobject_to_json(qdict_get(reply, "return"));
    power_on(card);
    for (unsigned i = 0; i < 11; i++) {
        ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, i * 8);
        uint32_t entry = zt_execute(&card->core[0], &cmd);

        g_string_append_printf(json, " %u", entry & RXQ_ERR ? 0 :
                               qtest_readl(card->qts, cmd.data));
    }
    qobject_unref(reply);
    zt_quit(card);
    return g_string_free(json, false);
}

static void test_migrate(void)
{
    g_autofree char *once = cut_after(false);
    g_autofree char *again = cut_after(false);
    g_autofree char *moved = cut_after(true);

    g_assert_cmpstr(once, ==, again);
    g_assert_cmpstr(once, ==, moved);
}

/* A link that a fault has dropped is there again after a power cycle. */
static void test_dropped(void)
{
    ZtCard *card = boot("");
    ZtCmd cmd = zt_cheap(PHY, 3);
    int64_t cuts;

    zt_set(card, PHY, "faults", "link-drop,delay=2s,times=1");
    zt_queue(&card->core[0], &cmd);
    zt_doorbell(&card->core[0]);
    qtest_clock_step(card->qts, 10 * MSEC_NS);
    zt_assert_get(card, PHY, "link", "down");
    zt_set(card, -1, "power", "off");
    power_on(card);
    zt_assert_get(card, PHY, "link", "up");
    zt_good(&card->core[0], &cmd);

    /* pulled out while it is away: that is no power either */
    cuts = zt_count(card, PHY, "smart", "174");
    zt_set(card, PHY, "faults", "link-drop");
    zt_queue(&card->core[0], &cmd);
    zt_doorbell(&card->core[0]);
    qtest_clock_step(card->qts, 10 * MSEC_NS);
    zt_assert_get(card, PHY, "link", "down");
    zt_set(card, PHY, "link", "down");
    g_assert_cmpint(zt_count(card, PHY, "smart", "174"), ==, cuts + 1);
    zt_set(card, PHY, "link", "down");
    g_assert_cmpint(zt_count(card, PHY, "smart", "174"), ==, cuts + 1);
    zt_quit(card);
}

/* One that has been set off but has not come yet can be called off. */
static void test_call_off(void)
{
    ZtCard *card = boot(",power-cut=lba=0");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = transfer(card, ATA_WRITE_DMA_EXT, 0);

    zt_queue(core, &cmd);
    zt_doorbell(core);
    qtest_clock_step(card->qts, ZT_IN_FLIGHT_NS);
    g_assert_false(zt_completed(core));
    zt_assert_get(card, -1, "power-cut", "");
    zt_set(card, -1, "power-cut", "");
    g_assert_cmphex(zt_completion(core) & RXQ_GOOD, !=, 0);
    qtest_clock_step(card->qts, 100 * MSEC_NS);
    zt_assert_get(card, -1, "power", "on");
    zt_quit(card);
}

/* What was programmed before the move does not count after it. */
static void test_migrate_programs(void)
{
    const char *args = ZT_CARD ",size=512M,compress=fixed:1";
    ZtCard *card = zt_boot("%s", args);

    zt_core_start(&card->core[0]);
    for (unsigned i = 0; i < 200; i++) {
        write_page(card, ATA_WRITE_DMA_EXT, i * 8, i + 1);
    }
    flush(card);
    zt_set(card, -1, "power-cut", "programs=20");
    card = zt_migrate(card, args);
    write_page(card, ATA_WRITE_DMA_EXT, 0, 1);
    qtest_clock_step(card->qts, 100 * MSEC_NS);
    zt_assert_get(card, -1, "power", "on");
    for (unsigned i = 0; i < 200; i++) {
        ZtCmd cmd = transfer(card, ATA_WRITE_DMA_EXT, i * 8);

        zt_queue(&card->core[0], &cmd);
        zt_doorbell(&card->core[0]);
        qtest_clock_step(card->qts, MSEC_NS);
    }
    qtest_clock_step(card->qts, 100 * MSEC_NS);
    assert_cut_by(card, "programs");
    zt_quit(card);
}

static void monitor(ZtCard *card, const char *line)
{
    g_autofree char *said = qtest_hmp(card->qts, "%s", line);

    g_assert_cmpstr(said, ==, "");
}

/* Back in time, out of each stage of a cut and into it. */
static void test_snapshot(void)
{
    g_autofree char *disk = zt_tmp_file("power.qcow2");
    g_autofree char *make = g_strdup_printf("%s create -q -f qcow2 %s 1M",
                                            g_getenv("QTEST_QEMU_IMG"), disk);
    ZtCmd cheap = zt_cheap(PHY, 3);
    ZtCard *card;

    g_assert_cmpint(system(make), ==, 0);
    card = zt_boot(ZT_CARD ",size=512M,power-loss=all -drive if=none,file=%s",
                   disk);
    zt_core_start(&card->core[0]);
    write_page(card, ATA_WRITE_FUA, 0, 1);
    write_page(card, ATA_WRITE_DMA_EXT, 0, 2);
    monitor(card, "savevm at-risk");
    zt_set(card, -1, "power", "off");
    monitor(card, "loadvm at-risk");
    zt_assert_get(card, -1, "power", "on");
    check_page(card, 0, 2);

    zt_set(card, -1, "power-cut", "commands=1,ramp=3ms,then=on,for=1ms");
    zt_queue(&card->core[0], &cheap);
    zt_doorbell(&card->core[0]);
    qtest_clock_step(card->qts, MSEC_NS);
    zt_assert_get(card, -1, "power", "on");
    monitor(card, "savevm ramp");
    qtest_clock_step(card->qts, 3 * MSEC_NS);
    zt_assert_get(card, -1, "power", "off");
    monitor(card, "savevm off");
    /* qtest's clock does not go back: what is late comes at once */
    for (unsigned i = 0; i < 4; i++) {
        monitor(card, i & 1 ? "loadvm off" : "loadvm ramp");
        qtest_clock_step(card->qts, MSEC_NS);
        zt_assert_get(card, -1, "power", "on");
        revive(card);
        check_page(card, 0, 1);
    }
    zt_quit(card);
}

static void wait_saved(ZtCard *card)
{
    for (bool done = false; !done;) {
        QDict *reply = qtest_qmp(card->qts, "{'execute': 'query-migrate'}");
        QDict *info = qdict_get_qdict(reply, "return");

        done = !g_strcmp0(qdict_get_try_str(info, "status"), "completed");
        qobject_unref(reply);
    }
}

/* A stream whose record of the last cut is none is refused. */
static void test_wrong_record(void)
{
    g_autofree char *path = zt_tmp_file("wrong-record");
    g_autofree char *save = g_strdup_printf("exec:cat > %s", path);
    g_autofree char *load = g_strdup_printf("exec:cat %s", path);
    ZtCard *card = boot("");
    g_autofree char *data = NULL;
    size_t len;
    char *record;

    zt_set(card, -1, "power", "off");
    qtest_qmp_assert_success(card->qts, "{'execute': 'migrate', "
                             "'arguments': {'uri': %s}}", save);
    wait_saved(card);
    zt_quit(card);
    g_assert_true(g_file_get_contents(path, &data, &len, NULL));
    record = memmem(data, len, "\"trigger\"", 9);
    g_assert_nonnull(record);
    *record = '!';
    g_assert_true(g_file_set_contents(path, data, len, NULL));

    card = zt_qemu("-incoming defer " ZT_CARD ",size=512M");
    qtest_set_expected_status(card->qts, 1);
    qtest_qmp_assert_success(card->qts, "{'execute': 'migrate-incoming', "
                             "'arguments': {'uri': %s}}", load);
    for (unsigned i = 0; qtest_probe_child(card->qts); i++) {
        g_assert_cmpuint(i, <, 1000);
        g_usleep(10000);
    }
    zt_quit(card);
}

int main(int argc, char **argv)
{
    static const ZtCase cases[] = {
        { "rail", test_rail },
        { "silent", test_silent },
        { "recovery", test_recovery },
        { "lost", test_lost },
        { "suspend", test_suspend },
        { "suspend-reset", test_suspend_reset },
        { "untimed", test_untimed },
        { "capacitor", test_capacitor },
        { "torn", test_torn },
        { "triggers", test_triggers },
        { "then", test_then },
        { "bad-values", test_bad_values },
        { "migrate", test_migrate },
        { "dropped", test_dropped },
        { "call-off", test_call_off },
        { "migrate-programs", test_migrate_programs },
        { "snapshot", test_snapshot },
        { "wrong-record", test_wrong_record },
    };

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("power", cases, ARRAY_SIZE(cases));
    return zt_run_tests();
}
