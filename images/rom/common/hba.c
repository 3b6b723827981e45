/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start, commands and recovery of the 88SE9485.
 *
 * The start follows what the Linux driver writes for this revision
 * (88se9485.md, appendix A).  Interrupts stay masked: completions are read
 * from the ring in memory, so that a command costs one register access.
 */
#include "hba.h"
#include "hw/zdrive/bridge/mv94xx/regs.h"

#define PHY_LOCAL(n)    ((n) & 3)
#define CORE_OF(n)      ((n) >> 2)

#define FIS_H2D         0x27
#define FIS_DEVICE_LBA  0x40
#define SIG_FIS         0x34
#define SIG_LBA_MASK    0x00FFFF00      /* mid and high of an ATA device */

#define PCS_RUN         0x59    /* commands, FIS, responses; as mvsas has it */
#define CTL_ENDIAN      0x05
#define MODE2_DISABLED  0x0084FFFE
#define MODE2_ENABLED   0x0004FFFF
#define HDR_PRD_SHIFT   16
#define HDR_LENS        (8u << 16 | 5)  /* dwords of response and of the FIS */

/* Analogue values of the phys, index and value in the VSR space. */
static const struct {
    uint16_t index;
    uint32_t value;
} phy_tuning[] = {
    { 0x118, 0x0B340000 }, { 0x11C, 0x0B34C000 }, { 0x120, 0x0B34C000 },
    { 0x124, 0x0000C000 }, { 0x10C, 0x000000FC }, { 0x110, 0x00000FC0 },
    { 0x1A0, 0x00000000 },
};

/* Timers and error handling of a core, in the CMD space. */
static const struct {
    uint16_t index;
    uint32_t value;
} core_tuning[] = {
    { 0x118, 0x00000400 }, { 0x128, 0x0000007F }, { 0x124, 0x00003FFF },
    { 0x13C, 0x007A0000 }, { 0x1A4, 0xFFEFBF7D }, { 0x1E4, 0xFFFF0000 },
    { 0x138, 0x003F003F }, { 0x1E0, 0xFFFF007F }, { 0x1BC, 0x00000300 },
};

static uint32_t core_read(Hba *h, unsigned core, uint32_t reg)
{
    return hba_read(h->bar, MV_CORE_BASE + core * MV_CORE_STRIDE + reg);
}

static void core_write(Hba *h, unsigned core, uint32_t reg, uint32_t value)
{
    hba_write(h->bar, MV_CORE_BASE + core * MV_CORE_STRIDE + reg, value);
}

/* One of the indirect spaces: its data port follows its address port. */
static void indirect_write(Hba *h, unsigned core, uint32_t port,
                           uint32_t index, uint32_t value)
{
    core_write(h, core, port, index);
    core_write(h, core, port + 4, value);
}

static uint32_t indirect_read(Hba *h, unsigned core, uint32_t port,
                              uint32_t index)
{
    core_write(h, core, port, index);
    return core_read(h, core, port + 4);
}

#define DMA_ADDRESS(h, field) \
    ((h)->dma_address + __builtin_offsetof(HbaDma, field))

static void core_write64(Hba *h, unsigned core, uint32_t reg, uint64_t value)
{
    core_write(h, core, reg, (uint32_t)value);
    core_write(h, core, reg + 4, (uint32_t)(value >> 32));
}

static void start_phy(Hba *h, unsigned core, unsigned phy)
{
    uint32_t vsr = MV_P_VSR + 8 * phy, cfg = MV_P_CFG + 8 * phy;
    unsigned i;

    for (i = 0; i < sizeof(phy_tuning) / sizeof(phy_tuning[0]); i++) {
        indirect_write(h, core, vsr, phy_tuning[i].index,
                       phy_tuning[i].value);
    }
    indirect_write(h, core, vsr, MV_VSR_PHY_MODE2, MODE2_ENABLED);
    indirect_write(h, core, cfg, MV_CFG_SATA_CTL, 0x20000000);
    indirect_write(h, core, cfg, MV_CFG_SATA_CTL, 0x00100000);
}

static void reset_core(Hba *h, unsigned core)
{
    core_write(h, core, MV_CTL, MV_CTL_RST);
    core_read(h, core, MV_CTL);
    core_write(h, core, MV_PORTS_IMP, 0xFF);
    indirect_write(h, core, MV_PA_VSR_ADDR, MV_VSR_PHY_MODE2, MODE2_DISABLED);
    core_write(h, core, MV_PCS, 0);
}

