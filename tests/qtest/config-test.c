/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCI configuration space: identity, BARs and the capability chain of the
 * real cards (real-cards.md 1.2), and the link under several kinds of ports.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

/* Where firmware puts the extended configuration space of a q35. */
#define ECAM            0xb0000000ull
#define Q35_PCIEXBAR    0x60

static void enable_ecam(ZtCard *card)
{
    QPCIDevice *host = qpci_device_find(card->bus, 0);

    qpci_config_writel(host, Q35_PCIEXBAR + 4, 0);
    qpci_config_writel(host, Q35_PCIEXBAR, ECAM | 1);
    g_free(host);
}

static uint32_t ecam_read(ZtCard *card, int devfn, unsigned offset)
{
    return qtest_readl(card->qts, ECAM + (uint64_t)devfn * 4096 + offset);
}

static ZtCard *boot(const char *args)
{
    ZtCard *card = zt_boot("%s", args);

    enable_ecam(card);
    return card;
}

/* Identity by model. */
static const struct {
    const char *model;
    uint16_t device;
} models[] = {
    { "cm84", 0x1044 },
    { "cm88", 0x1084 },
    { "rm84", 0x1044 },
    { "rm88", 0x1084 },
};

static void test_identity(const void *data)
{
    unsigned i = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot(ZT_CARD ",model=%s", models[i].model);
    QPCIDevice *pci = card->pci;
    uint16_t device = models[i].device;

    g_assert_cmphex(qpci_config_readw(pci, PCI_VENDOR_ID), ==, 0x1b85);
    g_assert_cmphex(qpci_config_readw(pci, PCI_DEVICE_ID), ==, device);
    g_assert_cmphex(qpci_config_readb(pci, PCI_REVISION_ID), ==, 0x02);
    g_assert_cmphex(qpci_config_readb(pci, PCI_CLASS_PROG), ==, 0x00);
    g_assert_cmphex(qpci_config_readw(pci, PCI_CLASS_DEVICE), ==, 0x0100);
    g_assert_cmphex(qpci_config_readb(pci, PCI_HEADER_TYPE), ==, 0x00);
    g_assert_cmphex(qpci_config_readw(pci, PCI_SUBSYSTEM_VENDOR_ID), ==,
                    0x1b85);
    g_assert_cmphex(qpci_config_readw(pci, PCI_SUBSYSTEM_ID), ==, device);
    g_assert_cmphex(qpci_config_readb(pci, PCI_INTERRUPT_PIN), ==, 1);
    zt_quit(card);
}

/* No model given: the one with 8 SSDs. */
static void test_default_model(void)
{
    ZtCard *card = zt_boot(ZT_CARD);

    g_assert_cmphex(qpci_config_readw(card->pci, PCI_DEVICE_ID), ==, 0x1084);
    zt_quit(card);
}

/* BAR registers after writing all ones: size and type. */
static const struct {
    unsigned offset;
    uint32_t ones;
} bars[] = {
    { PCI_BASE_ADDRESS_0, 0xfffe0000 | PCI_BASE_ADDRESS_MEM_TYPE_64 },
    { PCI_BASE_ADDRESS_1, 0xffffffff },
    { PCI_BASE_ADDRESS_2, 0xfffc0000 | PCI_BASE_ADDRESS_MEM_TYPE_64 },
    { PCI_BASE_ADDRESS_3, 0xffffffff },
    { PCI_BASE_ADDRESS_4, 0 },
    { PCI_BASE_ADDRESS_5, 0 },
    { PCI_ROM_ADDRESS, 0xffff0000 | PCI_ROM_ADDRESS_ENABLE },
};

static void test_bars(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    unsigned i;

    qpci_config_writew(card->pci, PCI_COMMAND, 0);
    for (i = 0; i < ARRAY_SIZE(bars); i++) {
        qpci_config_writel(card->pci, bars[i].offset, 0xffffffff);
        g_assert_cmphex(qpci_config_readl(card->pci, bars[i].offset), ==,
                        bars[i].ones);
    }
    zt_quit(card);
}

