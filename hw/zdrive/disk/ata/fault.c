/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What armed faults do to an SSD: to a command that starts, to the signature
 * after a reset, to the link, and to the controller as a whole.
 *
 * A command that hangs stays started without an end, as on hardware: it ends
 * with the next reset, abort or unplugging, also when the fault is gone by
 * then.  The medium's errors are carried out by the medium, at the deadline
 * that the command has anyway.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "ata-internal.h"
#include "trace.h"

static bool is_data(const ZdAtaCommand *cmd)
{
    return cmd->protocol != ZD_ATA_NON_DATA;
}

static bool is_out(const ZdAtaCommand *cmd)
{
    return cmd->protocol == ZD_ATA_PIO_OUT ||
           cmd->protocol == ZD_ATA_DMA_OUT ||
           cmd->protocol == ZD_ATA_FPDMA_OUT;
}

static ZdFaultAccess access_of(const ZdAtaCommand *cmd)
{
    if (cmd->run == zd_ata_flush) {
        return ZD_ACCESS_FLUSH;
    }
    if (!(cmd->flags & ZD_ATA_F_LBA)) {
        return ZD_ACCESS_NONE;
    }
    return is_out(cmd) ? ZD_ACCESS_WRITE : ZD_ACCESS_READ;
}

/* What a controller without its map cannot do. */
static bool needs_medium(const ZdAtaCommand *cmd)
{
    return (cmd->flags & (ZD_ATA_F_LBA | ZD_ATA_F_MEDIA)) ||
           cmd->run == zd_ata_read_native_max || cmd->run == zd_ata_set_max;
}

static void describe(const ZdRequest *req, const ZdAtaCommand *cmd,
                     ZdFaultCommand *what)
{
    *what = (ZdFaultCommand) {
        .opcode = req->fis[FIS_COMMAND],
        .tag = req->queued ? zd_ata_tag(req) : -1,
        .data = is_data(cmd),
        .access = access_of(cmd),
    };
    if (cmd->flags & ZD_ATA_F_LBA) {
        zd_ata_extent(req, cmd, &what->lba, &what->sectors);
    }
}

static bool hang(ZdSsd *ssd, ZdRequest *req)
{
    ssd->hung++;
    trace_zd_ata_fault(req->link->phy, "hang", req->fis[FIS_COMMAND]);
    return true;
}

static void drop_link(ZdSsd *ssd, const ZdFault *fault)
{
    if (fault->delay_ns) {
        timer_mod(ssd->return_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                                     fault->delay_ns);
    }
    ssd->link_losses++;
    trace_zd_ata_fault(ssd->link->phy, "link-drop", 0);
    zd_link_set_down(ssd->link, ZD_LINK_DROPPED, true);
}

static void return_link(void *opaque)
{
    ZdSsd *ssd = opaque;

    zd_link_set_down(ssd->link, ZD_LINK_DROPPED, false);
}

/* SATA 9.5.7: the receiver says R_ERR, the command ends with ICRC. */
static void damage_frame(ZdSsd *ssd, ZdRequest *req,
                         const ZdFaultCommand *what)
{
    ssd->crc_errors++;
    ssd->phy_crc = MIN(ssd->phy_crc + 1, UINT16_MAX);
    trace_zd_ata_fault(req->link->phy, "crc-error", what->opcode);
    /* first the command: an interrupt of the event may take it away */
    zd_ata_fail_link(req, what->lba);
    zd_link_crc_error(ssd->link);
}

static void spoil_medium(ZdRequest *req, const ZdFault *fault,
                         const ZdFaultCommand *what)
{
    trace_zd_ata_fault(req->link->phy, "medium", what->opcode);
    req->media.forced_ret = -EIO;
    req->media.forced_lba = MAX(what->lba, fault->lba_first);
}

