/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interrupt tree: phy events and completions make a core's INT_STAT, the
 * cores make the chip's cause register, and what of it is enabled drives INTx
 * or sends an MSI.
 *
 * mvsas acknowledges DONE, reads INT_STAT, drains the ring, and then writes
 * back what it had read.  A completion between the drain and that last write
 * must not lose its interrupt, so an acknowledge of DONE takes effect only if
 * the driver has read INT_STAT since DONE last rose.
 */
#include "qemu/osdep.h"
#include "hw/pci/msi.h"
#include "internal.h"
#include "trace.h"

/*
 * Unit of INT_COAL_TMOUT.  mvsas calls the value microseconds (its sysfs
 * attribute interrupt_coalescing); no other source is known.
 */
#define COAL_UNIT_NS        1000

uint32_t mv_irq_core_status(MvCore *core)
{
    uint32_t stat = core->regs[MV_INT_STAT / 4];
    unsigned n;

    /*
     * Derived, not latched: the driver's last write of what it had read would
     * drop a port event that came while its handler ran.
     */
    for (n = 0; n < MV_PHYS; n++) {
        if (core->phy[n].int_stat & core->phy[n].int_mask) {
            stat |= MV_CINT_PORT(n);
        }
    }
    return stat;
}

uint32_t mv_irq_cause(MvBridge *b)
{
    uint32_t cause = 0;
    unsigned n;

    for (n = 0; n < MV_CORES; n++) {
        MvCore *core = &b->core[n];

        if (mv_irq_core_status(core) & core->regs[MV_INT_MASK / 4]) {
            cause |= MV_GBL_IRQ_SAS(n);
        }
    }
    return cause;
}

/* The guest chooses where an MSI goes, but it cannot be to this card's BARs. */
static void send_msi(PCIDevice *pci)
{
    MemReentrancyGuard *guard = &DEVICE(pci)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;

    guard->engaged_in_io = true;
    msi_notify(pci, 0);
    guard->engaged_in_io = engaged;
}

void mv_irq_update(MvBridge *b, bool again)
{
    bool level = mv_irq_cause(b) & b->gbl_int_enable;
    bool rose = level && !b->irq_level;
    bool pin = level;

    if (b->gone) {
        return;
    }
    if (level != b->irq_level) {
        trace_zd_mv_irq(level);
    }
    b->irq_level = level;
    b->interrupts += rose;
    if (!msi_enabled(b->pci)) {
        if (zd_faults_armed(&b->faults, ZD_FAULT_INTX_DEAD)) {
            if (rose) {
                zd_faults_fire(&b->faults, ZD_FAULT_INTX_DEAD, NULL);
            }
            pin = false;
        }
        pci_set_irq(b->pci, pin);
    } else if (rose || (level && again)) {
        send_msi(b->pci);
    }
}

void mv_irq_raise(MvCore *core, uint32_t bits)
{
    core->regs[MV_INT_STAT / 4] |= bits;
    if (bits & MV_CINT_DONE) {
        core->done_unread = true;
    }
    mv_irq_update(core->bridge, false);
}

static void done_now(MvCore *core)
{
    core->coal_pending = 0;
    timer_del(core->coal_timer);
    mv_irq_raise(core, MV_CINT_DONE);
}

void mv_irq_coal_expired(void *opaque)
{
    done_now(opaque);
}

/* Either limit raises DONE: the count, or the time since the first of them. */
void mv_irq_completion(MvCore *core)
{
    uint32_t coal = core->regs[MV_INT_COAL / 4];
    uint32_t time = core->regs[MV_INT_COAL_TMOUT / 4] & MV_COAL_TIME_MASK;

    if (zd_faults_fire(&core->bridge->faults, ZD_FAULT_IRQ_LOST, NULL)) {
        trace_zd_mv_fault("irq-lost", core->number, core->rx_prod);
        return;
    }
    core->coal_pending++;
    if (!(coal & MV_COAL_EN) ||
        core->coal_pending >= (coal & MV_COAL_COUNT_MASK)) {
        done_now(core);
    } else if (core->coal_pending == 1 && time) {
        timer_mod(core->coal_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                                    (int64_t)time * COAL_UNIT_NS);
    } else if (!time) {
        mv_guest_error(core->bridge,
                       "INT_COAL 0x%x of core %u holds a completion's "
                       "interrupt back, and INT_COAL_TMOUT is 0", coal,
                       core->number);
    }
}

/* New limits hold from the next completion on; what waits is told at once. */
void mv_irq_coal_reset(MvCore *core)
{
    if (core->coal_pending) {
        done_now(core);
    }
}

void mv_irq_ack(MvCore *core, uint32_t bits)
{
    if (core->done_unread) {
        bits &= ~MV_CINT_DONE;
    }
    core->regs[MV_INT_STAT / 4] &= ~bits;
    mv_irq_update(core->bridge, true);
}
