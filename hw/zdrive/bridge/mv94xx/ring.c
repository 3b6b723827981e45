/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two rings of a core: delivery (the driver's descriptors) and completion
 * (the chip's).  Both indexes name the last valid entry and start at "none".
 */
#include "qemu/osdep.h"
#include "internal.h"
#include "trace.h"

/*
 * Descriptors that one doorbell, or one turn of the timer, may start.  Where a
 * command ends within its start, a full ring of the longest ones would keep
 * QEMU busy for many seconds.
 */
#define MOST_AT_ONCE    32

/* A bad ring or address: report it as the chip does and fetch no more. */
void mv_ring_stop(MvCore *core, uint32_t cause)
{
    core->tx_stopped = true;
    mv_irq_raise(core, cause | MV_CINT_CI_STOP);
}

void mv_ring_bad_doorbell(MvCore *core, uint32_t val)
{
    mv_guest_error(core->bridge,
                   "TX_PROD_IDX 0x%x of core %u is outside a ring of %u "
                   "entries", val, core->number,
                   core->regs[MV_TX_CFG / 4] & MV_RING_SIZE_MASK);
    mv_ring_stop(core, 0);
}

bool mv_ring_enabled(const MvCore *core)
{
    return (core->regs[MV_PCS / 4] & MV_PCS_CMD_EN) &&
           (core->regs[MV_TX_CFG / 4] & MV_RING_EN) && !core->tx_stopped &&
           !core->bridge->gone;
}

void mv_ring_go_on(void *opaque)
{
    mv_ring_run(opaque);
}

void mv_ring_run(MvCore *core)
{
    unsigned left = MOST_AT_ONCE;
    uint32_t size = core->regs[MV_TX_CFG / 4] & MV_RING_SIZE_MASK;
    uint32_t prod, next, desc;

    /* A command that ends at once may bring the driver here again. */
    if (core->tx_running) {
        return;
    }
    core->tx_running = true;
    while (mv_ring_enabled(core)) {
        prod = core->regs[MV_TX_PROD_IDX / 4];
        if (core->tx_cons == prod || prod == MV_INDEX_NONE) {
            break;
        }
        if (prod >= size) {
            mv_ring_bad_doorbell(core, prod);
            break;
        }
        if (!left--) {
            /* not "now": QEMU runs what is due before it does other things */
            timer_mod(core->tx_timer,
                      qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + 1);
            break;
        }
        if (core->tx_cons == MV_INDEX_NONE) {
            mv_mistakes_of_start(core);
        }
        next = core->tx_cons == MV_INDEX_NONE || core->tx_cons + 1u >= size ?
               0 : core->tx_cons + 1;
        if (mv_dma_read(core->bridge, mv_reg64(core, MV_TX_LO) + next * 4,
                        &desc, sizeof(desc)) != MEMTX_OK) {
            mv_guest_error(core->bridge,
                           "delivery ring of core %u at 0x%" PRIx64
                           " is not memory", core->number,
                           (uint64_t)mv_reg64(core, MV_TX_LO));
            mv_ring_stop(core, MV_CINT_DMA_PCIE);
            break;
        }
        core->tx_cons = next;
        trace_zd_mv_fetch(core->number, next, le32_to_cpu(desc));
        mv_command_start(core, le32_to_cpu(desc));
    }
    core->tx_running = false;
}

static MemTxResult put_entry(MvCore *core, uint32_t index, uint32_t entry)
{
    uint32_t raw = cpu_to_le32(entry);

    return mv_dma_write(core->bridge,
                        mv_reg64(core, MV_RX_LO) + 4 + index * 4, &raw,
                        sizeof(raw));
}

void mv_ring_reset(MvCore *core)
{
    core->late = false;
    timer_del(core->late_timer);
}

void mv_ring_late(void *opaque)
{
    MvCore *core = opaque;

    if (core->late) {
        mv_ring_reset(core);
        trace_zd_mv_fault("completion-late", core->number, core->late_entry);
        put_entry(core, core->late_index, core->late_entry);
    }
}

/*
 * A weakness of the real chip that the vendor's driver works around: the index
 * moves before the descriptor is visible (88se9485.md 7.7).  One at a time can
 * be late.
 */
static MemTxResult write_entry(MvCore *core, uint32_t index, uint32_t entry)
{
    const ZdFault *fault = zd_faults_fire(&core->bridge->faults,
                                          ZD_FAULT_COMPLETION_LATE, NULL);

    if (!fault) {
        return put_entry(core, index, entry);
    }
    mv_ring_late(core);
    core->late = true;
    core->late_index = index;
    core->late_entry = entry;
    timer_mod(core->late_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                                fault->delay_ns);
    return MEMTX_OK;
}

void mv_ring_post(MvCore *core, uint32_t entry)
{
    uint32_t size = core->regs[MV_RX_CFG / 4] & MV_RING_SIZE_MASK;
    dma_addr_t base = mv_reg64(core, MV_RX_LO);
    uint32_t index, raw;
    MemTxResult res;

    if (!(core->regs[MV_RX_CFG / 4] & MV_RING_EN) || !size) {
        mv_guest_error(core->bridge,
                       "slot %u of core %u completes, but RX_CFG 0x%x has no "
                       "ring", MV_TXQ_SLOT(entry), core->number,
                       core->regs[MV_RX_CFG / 4]);
        return;
    }
    index = core->rx_prod == MV_INDEX_NONE || core->rx_prod + 1u >= size ?
            0 : core->rx_prod + 1;

    /* Entry before index, index before interrupt. */
    res = write_entry(core, index, entry);
    smp_wmb(); /* against the driver's look at the index, then at the entry */
    raw = cpu_to_le32(index);
    res |= mv_dma_write(core->bridge, base, &raw, sizeof(raw));
    core->rx_prod = index;
    core->bridge->completions++;
    trace_zd_mv_post(core->number, index, entry);
    if (res != MEMTX_OK) {
        mv_guest_error(core->bridge,
                       "completion ring of core %u at 0x%" PRIx64
                       " is not memory", core->number, (uint64_t)base);
        mv_irq_raise(core, MV_CINT_DMA_PCIE);
    }
    mv_irq_completion(core);
}
