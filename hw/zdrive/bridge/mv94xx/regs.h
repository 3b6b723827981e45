/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers and memory structures of the Marvell 88SE9485.
 *
 * There is no public data sheet.  Offsets and bits are facts read from the
 * Linux driver (drivers/scsi/mvsas, symbols in the comments) and from the card
 * vendor's driver; hardware/88se9485.md has the derivation, docs/bridge.rst
 * the description for driver developers.
 */
#ifndef HW_ZDRIVE_MV94XX_REGS_H
#define HW_ZDRIVE_MV94XX_REGS_H

#define MV_CORES            2
#define MV_PHYS             4       /* per core; n_phy of chip_9485 */
#define MV_SLOTS            2048    /* 1 << slot_width */
#define MV_REG_SETS         64      /* srs_sz */

/* ---- BAR 2 ---- */
#define MV_BAR0_SIZE        0x20000
#define MV_BAR2_SIZE        0x40000

#define MV_SGPIO            0x0C200     /* MVS_SGPIO_*, one block per core */
#define MV_SGPIO_STRIDE     0x100
#define MV_SGPIO_SIZE       0x40
#define MV_SPI_CTRL         0x0C800     /* SPI_CTRL_REG_94XX */
#define MV_SPI_ADDR         0x0C804     /* SPI_ADDR_REG_94XX */
#define MV_SPI_WR_DATA      0x0C808     /* SPI_WR_DATA_REG_94XX */
#define MV_SPI_RD_DATA      0x0C80C     /* SPI_RD_DATA_REG_94XX */
#define MV_CHIP_CONFIG      0x10104     /* MVS_HST_CHIP_CONFIG */
#define MV_GBL_INT_STAT     0x10200     /* MVS_GBL_INT_STAT */
#define MV_GBL_CTL          0x10204     /* MVS_GBL_CTL */
#define MV_GBL_INT_ENABLE   0x1020C     /* MVS_GBL_PI; enable to host */
#define MV_GBL_MASK_0       0x10210     /* masks of other functions: scratch */
#define MV_GBL_MASK_1       0x10214
#define MV_GBL_MASK_2       0x10218
#define MV_CORE_BASE        0x20000
#define MV_CORE_STRIDE      0x4000

#define MV_GBL_IRQ_SAS(core)    (1u << (18 + (core)))   /* MVS_IRQ_SAS_A/B */

/* ---- per core, relative to its base ---- */
#define MV_PORTS_IMP        0x09C       /* MVS_PORTS_IMP */
#define MV_GBL_PORT_TYPE    0x0A0       /* MVS_GBL_PORT_TYPE */
#define MV_CTL              0x100       /* MVS_CTL */
#define MV_PCS              0x104       /* MVS_PCS */
#define MV_CMD_LIST_LO      0x108       /* MVS_CMD_LIST_LO */
#define MV_CMD_LIST_HI      0x10C
#define MV_RX_FIS_LO        0x110       /* MVS_RX_FIS_LO */
#define MV_RX_FIS_HI        0x114
#define MV_STP_REG_SET_0    0x118       /* MVS_STP_REG_SET_0 */
#define MV_STP_REG_SET_1    0x11C
#define MV_TX_CFG           0x120       /* MVS_TX_CFG */
#define MV_TX_LO            0x124       /* MVS_TX_LO */
#define MV_TX_HI            0x128
#define MV_TX_PROD_IDX      0x12C       /* MVS_TX_PROD_IDX */
#define MV_TX_CONS_IDX      0x130       /* MVS_TX_CONS_IDX */
#define MV_RX_CFG           0x134       /* MVS_RX_CFG */
#define MV_RX_LO            0x138       /* MVS_RX_LO */
#define MV_RX_HI            0x13C
#define MV_RX_IDX           0x140       /* MVS_RX_CONS_IDX */
#define MV_RX_HOST_IDX      0x144       /* never used by mvsas */
#define MV_INT_COAL         0x148       /* MVS_INT_COAL */
#define MV_INT_COAL_TMOUT   0x14C       /* MVS_INT_COAL_TMOUT */
#define MV_INT_STAT         0x150       /* MVS_INT_STAT */
#define MV_INT_MASK         0x154       /* MVS_INT_MASK */
#define MV_INT_STAT_SRS_0   0x158       /* MVS_INT_STAT_SRS_0 */
#define MV_INT_MASK_SRS_0   0x15C
#define MV_INT_STAT_SRS_1   0x160
#define MV_INT_MASK_SRS_1   0x164
#define MV_NON_NCQ_ERR_0    0x168       /* MVS_NON_NCQ_ERR_0 */
#define MV_NON_NCQ_ERR_1    0x16C
#define MV_CMD_ADDR         0x170       /* MVS_CMD_ADDR */
#define MV_CMD_DATA         0x174       /* MVS_CMD_DATA */
#define MV_MEM_PARITY_ERR   0x178       /* MVS_MEM_PARITY_ERR */
#define MV_P_INT            0x180       /* MVS_P0_INT_STAT, + 8 * phy */
#define MV_P_INT_END        0x1C0       /* P4 to P7 exist, unused here */
#define MV_P_SER_CTLSTAT    0x1D0       /* MVS_P0_SER_CTLSTAT, + 4 * phy */
#define MV_P_SER_END        0x1F0
#define MV_P_CFG            0x200       /* MVS_P0_CFG_ADDR, + 8 * phy */
#define MV_P_CFG_END        0x240
#define MV_P_VSR            0x250       /* MVS_P0_VSR_ADDR, + 8 * phy */
#define MV_P_VSR_END        0x290
#define MV_PA_VSR_ADDR      0x290       /* MVS_PA_VSR_ADDR: all phys */
#define MV_PA_VSR_DATA      0x294       /* MVS_PA_VSR_PORT */
#define MV_CORE_REGS_END    0x298

