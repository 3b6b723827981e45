/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of one SAS/SATA core of the 88SE9485.
 *
 * Most of them just keep what is written; a table says which exist and which
 * bits can be written.  The few with a meaning of their own are handled by the
 * two switches below it.
 */
#include "qemu/osdep.h"
#include "internal.h"
#include "trace.h"

typedef struct MvRegInfo {
    const char *name;
    uint32_t writable;          /* bits that read back as written */
    bool read_only;             /* writes have no effect at all */
} MvRegInfo;

#define RW  0xFFFFFFFFu
#define R(offset)  [(offset) / 4]

static const MvRegInfo core_regs[MV_CORE_REGS_END / 4] = {
    R(MV_PORTS_IMP)      = { "PORTS_IMP", RW },
    R(MV_GBL_PORT_TYPE)  = { "GBL_PORT_TYPE", RW },
    R(MV_CTL)            = { "CTL", RW & ~MV_CTL_RST },
    R(MV_PCS)            = { "PCS", RW & ~MV_PCS_CMD_RST },
    R(MV_CMD_LIST_LO)    = { "CMD_LIST_LO", RW },
    R(MV_CMD_LIST_HI)    = { "CMD_LIST_HI", RW },
    R(MV_RX_FIS_LO)      = { "RX_FIS_LO", RW },
    R(MV_RX_FIS_HI)      = { "RX_FIS_HI", RW },
    R(MV_STP_REG_SET_0)  = { "STP_REG_SET_0", RW },
    R(MV_STP_REG_SET_1)  = { "STP_REG_SET_1", RW },
    R(MV_TX_CFG)         = { "TX_CFG", MV_RING_EN | MV_RING_SIZE_MASK },
    R(MV_TX_LO)          = { "TX_LO", RW },
    R(MV_TX_HI)          = { "TX_HI", RW },
    R(MV_TX_PROD_IDX)    = { "TX_PROD_IDX", 0xFFF },
    R(MV_TX_CONS_IDX)    = { "TX_CONS_IDX", 0, true },
    R(MV_RX_CFG)         = { "RX_CFG", MV_RING_EN | MV_RING_SIZE_MASK },
    R(MV_RX_LO)          = { "RX_LO", RW },
    R(MV_RX_HI)          = { "RX_HI", RW },
    R(MV_RX_IDX)         = { "RX_CONS_IDX", 0, true },
    R(MV_RX_HOST_IDX)    = { "RX_HOST_IDX", 0xFFF },
    R(MV_INT_COAL)       = { "INT_COAL", MV_COAL_EN | MV_COAL_COUNT_MASK },
    R(MV_INT_COAL_TMOUT) = { "INT_COAL_TMOUT", MV_COAL_EN |
                                               MV_COAL_TIME_MASK },
    R(MV_INT_STAT)       = { "INT_STAT", 0 },
    R(MV_INT_MASK)       = { "INT_MASK", RW },
    R(MV_INT_STAT_SRS_0) = { "INT_STAT_SRS_0", 0 },
    R(MV_INT_MASK_SRS_0) = { "INT_MASK_SRS_0", RW },
    R(MV_INT_STAT_SRS_1) = { "INT_STAT_SRS_1", 0 },
    R(MV_INT_MASK_SRS_1) = { "INT_MASK_SRS_1", RW },
    R(MV_NON_NCQ_ERR_0)  = { "NON_NCQ_ERR_0", 0 },
    R(MV_NON_NCQ_ERR_1)  = { "NON_NCQ_ERR_1", 0 },
    R(MV_CMD_ADDR)       = { "CMD_ADDR", RW },
    R(MV_CMD_DATA)       = { "CMD_DATA", 0 },
    R(MV_MEM_PARITY_ERR) = { "MEM_PARITY_ERR", 0, true },
    R(MV_PA_VSR_ADDR)    = { "PA_VSR_ADDR", RW },
    R(MV_PA_VSR_DATA)    = { "PA_VSR_DATA", 0 },
};

#undef R
#undef RW

/* Register blocks that repeat per phy; phys 4 to 7 exist but have no pins. */
static bool in_phy_block(uint32_t offset)
{
    return (offset >= MV_P_INT && offset < MV_P_INT_END) ||
           (offset >= MV_P_SER_CTLSTAT && offset < MV_P_SER_END) ||
           (offset >= MV_P_CFG && offset < MV_P_CFG_END) ||
           (offset >= MV_P_VSR && offset < MV_P_VSR_END);
}

static const char *reg_name(uint32_t offset)
{
    const char *name = NULL;

    if (in_phy_block(offset)) {
        return "PHY";
    }
    if (offset < MV_CORE_REGS_END) {
        name = core_regs[offset / 4].name;
    }
    return name ? name : "reserved";
}

/*
 * The phy that @offset of a block with @stride bytes per phy belongs to, or
 * NULL.  Nothing is said of phys 4 to 7 in the CFG block: mvsas writes there on
 * core 1 (mvs_port_notify_formed uses the number that the phy has on the card).
 */
