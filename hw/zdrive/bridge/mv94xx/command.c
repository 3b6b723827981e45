/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One command's way through a core: header, command table and PRDs are read
 * when its descriptor is fetched, the request goes to the link of its phy, and
 * what comes back becomes a received FIS, an error record and a completion.
 *
 * A slot belongs to the chip from the fetch until the completion is posted.
 * After an abort neither the completion nor any access to the slot's memory
 * follows, since drivers reuse both at once.
 */
#include "qemu/osdep.h"
#include "internal.h"
#include "trace.h"

typedef struct QEMU_PACKED MvPrd {
    uint64_t addr;
    uint32_t len;
} MvPrd;

QEMU_BUILD_BUG_ON(sizeof(MvPrd) != MV_PRD_SIZE);

/*
 * Scatter entries that a command which is over may keep for the next one: what
 * drivers use.  The longest lists, for each slot, would hold 128 MiB for ever.
 */
#define MOST_KEPT   256

static MvCommand *command_get(MvCore *core)
{
    MvBridge *b = core->bridge;
    MvCommand *cmd;

    if (b->free_commands) {
        cmd = b->free_commands->data;
        b->free_commands = g_slist_delete_link(b->free_commands,
                                               b->free_commands);
    } else {
        cmd = g_new0(MvCommand, 1);
        pci_dma_sglist_init(&cmd->req.sg, b->pci, 8);
    }
    zd_request_init(&cmd->req);
    cmd->req.sg.nsg = 0;
    cmd->req.sg.size = 0;
    cmd->core = core;
    return cmd;
}

static void command_put(MvCommand *cmd)
{
    MvBridge *b = cmd->core->bridge;

    if (cmd->req.sg.nalloc > MOST_KEPT) {
        qemu_sglist_destroy(&cmd->req.sg);
        pci_dma_sglist_init(&cmd->req.sg, b->pci, 8);
    }
    b->free_commands = g_slist_prepend(b->free_commands, cmd);
}

void mv_command_free_all(MvBridge *b)
{
    while (b->free_commands) {
        MvCommand *cmd = b->free_commands->data;

        b->free_commands = g_slist_delete_link(b->free_commands,
                                               b->free_commands);
        qemu_sglist_destroy(&cmd->req.sg);
        g_free(cmd);
    }
}

/* Give the slot back to the driver. */
static void slot_release(MvCommand *cmd)
{
    cmd->core->slot[cmd->slot] = NULL;
    clear_bit(cmd->slot, cmd->core->active);
}

static dma_addr_t fis_area(MvCore *core, unsigned reg_set)
{
    return mv_reg64(core, MV_RX_FIS_LO) + MV_FIS_SET_OFFSET +
           reg_set * MV_FIS_SET_SIZE;
}

static void write_host(MvCore *core, const char *what, dma_addr_t addr,
                       const void *buf, unsigned len)
{
    if (mv_dma_write(core->bridge, addr, buf, len) != MEMTX_OK) {
        mv_guest_error(core->bridge,
                       "%s of core %u at 0x%" PRIx64 " is not memory",
                       what, core->number, (uint64_t)addr);
        mv_irq_raise(core, MV_CINT_DMA_PCIE);
    }
}

static void write_fis(MvCore *core, unsigned reg_set, unsigned where,
                      const void *fis, unsigned len)
{
    if (core->regs[MV_PCS / 4] & MV_PCS_FIS_RX_EN) {
        write_host(core, "received FIS area", fis_area(core, reg_set) + where,
                   fis, len);
    }
}

static void write_error_record(MvCore *core, dma_addr_t status_buf,
                               uint32_t err0, uint32_t err1)
{
    uint32_t record[2] = { cpu_to_le32(err0), cpu_to_le32(err1) };

    write_host(core, "status buffer", status_buf, record, sizeof(record));
}

/*
 * End a command without a device: what the chip itself found wrong.  mvsas
 * looks at nothing but the D2H FIS (mvs_sata_done), so that one says ICRC.
 */
static void post_error(MvCore *core, unsigned slot, unsigned reg_set,
                       dma_addr_t status_buf, uint32_t err0, uint32_t err1)
{
    uint8_t fis[ZD_FIS_REG_LEN] = { 0x34, 0x40, 0x51, 0x84 };

    trace_zd_mv_error(core->number, slot, err0, err1);
    if (reg_set < MV_REG_SETS) {
        write_fis(core, reg_set, MV_FIS_D2H, fis, sizeof(fis));
    }
    write_error_record(core, status_buf, err0, err1);
    mv_ring_post(core, slot | MV_RXQ_DONE | MV_RXQ_ERR);
}

