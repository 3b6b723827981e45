/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 88SE9485 from the driver's side: registers and memory structures under
 * the names of Linux' mvsas.  Written down independently of the model's own
 * regs.h, so that a slip of the pen in one of them fails a test.
 */
#ifndef TESTS_QTEST_MVSAS_REGS_H
#define TESTS_QTEST_MVSAS_REGS_H

#define MVS_CORES               2
#define MVS_PHYS                4       /* of a core */
#define MVS_SLOTS               2048
#define MVS_NONE                0xfff   /* ring index: nothing yet */

/* BAR 2, whole chip */
#define MVS_BAR0_SIZE           0x20000
#define MVS_BAR2_SIZE           0x40000
#define MVS_SGPIO(core)         (0xc200 + 0x100 * (core))
#define MVS_SGPIO_LEN           0x40
#define MVS_SPI_CTRL            0xc800
#define MVS_SPI_ADDR            0xc804
#define MVS_SPI_WR_DATA         0xc808
#define MVS_SPI_RD_DATA         0xc80c
#define MVS_HST_CHIP_CONFIG     0x10104
#define MVS_GBL_INT_STAT        0x10200
#define MVS_GBL_CTL             0x10204
#define MVS_GBL_PI              0x1020c
#define MVS_GBL_MASK(n)         (0x10210 + 4 * (n))
#define MVS_IRQ_SAS(core)       (1u << (18 + (core)))
#define MVS_CORE(core)          (0x20000 + 0x4000 * (core))

/* one core */
#define MVS_PORTS_IMP           0x9c
#define MVS_GBL_PORT_TYPE       0xa0
#define MVS_CTL                 0x100
#define MVS_PCS                 0x104
#define MVS_CMD_LIST_LO         0x108
#define MVS_CMD_LIST_HI         0x10c
#define MVS_RX_FIS_LO           0x110
#define MVS_RX_FIS_HI           0x114
#define MVS_STP_REG_SET_0       0x118
#define MVS_STP_REG_SET_1       0x11c
#define MVS_TX_CFG              0x120
#define MVS_TX_LO               0x124
#define MVS_TX_HI               0x128
#define MVS_TX_PROD_IDX         0x12c
#define MVS_TX_CONS_IDX         0x130
#define MVS_RX_CFG              0x134
#define MVS_RX_LO               0x138
#define MVS_RX_HI               0x13c
#define MVS_RX_CONS_IDX         0x140
#define MVS_INT_COAL            0x148
#define MVS_INT_COAL_TMOUT      0x14c
#define MVS_INT_STAT            0x150
#define MVS_INT_MASK            0x154
#define MVS_INT_STAT_SRS_0      0x158
#define MVS_INT_MASK_SRS_0      0x15c
#define MVS_INT_STAT_SRS_1      0x160
#define MVS_INT_MASK_SRS_1      0x164
#define MVS_NON_NCQ_ERR_0       0x168
#define MVS_NON_NCQ_ERR_1       0x16c
#define MVS_CMD_ADDR            0x170
#define MVS_CMD_DATA            0x174
#define MVS_MEM_PARITY_ERR      0x178
#define MVS_P_INT_STAT(phy)     (0x180 + 8 * (phy))
#define MVS_P_INT_MASK(phy)     (0x184 + 8 * (phy))
#define MVS_P_SER_CTLSTAT(phy)  (0x1d0 + 4 * (phy))
#define MVS_P_CFG_ADDR(phy)     (0x200 + 8 * (phy))
#define MVS_P_CFG_DATA(phy)     (0x204 + 8 * (phy))
#define MVS_P_VSR_ADDR(phy)     (0x250 + 8 * (phy))
#define MVS_P_VSR_DATA(phy)     (0x254 + 8 * (phy))
#define MVS_PA_VSR_ADDR         0x290
#define MVS_PA_VSR_PORT         0x294

#define CCTL_RST                (1u << 5)

#define PCS_CMD_EN              (1u << 0)
#define PCS_CMD_RST             (1u << 1)
#define PCS_FIS_RX_EN           (1u << 4)

#define RING_EN                 (1u << 16)      /* TX_EN, RX_EN, COAL_EN */

#define CINT_DONE               (1u << 0)
#define CINT_CI_STOP            (1u << 1)
#define CINT_PORT(phy)          (1u << (8 + (phy)))
#define CINT_NON_SPEC_NCQ_ERROR (1u << 25)
#define CINT_DMA_PCIE           (1u << 27)
#define CINT_MVSAS              0x0e00fffbu     /* what mvsas enables */

#define PHYEV_RDY_CH            (1u << 0)
#define PHYEV_COMWAKE           (1u << 7)
#define PHYEV_POOF              (1u << 12)
#define PHYEV_SIG_FIS           (1u << 16)
#define PHYEV_PLUGGED           (PHYEV_RDY_CH | PHYEV_COMWAKE | PHYEV_SIG_FIS)
#define PHYEV_MVSAS             0x00c00105u     /* what mvsas enables */

#define PHY_RST                 (1u << 0)
#define PHY_RST_HARD            (1u << 1)
#define PHY_MAX_RATE(n)         ((n) << 12)
#define PHY_NEG_RATE(stat)      (((stat) >> 16) & 3)
#define PHY_READY               (1u << 20)
#define PHY_READY_6G            0x00120000u

/* indirect spaces */
#define PHYR_SATA_CTL           0x18
#define PHYR_PHY_STAT           0x1c
#define PHYR_SATA_SIG(n)        (0x20 + 4 * (n))
#define CONFIG_ID_FRAME(n)      (0x100 + 4 * (n))
#define CONFIG_ATT_ID_FRAME(n)  (0x11c + 4 * (n))
#define VSR_PHY_MODE2           0x08
#define VSR_PHY_MODE3           0x0c
#define MODE2_DISABLED          0x0084fffeu     /* mvsas, before and after */
#define MODE2_ENABLED           0x0004ffffu
#define MODE2_SPEEDS            0x00000070u
#define MODE3_SATA              0x001d0000u
#define MVS_COMMAND_ACTIVE      0x300

/* delivery ring */
#define TXQ_SSP                 1
#define TXQ_SMP                 2
#define TXQ_STP                 3
#define TXQ(type, set, phys, slot) \
    ((uint32_t)(type) << 29 | 1u << 28 | (set) << 20 | (phys) << 12 | (slot))

/* completion ring */
#define RXQ_SLOT(entry)         ((entry) & 0xfff)
#define RXQ_DONE                (1u << 16)
#define RXQ_ERR                 (1u << 17)
#define RXQ_GOOD                (1u << 23)

/* command header, and the buffer of a slot as in mvs_task_prep_ata() */
#define HDR_LEN                 64
#define HDR_FPDMA               (1u << 6)
#define SLOT_BUF_LEN            0x2000
#define SLOT_PRD                0xa0
#define SLOT_STATUS             0xc94
#define SLOT_DATA               0x1000          /* free in mvsas; the tests' */
#define PRD_MAX                 255
#define PRD_CHAIN               (1u << 24)

/* received FIS area */
#define FIS_AREA_LEN            0x4800          /* all 64 register sets */
#define FIS_SET(set)            (0x800 + 0x100 * (set))
#define FIS_D2H                 0x40
#define FIS_SDB                 0x58

/* error record, dword 0 and 1 */
#define ERR_BAD_PROTO           (1u << 5)
#define ERR_NO_DEST             (1u << 9)
#define ERR_DATA_OVER_UNDER     (1u << 16)
#define ERR_TFILE               (1u << 24)
#define ERR1_SLOT_BUSY          (1u << 31)

#endif