static void start_engine(Hba *h, unsigned core)
{
    unsigned i;

    core_write64(h, core, MV_CMD_LIST_LO, DMA_ADDRESS(h, header[4 * core]));
    core_write64(h, core, MV_RX_FIS_LO, DMA_ADDRESS(h, fis));
    core_write(h, core, MV_TX_CFG, HBA_RING);
    core_write64(h, core, MV_TX_LO, DMA_ADDRESS(h, tx[core]));
    core_write(h, core, MV_RX_CFG, HBA_RING);
    core_write64(h, core, MV_RX_LO, DMA_ADDRESS(h, rx[core]));
    core_write(h, core, MV_CTL, CTL_ENDIAN);
    h->dma->rx[core][0] = MV_INDEX_NONE;
    h->rx_last[core] = HBA_RING - 1;
    h->tx_last[core] = HBA_RING - 1;
    core_write(h, core, MV_TX_CFG, MV_RING_EN | HBA_RING);
    core_write(h, core, MV_RX_CFG, MV_RING_EN | HBA_RING);
    core_write(h, core, MV_PCS, PCS_RUN);
    core_write(h, core, MV_INT_MASK, 0);
    for (i = 0; i < sizeof(core_tuning) / sizeof(core_tuning[0]); i++) {
        indirect_write(h, core, MV_CMD_ADDR, core_tuning[i].index,
                       core_tuning[i].value);
    }
    /* one register set for each phy; those of core 1 are 4 to 7 */
    core_write(h, core, MV_STP_REG_SET_0, 0xFu << (4 * core));
}

void hba_start(Hba *h)
{
    unsigned core, phy;

    hba_write(h->bar, MV_GBL_INT_ENABLE, 0);
    for (core = 0; core < MV_CORES; core++) {
        reset_core(h, core);
        for (phy = 0; phy < MV_PHYS; phy++) {
            start_phy(h, core, phy);
        }
        start_engine(h, core);
    }
    h->busy = 0;
    h->sick = 0;
    h->return_ms = HBA_RETURN_MS;
}

void hba_stop(Hba *h)
{
    unsigned core;

    for (core = 0; core < MV_CORES; core++) {
        core_write(h, core, MV_PCS, 0);
        core_write(h, core, MV_CTL, MV_CTL_RST);
        core_read(h, core, MV_CTL);
    }
    h->busy = 0;
}

static bool phy_linked(Hba *h, unsigned n)
{
    return core_read(h, CORE_OF(n), MV_P_SER_CTLSTAT + 4 * PHY_LOCAL(n)) &
           MV_SER_READY;
}

static bool phy_signed_in(Hba *h, unsigned n)
{
    unsigned core = CORE_OF(n), phy = PHY_LOCAL(n);
    uint32_t cfg = MV_P_CFG + 8 * phy;

    return phy_linked(h, n) &&
           (core_read(h, core, MV_P_INT + 8 * phy) & MV_PHYEV_SIG_FIS) &&
           (indirect_read(h, core, cfg, MV_CFG_SIG0) & 0xFF) == SIG_FIS &&
           !(indirect_read(h, core, cfg, MV_CFG_SIG0 + 4) & SIG_LBA_MASK);
}

static uint8_t phys_that(Hba *h, bool (*are)(Hba *h, unsigned n))
{
    uint8_t phys = 0;
    unsigned n;

    for (n = 0; n < HBA_PHYS; n++) {
        phys |= are(h, n) << n;
    }
    return phys;
}

uint8_t hba_linked(Hba *h)
{
    return phys_that(h, phy_linked);
}

uint8_t hba_signed_in(Hba *h)
{
    return phys_that(h, phy_signed_in);
}

static void put64(DmaDword *p, uint64_t value)
{
    p[0] = (uint32_t)value;
    p[1] = (uint32_t)(value >> 32);
}

static void fill_fis(DmaByte *fis, const HbaCommand *cmd)
{
    unsigned i;

    for (i = 0; i < 20; i++) {
        fis[i] = 0;
    }
    fis[0] = FIS_H2D;
    fis[1] = 0x80;
    fis[2] = cmd->command;
    fis[3] = cmd->feature;
    for (i = 0; i < 3; i++) {
        fis[4 + i] = (uint8_t)(cmd->lba >> (8 * i));
        fis[8 + i] = (uint8_t)(cmd->lba >> (8 * i + 24));
    }
    fis[7] = FIS_DEVICE_LBA;
    fis[12] = (uint8_t)cmd->count;
    fis[13] = cmd->count >> 8;
}

void hba_issue(Hba *h, unsigned n, const HbaCommand *cmd)
{
    unsigned core = CORE_OF(n), phy = PHY_LOCAL(n);
    HbaSlot DMA_SPACE *slot = &h->dma->slot[n];
    HbaHeader DMA_SPACE *hdr = &h->dma->header[n];
    uint64_t at = DMA_ADDRESS(h, slot[n]);

    fill_fis(slot->table, cmd);
    slot->status[0] = 0;
    slot->status[1] = 0;
    put64(slot->prd[0].addr, cmd->address);
    slot->prd[0].len = cmd->bytes;

    hdr->flags = (cmd->bytes ? 1u : 0) << HDR_PRD_SHIFT;
    hdr->lens = HDR_LENS;
    hdr->tags = phy;
    hdr->data_len = cmd->bytes;
    put64(hdr->cmd_tbl, at + __builtin_offsetof(HbaSlot, table));
    put64(hdr->open_frame, at + __builtin_offsetof(HbaSlot, open_frame));
    put64(hdr->status_buf, at + __builtin_offsetof(HbaSlot, status));
    put64(hdr->prd_tbl, cmd->bytes ?
          at + __builtin_offsetof(HbaSlot, prd) : 0);

    h->phy[n].result = HBA_BUSY;
    h->busy |= 1u << n;
    h->tx_last[core] = (h->tx_last[core] + 1) % HBA_RING;
    h->dma->tx[core][h->tx_last[core]] =
        (uint32_t)MV_TXQ_STP << 29 | 1u << 28 | n << 20 | 1u << (12 + phy) |
        phy;
    hba_barrier();
    core_write(h, core, MV_TX_PROD_IDX, h->tx_last[core]);
}

