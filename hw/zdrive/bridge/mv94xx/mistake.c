/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a driver does wrong, as lines in QEMU's log of guest errors.
 *
 * Some mistakes the model does not even need to notice, since it looks at less
 * of a command than the chip has to: those are searched for only while somebody
 * reads the log.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "internal.h"

/*
 * A guest can reset the card as often as it likes, and each time all kinds of
 * mistakes are new; the log must not grow without an end.
 */
#define MOST_LINES  200

/* Kinds are texts of the source, each in one place: their address is enough. */
static bool said_before(MvBridge *b, const char *kind)
{
    unsigned i;

    for (i = 0; i < b->mistakes; i++) {
        if (b->mistake[i] == kind) {
            return true;
        }
    }
    if (i == ARRAY_SIZE(b->mistake)) {
        return true;
    }
    b->mistake[b->mistakes++] = kind;
    return false;
}

static G_GNUC_PRINTF(3, 0)
void say(MvBridge *b, const char *kind, const char *fmt, va_list ap)
{
    g_autofree char *text = NULL;

    if (!qemu_loglevel_mask(LOG_GUEST_ERROR) || b->lines == MOST_LINES ||
        said_before(b, kind)) {
        return;
    }
    b->lines++;
    text = g_strdup_vprintf(fmt, ap);
    qemu_log("zdrive %s: %s%s\n", b->pci->qdev.canonical_path ?
             b->pci->qdev.canonical_path : b->pci->name, text,
             b->lines == MOST_LINES ? " (no more lines follow)" : "");
}

void mv_guest_error(MvBridge *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(b, fmt, fmt, ap);
    va_end(ap);
}

void mv_guest_error_of(MvBridge *b, const char *kind, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(b, kind, fmt, ap);
    va_end(ap);
}

void mv_bridge_forget_mistakes(MvBridge *b)
{
    b->mistakes = 0;
    b->dma_failed = b->lines == MOST_LINES;
}

static void check_base(MvCore *core, const char *name, uint32_t lo)
{
    dma_addr_t addr = mv_reg64(core, lo);

    if (!addr || (addr & 3)) {
        mv_guest_error(core->bridge,
                       "%s of core %u is 0x%" PRIx64 ", which cannot be its "
                       "address", name, core->number, (uint64_t)addr);
    }
}

void mv_mistakes_of_start(MvCore *core)
{
    check_base(core, "TX_LO", MV_TX_LO);
    check_base(core, "RX_LO", MV_RX_LO);
    check_base(core, "CMD_LIST_LO", MV_CMD_LIST_LO);
    check_base(core, "RX_FIS_LO", MV_RX_FIS_LO);
    if (!(core->regs[MV_PCS / 4] & MV_PCS_FIS_RX_EN)) {
        mv_guest_error(core->bridge,
                       "PCS 0x%x of core %u does not receive FISes",
                       core->regs[MV_PCS / 4], core->number);
    }
}

void mv_mistakes_of_doorbell(MvCore *core, uint32_t val)
{
    const uint32_t *regs = core->regs;

    if (!qemu_loglevel_mask(LOG_GUEST_ERROR)) {
        return;
    }
    if (!(regs[MV_TX_CFG / 4] & MV_RING_EN) ||
        !(regs[MV_PCS / 4] & MV_PCS_CMD_EN)) {
        mv_guest_error(core->bridge,
                       "TX_PROD_IDX 0x%x of core %u: nothing is fetched with "
                       "TX_CFG 0x%x and PCS 0x%x", val, core->number,
                       regs[MV_TX_CFG / 4], regs[MV_PCS / 4]);
    } else if (core->tx_stopped) {
        mv_guest_error(core->bridge,
                       "TX_PROD_IDX 0x%x of core %u: the ring has stopped and "
                       "waits for PCS bit 1", val, core->number);
    } else if (val == core->tx_cons && val != MV_INDEX_NONE) {
        mv_guest_error(core->bridge,
                       "TX_PROD_IDX 0x%x of core %u is an entry that was "
                       "fetched before", val, core->number);
    }
}

/* Another phy whose received FISes go to @reg_set, or -1. */
static int other_phy(MvCore *core, const MvPhy *phy, unsigned reg_set)
{
    unsigned n;

    for (n = 0; n < MV_PHYS; n++) {
        ZdLink *link = core->phy[n].link;
        ZdRequest *req;

        if (!link || n == phy->number) {
            continue;
        }
        QTAILQ_FOREACH(req, &link->active, next) {
            if (container_of(req, MvCommand, req)->reg_set == reg_set) {
                return n;
            }
        }
    }
    return -1;
}