/* MV_CTL */
#define MV_CTL_RST          (1u << 5)   /* CCTL_RST, self-clearing */

/* MV_PCS */
#define MV_PCS_CMD_EN       (1u << 0)   /* PCS_CMD_EN */
#define MV_PCS_CMD_RST      (1u << 1)   /* PCS_CMD_RST, self-clearing */
#define MV_PCS_FIS_RX_EN    (1u << 4)   /* PCS_FIS_EN */

/* MV_TX_CFG, MV_RX_CFG */
#define MV_RING_SIZE_MASK   0xFFF
#define MV_RING_EN          (1u << 16)  /* TX_EN, RX_EN */
#define MV_INDEX_NONE       0xFFF

/* MV_INT_COAL, MV_INT_COAL_TMOUT */
#define MV_COAL_COUNT_MASK  0x1FF
#define MV_COAL_EN          (1u << 16)  /* COAL_EN */
#define MV_COAL_TIME_MASK   0xFFFF

/* MV_INT_STAT, MV_INT_MASK */
#define MV_CINT_DONE        (1u << 0)   /* CINT_DONE */
#define MV_CINT_CI_STOP     (1u << 1)   /* CINT_CI_STOP */
#define MV_CINT_SRS         (1u << 3)   /* CINT_SRS */
#define MV_CINT_PORT(phy)   (1u << (8 + (phy)))     /* CINT_PORT */
#define MV_CINT_NON_SPEC_NCQ (1u << 25) /* CINT_NON_SPEC_NCQ_ERROR */
#define MV_CINT_MEM         (1u << 26)  /* CINT_MEM */
#define MV_CINT_DMA_PCIE    (1u << 27)  /* CINT_DMA_PCIE */

/* MV_P_INT */
#define MV_PHYEV_RDY_CH     (1u << 0)   /* PHYEV_RDY_CH */
#define MV_PHYEV_HARD_RST   (1u << 1)   /* PHYEV_HARD_RST_DONE */
#define MV_PHYEV_COMWAKE    (1u << 7)   /* PHYEV_COMWAKE */
#define MV_PHYEV_POOF       (1u << 12)  /* PHYEV_POOF */
#define MV_PHYEV_SIG_FIS    (1u << 16)  /* PHYEV_SIG_FIS */
#define MV_PHYEV_CRC_ERR    (1u << 22)  /* PHYEV_CRC_ERR */

/* MV_P_SER_CTLSTAT */
#define MV_SER_PHY_RST      (1u << 0)   /* PHY_RST, self-clearing */
#define MV_SER_PHY_RST_HARD (1u << 1)   /* PHY_RST_HARD, self-clearing */
#define MV_SER_RATE_LIMITS  0x00007700  /* programmed minimum and maximum */
#define MV_SER_MAX_SHIFT    12
#define MV_SER_NEG_SHIFT    16
#define MV_SER_READY        (1u << 20)  /* PHY_READY_MASK */

/* CFG space: one per phy, by MV_P_CFG */
#define MV_CFG_SATA_CTL     0x018       /* PHYR_SATA_CTL */
#define MV_CFG_SIG0         0x020       /* PHYR_SATA_SIG0 to SIG3 */
#define MV_CFG_CRC_ERR      0x034       /* PHYR_CRC_ERR_COUNT */
#define MV_CFG_ID_FRAME0    0x100       /* CONFIG_ID_FRAME0 to 6 */
#define MV_CFG_ATT_FRAME0   0x11C       /* CONFIG_ATT_ID_FRAME0 to 6 */
#define MV_CFG_SIZE         0x140