static MvPhy *phy_of(MvCore *core, uint32_t offset, uint32_t base,
                     uint32_t stride)
{
    unsigned n = (offset - base) / stride;

    if (n < MV_PHYS) {
        return &core->phy[n];
    }
    if (base != MV_P_CFG) {
        mv_guest_error(core->bridge,
                       "access to register 0x%x of core %u for phy %u of %u",
                       offset, core->number, n, MV_PHYS);
    }
    return NULL;
}

/*
 * The CMD space index is a byte address whose two low bits mvsas does not
 * keep clear for COMMAND_ACTIVE (mvs_94xx_command_active: 0x300 + slot / 8).
 */
static uint32_t cmd_index(MvCore *core, uint32_t offset)
{
    uint32_t addr = core->regs[offset / 4] & ~3u;

    if (addr >= MV_CMD_SIZE) {
        mv_guest_error(core->bridge,
                       "CMD_ADDR 0x%x of core %u is past the CMD space",
                       addr, core->number);
        return UINT32_MAX;
    }
    return addr;
}

static uint32_t cmd_read(MvCore *core)
{
    uint32_t addr = cmd_index(core, MV_CMD_ADDR);
    unsigned first, i;
    uint32_t val = 0;

    if (addr == UINT32_MAX) {
        return 0;
    }
    if (addr < MV_CMD_ACTIVE) {
        return core->cmd[addr / 4];
    }
    first = (addr - MV_CMD_ACTIVE) * 8;
    for (i = 0; i < 32; i++) {
        val |= (uint32_t)test_bit(first + i, core->active) << i;
    }
    return val;
}

static void cmd_write(MvCore *core, uint32_t val)
{
    uint32_t addr = cmd_index(core, MV_CMD_ADDR);
    unsigned first, i;

    if (addr == UINT32_MAX) {
        return;
    }
    if (addr < MV_CMD_ACTIVE) {
        core->cmd[addr / 4] = val;
        return;
    }
    first = (addr - MV_CMD_ACTIVE) * 8;
    for (i = 0; i < 32; i++) {
        if (val & (1u << i)) {
            mv_command_abort(core, first + i);
        }
    }
}

static uint32_t phy_block_read(MvCore *core, uint32_t offset)
{
    MvPhy *phy;

    if (offset < MV_P_INT_END) {
        phy = phy_of(core, offset, MV_P_INT, 8);
        return !phy ? 0 : offset & 4 ? phy->int_mask : phy->int_stat;
    }
    if (offset < MV_P_SER_END) {
        phy = phy_of(core, offset, MV_P_SER_CTLSTAT, 4);
        return phy ? mv_phy_serial_read(phy) : 0;
    }
    if (offset < MV_P_CFG_END) {
        phy = phy_of(core, offset, MV_P_CFG, 8);
        return !phy ? 0
               : offset & 4 ? mv_phy_cfg_read(core, phy) : phy->cfg_addr;
    }
    phy = phy_of(core, offset, MV_P_VSR, 8);
    return !phy ? 0
           : offset & 4 ? mv_phy_vsr_read(core, phy, phy->vsr_addr)
                        : phy->vsr_addr;
}

static void phy_block_write(MvCore *core, uint32_t offset, uint32_t val)
{
    MvPhy *phy;

    if (offset < MV_P_INT_END) {
        phy = phy_of(core, offset, MV_P_INT, 8);
        if (phy && (offset & 4)) {
            phy->int_mask = val;
        } else if (phy) {
            phy->int_stat &= ~val;
        }
        mv_irq_update(core->bridge, true);
    } else if (offset < MV_P_SER_END) {
        phy = phy_of(core, offset, MV_P_SER_CTLSTAT, 4);
        if (phy) {
            mv_phy_serial_write(core, phy, val);
        }
    } else if (offset < MV_P_CFG_END) {
        phy = phy_of(core, offset, MV_P_CFG, 8);
        if (phy && (offset & 4)) {
            mv_phy_cfg_write(core, phy, val);
        } else if (phy) {
            phy->cfg_addr = val;
        }
    } else {
        phy = phy_of(core, offset, MV_P_VSR, 8);
        if (phy && (offset & 4)) {
            mv_phy_vsr_write(core, phy, phy->vsr_addr, val);
        } else if (phy) {
            phy->vsr_addr = val;
        }
    }
}

uint32_t mv_core_read(MvCore *core, uint32_t offset)
{
    uint32_t val;

    if (in_phy_block(offset)) {
        val = phy_block_read(core, offset);
    } else if (offset >= MV_CORE_REGS_END || !core_regs[offset / 4].name) {
        /*
         * Zero, never all ones: mvsas takes no notice of a vanished device and
         * would spin on COMMAND_ACTIVE.
         */
        mv_guest_error(core->bridge,
                       "read of reserved register 0x%x of core %u",
                       offset, core->number);
        val = 0;
    } else {
        switch (offset) {
        case MV_TX_CONS_IDX:
            val = core->tx_cons;
            break;
        case MV_RX_IDX:
            val = core->rx_prod;
            break;
        case MV_INT_STAT:
            val = mv_irq_core_status(core);
            core->done_unread = false;
            break;
        case MV_CMD_DATA:
            val = cmd_read(core);
            break;
        case MV_PA_VSR_DATA:
            /* The port writes to all phys; it reads the first one. */
            val = mv_phy_vsr_read(core, &core->phy[0],
                                  core->regs[MV_PA_VSR_ADDR / 4]);
            break;
        default:
            val = core->regs[offset / 4];
        }
    }
    trace_zd_mv_core_read(core->number, offset, reg_name(offset), val);
    return val;
}

