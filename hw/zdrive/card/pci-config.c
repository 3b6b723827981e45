/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCI configuration space of the Marvell cards, as lspci shows it on two real
 * ones (real-cards.md 1.2): power management at 40h, MSI at 50h, PCI Express at
 * 70h, advanced error reporting at 100h, virtual channel at 140h.
 */
#include "qemu/osdep.h"
#include "qemu/range.h"
#include "qapi/error.h"
#include "hw/pci/msi.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pci_bus.h"
#include "hw/pci/pcie.h"
#include "hw/zdrive/card/card.h"

#define CAP_PM      0x40
#define CAP_MSI     0x50
#define CAP_EXP     0x70
#define CAP_AER     0x100
#define CAP_VC      0x140
#define CAP_VC_SIZE 0x1C        /* no extended VC: one resource */
#define VC_VERSION  1

/* PM capabilities: version 3, 375 mA, D1, PME from D0, D1 and D3hot. */
#define PM_CAPS     (3 | PCI_PM_CAP_AUX_POWER | PCI_PM_CAP_D1 | \
                     PCI_PM_CAP_PME_D0 | PCI_PM_CAP_PME_D1 | \
                     PCI_PM_CAP_PME_D3hot)

/* PCIe 2.0, 7.8.3: payload 4096, tag extended, L0s < 1 us, L1 < 8 us. */
#define DEVCAP      (5 | PCI_EXP_DEVCAP_EXT_TAG | (4 << 6) | (3 << 9) | \
                     PCI_EXP_DEVCAP_RBER)
/* 7.8.6: 5 GT/s, x8, ASPM L0s and L1, exit L0s < 512 ns, L1 < 64 us. */
#define LINK_SPEED  2
#define LINK_WIDTH  8
#define LNKCAP      (LINK_SPEED | (LINK_WIDTH << 4) | (3 << 10) | (3 << 12) | \
                     (6 << 15))
/* 7.8.4: relaxed ordering, no snoop, read requests of 512 bytes. */
#define DEVCTL      (PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN | \
                     (2 << 12))

static void init_pm(PCIDevice *pci, int pos)
{
    pci_set_word(pci->config + pos + PCI_PM_PMC, PM_CAPS);
    pci_set_word(pci->wmask + pos + PCI_PM_CTRL,
                 PCI_PM_CTRL_STATE_MASK | PCI_PM_CTRL_PME_ENABLE);
    pci_set_word(pci->w1cmask + pos + PCI_PM_CTRL, PCI_PM_CTRL_PME_STATUS);
}

/* The link trains to what card and port can both do. */
static uint16_t link_status(PCIDevice *pci)
{
    PCIDevice *port = pci_bridge_get_device(pci_get_bus(pci));
    unsigned speed = LINK_SPEED, width = LINK_WIDTH;

    if (port && port->exp.exp_cap) {
        uint32_t cap = pci_get_long(port->config + port->exp.exp_cap +
                                    PCI_EXP_LNKCAP);

        /* 0: the port says nothing; QEMU takes it as 2.5 GT/s, x1 */
        speed = MIN(speed, MAX(cap & PCI_EXP_LNKCAP_SLS, 1));
        width = MIN(width, MAX((cap & PCI_EXP_LNKCAP_MLW) >> 4, 1));
    }
    return speed | width << 4 | PCI_EXP_LNKSTA_SLC;
}

/* 10^6 bytes/s of one lane after 8b/10b, by the speed that was negotiated. */
static uint32_t lane_mbps(const ZdCard *card)
{
    return 250 * (card->link_status & PCI_EXP_LNKSTA_CLS);
}

void zd_card_update_link(ZdCard *card)
{
    uint8_t *config = PCI_DEVICE(card)->config + CAP_EXP + PCI_EXP_LNKSTA;
    unsigned width = (card->link_status & PCI_EXP_LNKSTA_NLW) >> 4;
    const ZdFault *fault;

    /* a card without a link, or with one that is narrow anyway, keeps it */
    fault = zd_faults_fire(&card->bridge.faults, ZD_FAULT_LINK_WIDTH, NULL);
    if (fault) {
        width = MIN(width, 1 << fault->choice);
    }
    pci_set_word(config, (card->link_status & ~PCI_EXP_LNKSTA_NLW) |
                         width << 4);
    if (card->timing) {
        zd_flash_card_set_link(card->timing, width, lane_mbps(card));
    }
}

