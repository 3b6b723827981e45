/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of a hostile guest, and how often it does each.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "fuzz.h"

#define SECOND_NS   1000000000ll

uint32_t fuzz_value(FuzzRng *rng)
{
    uint32_t val = fuzz_rnd(rng);

    switch (fuzz_below(rng, 7)) {
    case 0:
        return 0;
    case 1:
        return 0xffffffff;
    case 2:
        return 1u << (val % 32);
    case 3:
        return (1u << (val % 32)) - 1;
    case 4:
        return val & 0xff;
    case 5:
        return val & 0x07ffffff;        /* an address in memory */
    default:
        return val;
    }
}

static ZtCore *any_core(FuzzMachine *m, FuzzRng *rng)
{
    return &m->card->core[fuzz_below(rng, MVS_CORES)];
}

static void op_commands(FuzzMachine *m, FuzzRng *rng)
{
    fuzz_commands(m, rng);
}

static void op_clock(FuzzMachine *m, FuzzRng *rng)
{
    int64_t step = fuzz_below(rng, 300000);

    if (fuzz_one_in(rng, 40)) {
        step = fuzz_below(rng, 3600) * SECOND_NS;
    } else if (fuzz_one_in(rng, 8)) {
        step = fuzz_below(rng, 20) * 1000000ll;
    }
    fuzz_note(m, "%" PRId64 " ns", step);
    qtest_clock_step(m->card->qts, step);
}

/* Registers of a core with a meaning; the rest comes by any offset. */
static void op_core_register(FuzzMachine *m, FuzzRng *rng)
{
    static const uint16_t regs[] = {
        MVS_CTL, MVS_PCS, MVS_CMD_LIST_LO, MVS_CMD_LIST_HI, MVS_RX_FIS_LO,
        MVS_STP_REG_SET_0, MVS_TX_CFG, MVS_TX_LO, MVS_TX_PROD_IDX, MVS_RX_CFG,
        MVS_RX_LO, MVS_INT_COAL, MVS_INT_COAL_TMOUT, MVS_INT_STAT,
        MVS_INT_MASK, MVS_NON_NCQ_ERR_0, MVS_CMD_ADDR, MVS_CMD_DATA,
        MVS_PA_VSR_ADDR, MVS_PA_VSR_PORT,
    };
    ZtCore *core = any_core(m, rng);
    uint32_t reg = fuzz_pick(rng, regs);
    uint32_t val = fuzz_value(rng);

    if (fuzz_one_in(rng, 3)) {
        reg = fuzz_below(rng, 0x300) & ~3u;
    }
    if ((reg == MVS_TX_CFG || reg == MVS_RX_CFG) && !fuzz_one_in(rng, 4)) {
        val |= RING_EN;
    }
    if (reg == MVS_PCS && !fuzz_one_in(rng, 4)) {
        val |= PCS_CMD_EN | PCS_FIS_RX_EN;
    }
    fuzz_note(m, "core %u 0x%x <- 0x%x", core->number, reg, val);
    zt_core_write(core, reg, val);
    zt_core_read(core, reg);
}

static void op_coalescing(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = any_core(m, rng);
    uint32_t count = fuzz_below(rng, 8), time = fuzz_below(rng, 200);

    fuzz_note(m, "core %u: %u completions, %u us", core->number, count, time);
    zt_core_write(core, MVS_INT_COAL, RING_EN | count);
    zt_core_write(core, MVS_INT_COAL_TMOUT, RING_EN | time);
}