static void ctl_write(MvCore *core, uint32_t val)
{
    if (val & MV_CTL_RST) {
        mv_core_reset(core);
        core->regs[MV_CTL / 4] = val & core_regs[MV_CTL / 4].writable;
    }
}

static void pcs_write(MvCore *core, uint32_t val)
{
    if (val & MV_PCS_CMD_RST) {
        mv_command_abort_unissued(core);
        core->tx_cons = core->regs[MV_TX_PROD_IDX / 4];
        core->tx_stopped = false;
    }
    mv_ring_run(core);
}

static void doorbell_write(MvCore *core, uint32_t val)
{
    mv_mistakes_of_doorbell(core, val);
    /* ring indexes have 12 bits, and all of them set mean "none" */
    if (val >= MV_INDEX_NONE && mv_ring_enabled(core)) {
        mv_ring_bad_doorbell(core, val);
    } else {
        mv_ring_run(core);
    }
}

void mv_core_write(MvCore *core, uint32_t offset, uint32_t val)
{
    uint32_t old, writable;
    unsigned n;

    trace_zd_mv_core_write(core->number, offset, reg_name(offset), val);

    if (in_phy_block(offset)) {
        phy_block_write(core, offset, val);
        return;
    }
    if (offset >= MV_CORE_REGS_END || !core_regs[offset / 4].name) {
        mv_guest_error(core->bridge,
                       "write of 0x%x to reserved register 0x%x of core %u",
                       val, offset, core->number);
        return;
    }

    old = core->regs[offset / 4];
    writable = core_regs[offset / 4].writable;
    if (core_regs[offset / 4].read_only) {
        mv_guest_error(core->bridge,
                       "write of 0x%x to read-only register 0x%x of core %u",
                       val, offset, core->number);
    }
    core->regs[offset / 4] = (old & ~writable) | (val & writable);

    switch (offset) {
    case MV_CTL:
        ctl_write(core, val);
        break;
    case MV_PCS:
        pcs_write(core, val);
        break;
    case MV_TX_CFG:
        if (!(old & MV_RING_EN) && (val & MV_RING_EN)) {
            core->regs[MV_TX_PROD_IDX / 4] = MV_INDEX_NONE;
            core->tx_cons = MV_INDEX_NONE;
            core->tx_stopped = false;
        }
        break;
    case MV_TX_PROD_IDX:
        doorbell_write(core, val);
        break;
    case MV_RX_CFG:
        if (!(old & MV_RING_EN) && (val & MV_RING_EN)) {
            core->rx_prod = MV_INDEX_NONE;
        }
        break;
    case MV_INT_COAL:
    case MV_INT_COAL_TMOUT:
        mv_irq_coal_reset(core);
        break;
    case MV_INT_STAT:
        mv_irq_ack(core, val);
        break;
    case MV_INT_MASK:
        mv_irq_update(core->bridge, true);
        break;
    case MV_INT_STAT_SRS_0:
    case MV_INT_STAT_SRS_1:
    case MV_NON_NCQ_ERR_0:
    case MV_NON_NCQ_ERR_1:
        core->regs[offset / 4] = old & ~val;
        break;
    case MV_CMD_DATA:
        cmd_write(core, val);
        break;
    case MV_PA_VSR_DATA:
        for (n = 0; n < MV_PHYS; n++) {
            mv_phy_vsr_write(core, &core->phy[n],
                             core->regs[MV_PA_VSR_ADDR / 4], val);
        }
        break;
    }
}

/* CCTL_RST, PCI reset and power on all end here. */
void mv_core_reset(MvCore *core)
{
    unsigned n;

    for (n = 0; n < MV_PHYS; n++) {
        if (core->phy[n].link) {
            zd_link_abort_all(core->phy[n].link);
        }
    }
    memset(core->regs, 0, sizeof(core->regs));
    memset(core->cmd, 0, sizeof(core->cmd));
    core->regs[MV_TX_PROD_IDX / 4] = MV_INDEX_NONE;
    core->tx_cons = MV_INDEX_NONE;
    core->rx_prod = MV_INDEX_NONE;
    core->tx_stopped = false;
    core->done_unread = false;
    core->coal_pending = 0;
    timer_del(core->coal_timer);
    mv_ring_reset(core);
    timer_del(core->tx_timer);
    for (n = 0; n < MV_PHYS; n++) {
        mv_phy_reset(core, &core->phy[n]);
    }
    mv_irq_update(core->bridge, false);
}
