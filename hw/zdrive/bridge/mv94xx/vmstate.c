/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration of the 88SE9485, commands in flight included.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "internal.h"

/* A command as it travels: where it belongs, then what it is. */
static int command_pre_load(void *opaque)
{
    MvCommand *cmd = opaque;

    memset(cmd, 0, sizeof(*cmd));
    return 0;
}

static const VMStateDescription vmstate_command = {
    .name = "zdrive/mv94xx/command",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_load = command_pre_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT8(saved_core, MvCommand),
        VMSTATE_UINT8(saved_phy, MvCommand),
        VMSTATE_UINT16(slot, MvCommand),
        VMSTATE_UINT8(reg_set, MvCommand),
        VMSTATE_UINT64(status_buf, MvCommand),
        VMSTATE_STRUCT(req, MvCommand, 1, zd_vmstate_request, ZdRequest),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_phy = {
    .name = "zdrive/mv94xx/phy",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(ready, MvPhy),
        VMSTATE_UINT8(rate, MvPhy),
        VMSTATE_UINT32(int_stat, MvPhy),
        VMSTATE_UINT32(int_mask, MvPhy),
        VMSTATE_UINT32(ser_limits, MvPhy),
        VMSTATE_UINT32(cfg_addr, MvPhy),
        VMSTATE_UINT32(vsr_addr, MvPhy),
        VMSTATE_UINT32_ARRAY(cfg, MvPhy, MV_CFG_SIZE / 4),
        VMSTATE_UINT32_ARRAY(vsr, MvPhy, MV_VSR_SIZE / 4),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_core = {
    .name = "zdrive/mv94xx/core",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT_ARRAY(phy, MvCore, MV_PHYS, 1, vmstate_phy, MvPhy),
        VMSTATE_UINT32_ARRAY(regs, MvCore, MV_CORE_REGS_END / 4),
        VMSTATE_UINT32_ARRAY(cmd, MvCore, MV_CMD_SIZE / 4),
        VMSTATE_UINT16(tx_cons, MvCore),
        VMSTATE_UINT16(rx_prod, MvCore),
        VMSTATE_BOOL(tx_stopped, MvCore),
        VMSTATE_BOOL(done_unread, MvCore),
        VMSTATE_UINT16(coal_pending, MvCore),
        VMSTATE_TIMER_PTR(coal_timer, MvCore),
        VMSTATE_BOOL(late, MvCore),
        VMSTATE_UINT32(late_index, MvCore),
        VMSTATE_UINT32(late_entry, MvCore),
        VMSTATE_TIMER_PTR(late_timer, MvCore),
        VMSTATE_TIMER_PTR(tx_timer, MvCore),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_spi = {
    .name = "zdrive/mv94xx/spi",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(ctrl, MvSpi),
        VMSTATE_UINT32(addr, MvSpi),
        VMSTATE_UINT32(wr_data, MvSpi),
        VMSTATE_UINT32(rd_data, MvSpi),
        VMSTATE_BOOL(write_enabled, MvSpi),
        VMSTATE_BUFFER_POINTER_UNSAFE(flash, MvSpi, 1, MV_SPI_FLASH_SIZE),
        VMSTATE_END_OF_LIST()
    },
};

static void save_request(MvBridge *b, MvPhy *phy, ZdRequest *req)
{
    MvCommand *cmd = container_of(req, MvCommand, req);

    zd_link_save(phy->link, req);
    cmd->saved_core = cmd->core->number;
    cmd->saved_phy = phy->number;
    QTAILQ_INSERT_TAIL(&b->saved, cmd, next_saved);
}

static int bridge_pre_save(void *opaque)
{
    MvBridge *b = opaque;
    unsigned c, n;

    QTAILQ_INIT(&b->saved);
    for (c = 0; c < MV_CORES; c++) {
        for (n = 0; n < MV_PHYS; n++) {
            MvPhy *phy = &b->core[c].phy[n];
            ZdRequest *req;

            if (!phy->link) {
                continue;
            }
            QTAILQ_FOREACH(req, &phy->link->active, next) {
                save_request(b, phy, req);
            }
            QTAILQ_FOREACH(req, &phy->link->waiting, next) {
                save_request(b, phy, req);
            }
        }
    }
    return 0;
}

static int bridge_pre_load(void *opaque)
{
    QTAILQ_INIT(&((MvBridge *)opaque)->saved);
    return 0;
}

static int bridge_post_load(void *opaque, int version_id)
{
    MvBridge *b = opaque;
    MvCommand *cmd;

    while ((cmd = QTAILQ_FIRST(&b->saved))) {
        bool good = cmd->saved_core < MV_CORES && cmd->saved_phy < MV_PHYS;

        QTAILQ_REMOVE(&b->saved, cmd, next_saved);
        if (good) {
            cmd->core = &b->core[cmd->saved_core];
            cmd->req.sg.as = pci_get_address_space(b->pci);
            cmd->req.sg.dev = DEVICE(b->pci);
            object_ref(OBJECT(b->pci));
            good = mv_command_restore(cmd, &cmd->core->phy[cmd->saved_phy]);
        }
        if (!good) {
            error_report("zdrive: the stream names a command in slot %u of "
                         "core %u phy %u that this card cannot have",
                         cmd->slot, cmd->saved_core, cmd->saved_phy);
            return -EINVAL;
        }
    }
    return 0;
}

const VMStateDescription mv_vmstate_bridge = {
    .name = "zdrive/mv94xx",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = bridge_pre_save,
    .pre_load = bridge_pre_load,
    .post_load = bridge_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT_ARRAY(core, MvBridge, MV_CORES, 1, vmstate_core,
                             MvCore),
        VMSTATE_STRUCT(spi, MvBridge, 1, vmstate_spi, MvSpi),
        VMSTATE_UINT32_2DARRAY(sgpio, MvBridge, MV_CORES, MV_SGPIO_SIZE / 4),
        VMSTATE_UINT32(chip_config, MvBridge),
        VMSTATE_UINT32(gbl_ctl, MvBridge),
        VMSTATE_UINT32(gbl_int_enable, MvBridge),
        VMSTATE_UINT32_ARRAY(gbl_mask, MvBridge, 3),
        VMSTATE_BOOL(irq_level, MvBridge),
        VMSTATE_BOOL(asleep, MvBridge),
        VMSTATE_STRUCT(faults, MvBridge, 1, zd_vmstate_faults, ZdFaults),
        VMSTATE_UINT64(completions, MvBridge),
        VMSTATE_UINT64(interrupts, MvBridge),
        VMSTATE_QTAILQ_V(saved, MvBridge, 1, vmstate_command, MvCommand,
                         next_saved),
        VMSTATE_END_OF_LIST()
    },
};