static void op_phy(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = any_core(m, rng);
    unsigned phy = fuzz_below(rng, MVS_PHYS);
    unsigned what = fuzz_below(rng, 8);
    uint32_t val = fuzz_value(rng), addr = fuzz_value(rng) & 0x3ff;

    fuzz_note(m, "core %u phy %u: ", core->number, phy);
    switch (what) {
    case 0:
    case 1:
        fuzz_note(m, "reset");
        zt_core_write(core, MVS_P_SER_CTLSTAT(phy), PHY_RST << what);
        break;
    case 2:
        fuzz_note(m, "disable");
        zt_vsr_write(core, phy, VSR_PHY_MODE2, MODE2_DISABLED);
        break;
    case 3:
    case 4:
        fuzz_note(m, "enable");
        zt_vsr_write(core, phy, VSR_PHY_MODE2, MODE2_ENABLED);
        break;
    case 5:
        fuzz_note(m, "serial <- 0x%x", val);
        zt_core_write(core, MVS_P_SER_CTLSTAT(phy), val);
        break;
    case 6:
        fuzz_note(m, "CFG 0x%x <- 0x%x", addr, val);
        zt_cfg_write(core, phy, addr, val);
        zt_cfg_read(core, phy, addr);
        break;
    default:
        fuzz_note(m, "VSR 0x%x <- 0x%x", addr, val);
        zt_vsr_write(core, phy, addr, val);
        zt_vsr_read(core, phy, addr);
    }
}

static void op_mmio(FuzzMachine *m, FuzzRng *rng)
{
    QTestState *qts = m->card->qts;
    bool bar0 = fuzz_one_in(rng, 8);
    uint64_t base = bar0 ? m->bar0 : m->card->bar2.addr;
    uint32_t offset = fuzz_below(rng, bar0 ? MVS_BAR0_SIZE : MVS_BAR2_SIZE);
    unsigned width = 1u << fuzz_below(rng, 4);
    uint64_t val = fuzz_rnd64(rng);
    bool write = fuzz_one_in(rng, 2);

    if (!bar0 && !fuzz_one_in(rng, 4)) {
        offset = MVS_CORE(offset & 1) + offset % 0x2a0;
    }
    if (!fuzz_one_in(rng, 4)) {
        offset &= ~(width - 1);
    }
    fuzz_note(m, "BAR %u 0x%x, %u bytes, %s 0x%" PRIx64, bar0 ? 0 : 2, offset,
              width, write ? "<-" : "?", val);
    if (write) {
        qtest_memwrite(qts, base + offset, &val, width);
    } else {
        qtest_memread(qts, base + offset, &val, width);
    }
}

static void op_abort(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = any_core(m, rng);
    unsigned slot = fuzz_one_in(rng, 4) ? fuzz_below(rng, MVS_SLOTS)
                                        : fuzz_below(rng, 64);
    uint32_t mask = fuzz_one_in(rng, 3) ? 0xffffffff : 1u << (slot % 32);

    fuzz_note(m, "core %u slot %u mask 0x%x", core->number, slot, mask);
    zt_cmd_write(core, MVS_COMMAND_ACTIVE + (slot >> 3), mask);
    zt_slot_active(core, slot);
}

static void op_reset_issue(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = any_core(m, rng);

    fuzz_note(m, "core %u", core->number);
    zt_core_write(core, MVS_PCS, 0x59 | PCS_CMD_RST);
    core->tx_next = (zt_core_read(core, MVS_TX_CONS_IDX) + 1) %
                    core->tx_entries;
}

static void op_restart(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = any_core(m, rng);

    fuzz_note(m, "core %u", core->number);
    fuzz_machine_enable(m);
    zt_core_program(core);
}

static void op_error_log(FuzzMachine *m, FuzzRng *rng)
{
    fuzz_read_error_log(m, rng);
}

static void op_noise(FuzzMachine *m, FuzzRng *rng)
{
    fuzz_memory_noise(m, rng);
}

static void op_doorbell(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = any_core(m, rng);
    uint32_t index = fuzz_value(rng) & 0xfff;

    fuzz_note(m, "core %u index 0x%x", core->number, index);
    zt_core_write(core, MVS_TX_PROD_IDX, index);
}

static void op_look(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = any_core(m, rng);
    uint32_t stat;

    zt_read(m->card, MVS_GBL_INT_STAT);
    zt_core_write(core, MVS_INT_STAT, CINT_DONE);
    stat = zt_core_read(core, MVS_INT_STAT);
    zt_core_read(core, MVS_RX_CONS_IDX);
    zt_core_write(core, MVS_INT_STAT, stat);
    zt_intx(m->card);
}