bool zd_ata_fault_start(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    ZdFaults *faults = &ssd->faults;
    ZdFaultCommand what;
    const ZdFault *fault;

    if (ssd->busy ||
        (zd_faults_armed(faults, ZD_FAULT_PANIC) && !ssd->panicked)) {
        return hang(ssd, req);
    }
    describe(req, cmd, &what);
    fault = zd_faults_fire(faults, ZD_FAULT_LINK_DROP, &what);
    if (fault) {
        drop_link(ssd, fault);
        return true;
    }
    if (zd_faults_fire(faults, ZD_FAULT_HANG, &what)) {
        return hang(ssd, req);
    }
    if (zd_faults_fire(faults, ZD_FAULT_CRC_ERROR, &what)) {
        damage_frame(ssd, req, &what);
        return true;
    }
    if (ssd->panicked && needs_medium(cmd)) {
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_ABRT, what.lba);
        return true;
    }
    fault = zd_faults_fire(faults, ZD_FAULT_SLOW, &what);
    if (fault) {
        req->media.extra_ns = fault->delay_ns;
    }
    /* what.access decides which of the two it can be */
    fault = zd_faults_fire(faults, ZD_FAULT_READ_ERROR, &what) ?:
            zd_faults_fire(faults, ZD_FAULT_WRITE_FAULT, &what);
    if (fault) {
        spoil_medium(req, fault, &what);
    }
    return false;
}

void zd_ata_fault_reset(ZdSsd *ssd)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    const ZdFault *fault;
    int64_t ready;

    timer_del(ssd->signature_timer);
    fault = zd_faults_fire(&ssd->faults, ZD_FAULT_PANIC, NULL);
    ssd->panicked = fault;
    ssd->panic = fault ? fault->choice : 0;
    ssd->busy = fault && fault->choice == ZD_PANIC_BUSY;
    if (zd_faults_fire(&ssd->faults, ZD_FAULT_SIGNATURE_ABSENT, NULL)) {
        ssd->busy = true;
    }
    fault = zd_faults_fire(&ssd->faults, ZD_FAULT_SIGNATURE_LATE, NULL);
    ready = MAX(ssd->ready_ns, fault ? now + (int64_t)fault->delay_ns : 0);
    if (ready > now && !ssd->busy) {
        ssd->busy = true;
        timer_mod(ssd->signature_timer, ready);
    }
    if (ssd->busy) {
        trace_zd_ata_fault(ssd->link->phy, "busy", 0);
    }
}

static void sign_in(void *opaque)
{
    ZdSsd *ssd = opaque;

    timer_del(ssd->signature_timer);
    ssd->busy = false;
    zd_link_sign_in(ssd->link);
}

void zd_ata_faults_changed(ZdSsd *ssd)
{
    const ZdFaults *faults = &ssd->faults;

    if (!zd_faults_armed(faults, ZD_FAULT_LINK_DROP)) {
        timer_del(ssd->return_timer);
        return_link(ssd);
    }
    zd_faults_fire(&ssd->faults, ZD_FAULT_MISSING, NULL);
    zd_link_set_down(ssd->link, ZD_LINK_MISSING,
                     zd_faults_armed(faults, ZD_FAULT_MISSING));
    /* a panic lasts until the next reset, a recovery takes its time */
    if (ssd->busy && !ssd->panicked &&
        ssd->ready_ns <= qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) &&
        !zd_faults_armed(faults, ZD_FAULT_SIGNATURE_ABSENT) &&
        !zd_faults_armed(faults, ZD_FAULT_SIGNATURE_LATE)) {
        sign_in(ssd);
    }
}

void zd_ata_fault_init(ZdSsd *ssd, uint64_t seed)
{
    zd_faults_init(&ssd->faults, ZD_FAULT_OF_SSD, seed);
    ssd->signature_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, sign_in, ssd);
    ssd->return_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, return_link, ssd);
}

void zd_ata_fault_cleanup(ZdSsd *ssd)
{
    timer_free(ssd->signature_timer);
    timer_free(ssd->return_timer);
    zd_faults_clear(&ssd->faults);
}