/* BAR 2 above 4 GiB: firmware may put a 64-bit BAR there. */
static void test_bar_64bit(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    const uint64_t addr = 0x123456780000ull & ~(MVS_BAR2_SIZE - 1ull);

    qpci_config_writel(card->pci, PCI_BASE_ADDRESS_2, (uint32_t)addr);
    qpci_config_writel(card->pci, PCI_BASE_ADDRESS_3, addr >> 32);
    g_assert_cmphex(qtest_readl(card->qts, addr + MVS_CORE(0) +
                                MVS_P_SER_CTLSTAT(0)), ==, PHY_READY_6G);
    zt_quit(card);
}

static uint32_t read_rom(ZtCard *card)
{
    const uint32_t addr = 0xf0000000;
    uint32_t val;

    qpci_config_writel(card->pci, PCI_ROM_ADDRESS,
                       addr | PCI_ROM_ADDRESS_ENABLE);
    val = qtest_readl(card->qts, addr);
    qpci_config_writel(card->pci, PCI_ROM_ADDRESS, 0);
    return val;
}

static void test_rom(void)
{
    ZtCard *card = zt_boot(ZT_CARD);

    /* the default is empty flash, or an option ROM with its 55 AA */
    g_assert_true(read_rom(card) == 0xffffffff ||
                  (read_rom(card) & 0xffff) == 0xaa55);
    zt_quit(card);
}

static uint32_t rom_mask(ZtCard *card)
{
    qpci_config_writel(card->pci, PCI_ROM_ADDRESS, 0xffffffff);
    return qpci_config_readl(card->pci, PCI_ROM_ADDRESS);
}

static void test_rombar_off(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",rombar=0");

    g_assert_cmphex(rom_mask(card), ==, 0);
    zt_quit(card);
}

static void test_romfile_empty(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",romfile=");

    g_assert_cmphex(rom_mask(card), ==, 0);
    zt_quit(card);
}

/* A short file still makes a BAR of 64 KiB. */
static void test_romfile(void)
{
    g_autofree char *path = zt_tmp_file("rom.bin");
    /* header with the pointer to a PCI data structure for 1b85:1084 */
    char rom[1024] = "\x55\xaa\x02";
    ZtCard *card;

    rom[0x18] = 0x1c;
    memcpy(rom + 0x1c, "PCIR\x85\x1b\x84\x10", 8);
    g_assert_true(g_file_set_contents(path, rom, sizeof(rom), NULL));
    card = zt_boot(ZT_CARD ",romfile=%s", path);
    g_assert_cmphex(rom_mask(card), ==, 0xffff0001);
    g_assert_cmphex(read_rom(card), ==, 0x0002aa55);
    zt_quit(card);
}

/* One field of configuration space as lspci -vv decodes it. */
typedef struct Field {
    unsigned offset;
    uint32_t mask;
    uint32_t value;
    const char *what;
} Field;

