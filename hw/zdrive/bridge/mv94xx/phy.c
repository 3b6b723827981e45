/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The phys: link state, signature, the two indirect spaces of each phy, and
 * what the resets do.
 *
 * A reset by the driver never raises POOF: mvsas would detach the port for two
 * seconds (mvs_int_port) although nothing was unplugged.  It latches a fresh
 * signature instead, which two paths of mvsas wait for.
 */
#include "qemu/osdep.h"
#include "internal.h"
#include "trace.h"

/* The highest rate that device, programmed limit and MODE2 all allow. */
static ZdRate negotiate(MvPhy *phy)
{
    uint32_t speeds = phy->vsr[MV_VSR_PHY_MODE2 / 4] >> MV_MODE2_SPEED_SHIFT;
    unsigned limit = (phy->ser_limits >> MV_SER_MAX_SHIFT) & 3;
    int rate = phy->link->max_rate;

    if (limit) {
        /* mvs_94xx_phy_set_link_rate: 1 is 3 Gb/s, 2 is 6 Gb/s, 0 no limit */
        rate = MIN(rate, limit + ZD_RATE_1_5G);
    }
    while (rate > ZD_RATE_NONE && !(speeds & (1u << (rate - ZD_RATE_1_5G)))) {
        rate--;
    }
    return rate;
}

/* The event that the device's signature is, or 0 when it has sent none. */
static uint32_t take_signature(MvPhy *phy)
{
    uint8_t fis[ZD_FIS_REG_LEN] = { 0 };
    bool sent = phy->link->dev_ops->signature(phy->link->dev, fis);
    unsigned i;

    for (i = 0; i < 4; i++) {
        phy->cfg[MV_CFG_SIG0 / 4 + i] = ldl_le_p(fis + 4 * i);
    }
    return sent ? MV_PHYEV_SIG_FIS : 0;
}

/* Returns the events of a link that is up. */
static uint32_t set_link_up(MvPhy *phy)
{
    ZdRate rate = ZD_RATE_NONE;

    if (phy->link && zd_link_present(phy->link) &&
        !(phy->vsr[MV_VSR_PHY_MODE2 / 4] & MV_MODE2_DISABLE)) {
        rate = negotiate(phy);
    }
    phy->ready = rate != ZD_RATE_NONE;
    if (!phy->ready) {
        return 0;
    }
    phy->rate = rate - ZD_RATE_1_5G;
    phy->link->rate = rate;
    return MV_PHYEV_COMWAKE | take_signature(phy);
}

static void link_up(MvCore *core, MvPhy *phy)
{
    uint32_t events = set_link_up(phy);

    if (phy->ready) {
        /* mvs_int_port would take POOF beside a new signature as an unplug */
        phy->int_stat &= ~MV_PHYEV_POOF;
        phy->int_stat |= MV_PHYEV_RDY_CH | events;
        trace_zd_mv_phy(core->number, phy->number, "up", phy->rate);
    }
    mv_irq_update(core->bridge, false);
}

static void link_down(MvCore *core, MvPhy *phy)
{
    if (!phy->ready) {
        return;
    }
    zd_link_abort_all(phy->link);
    phy->ready = false;
    phy->int_stat &= ~(MV_PHYEV_COMWAKE | MV_PHYEV_SIG_FIS);
    phy->int_stat |= MV_PHYEV_RDY_CH | MV_PHYEV_POOF;
    trace_zd_mv_phy(core->number, phy->number, "down", phy->rate);
    mv_irq_update(core->bridge, false);
}

/* PHY_RST and PHY_RST_HARD: COMRESET to the device, which signs in again. */
static void link_reset(MvCore *core, MvPhy *phy, uint32_t events)
{
    bool ready = phy->ready;

    if (!phy->link || (phy->vsr[MV_VSR_PHY_MODE2 / 4] & MV_MODE2_DISABLE)) {
        return;
    }
    zd_link_reset(phy->link, ZD_RESET_COMRESET);
    events |= set_link_up(phy);
    if (phy->ready) {
        phy->int_stat &= ~(MV_PHYEV_POOF | MV_PHYEV_SIG_FIS);
        phy->int_stat |= events | (ready ? 0 : MV_PHYEV_RDY_CH);
        trace_zd_mv_phy(core->number, phy->number, "reset", phy->rate);
    } else if (ready) {
        phy->int_stat |= MV_PHYEV_RDY_CH | MV_PHYEV_POOF;
    }
    mv_irq_update(core->bridge, false);
}

bool mv_phy_soft_reset(MvCore *core, MvPhy *phy, bool srst,
                       uint8_t fis[ZD_FIS_REG_LEN])
{
    if (srst) {
        zd_link_reset(phy->link, ZD_RESET_SOFT);
        return false;
    }
    phy->int_stat |= take_signature(phy);
    mv_irq_update(core->bridge, false);
    return phy->link->dev_ops->signature(phy->link->dev, fis);
}

static MvPhy *phy_at(MvCore *core, const ZdLink *link)
{
    return &core->phy[link->phy % MV_PHYS];
}

void mv_phy_mistake(void *host, ZdLink *link, const ZdRequest *req,
                    const char *what)
{
    MvCore *core = host;

    mv_guest_error_of(core->bridge, what,
                      "phy %u of core %u: command 0x%02x: %s",
                      phy_at(core, link)->number, core->number, req->fis[2],
                      what);
}