static const DmaByte *received_fis(const Hba *h, unsigned n)
{
    return &h->dma->fis[MV_FIS_SET_OFFSET + MV_FIS_SET_SIZE * n + MV_FIS_D2H];
}

static void complete(Hba *h, unsigned core, uint32_t entry)
{
    unsigned n = 4 * core + (entry & 3);
    HbaPhy *phy = &h->phy[n];
    const DmaByte *fis = received_fis(h, n);

    phy->status = fis[2];
    phy->error = fis[3];
    phy->result = entry & MV_RXQ_ERR ? HBA_ERROR : HBA_OK;
    h->busy &= ~(1u << n);
    h->sick &= ~(1u << n);
}

/* Take what the completion rings hold. */
static void collect(Hba *h)
{
    unsigned core;

    for (core = 0; core < MV_CORES; core++) {
        DmaRing *rx = h->dma->rx[core];
        uint32_t last = rx[0];

        while (last < HBA_RING && h->rx_last[core] != last) {
            h->rx_last[core] = (h->rx_last[core] + 1) % HBA_RING;
            hba_barrier();
            complete(h, core, rx[1 + h->rx_last[core]]);
        }
        if (last == MV_INDEX_NONE) {
            h->rx_last[core] = HBA_RING - 1;
        }
    }
}

/* Take the command of phy @n back and reset its link. */
static void reset_phy(Hba *h, unsigned n)
{
    unsigned core = CORE_OF(n), phy = PHY_LOCAL(n);
    uint32_t serial = MV_P_SER_CTLSTAT + 4 * phy;

    indirect_write(h, core, MV_CMD_ADDR, MV_CMD_ACTIVE, 1u << phy);
    core_write(h, core, MV_P_INT + 8 * phy, 0xFFFFFFFF);
    core_write(h, core, serial, core_read(h, core, serial) | MV_SER_PHY_RST);
    h->phy[n].result = HBA_TIMEOUT;
    h->busy &= ~(1u << n);
    h->sick |= 1u << n;
}

/* Reset all @phys and wait until their SSDs have signed in again. */
static void recover(Hba *h, uint8_t phys)
{
    uint32_t left = h->return_ms * HBA_TICKS_PER_MS, passed;
    unsigned n;

    for (n = 0; n < HBA_PHYS; n++) {
        if (phys & (1u << n)) {
            reset_phy(h, n);
        }
    }
    while ((hba_signed_in(h) & phys) != phys) {
        passed = hba_pause();
        h->waited += passed;
        if (passed >= left) {
            break;
        }
        left -= passed;
    }
}

void hba_wait(Hba *h, uint8_t phys, uint32_t ms)
{
    uint32_t left = ms * HBA_TICKS_PER_MS, passed;
    unsigned polls = 0;

    for (;;) {
        collect(h);
        if (!(h->busy & phys)) {
            return;
        }
        if (++polls < HBA_POLLS) {
            continue;
        }
        polls = 0;
        passed = hba_pause();
        h->waited += passed;
        if (passed >= left) {
            recover(h, h->busy & phys);
            return;
        }
        left -= passed;
    }
}

void hba_wait_io(Hba *h, uint8_t phys)
{
    hba_wait(h, phys, h->sick & phys ? HBA_IMPATIENT_MS : HBA_TIMEOUT_MS);
}

HbaResult hba_run(Hba *h, unsigned n, const HbaCommand *cmd, uint32_t ms)
{
    hba_issue(h, n, cmd);
    hba_wait(h, 1u << n, ms);
    return h->phy[n].result;
}

HbaResult hba_run_sector(Hba *h, unsigned n, HbaCommand cmd, uint32_t ms)
{
    cmd.address = DMA_ADDRESS(h, sector);
    cmd.bytes = HBA_SECTOR;
    return hba_run(h, n, &cmd, ms);
}

uint64_t hba_result_lba(const Hba *h, unsigned n)
{
    const DmaByte *fis = received_fis(h, n);
    uint32_t low = fis[4] | fis[5] << 8 | (uint32_t)fis[6] << 16;
    uint32_t high = fis[8] | fis[9] << 8 | (uint32_t)fis[10] << 16;

    return low | (uint64_t)high << 24;
}

unsigned hba_link_rate(Hba *h, unsigned n)
{
    uint32_t serial = core_read(h, CORE_OF(n),
                                MV_P_SER_CTLSTAT + 4 * PHY_LOCAL(n));

    return serial & MV_SER_READY ? 1u << (serial >> MV_SER_NEG_SHIFT & 3) : 0;
}