static const Field fields[] = {
    { 0x34, 0x000000ff, 0x40, "first capability" },
    { 0x40, 0x0000ffff, 0x5001, "power management, next 50h" },
    { 0x40, 0x00070000, 3u << 16, "PM version 3" },
    { 0x40, 0x00080000, 0, "PM PMEClk-" },
    { 0x40, 0x00200000, 0, "PM DSI-" },
    { 0x40, 0x01c00000, 7u << 22, "PM aux current 375 mA" },
    { 0x40, 0x02000000, 1u << 25, "PM D1+" },
    { 0x40, 0x04000000, 0, "PM D2-" },
    { 0x40, 0xf8000000, 0x58000000, "PM PME from D0, D1, D3hot" },
    { 0x44, 0x00000003, 0, "PM state D0" },
    { 0x44, 0x00000008, 0, "PM NoSoftRst-" },
    { 0x44, 0x00000100, 0, "PME disabled" },
    { 0x50, 0x0000ffff, 0x7005, "MSI, next 70h" },
    { 0x50, 0x00010000, 0, "MSI disabled" },
    { 0x50, 0x000e0000, 0, "MSI one vector" },
    { 0x50, 0x00800000, 1u << 23, "MSI 64bit+" },
    { 0x50, 0x01000000, 0, "MSI Maskable-" },
    { 0x70, 0x0000ffff, 0x0010, "PCI Express, last" },
    { 0x70, 0x000f0000, 2u << 16, "Express version 2" },
    { 0x70, 0x3e000000, 0, "Express MSI index 00" },
    { 0x74, 0x00000007, 5, "DevCap payload 4096" },
    { 0x74, 0x00000018, 0, "DevCap PhantFunc 0" },
    { 0x74, 0x00000020, 1u << 5, "DevCap ExtTag+" },
    { 0x74, 0x000001c0, 4u << 6, "DevCap L0s < 1 us" },
    { 0x74, 0x00000e00, 3u << 9, "DevCap L1 < 8 us" },
    { 0x74, 0x00001000, 0, "DevCap AttnBtn-" },
    { 0x74, 0x00008000, 1u << 15, "DevCap RBE+" },
    { 0x74, 0x10000000, 0, "DevCap FLReset-" },
    { 0x78, 0x00007000, 2u << 12, "DevCtl MaxReadReq 512" },
    { 0x94, 0x0000000f, 0, "DevCap2 timeout ranges not supported" },
    { 0x94, 0x00000010, 1u << 4, "DevCap2 TimeoutDis+" },
    { 0x94, 0x00000800, 0, "DevCap2 LTR-" },
    { 0x94, 0x000c0000, 0, "DevCap2 OBFF not supported" },
    { 0x100, 0xffffffff, 0x14010001, "AER version 1, next 140h" },
    { 0x10c, 0xffffffff, 0x00062030, "AER severity" },
    { 0x114, 0x00002000, 1u << 13, "AER AdvNonFatalErr masked" },
    { 0x118, 0x00000020, 1u << 5, "AER ECRCGenCap+" },
    { 0x118, 0x00000080, 1u << 7, "AER ECRCChkCap+" },
    { 0x140, 0xffffffff, 0x00010002, "virtual channel version 1, last" },
    { 0x144, 0x00000007, 0, "VC no extended channels" },
    { 0x154, 0x800000ff, 0x800000ff, "VC0 enabled for all classes" },
};

/* Those that only a card in a slot has. */
static const Field slot_fields[] = {
    { 0x70, 0x00f00000, 0, "Express endpoint" },
    { 0x7c, 0x0000000f, 2, "LnkCap 5 GT/s" },
    { 0x7c, 0x000003f0, 8u << 4, "LnkCap x8" },
    { 0x7c, 0x00000c00, 3u << 10, "LnkCap ASPM L0s L1" },
    { 0x7c, 0x00007000, 3u << 12, "LnkCap L0s exit < 512 ns" },
    { 0x7c, 0x00038000, 6u << 15, "LnkCap L1 exit < 64 us" },
    { 0x7c, 0x00040000, 0, "LnkCap ClockPM-" },
    { 0x7c, 0xff000000, 0, "LnkCap port 0" },
    { 0x80, 0x00000003, 0, "LnkCtl ASPM disabled" },
    { 0x80, 0x10000000, 1u << 28, "LnkSta SlotClk+" },
    { 0xa0, 0x0000000f, 2, "LnkCtl2 target 5 GT/s" },
    { 0xa0, 0x00000040, 0, "LnkCtl2 de-emphasis -6 dB" },
};

static void check_fields(ZtCard *card, int devfn, const Field *f, size_t n)
{
    while (n--) {
        uint32_t val = ecam_read(card, devfn, f->offset);

        if ((val & f->mask) != f->value) {
            g_test_message("%s: %03x is %08x", f->what, f->offset, val);
        }
        g_assert_cmphex(val & f->mask, ==, f->value);
        f++;
    }
}