static void command_complete(ZdRequest *req)
{
    MvCommand *cmd = container_of(req, MvCommand, req);
    MvCore *core = cmd->core;
    uint32_t record;

    slot_release(cmd);
    switch (req->outcome) {
    case ZD_OUTCOME_GOOD:
        write_fis(core, cmd->reg_set, MV_FIS_D2H, req->d2h, sizeof(req->d2h));
        mv_ring_post(core, cmd->slot | MV_RXQ_DONE | MV_RXQ_GOOD);
        break;
    case ZD_OUTCOME_DEVICE_ERROR:
    case ZD_OUTCOME_LINK_ERROR:
        record = req->outcome == ZD_OUTCOME_LINK_ERROR ? MV_ERR_R_ERR
                                                       : MV_ERR_TFILE;
        write_fis(core, cmd->reg_set, MV_FIS_D2H, req->d2h, sizeof(req->d2h));
        write_error_record(core, cmd->status_buf, record, 0);
        trace_zd_mv_error(core->number, cmd->slot, record, 0);
        mv_ring_post(core, cmd->slot | MV_RXQ_DONE | MV_RXQ_ERR);
        break;
    case ZD_OUTCOME_LENGTH:
        mv_guest_error(core->bridge,
                       "slot %u of core %u: the PRD table holds %" PRIu64
                       " bytes, less than the command transfers",
                       cmd->slot, core->number, (uint64_t)req->sg.size);
        post_error(core, cmd->slot, cmd->reg_set, cmd->status_buf,
                   MV_ERR_DATA_LEN, 0);
        break;
    case ZD_OUTCOME_BUS_ERROR:
        mv_dma_failed(core->bridge);
        mv_guest_error(core->bridge,
                       "slot %u of core %u: a PRD points to no memory",
                       cmd->slot, core->number);
        post_error(core, cmd->slot, cmd->reg_set, cmd->status_buf,
                   MV_ERR_DATA_LEN, 0);
        mv_irq_raise(core, MV_CINT_DMA_PCIE);
        break;
    }
    command_put(cmd);
}

/* The link takes a request back: its slot is free, nothing is posted. */
static void command_drop(void *host, ZdRequest *req)
{
    MvCommand *cmd = container_of(req, MvCommand, req);

    trace_zd_mv_drop(cmd->core->number, cmd->slot);
    slot_release(cmd);
    command_put(cmd);
}

/*
 * A queued command failed.  The chip cannot tell which slot it was, since the
 * Set Device Bits FIS names none: it says "non-specific NCQ error" of the
 * register set and leaves the rest to READ LOG 10h (88se9485.md 4.6).
 */
static void command_queue_error(void *host, ZdLink *link, ZdRequest *failed,
                                uint8_t status, uint8_t error)
{
    MvCommand *cmd = container_of(failed, MvCommand, req);
    MvCore *core = cmd->core;
    uint8_t sdb[MV_SDB_LEN] = { 0xA1, 0x40, status & 0x77, error };

    write_fis(core, cmd->reg_set, MV_FIS_SDB, sdb, sizeof(sdb));
    core->regs[(cmd->reg_set < 32 ? MV_NON_NCQ_ERR_0 : MV_NON_NCQ_ERR_1) / 4]
        |= 1u << (cmd->reg_set % 32);
    trace_zd_mv_ncq_error(core->number, cmd->slot, cmd->reg_set);
    mv_irq_raise(core, MV_CINT_NON_SPEC_NCQ);
}

const ZdHostOps mv_host_ops = {
    .queue_error = command_queue_error,
    .drop = command_drop,
    .changed = mv_phy_changed,
    .signed_in = mv_phy_signed_in,
    .crc_error = mv_phy_crc_error,
    .mistake = mv_phy_mistake,
};

/*
 * The header says that the command table holds a Control FIS with SRST set or
 * cleared (88se9485.md 4.8); mvsas never does, the vendor's driver does.
 */