static void op_spi(FuzzMachine *m, FuzzRng *rng)
{
    static const uint8_t commands[] = {
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x06, 0x0b, 0x20, 0x52, 0x60,
        0x9f, 0xd8, 0xff,
    };
    uint32_t ctrl = fuzz_pick(rng, commands) << 8 |
                    (fuzz_rnd(rng) & 0xff) | 1;

    fuzz_note(m, "control 0x%x", ctrl);
    zt_write(m->card, MVS_SPI_ADDR, fuzz_value(rng));
    zt_write(m->card, MVS_SPI_WR_DATA, fuzz_value(rng));
    zt_write(m->card, MVS_SPI_CTRL, ctrl);
    zt_read(m->card, MVS_SPI_RD_DATA);
}

static void op_config(FuzzMachine *m, FuzzRng *rng)
{
    uint64_t base = fuzz_machine_ecam(m);
    unsigned offset = fuzz_below(rng, fuzz_one_in(rng, 8) ? 0x1000 : 0x160);
    unsigned width = 1u << fuzz_below(rng, 3);
    uint32_t val = fuzz_value(rng);

    offset &= ~(width - 1);
    fuzz_note(m, "0x%x, %u bytes <- 0x%x", offset, width, val);
    qtest_memwrite(m->card->qts, base + offset, &val, width);
    qtest_memread(m->card->qts, base + offset, &val, width);
    /* something has to happen before the driver puts things right */
    if (fuzz_one_in(rng, 2)) {
        fuzz_note(m, ", commands");
        fuzz_commands(m, rng);
    }
    fuzz_machine_enable(m);
}

/* MSI to memory, or to the card itself. */
static void op_msi(FuzzMachine *m, FuzzRng *rng)
{
    QPCIDevice *pci = m->card->pci;
    uint64_t addr = fuzz_one_in(rng, 2) ? 0xfee00000u
                                        : m->card->bar2.addr + MVS_CORE(0) +
                                          (fuzz_below(rng, 0x2a0) & ~3u);
    bool enable = !fuzz_one_in(rng, 3);

    fuzz_note(m, "%s, address 0x%" PRIx64, enable ? "on" : "off", addr);
    qpci_config_writel(pci, 0x54, addr);
    qpci_config_writel(pci, 0x58, addr >> 32);
    qpci_config_writew(pci, 0x5c, fuzz_rnd(rng));
    qpci_config_writew(pci, 0x52, enable ? 0x81 : 0x80);
}

static void op_power_state(FuzzMachine *m, FuzzRng *rng)
{
    unsigned state = fuzz_below(rng, 4);

    fuzz_note(m, "D%u", state);
    qpci_config_writew(m->card->pci, 0x44, state);
    if (fuzz_one_in(rng, 2)) {
        fuzz_commands(m, rng);
    }
    fuzz_machine_enable(m);
}

/* No bus mastering or no memory space while commands are under way. */
static void op_command_register(FuzzMachine *m, FuzzRng *rng)
{
    uint16_t bits = fuzz_below(rng, 4) << 1;

    fuzz_note(m, "0x%x", bits);
    fuzz_commands(m, rng);
    qpci_config_writew(m->card->pci, PCI_COMMAND, bits);
    qtest_clock_step(m->card->qts, ZT_COMMAND_NS);
    fuzz_machine_enable(m);
}

static void op_bus_reset(FuzzMachine *m, FuzzRng *rng)
{
    if (fuzz_machine_bus_reset(m)) {
        fuzz_machine_enable(m);
        fuzz_machine_program(m);
    }
}

static void op_system_reset(FuzzMachine *m, FuzzRng *rng)
{
    fuzz_machine_system_reset(m);
}

static void op_stop(FuzzMachine *m, FuzzRng *rng)
{
    qtest_qmp_assert_success(m->card->qts, "{'execute': 'stop'}");
    qtest_qmp_assert_success(m->card->qts, "{'execute': 'cont'}");
}

