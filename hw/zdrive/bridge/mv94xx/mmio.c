/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BARs of the 88SE9485: which block a bus access belongs to, and the chip's
 * life cycle.
 */
#include "qemu/osdep.h"
#include "qemu/range.h"
#include "internal.h"
#include "trace.h"

/* Chip-wide registers; NULL when @addr is none of the plain ones. */
static uint32_t *chip_reg(MvBridge *b, hwaddr addr)
{
    unsigned n;

    for (n = 0; n < MV_CORES; n++) {
        hwaddr base = MV_SGPIO + n * MV_SGPIO_STRIDE;

        if (addr >= base && addr < base + MV_SGPIO_SIZE) {
            return &b->sgpio[n][(addr - base) / 4];
        }
    }
    switch (addr) {
    case MV_CHIP_CONFIG:
        return &b->chip_config;
    case MV_GBL_CTL:
        return &b->gbl_ctl;
    case MV_GBL_INT_ENABLE:
        return &b->gbl_int_enable;
    case MV_GBL_MASK_0:
    case MV_GBL_MASK_1:
    case MV_GBL_MASK_2:
        return &b->gbl_mask[(addr - MV_GBL_MASK_0) / 4];
    default:
        return NULL;
    }
}

static bool in_spi(hwaddr addr)
{
    return addr >= MV_SPI_CTRL && addr <= MV_SPI_RD_DATA;
}

static void in_deep_sleep(MvBridge *b, hwaddr addr)
{
    uint8_t pm = pci_find_capability(b->pci, PCI_CAP_ID_PM);

    /* else it has no power, which is not the driver's doing */
    if ((pci_get_word(b->pci->config + pm + PCI_PM_CTRL) &
         PCI_PM_CTRL_STATE_MASK) == 3) {
        mv_guest_error(b, "access to BAR 2 offset 0x%" HWADDR_PRIx
                       " while the card is in D3hot", addr);
    }
}

/*
 * Drivers make aligned 32-bit accesses only; the rest has no effect.  QEMU
 * could refuse it by itself, but with a line in its log for each access.
 */
static bool is_dword(MvBridge *b, hwaddr addr, unsigned size)
{
    if (b->gone) {
        return false;
    }
    if (size == 4 && !(addr & 3)) {
        return true;
    }
    mv_guest_error(b,
                   "access to %u bytes at BAR 2 offset 0x%" HWADDR_PRIx
                   "; only aligned 32-bit accesses have an effect", size, addr);
    return false;
}

static uint64_t bar2_read(void *opaque, hwaddr addr, unsigned size)
{
    MvBridge *b = opaque;
    uint32_t *reg, val = 0;

    if (b->asleep) {
        in_deep_sleep(b, addr);
        return UINT32_MAX;      /* the root port's answer for nobody */
    }
    if (!is_dword(b, addr, size)) {
        return 0;
    }
    if (addr >= MV_CORE_BASE &&
        addr < MV_CORE_BASE + MV_CORES * MV_CORE_STRIDE) {
        addr -= MV_CORE_BASE;
        return mv_core_read(&b->core[addr / MV_CORE_STRIDE],
                            addr % MV_CORE_STRIDE);
    }
    reg = chip_reg(b, addr);
    if (reg) {
        val = *reg;
    } else if (addr == MV_GBL_INT_STAT) {
        val = mv_irq_cause(b);
    } else if (in_spi(addr)) {
        val = mv_spi_read(b, addr);
    } else {
        mv_guest_error(b,
                       "read of reserved BAR 2 offset 0x%" HWADDR_PRIx, addr);
    }
    trace_zd_mv_chip_read(addr, val);
    return val;
}

static void bar2_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
    MvBridge *b = opaque;
    uint32_t *reg;

    if (b->asleep) {
        in_deep_sleep(b, addr);
        return;
    }
    if (!is_dword(b, addr, size)) {
        return;
    }
    if (addr >= MV_CORE_BASE &&
        addr < MV_CORE_BASE + MV_CORES * MV_CORE_STRIDE) {
        addr -= MV_CORE_BASE;
        mv_core_write(&b->core[addr / MV_CORE_STRIDE], addr % MV_CORE_STRIDE,
                      val);
        return;
    }
    trace_zd_mv_chip_write(addr, val);
    reg = chip_reg(b, addr);
    if (reg) {
        *reg = val;
        if (reg == &b->gbl_int_enable) {
            mv_irq_update(b, true);
        }
    } else if (in_spi(addr)) {
        mv_spi_write(b, addr, val);
    } else if (addr != MV_GBL_INT_STAT) {
        /* The cause is a level: what is written to it has no effect. */
        mv_guest_error(b,
                       "write of 0x%" PRIx64 " to reserved BAR 2 offset 0x%"
                       HWADDR_PRIx, val, addr);
    }
}