static void command_soft_reset(MvCommand *cmd, MvPhy *phy)
{
    MvCore *core = cmd->core;
    uint8_t fis[ZD_FIS_REG_LEN];

    if (mv_phy_soft_reset(core, phy, cmd->req.fis[MV_FIS_CONTROL] & MV_SRST,
                          fis)) {
        write_fis(core, cmd->reg_set, MV_FIS_D2H, fis, sizeof(fis));
    }
    mv_ring_post(core, cmd->slot | MV_RXQ_DONE | MV_RXQ_GOOD);
    command_put(cmd);
}

void mv_command_abort(MvCore *core, unsigned slot)
{
    MvCommand *cmd = core->slot[slot];

    if (cmd) {
        zd_link_abort(cmd->req.link, &cmd->req);
        command_drop(NULL, &cmd->req);
    }
}

void mv_command_abort_unissued(MvCore *core)
{
    unsigned n;

    for (n = 0; n < MV_PHYS; n++) {
        if (core->phy[n].link) {
            zd_link_abort_waiting(core->phy[n].link);
        }
    }
}

bool mv_command_restore(MvCommand *cmd, MvPhy *phy)
{
    MvCore *core = cmd->core;

    if (cmd->slot >= MV_SLOTS || core->slot[cmd->slot] ||
        cmd->reg_set >= MV_REG_SETS || !phy->link ||
        !zd_link_restore(phy->link, &cmd->req)) {
        return false;
    }
    cmd->req.complete = command_complete;
    core->slot[cmd->slot] = cmd;
    set_bit(cmd->slot, core->active);
    return true;
}

static void sg_add(QEMUSGList *sg, dma_addr_t addr, dma_addr_t len)
{
    ScatterGatherEntry *last = sg->nsg ? &sg->sg[sg->nsg - 1] : NULL;

    if (last && last->base + last->len == addr) {
        last->len += len;
        sg->size += len;
    } else {
        qemu_sglist_add(sg, addr, len);
    }
}

/*
 * Read PRDs until @data_len bytes are found.  mvsas gives 255 as the count of
 * every data-in command (mvs_task_prep_ata), so the length is the only bound
 * that means something; an entry of length 0 is skipped.
 */
static bool read_prds(MvCommand *cmd, const MvHeader *hdr)
{
    MvBridge *b = cmd->core->bridge;
    dma_addr_t addr = le64_to_cpu(hdr->prd_tbl);
    uint32_t count = MV_HDR_PRD_COUNT(le32_to_cpu(hdr->flags));
    uint64_t left = le32_to_cpu(hdr->data_len);
    unsigned budget = MV_PRD_MAX;
    MvPrd prd[8];

    while (left && count && budget) {
        unsigned n = MIN(MIN(count, budget), ARRAY_SIZE(prd));
        unsigned i;

        if (mv_dma_read(b, addr, prd, n * sizeof(prd[0])) != MEMTX_OK) {
            return false;
        }
        addr += n * sizeof(prd[0]);
        count -= n;
        budget -= n;
        for (i = 0; i < n && left; i++) {
            uint64_t base = le64_to_cpu(prd[i].addr);
            uint32_t word = le32_to_cpu(prd[i].len);
            uint64_t len = MIN(MV_PRD_LEN(word), left);

            if (word & MV_PRD_CHAIN) {
                addr = base;
                count = MV_PRD_LEN(word);
                break;
            }
            if (len) {
                sg_add(&cmd->req.sg, base, len);
                left -= len;
            }
        }
    }
    return true;
}

static void stop_on_bad_memory(MvCore *core, unsigned slot, const char *what,
                               uint64_t addr)
{
    mv_guest_error(core->bridge,
                   "slot %u of core %u: %s at 0x%" PRIx64 " is not memory",
                   slot, core->number, what, addr);
    mv_ring_stop(core, MV_CINT_DMA_PCIE);
}