/* Away in the middle of whatever goes on, and back. */
static void op_unplug(FuzzMachine *m, FuzzRng *rng)
{
    if (fuzz_machine_can_unplug(m)) {
        fuzz_machine_unplug(m);
        qtest_clock_step(m->card->qts, ZT_COMMAND_NS);
        fuzz_machine_replug(m);
    }
}

/* The power is cut under way, by hand or by an armed cut, and comes back. */
static void op_rail(FuzzMachine *m, FuzzRng *rng)
{
    static const char *const losses[] = { "random", "none", "all",
                                          "adversarial" };
    static const char *const cuts[] = {
        "commands=3", "writes=2", "flushes=1", "programs=1", "erases=1",
        "collection", "time=1ms", "lba=0", "writes=1,ramp=3ms",
        "commands=1,then=on,for=1ms", "time=100us,ssd=1,bad-blocks=9",
    };

    g_autofree char *refused = NULL;

    zt_set(m->card, -1, "power-loss", losses[fuzz_below(rng, 4)]);
    /* what waits for the flash model does not go with timing=off */
    refused = zt_try_set(m->card, -1, "power-cut", fuzz_one_in(rng, 3) ? "" :
                         cuts[fuzz_below(rng, ARRAY_SIZE(cuts))]);
    fuzz_commands(m, rng);
    qtest_clock_step(m->card->qts, fuzz_below(rng, 4) * 1000000ll);
    if (fuzz_one_in(rng, 2)) {
        zt_set(m->card, -1, "power", "off");
        fuzz_commands(m, rng);
    }
    zt_set(m->card, -1, "power-cut", "");
    zt_set(m->card, -1, "power", "on");
    /* an armed cut may have been under way */
    qtest_clock_step(m->card->qts, 10 * 1000000ll);
    zt_set(m->card, -1, "power", "on");
    fuzz_machine_enable(m);
    fuzz_machine_program(m);
    if (fuzz_one_in(rng, 2)) {
        qtest_clock_step(m->card->qts, SECOND_NS);
    }
}

static void op_migrate(FuzzMachine *m, FuzzRng *rng)
{
    if (fuzz_one_in(rng, 2)) {
        fuzz_commands(m, rng);
    }
    fuzz_machine_enable(m);
    fuzz_machine_migrate(m);
}

static const struct {
    const char *name;
    unsigned weight;
    void (*run)(FuzzMachine *m, FuzzRng *rng);
} ops[] = {
    { "commands", 400, op_commands },
    { "clock", 200, op_clock },
    { "core register", 50, op_core_register },
    { "restart core", 60, op_restart },
    { "read error log", 60, op_error_log },
    { "phy", 50, op_phy },
    { "mmio", 60, op_mmio },
    { "abort", 50, op_abort },
    { "look", 30, op_look },
    { "noise", 30, op_noise },
    { "doorbell", 20, op_doorbell },
    { "coalescing", 15, op_coalescing },
    { "reset issue", 15, op_reset_issue },
    { "config space", 20, op_config },
    { "command register", 10, op_command_register },
    { "msi", 10, op_msi },
    { "spi", 15, op_spi },
    { "power state", 10, op_power_state },
    { "stop and go on", 6, op_stop },
    { "rail", 6, op_rail },
    { "bus reset", 6, op_bus_reset },
    { "unplug", 3, op_unplug },
    { "system reset", 2, op_system_reset },
    { "migrate", 1, op_migrate },
};

void fuzz_op(FuzzMachine *m, uint64_t seed, unsigned index)
{
    FuzzRng rng = { .state = seed ^ (index + 1) * 0xd1342543de82ef95ull };
    unsigned i, total = 0, n;

    for (i = 0; i < ARRAY_SIZE(ops); i++) {
        total += ops[i].weight;
    }
    n = fuzz_below(&rng, total);
    for (i = 0; n >= ops[i].weight; i++) {
        n -= ops[i].weight;
    }
    fuzz_note(m, "%s ", ops[i].name);
    ops[i].run(m, &rng);
}