/* A root complex integrated endpoint: the same chain, but no link. */
static void test_root_complex(void)
{
    ZtCard *card = boot(ZT_CARD);

    check_fields(card, ZT_DEVFN, fields, ARRAY_SIZE(fields));
    g_assert_cmphex(ecam_read(card, ZT_DEVFN, 0x70) & 0x00f00000, ==,
                    9u << 20);
    g_assert_cmphex(ecam_read(card, ZT_DEVFN, 0x7c), ==, 0);
    g_assert_cmphex(ecam_read(card, ZT_DEVFN, 0x80), ==, 0);
    zt_quit(card);
}

/* Number the buses below bridge @devfn and open its memory window. */
static void open_bridge(ZtCard *card, int devfn, unsigned secondary,
                        unsigned subordinate)
{
    QPCIDevice *bridge = qpci_device_find(card->bus, devfn);

    g_assert_nonnull(bridge);
    qpci_config_writeb(bridge, PCI_PRIMARY_BUS, devfn >> 8);
    qpci_config_writeb(bridge, PCI_SECONDARY_BUS, secondary);
    qpci_config_writeb(bridge, PCI_SUBORDINATE_BUS, subordinate);
    qpci_config_writew(bridge, PCI_MEMORY_BASE, 0xe000);
    qpci_config_writew(bridge, PCI_MEMORY_LIMIT, 0xefff);
    qpci_device_enable(bridge);
    g_free(bridge);
}

#define BUS(n)          ((n) << 8)
#define ROOT_PORT       QPCI_DEVFN(3, 0)

/* Boot with the card at BUS(1) under a root port with properties @port. */
static ZtCard *boot_root_port(const char *port)
{
    ZtCard *card = zt_qemu("-device pcie-root-port,id=rp,addr=3%s "
                           "-device zdrive-r4,id=zd,bus=rp", port);

    enable_ecam(card);
    open_bridge(card, ROOT_PORT, 1, 1);
    zt_map(card, BUS(1));
    return card;
}

static void assert_works(ZtCard *card)
{
    uint16_t id[256];

    zt_core_start(&card->core[0]);
    zt_identify(&card->core[0], 0, id);
    g_assert_cmphex(id[0], ==, 0x0040);
}

static void test_root_port(void)
{
    ZtCard *card = boot_root_port("");

    check_fields(card, BUS(1), fields, ARRAY_SIZE(fields));
    check_fields(card, BUS(1), slot_fields, ARRAY_SIZE(slot_fields));
    assert_works(card);
    zt_quit(card);
}

static const struct {
    const char *port;
    unsigned speed;
    unsigned width;
} links[] = {
    { "", 2, 8 },
    { ",x-speed=2_5,x-width=1", 1, 1 },
    { ",x-speed=5,x-width=1", 2, 1 },
    { ",x-speed=5,x-width=4", 2, 4 },
    { ",x-speed=2_5,x-width=8", 1, 8 },
    { ",x-speed=8,x-width=16", 2, 8 },
    { ",x-speed=16,x-width=32", 2, 8 },
};

static void assert_link(ZtCard *card, int devfn, unsigned speed,
                        unsigned width)
{
    uint16_t status = ecam_read(card, devfn, 0x80) >> 16;

    g_assert_cmpint(status & 0xf, ==, speed);
    g_assert_cmpint((status >> 4) & 0x3f, ==, width);
}

static void test_link(void)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(links); i++) {
        ZtCard *card = boot_root_port(links[i].port);
        QPCIDevice *port = qpci_device_find(card->bus, ROOT_PORT);
        uint8_t cap = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);
        uint16_t status = qpci_config_readw(port, cap + PCI_EXP_LNKSTA);

        assert_link(card, BUS(1), links[i].speed, links[i].width);
        /* both ends of a link agree */
        g_assert_cmpint(status & 0xf, ==, links[i].speed);
        g_assert_cmpint((status >> 4) & 0x3f, ==, links[i].width);
        g_free(port);
        zt_quit(card);
    }
}