static void check_register_set(const MvCommand *cmd, const MvPhy *phy)
{
    MvCore *core = cmd->core;
    unsigned set = cmd->reg_set;
    uint32_t enabled = core->regs[MV_STP_REG_SET_0 / 4 + set / 32];
    int other = other_phy(core, phy, set);

    if (!(enabled & (1u << (set % 32)))) {
        mv_guest_error(core->bridge,
                       "slot %u of core %u: register set %u is not enabled",
                       cmd->slot, core->number, set);
    }
    if (other >= 0) {
        mv_guest_error(core->bridge,
                       "slot %u of core %u: register set %u of phy %u is in "
                       "use by phy %d", cmd->slot, core->number, set,
                       phy->number, other);
    }
}

static void check_addresses(const MvCommand *cmd, const MvHeader *hdr)
{
    const char *what = NULL;

    if (!hdr->cmd_tbl) {
        what = "command table";
    } else if (!hdr->status_buf) {
        what = "status buffer";
    } else if (!hdr->prd_tbl && hdr->data_len) {
        what = "PRD table";
    }
    if (what) {
        mv_guest_error(cmd->core->bridge,
                       "slot %u of core %u: the header has address 0 for its "
                       "%s", cmd->slot, cmd->core->number, what);
    }
}

/* Of a header and a FIS that is a command: what one says of the other. */
static void check_queueing(const MvCommand *cmd, const MvHeader *hdr,
                           const ZdLink *link)
{
    MvBridge *b = cmd->core->bridge;
    unsigned core = cmd->core->number, opcode = cmd->req.fis[2];
    unsigned header_tag = le32_to_cpu(hdr->tags) & 0xFFFF;
    unsigned tag = cmd->req.fis[MV_FIS_COUNT] >> 3;
    bool queued = link->dev_ops &&
                  link->dev_ops->is_queued(link->dev, &cmd->req);
    const char *kind = queued ? "queued" : "not queued";
    unsigned others = queued ? link->active_single : link->active_queued;

    if (queued != !!(le32_to_cpu(hdr->flags) & MV_HDR_FPDMA)) {
        mv_guest_error(b, "slot %u of core %u: header bit 6 (FPDMA) does not "
                       "fit command 0x%02x", cmd->slot, core, opcode);
    }
    if (queued && tag != header_tag) {
        mv_guest_error(b, "slot %u of core %u: tag %u in the header, %u in "
                       "the FIS", cmd->slot, core, header_tag, tag);
    }
    if (others) {
        mv_guest_error(b, "slot %u of core %u: command 0x%02x is %s, and the "
                       "SSD is at work on %u of the other kind", cmd->slot,
                       core, opcode, kind, others);
    }
}

void mv_mistakes_of_command(const MvCommand *cmd, const MvHeader *hdr,
                            const MvPhy *phy)
{
    MvBridge *b = cmd->core->bridge;
    const uint8_t *fis = cmd->req.fis;
    uint32_t flags = le32_to_cpu(hdr->flags);
    unsigned dwords = le32_to_cpu(hdr->lens) & MV_HDR_CMD_DWORDS;

    if (!qemu_loglevel_mask(LOG_GUEST_ERROR)) {
        return;
    }
    check_addresses(cmd, hdr);
    check_register_set(cmd, phy);
    if (dwords != sizeof(cmd->req.fis) / 4) {
        mv_guest_error(b, "slot %u of core %u: a command of %u dwords in the "
                       "header, a Register FIS has 5", cmd->slot,
                       cmd->core->number, dwords);
    }
    if (fis[0] != MV_FIS_H2D) {
        return;                 /* the SSD will say so */
    }
    if ((flags & MV_HDR_SRST) && (fis[1] & MV_FIS_C)) {
        mv_guest_error(b, "slot %u of core %u: header bit 7 (reset) does not "
                       "fit command 0x%02x", cmd->slot, cmd->core->number,
                       fis[2]);
    } else if ((flags & MV_HDR_ATAPI) && fis[2] != MV_ATA_PACKET) {
        mv_guest_error(b, "slot %u of core %u: header bit 5 (ATAPI) does not "
                       "fit command 0x%02x", cmd->slot, cmd->core->number,
                       fis[2]);
    }
    if (fis[1] & MV_FIS_C) {
        check_queueing(cmd, hdr, phy->link);
    }
}