void mv_phy_changed(void *host, ZdLink *link)
{
    MvCore *core = host;
    MvPhy *phy = phy_at(core, link);

    if (zd_link_present(link)) {
        link_up(core, phy);
    } else {
        link_down(core, phy);
    }
}

void mv_phy_signed_in(void *host, ZdLink *link)
{
    MvCore *core = host;
    MvPhy *phy = phy_at(core, link);

    if (phy->ready) {
        phy->int_stat |= take_signature(phy);
        trace_zd_mv_phy(core->number, phy->number, "signature", phy->rate);
        mv_irq_update(core->bridge, false);
    }
}

void mv_phy_crc_error(void *host, ZdLink *link)
{
    MvCore *core = host;
    MvPhy *phy = phy_at(core, link);

    phy->cfg[MV_CFG_CRC_ERR / 4]++;
    phy->int_stat |= MV_PHYEV_CRC_ERR;
    mv_irq_update(core->bridge, false);
}

uint32_t mv_phy_serial_read(MvPhy *phy)
{
    uint32_t val = phy->ser_limits;

    if (phy->ready) {
        val |= MV_SER_READY | (uint32_t)phy->rate << MV_SER_NEG_SHIFT;
    }
    return val;
}

void mv_phy_serial_write(MvCore *core, MvPhy *phy, uint32_t val)
{
    phy->ser_limits = val & MV_SER_RATE_LIMITS;
    if (val & MV_SER_PHY_RST_HARD) {
        link_reset(core, phy, MV_PHYEV_HARD_RST);
    } else if (val & MV_SER_PHY_RST) {
        link_reset(core, phy, 0);
    }
}

static bool cfg_read_only(uint32_t addr)
{
    return (addr >= MV_CFG_SIG0 && addr <= MV_CFG_CRC_ERR) ||
           addr >= MV_CFG_ATT_FRAME0;
}

/* Dword of an indirect space, or NULL with a line for the driver's author. */
static uint32_t *indirect(MvBridge *b, MvPhy *phy, uint32_t *space,
                          uint32_t addr, uint32_t size, const char *name)
{
    if (addr >= size || (addr & 3)) {
        mv_guest_error(b,
                       "%s index 0x%x of phy %u: not a dword of its 0x%x bytes",
                       name, addr, phy->number, size);
        return NULL;
    }
    return &space[addr / 4];
}

uint32_t mv_phy_cfg_read(MvCore *core, MvPhy *phy)
{
    const uint32_t *reg = indirect(core->bridge, phy, phy->cfg, phy->cfg_addr,
                                   MV_CFG_SIZE, "CFG");

    return reg ? *reg : 0;
}

static void is_read_only(MvCore *core, MvPhy *phy, uint32_t addr,
                         const char *name)
{
    mv_guest_error(core->bridge,
                   "write to %s index 0x%x of phy %u of core %u, which is "
                   "read-only", name, addr, phy->number, core->number);
}

/*
 * PHYR_SATA_CTL ("phy tune") is plain storage: mvsas writes it in its init
 * path, where a bounce of the link would cost the signature.
 */
void mv_phy_cfg_write(MvCore *core, MvPhy *phy, uint32_t val)
{
    uint32_t *reg = indirect(core->bridge, phy, phy->cfg, phy->cfg_addr,
                             MV_CFG_SIZE, "CFG");

    if (reg && cfg_read_only(phy->cfg_addr)) {
        is_read_only(core, phy, phy->cfg_addr, "CFG");
    } else if (reg) {
        *reg = val;
    }
}

uint32_t mv_phy_vsr_read(MvCore *core, MvPhy *phy, uint32_t addr)
{
    const uint32_t *reg = indirect(core->bridge, phy, phy->vsr, addr,
                                   MV_VSR_SIZE, "VSR");

    if (addr == MV_VSR_PHY_MODE3) {
        return phy->ready ? MV_MODE3_SATA : 0;
    }
    return reg ? *reg : 0;
}

void mv_phy_vsr_write(MvCore *core, MvPhy *phy, uint32_t addr, uint32_t val)
{
    uint32_t *reg = indirect(core->bridge, phy, phy->vsr, addr, MV_VSR_SIZE,
                             "VSR");
    uint32_t old;

    if (!reg) {
        return;
    }
    if (addr == MV_VSR_PHY_MODE3) {
        is_read_only(core, phy, addr, "VSR");
        return;
    }
    old = *reg;
    *reg = val;
    if (addr == MV_VSR_PHY_MODE2 && ((old ^ val) & MV_MODE2_DISABLE)) {
        if (val & MV_MODE2_DISABLE) {
            link_down(core, phy);
        } else {
            link_up(core, phy);
        }
    }
}

/* Chip reset: defaults, and the link comes up by itself. */
void mv_phy_reset(MvCore *core, MvPhy *phy)
{
    phy->ready = false;
    phy->int_stat = 0;
    phy->int_mask = 0;
    phy->ser_limits = 0;
    phy->cfg_addr = 0;
    phy->vsr_addr = 0;
    memset(phy->cfg, 0, sizeof(phy->cfg));
    memset(phy->vsr, 0, sizeof(phy->vsr));
    /* the chip's own IDENTIFY frame: end device; SSP, STP, SMP initiator */
    phy->cfg[MV_CFG_ID_FRAME0 / 4] = 0x000E0010;
    phy->vsr[MV_VSR_PHY_MODE2 / 4] = MV_MODE2_RESET;
    if (phy->link) {
        zd_link_reset(phy->link, ZD_RESET_COMRESET);
    }
    link_up(core, phy);
}