/* The downstream ports of QEMU's switch are 2.5 GT/s x1. */
static void test_switch(void)
{
    ZtCard *card = zt_qemu("-device pcie-root-port,id=rp,addr=3 "
                           "-device x3130-upstream,id=up,bus=rp "
                           "-device xio3130-downstream,id=down,bus=up,"
                           "chassis=1 -device zdrive-r4,id=zd,bus=down");

    enable_ecam(card);
    open_bridge(card, ROOT_PORT, 1, 3);
    open_bridge(card, BUS(1), 2, 3);
    open_bridge(card, BUS(2), 3, 3);
    zt_map(card, BUS(3));
    check_fields(card, BUS(3), fields, ARRAY_SIZE(fields));
    check_fields(card, BUS(3), slot_fields, ARRAY_SIZE(slot_fields));
    assert_link(card, BUS(3), 1, 1);
    assert_works(card);
    zt_quit(card);
}

/* Conventional PCI: no link either, but everything else works. */
static void test_i440fx(void)
{
    ZtCard *card = zt_boot("-M pc " ZT_CARD);

    g_assert_cmphex(qpci_config_readb(card->pci, PCI_CAPABILITY_LIST), ==,
                    0x40);
    assert_works(card);
    zt_quit(card);
}

static void test_two_cards(void)
{
    ZtCard *card = zt_boot(ZT_CARD " -device zdrive-r4,id=zd2,addr=5,"
                           "model=cm84");
    g_autofree QPCIDevice *first = card->pci;
    uint16_t id[2][256];
    g_autofree char *serial0 = NULL;
    g_autofree char *serial1 = NULL;

    zt_core_start(&card->core[0]);
    zt_identify(&card->core[0], 0, id[0]);
    zt_map(card, QPCI_DEVFN(5, 0));
    g_assert_cmphex(qpci_config_readw(card->pci, PCI_DEVICE_ID), ==, 0x1044);
    zt_core_start(&card->core[0]);
    zt_identify(&card->core[0], 0, id[1]);

    serial0 = zt_id_string(id[0], 10, 10);
    serial1 = zt_id_string(id[1], 10, 10);
    g_assert_cmpstr(serial0, !=, serial1);
    g_assert_true(memcmp(&id[0][108], &id[1][108], 8) != 0);
    zt_quit(card);
}

/* Registers that a driver may set, and those that it may not. */
static const struct {
    unsigned offset;
    uint32_t writable;
    const char *what;
} writable[] = {
    { 0x00, 0, "vendor and device" },
    { 0x08, 0, "revision and class" },
    { 0x2c, 0, "subsystem" },
    { 0x40, 0, "PM capabilities" },
    { 0x44, 0x00000103, "PM state, PME enable" },
    { 0x54, 0xfffffffc, "MSI address" },
    { 0x58, 0xffffffff, "MSI upper address" },
    { 0x70, 0, "Express capabilities" },
    { 0x74, 0, "DevCap" },
    { 0x7c, 0, "LnkCap" },
    { 0x94, 0, "DevCap2" },
};

static void test_writable(void)
{
    ZtCard *card = boot_root_port("");
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(writable); i++) {
        uint32_t old = qpci_config_readl(card->pci, writable[i].offset);
        uint32_t ones, zeros;

        qpci_config_writel(card->pci, writable[i].offset, 0xffffffff);
        ones = qpci_config_readl(card->pci, writable[i].offset);
        qpci_config_writel(card->pci, writable[i].offset, 0);
        zeros = qpci_config_readl(card->pci, writable[i].offset);
        qpci_config_writel(card->pci, writable[i].offset, old);
        if ((ones ^ zeros) != writable[i].writable) {
            g_test_message("%s", writable[i].what);
        }
        g_assert_cmphex(ones ^ zeros, ==, writable[i].writable);
    }
    /* what drivers set: read request size, payload, ASPM */
    qpci_config_writew(card->pci, 0x78, 0x50ff);
    g_assert_cmphex(qpci_config_readw(card->pci, 0x78) & 0x70e0, ==, 0x50e0);
    qpci_config_writew(card->pci, 0x80, 3);
    g_assert_cmphex(qpci_config_readw(card->pci, 0x80) & 3, ==, 3);
    zt_quit(card);
}