/* What can be said against a descriptor before its device sees it. */
static uint32_t check_descriptor(MvCore *core, uint32_t desc, MvPhy **phy)
{
    unsigned phys = MV_TXQ_PHYS(desc);
    unsigned n = ctz32(phys);

    if (!desc) {
        mv_guest_error(core->bridge,
                       "entry %u of the delivery ring of core %u is 0, "
                       "TX_PROD_IDX is 0x%x", core->tx_cons, core->number,
                       core->regs[MV_TX_PROD_IDX / 4]);
        return MV_ERR_BAD_PROTO;
    }
    if (MV_TXQ_TYPE(desc) != MV_TXQ_STP) {
        mv_guest_error(core->bridge,
                       "slot %u of core %u: protocol %u, but only SATA devices "
                       "are attached", MV_TXQ_SLOT(desc), core->number,
                       MV_TXQ_TYPE(desc));
        return MV_ERR_BAD_PROTO;
    }
    if (!is_power_of_2(phys) || n >= MV_PHYS) {
        mv_guest_error(core->bridge,
                       "slot %u of core %u: phy bitmap 0x%x names not exactly "
                       "one of 4 phys", MV_TXQ_SLOT(desc), core->number, phys);
        return MV_ERR_NO_DEST;
    }
    *phy = &core->phy[n];
    if (!(*phy)->ready) {
        return MV_ERR_NO_DEST;
    }
    if (MV_TXQ_REG_SET(desc) >= MV_REG_SETS) {
        mv_guest_error(core->bridge,
                       "slot %u of core %u: register set %u of %u",
                       MV_TXQ_SLOT(desc), core->number, MV_TXQ_REG_SET(desc),
                       MV_REG_SETS);
        return MV_ERR_NO_DEST;
    }
    return 0;
}

void mv_command_start(MvCore *core, uint32_t desc)
{
    MvBridge *b = core->bridge;
    unsigned slot = MV_TXQ_SLOT(desc);
    dma_addr_t hdr_addr;
    MvHeader hdr;
    MvCommand *cmd;
    MvPhy *phy = NULL;
    uint32_t err;
    ZdRequest *req;

    if (slot >= MV_SLOTS) {
        mv_guest_error(core->bridge,
                       "descriptor 0x%x of core %u names slot %u of %u",
                       desc, core->number, slot, MV_SLOTS);
        mv_ring_stop(core, 0);
        return;
    }
    if (MV_TXQ_TYPE(desc) == MV_TXQ_SLOT_RESET) {
        mv_command_abort(core, slot);
        mv_ring_post(core, slot | MV_RXQ_SLOT_RESET);
        return;
    }

    hdr_addr = mv_reg64(core, MV_CMD_LIST_LO) + slot * MV_HDR_SIZE;
    if (mv_dma_read(b, hdr_addr, &hdr, sizeof(hdr)) != MEMTX_OK) {
        stop_on_bad_memory(core, slot, "command header", hdr_addr);
        return;
    }

    err = check_descriptor(core, desc, &phy);
    if (err) {
        post_error(core, slot, MV_TXQ_REG_SET(desc),
                   le64_to_cpu(hdr.status_buf), err, 0);
        return;
    }
    if (core->slot[slot]) {
        mv_guest_error(core->bridge,
                       "slot %u of core %u is issued again before its "
                       "completion", slot, core->number);
        post_error(core, slot, MV_TXQ_REG_SET(desc),
                   le64_to_cpu(hdr.status_buf), 0, MV_ERR1_SLOT_BUSY);
        return;
    }

    cmd = command_get(core);
    req = &cmd->req;
    cmd->slot = slot;
    cmd->reg_set = MV_TXQ_REG_SET(desc);
    cmd->status_buf = le64_to_cpu(hdr.status_buf);
    req->complete = command_complete;
    if (mv_dma_read(b, le64_to_cpu(hdr.cmd_tbl), req->fis,
                     sizeof(req->fis)) != MEMTX_OK ||
        ((le32_to_cpu(hdr.flags) & MV_HDR_ATAPI) &&
         mv_dma_read(b, le64_to_cpu(hdr.cmd_tbl) + MV_CMD_TBL_CDB,
                      req->cdb, sizeof(req->cdb)) != MEMTX_OK)) {
        stop_on_bad_memory(core, slot, "command table",
                           le64_to_cpu(hdr.cmd_tbl));
        command_put(cmd);
        return;
    }
    if (!read_prds(cmd, &hdr)) {
        stop_on_bad_memory(core, slot, "PRD table", le64_to_cpu(hdr.prd_tbl));
        command_put(cmd);
        return;
    }

    mv_mistakes_of_command(cmd, &hdr, phy);
    if (le32_to_cpu(hdr.flags) & MV_HDR_SRST) {
        command_soft_reset(cmd, phy);
        return;
    }

    core->slot[slot] = cmd;
    set_bit(slot, core->active);
    trace_zd_mv_command(core->number, slot, phy->number, cmd->reg_set,
                        req->fis[2], le32_to_cpu(hdr.data_len), req->sg.nsg);
    zd_link_submit(phy->link, req);
}