/* VSR space: one per phy, by MV_P_VSR and MV_PA_VSR */
#define MV_VSR_PHY_MODE2    0x008       /* VSR_PHY_MODE2 */
#define MV_VSR_PHY_MODE3    0x00C       /* VSR_PHY_MODE3 */
#define MV_VSR_SIZE         0x200

#define MV_MODE2_SPEED_SHIFT 4          /* bits 6:4: 1.5, 3, 6 Gb/s */
#define MV_MODE2_DISABLE    (1u << 23)  /* disable_phy */
#define MV_MODE2_RESET      0x0004FFFE  /* enabled, every speed */
#define MV_MODE3_SATA       0x001D0000  /* PORT_DEV_STP attached */

/* CMD space: one per core, by MV_CMD_ADDR */
#define MV_CMD_ACTIVE       0x300       /* MVS_COMMAND_ACTIVE */
#define MV_CMD_SIZE         0x400

/* ---- delivery ring: one dword per command (TXQ_*) ---- */
#define MV_TXQ_SLOT(d)      ((d) & 0xFFF)
#define MV_TXQ_PHYS(d)      (((d) >> 12) & 0xFF)
#define MV_TXQ_REG_SET(d)   (((d) >> 20) & 0x7F)
#define MV_TXQ_TYPE(d)      ((d) >> 29)
#define MV_TXQ_SSP          1
#define MV_TXQ_SMP          2
#define MV_TXQ_STP          3           /* TXQ_CMD_STP: SATA */
#define MV_TXQ_SLOT_RESET   7           /* TXQ_CMD_SLOT_RESET */

/* ---- completion ring (RXQ_*); dword 0 mirrors the index ---- */
#define MV_RXQ_DONE         (1u << 16)
#define MV_RXQ_ERR          (1u << 17)
#define MV_RXQ_SLOT_RESET   (1u << 21)
#define MV_RXQ_GOOD         (1u << 23)

/* ---- command header, struct mvs_cmd_hdr ---- */
#define MV_HDR_SIZE         64
#define MV_HDR_PRD_COUNT(f) ((f) >> 16)
#define MV_HDR_CMD_DWORDS   0x1FF       /* of lens: length of the FIS */
#define MV_HDR_FPDMA        (1u << 6)   /* MCH_FPDMA */
#define MV_HDR_SRST         (1u << 7)   /* MCH_RESET */
#define MV_HDR_ATAPI        (1u << 5)   /* MCH_ATAPI */
#define MV_CMD_TBL_CDB      0x40
#define MV_FIS_H2D          0x27        /* Register FIS: byte 0, */
#define MV_FIS_C            0x80        /* byte 1: a command, */
#define MV_FIS_COUNT        12          /* tag of a queued command */
#define MV_ATA_PACKET       0xA0
#define MV_FIS_CONTROL      15          /* Register FIS, SATA 3.0 10.3.4 */
#define MV_SRST             (1u << 2)

/* ---- PRD, struct mvs_prd: 12 bytes ---- */
#define MV_PRD_SIZE         12
#define MV_PRD_LEN(l)       ((l) & 0x3FFFFF)
#define MV_PRD_CHAIN        (1u << 24)
/*
 * Entries that one command may use, chained blocks included: eight times what
 * the 8-bit count of a header block can name, so that a list that chains to
 * itself comes to an end.
 */
#define MV_PRD_MAX          2048

/* ---- received FIS area ---- */
#define MV_FIS_SET_OFFSET   0x800       /* fis_offs of chip_9485 */
#define MV_FIS_SET_SIZE     0x100
#define MV_FIS_D2H          0x40        /* SATA_RECEIVED_D2H_FIS */
#define MV_FIS_SDB          0x58
#define MV_SDB_LEN          8

/* ---- error information record, dword 0 (enum error_info_rec) ---- */
#define MV_ERR_BAD_PROTO    (1u << 5)
#define MV_ERR_NO_DEST      (1u << 9)
#define MV_ERR_DATA_LEN     (1u << 16)  /* data over or underrun */
#define MV_ERR_R_ERR        (1u << 23)  /* R_ERR: bad checksum of a frame */
#define MV_ERR_TFILE        (1u << 24)  /* TFILE_ERR: ERR in the task file */
/* dword 1 */
#define MV_ERR1_SLOT_BUSY   (1u << 31)

#endif