/* Without bus mastering nothing of the card reaches memory. */
static void test_bus_master(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    uint16_t cmd = qpci_config_readw(card->pci, PCI_COMMAND);
    uint16_t id[256];

    zt_core_start(core);
    qpci_config_writew(card->pci, PCI_COMMAND, cmd & ~PCI_COMMAND_MASTER);
    zt_core_write(core, MVS_TX_PROD_IDX, 0);
    zt_assert_quiet(core);
    qpci_config_writew(card->pci, PCI_COMMAND, cmd);
    zt_core_program(core);
    zt_identify(core, 0, id);
    zt_quit(card);
}

/* Where an MSI of the card goes that makes it vanish, and with what data. */
static const struct {
    const char *name;
    bool port;                  /* a register of the root port, not ours */
    uint8_t cap, offset;
    uint16_t data;
    bool gone;
} msi_traps[] = {
    /* the slot's power and its indicator off: the card is unplugged */
    { "unplug", true, PCI_CAP_ID_EXP, PCI_EXP_SLTCTL,
      PCI_EXP_SLTCTL_PWR_OFF | PCI_EXP_SLTCTL_PWR_IND_OFF, true },
    { "sleep", false, PCI_CAP_ID_PM, PCI_PM_CTRL, 3, false },
    { "command", false, 0, PCI_COMMAND, 0, false },
};

static uint64_t trap_address(ZtCard *card, unsigned i)
{
    int devfn = msi_traps[i].port ? ROOT_PORT : BUS(1);
    QPCIDevice *dev = qpci_device_find(card->bus, devfn);
    uint8_t at = msi_traps[i].cap ?
                 qpci_find_capability(dev, msi_traps[i].cap, 0) : 0;

    g_free(dev);
    return ECAM + (uint64_t)devfn * 4096 + at + msi_traps[i].offset;
}

static ZtCard *set_trap(unsigned i, const char *props)
{
    ZtCard *card = zt_qemu(
        "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
        "-blockdev driver=null-co,node-name=d0,size=67108864,read-zeroes=on "
        "-device pcie-root-port,id=rp,addr=3 "
        "-device zdrive-r4,id=zd,bus=rp,%s", props);
    ZtCore *core = &card->core[0];

    enable_ecam(card);
    open_bridge(card, ROOT_PORT, 1, 1);
    zt_map(card, BUS(1));
    assert_works(card);
    zt_core_write(core, MVS_INT_STAT, UINT32_MAX);
    zt_core_read(core, MVS_INT_STAT);
    zt_core_write(core, MVS_INT_STAT, UINT32_MAX);
    qpci_config_writel(card->pci, 0x54, trap_address(card, i));
    qpci_config_writel(card->pci, 0x58, 0);
    qpci_config_writew(card->pci, 0x5c, msi_traps[i].data);
    qpci_config_writew(card->pci, 0x52,
                       qpci_config_readw(card->pci, 0x52) | 1);
    zt_write(card, MVS_GBL_PI, 0xc0000);
    return card;
}

/*
 * An MSI is a write to memory, and configuration space is memory: the guest
 * can have the card taken away by the card itself, in mid-completion, with
 * more commands behind it.
 */
static void msi_trap(unsigned i, const char *props)
{
    ZtCard *card = set_trap(i, props);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 16 * 4096);
    unsigned tag;

    for (tag = 0; tag < 16; tag++) {
        ZtCmd cmd = zt_ncq(ATA_READ_FPDMA, tag, 8 * tag, 8);

        cmd = zt_with_data(zt_on_phy(cmd, tag % 4), buf + tag * 4096, 4096);
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    qtest_clock_step(card->qts, 10 * ZT_COMMAND_NS);
    if (msi_traps[i].gone) {
        qtest_qmp_eventwait(card->qts, "DEVICE_DELETED");
    }
    qtest_clock_step(card->qts, 10 * ZT_COMMAND_NS);
    qtest_qmp_assert_success(card->qts, "{'execute': 'system_reset'}");
    zt_quit(card);
}