/* Nothing is known of BAR 0 but its size; no driver maps it. */
static uint64_t bar0_read(void *opaque, hwaddr addr, unsigned size)
{
    mv_guest_error(opaque,
                   "read of BAR 0 offset 0x%" HWADDR_PRIx, addr);
    return 0;
}

static void bar0_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
    mv_guest_error(opaque,
                   "write to BAR 0 offset 0x%" HWADDR_PRIx, addr);
}

/* All accesses come here as they are, but 64 bits as two times 32. */
#define ACCESS(max) { .min_access_size = 1, .max_access_size = (max), \
                      .unaligned = true }

static const MemoryRegionOps bar0_ops = {
    .read = bar0_read,
    .write = bar0_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = ACCESS(8),
    .impl = ACCESS(4),
};

static const MemoryRegionOps bar2_ops = {
    .read = bar2_read,
    .write = bar2_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = ACCESS(8),
    .impl = ACCESS(4),
};

void mv_bridge_init(MvBridge *b, PCIDevice *pci,
                    ZdLink *links[MV_CORES * MV_PHYS])
{
    const uint8_t bar_type = PCI_BASE_ADDRESS_MEM_TYPE_64;
    unsigned c, n;

    b->pci = pci;
    for (c = 0; c < MV_CORES; c++) {
        MvCore *core = &b->core[c];

        core->bridge = b;
        core->number = c;
        core->coal_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL,
                                        mv_irq_coal_expired, core);
        core->late_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mv_ring_late,
                                        core);
        core->tx_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mv_ring_go_on,
                                      core);
        for (n = 0; n < MV_PHYS; n++) {
            ZdLink *link = links[c * MV_PHYS + n];

            core->phy[n].number = n;
            core->phy[n].link = link;
            if (link) {
                zd_link_attach_host(link, &mv_host_ops, core);
            }
        }
    }
    mv_spi_init(&b->spi);
    memory_region_init_io(&b->bar0, OBJECT(pci), &bar0_ops, b, "zdrive-bar0",
                          MV_BAR0_SIZE);
    memory_region_init_io(&b->bar2, OBJECT(pci), &bar2_ops, b, "zdrive-bar2",
                          MV_BAR2_SIZE);
    pci_register_bar(pci, 0, bar_type, &b->bar0);
    pci_register_bar(pci, 2, bar_type, &b->bar2);
}

void mv_bridge_stop(MvBridge *b)
{
    unsigned c, n;

    /*
     * BAR 2 is off the bus, but a vCPU that had found it before may still wait
     * for the big lock with an access.
     */
    b->gone = true;
    for (c = 0; c < MV_CORES; c++) {
        for (n = 0; n < MV_PHYS; n++) {
            if (b->core[c].phy[n].link) {
                zd_link_abort_all(b->core[c].phy[n].link);
            }
        }
    }
}

void mv_bridge_cleanup(MvBridge *b)
{
    unsigned c;

    for (c = 0; c < MV_CORES; c++) {
        timer_free(b->core[c].coal_timer);
        timer_free(b->core[c].late_timer);
        timer_free(b->core[c].tx_timer);
    }
    zd_faults_clear(&b->faults);
    mv_command_free_all(b);
    mv_spi_cleanup(&b->spi);
}

void mv_bridge_sleep(MvBridge *b)
{
    mv_bridge_reset(b);
    b->asleep = true;
    mv_irq_update(b, false);
}

void mv_bridge_faults_changed(MvBridge *b)
{
    unsigned n;

    for (n = 0; n < MV_CORES; n++) {
        if (!zd_faults_armed(&b->faults, ZD_FAULT_COMPLETION_LATE)) {
            mv_ring_late(&b->core[n]);
        }
    }
    mv_irq_update(b, true);
}

void mv_bridge_reset(MvBridge *b)
{
    unsigned n;

    b->asleep = false;
    b->chip_config = 0;
    b->gbl_ctl = 0;
    b->gbl_int_enable = 0;
    memset(b->gbl_mask, 0, sizeof(b->gbl_mask));
    memset(b->sgpio, 0, sizeof(b->sgpio));
    b->spi.ctrl = 0;
    b->spi.addr = 0;
    b->spi.wr_data = 0;
    b->spi.rd_data = 0;
    b->spi.write_enabled = false;
    mv_bridge_forget_mistakes(b);
    for (n = 0; n < MV_CORES; n++) {
        mv_core_reset(&b->core[n]);
    }
    b->irq_level = false;
}