static void init_express(PCIDevice *pci)
{
    uint8_t *config = pci->config + CAP_EXP;
    uint8_t *wmask = pci->wmask + CAP_EXP;

    pci_set_long(config + PCI_EXP_DEVCAP, DEVCAP);
    pci_set_word(config + PCI_EXP_DEVCTL, DEVCTL);
    pci_set_word(wmask + PCI_EXP_DEVCTL,
                 PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_PAYLOAD |
                 PCI_EXP_DEVCTL_EXT_TAG | PCI_EXP_DEVCTL_NOSNOOP_EN |
                 PCI_EXP_DEVCTL_READRQ);
    pcie_cap_deverr_init(pci);
    pci_set_long(config + PCI_EXP_DEVCAP2, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
    pci_set_word(wmask + PCI_EXP_DEVCTL2, PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);

    if (pcie_cap_get_type(pci) == PCI_EXP_TYPE_RC_END) {
        /* A root complex integrated endpoint has no link (7.8). */
        pci_set_long(config + PCI_EXP_LNKCAP, 0);
        pci_set_word(config + PCI_EXP_LNKSTA, 0);
        return;
    }
    pci_set_long(config + PCI_EXP_LNKCAP, LNKCAP);
    ZDRIVE_R4(pci)->link_status = link_status(pci);
    pci_set_word(config + PCI_EXP_LNKSTA, ZDRIVE_R4(pci)->link_status);
    pci_set_word(wmask + PCI_EXP_LNKCTL,
                 PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_RCB |
                 PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
    pci_set_word(config + PCI_EXP_LNKCTL2, LINK_SPEED);
    pci_set_word(wmask + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS);
}

/* No extended virtual channel: VC0 carries every traffic class. */
static void init_virtual_channel(PCIDevice *pci)
{
    pcie_add_capability(pci, PCI_EXT_CAP_ID_VC, VC_VERSION, CAP_VC,
                        CAP_VC_SIZE);
    pci_set_long(pci->config + CAP_VC + PCI_VC_RES_CTRL,
                 PCI_VC_RES_CTRL_ENABLE | 0xFF);
    pci_set_long(pci->wmask + CAP_VC + PCI_VC_RES_CTRL, 0xFE);
}

/*
 * QEMU's AER code keeps a TLP prefix log at 138h to 147h and clears it with the
 * other logs.  The chip has none, its next capability begins at 140h; so what
 * was cleared is put back before anyone can see it: a guest or a migration.
 * The same goes for the half of the link capabilities that it clears with the
 * 32 bits it writes to the device status for an error.
 */
void zd_card_restore_config(PCIDevice *pci)
{
    if (pcie_cap_get_type(pci) != PCI_EXP_TYPE_RC_END) {
        pci_set_long(pci->config + CAP_EXP + PCI_EXP_LNKCAP, LNKCAP);
    }
    pci_set_long(pci->config + CAP_VC,
                 PCI_EXT_CAP(PCI_EXT_CAP_ID_VC, VC_VERSION, 0));
    pci_set_long(pci->config + CAP_VC + PCI_VC_PORT_CAP1, 0);
}

uint32_t zd_card_read_config(PCIDevice *pci, uint32_t addr, int len)
{
    if (ZDRIVE_R4(pci)->power.off) {
        return UINT32_MAX >> (32 - 8 * len);
    }
    if (ranges_overlap(addr, len, CAP_VC, 8) ||
        ranges_overlap(addr, len, CAP_EXP + PCI_EXP_LNKCAP, 4)) {
        zd_card_restore_config(pci);
    }
    return pci_default_read_config(pci, addr, len);
}

static bool is_master(PCIDevice *pci)
{
    return pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
}

static unsigned power_state(PCIDevice *pci)
{
    return pci_get_word(pci->config + CAP_PM + PCI_PM_CTRL) &
           PCI_PM_CTRL_STATE_MASK;
}

void zd_card_reset_config(ZdCard *card)
{
    PCIDevice *pci = PCI_DEVICE(card);

    /* PME status and enable are kept: the slot has auxiliary power */
    pci_word_test_and_clear_mask(pci->config + CAP_PM + PCI_PM_CTRL,
                                 PCI_PM_CTRL_STATE_MASK);
    pci_set_word(pci->config + CAP_EXP + PCI_EXP_DEVCTL, DEVCTL);
    pci_set_word(pci->config + CAP_EXP + PCI_EXP_LNKCTL, 0);
    pci_set_word(pci->config + CAP_EXP + PCI_EXP_DEVCTL2, 0);
    zd_card_update_link(card);
}

/*
 * PCI Power Management 1.2, 5.4.1: a function in D3hot answers configuration
 * accesses only.  This one says NoSoftRst-, so it comes back as after a reset,
 * with its base addresses gone.
 */
static void power_changed(PCIDevice *pci, unsigned before)
{
    unsigned now = power_state(pci);

    if (now == 2) {
        /* 5.4.1 too: the write of a state that is not supported is dropped */
        pci_set_word(pci->config + CAP_PM + PCI_PM_CTRL,
                     (pci_get_word(pci->config + CAP_PM + PCI_PM_CTRL) &
                      ~PCI_PM_CTRL_STATE_MASK) | before);
    } else if (now == 3 && before != 3) {
        mv_bridge_sleep(&ZDRIVE_R4(pci)->bridge);
    } else if (now != 3 && before == 3) {
        pci_device_reset(pci);
    }
}

void zd_card_write_config(PCIDevice *pci, uint32_t addr, uint32_t val, int len)
{
    unsigned before = power_state(pci);
    bool master = is_master(pci);

    if (ZDRIVE_R4(pci)->power.off) {
        return;
    }
    if (addr == PCI_COMMAND + 1) {
        /*
         * QEMU looks for a change of "interrupt disable" only with the first
         * byte of the register.  A pin that is up would be counted twice or
         * never, and the bus would fail an assertion at its next reset.
         */
        pci_default_write_config(pci, PCI_COMMAND,
                                 pci->config[PCI_COMMAND] | (val & 0xff) << 8,
                                 2);
    }
    pci_default_write_config(pci, addr, val, len);
    pcie_aer_write_config(pci, addr, val, len);
    if (ranges_overlap(addr, len, CAP_PM + PCI_PM_CTRL, 2)) {
        power_changed(pci, before);
    }
    if (is_master(pci) && !master) {
        /* a driver begins: maybe one that was mended */
        mv_bridge_forget_mistakes(&ZDRIVE_R4(pci)->bridge);
    }
}

bool zd_card_init_config(PCIDevice *pci, const ZdProduct *product,
                         Error **errp)
{
    int pos;

    pci_config_set_device_id(pci->config, product->device_id);
    pci_set_word(pci->config + PCI_SUBSYSTEM_VENDOR_ID, product->vendor_id);
    pci_set_word(pci->config + PCI_SUBSYSTEM_ID, product->device_id);
    pci_config_set_interrupt_pin(pci->config, 1);

    /* Each one goes to the head of the list: the last address first. */
    pos = pcie_endpoint_cap_init(pci, CAP_EXP);
    if (pos < 0) {
        error_setg_errno(errp, -pos, "cannot add the PCI Express capability");
        return false;
    }
    if (msi_init(pci, CAP_MSI, 1, true, false, errp) < 0) {
        return false;
    }
    pos = pci_add_capability(pci, PCI_CAP_ID_PM, CAP_PM, PCI_PM_SIZEOF, errp);
    if (pos < 0) {
        msi_uninit(pci);
        return false;
    }
    init_pm(pci, pos);
    init_express(pci);

    if (pcie_aer_init(pci, 1, CAP_AER, PCI_ERR_SIZEOF, errp) < 0) {
        msi_uninit(pci);
        return false;
    }
    pci_set_long(pci->config + CAP_AER + PCI_ERR_UNCOR_SEVER,
                 PCI_ERR_UNC_DLP | PCI_ERR_UNC_SDN | PCI_ERR_UNC_FCP |
                 PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP);
    /* what is logged moves with the card; nothing to compare */
    pci_set_long(pci->cmask + CAP_AER + PCI_ERR_CAP, 0);
    memset(pci->cmask + CAP_AER + PCI_ERR_HEADER_LOG, 0,
           PCI_ERR_HEADER_LOG_SIZE);
    init_virtual_channel(pci);
    return true;
}

void zd_card_exit_config(PCIDevice *pci)
{
    pcie_aer_exit(pci);
    pcie_cap_exit(pci);
    msi_uninit(pci);
}