static void test_msi_trap(const void *data)
{
    msi_trap(GPOINTER_TO_UINT(data), "size=64M,timing=off");
    msi_trap(GPOINTER_TO_UINT(data), "size=64M,timing=model");
    msi_trap(GPOINTER_TO_UINT(data), "drive=d0,timing=off");
    /* an event of the phy, while its command is about to end */
    msi_trap(GPOINTER_TO_UINT(data), "size=64M,timing=off,"
             "faults='ssd0:crc-error opcode=0x60'");
}

/* A card without power tells nobody that its SSDs are gone. */
static void test_msi_dark(void)
{
    ZtCard *card = set_trap(0, "size=64M");

    g_assert_true(msi_traps[0].gone);
    zt_set(card, -1, "power", "off");
    qtest_clock_step(card->qts, ZT_COMMAND_NS);
    zt_assert_get(card, -1, "power", "off");
    zt_set(card, -1, "power", "on");
    zt_quit(card);
}

/* Plug and unplug below a root port, with commands in flight at the end. */
static void test_hotplug(void)
{
    g_autofree char *path = zt_tmp_image("hotplug.img", 64 * 1024 * 1024);
    ZtCard *card = zt_qemu("-device pcie-root-port,id=rp,addr=3 "
                           "-blockdev driver=file,filename=%s,node-name=d0",
                           path);
    unsigned round, i;

    for (round = 0; round < 3; round++) {
        ZtCore *core = &card->core[0];
        uint64_t buf = zt_alloc(card, 16 * 4096);

        qtest_qmp_device_add(card->qts, "zdrive-r4", "zd",
                             "{'bus': 'rp', 'drive': 'd0', "
                             "'addr': '0.0'}");
        open_bridge(card, ROOT_PORT, 1, 1);
        zt_map(card, BUS(1));
        assert_works(card);
        for (i = 0; i < 16; i++) {
            ZtCmd cmd = zt_ncq(round & 1 ? ATA_WRITE_FPDMA : ATA_READ_FPDMA,
                               i, 8 * i, 8);

            cmd = zt_with_data(cmd, buf + i * 4096, 4096);
            zt_queue(core, &cmd);
        }
        zt_doorbell(core);
        qtest_qmp_device_del_send(card->qts, "zd");
        /* a guest would eject it; a reset does what is pending */
        qtest_qmp_assert_success(card->qts, "{'execute': 'system_reset'}");
        qtest_qmp_eventwait(card->qts, "DEVICE_DELETED");
        qtest_clock_step(card->qts, 10 * ZT_COMMAND_NS);
        g_free(card->pci);
        card->pci = NULL;
        card->bus->mmio_alloc_ptr = card->bar2.addr;
        card->memory = 0x100000;
    }
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "default-model", test_default_model },
    { "bars", test_bars },
    { "bar-64bit", test_bar_64bit },
    { "rom", test_rom },
    { "rombar-off", test_rombar_off },
    { "romfile-empty", test_romfile_empty },
    { "romfile", test_romfile },
    { "root-complex", test_root_complex },
    { "root-port", test_root_port },
    { "link", test_link },
    { "switch", test_switch },
    { "i440fx", test_i440fx },
    { "two-cards", test_two_cards },
    { "writable", test_writable },
    { "bus-master", test_bus_master },
    { "msi-dark", test_msi_dark },
    { "hotplug", test_hotplug },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("config", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(models); i++) {
        zt_add_variant("config", "identity", models[i].model, i,
                       test_identity);
    }
    for (i = 0; i < ARRAY_SIZE(msi_traps); i++) {
        zt_add_variant("config", "msi-trap", msi_traps[i].name, i,
                       test_msi_trap);
    }
    return zt_run_tests();
}
