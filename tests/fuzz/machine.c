/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machines that programs run on, and what must hold on all of them.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "qapi/qmp/qdict.h"
#include "fuzz.h"

#define VOLUME_BYTES    (64 * MiB)
#define FILE_NODE       "-blockdev driver=raw,node-name=d,file.driver=file," \
                        "file.filename="
#define PORT            "-device pcie-root-port,id=rp,addr=3 "
#define ROOT_PORT       QPCI_DEVFN(3, 0)
#define BELOW_PORT      (1 << 8)

/* q35 leaves the ECAM window to the firmware. */
#define MCH_PCIEXBAR    0x60
#define ECAM            0xb0000000u

/* ACPI hot plug of q35: select a bus, eject a slot. */
#define ACPI_PCIHP      0x0cc0
#define ACPI_EJECT      (ACPI_PCIHP + 0x08)
#define ACPI_SELECT     (ACPI_PCIHP + 0x10)

#define CAP_MSI         0x50
#define CAP_PM          0x40

/*
 * More than guest memory (128 MiB), the volume, and what commands in flight
 * and the sanitiser's quarantine may take together.
 */
#define MOST_GROWTH     (450 * MiB)
#define MOST_LOG_LINES  500         /* of a card in its life */

static const struct {
    const char *name;
    unsigned ssds;
    bool port;
    const char *nodes;              /* @FILE@: a file of the volume's size */
    const char *card;
} kinds[] = {
    { "memory", 4, true, "", "model=cm84,size=64M,timing=off" },
    { "memory-timed", 8, true, "", "model=rm88,size=64M" },
    { "null", 8, true,
      "-blockdev driver=null-co,node-name=d,size=67108864",
      "model=cm88,drive=d,timing=off" },
    { "null-slow", 4, true,
      "-blockdev driver=null-co,node-name=d,size=67108864,latency-ns=3000000",
      "model=cm84,drive=d" },
    { "file", 4, true, FILE_NODE "@FILE@",
      "model=rm84,drive=d,timing=off" },
    { "file-timed", 8, false, FILE_NODE "@FILE@", "model=cm88,drive=d" },
    { "errors", 4, true,
      "-drive if=none,id=d,format=raw,file=blkdebug:@CONFIG@:null-co://"
      ",file.image.size=64M",
      "model=cm84,drive=d" },
    { "members", 4, false,
      "-blockdev driver=null-co,node-name=d0,size=16777216 "
      "-blockdev driver=null-co,node-name=d1,size=16777216,read-zeroes=on "
      "-blockdev driver=null-co,node-name=d2,size=16777216,latency-ns=1000000 "
      "-blockdev driver=null-co,node-name=d3,size=16777216",
      "model=cm84,drive0=d0,drive1=d1,drive2=d2,drive3=d3,timing=off" },
};

/* Sectors that cannot be read or written, on every SSD of the volume. */
static const char errors_config[] =
    "[inject-error]\nevent = \"none\"\niotype = \"read\"\n"
    "sector = \"1\"\nonce = \"off\"\n"
    "[inject-error]\nevent = \"none\"\niotype = \"write\"\n"
    "sector = \"130\"\nonce = \"off\"\n"
    "[inject-error]\nevent = \"none\"\niotype = \"flush\"\n"
    "once = \"on\"\n";

unsigned fuzz_machine_kinds(void)
{
    return ARRAY_SIZE(kinds);
}

const char *fuzz_machine_name(unsigned kind)
{
    return kinds[kind].name;
}

static char *tmp_file(const char *name)
{
    return g_build_filename(fuzz_folder(), name, NULL);
}

static char *replace(char *text, const char *what, const char *by)
{
    g_auto(GStrv) parts = g_strsplit(text, what, 2);

    g_free(text);
    return g_strjoinv(by, parts);
}

/* The block nodes' part of the command line, with fresh files. */
static char *nodes_of(unsigned kind)
{
    g_autofree char *image = tmp_file("image");
    g_autofree char *config = tmp_file("config");
    char *nodes = g_strdup(kinds[kind].nodes);
    int fd = open(image, O_CREAT | O_TRUNC | O_RDWR, 0600);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(ftruncate(fd, VOLUME_BYTES), ==, 0);
    close(fd);
    g_file_set_contents(config, errors_config, -1, NULL);
    return replace(replace(nodes, "@FILE@", image), "@CONFIG@", config);
}

static void open_port(FuzzMachine *m)
{
    QPCIDevice *port = qpci_device_find(m->card->bus, ROOT_PORT);

    g_assert_nonnull(port);
    qpci_config_writeb(port, PCI_PRIMARY_BUS, 0);
    qpci_config_writeb(port, PCI_SECONDARY_BUS, 1);
    qpci_config_writeb(port, PCI_SUBORDINATE_BUS, 1);
    qpci_config_writew(port, PCI_MEMORY_BASE, 0xe000);
    qpci_config_writew(port, PCI_MEMORY_LIMIT, 0xefff);
    qpci_device_enable(port);
    g_free(port);
}

static void enable_ecam(FuzzMachine *m)
{
    QPCIDevice *mch = qpci_device_find(m->card->bus, 0);

    qpci_config_writel(mch, MCH_PCIEXBAR, ECAM | 1);
    g_free(mch);
}

uint64_t fuzz_machine_ecam(FuzzMachine *m)
{
    return ECAM + ((uint64_t)m->devfn << 12);
}

/* The board and the card as after power-on, ready for use. */
static void map_card(FuzzMachine *m)
{
    ZtCard *card = m->card;
    static uint64_t mmio_start;

    if (!mmio_start) {
        mmio_start = card->bus->mmio_alloc_ptr;
    }
    card->bus->mmio_alloc_ptr = mmio_start;
    enable_ecam(m);
    if (kinds[m->kind].port) {
        open_port(m);
    }
    g_clear_pointer(&card->pci, g_free);
    zt_map(card, m->devfn);
    m->bar0 = qpci_iomap(card->pci, 0, NULL).addr;
}

void fuzz_machine_enable(FuzzMachine *m)
{
    QPCIDevice *pci = m->card->pci;

    qpci_config_writew(pci, CAP_PM + PCI_PM_CTRL, 0);
    qpci_config_writel(pci, PCI_BASE_ADDRESS_2, m->card->bar2.addr);
    qpci_config_writel(pci, PCI_BASE_ADDRESS_2 + 4, 0);
    qpci_config_writel(pci, PCI_BASE_ADDRESS_0, m->bar0);
    qpci_config_writel(pci, PCI_BASE_ADDRESS_0 + 4, 0);
    qpci_config_writel(pci, PCI_ROM_ADDRESS, 0);
    qpci_config_writew(pci, PCI_COMMAND, PCI_COMMAND_MEMORY |
                                         PCI_COMMAND_MASTER);
}

void fuzz_machine_program(FuzzMachine *m)
{
    unsigned c;

    for (c = 0; c < MVS_CORES; c++) {
        zt_core_program(&m->card->core[c]);
    }
    zt_write(m->card, MVS_GBL_PI, MVS_IRQ_SAS(0) | MVS_IRQ_SAS(1));
}

void fuzz_machine_system_reset(FuzzMachine *m)
{
    qtest_qmp_assert_success(m->card->qts, "{'execute': 'system_reset'}");
    qtest_qmp_eventwait(m->card->qts, "RESET");
    map_card(m);
    fuzz_machine_program(m);
}

/* kB of field @name in /proc/PID/status */
static uint64_t proc_status(FuzzMachine *m, const char *name)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/status",
                                            m->status->qemu);
    g_autofree char *text = NULL;
    const char *line;

    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return 0;
    }
    line = strstr(text, name);
    return line ? g_ascii_strtoull(line + strlen(name), NULL, 10) : 0;
}

/* QEMU is the youngest child. */
static pid_t qemu_pid(void)
{
    g_autofree char *path = g_strdup_printf("/proc/self/task/%d/children",
                                            getpid());
    g_autofree char *text = NULL;
    const char *last;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_strchomp(text);
    last = strrchr(text, ' ');
    return atoi(last ? last : text);
}

/* What QEMU gets besides -plugin; the same for who takes over. */
static char *command_line(unsigned kind, const char *nodes)
{
    g_autofree char *log = tmp_file("log");

    return g_strdup_printf("-d guest_errors -D %s %s %s "
                           "-device zdrive-r4,id=zd,%s,%s", log,
                           kinds[kind].port ? PORT : "", nodes,
                           kinds[kind].port ? "bus=rp" : "addr=4",
                           kinds[kind].card);
}

FuzzMachine *fuzz_machine_start(unsigned kind, FuzzStatus *status)
{
    FuzzMachine *m = g_new0(FuzzMachine, 1);
    g_autofree char *nodes = nodes_of(kind);
    g_autofree char *log = tmp_file("log");
    unsigned c;

    unlink(log);
    m->kind = kind;
    m->status = status;
    m->cards = 1;
    m->ssds = kinds[kind].ssds;
    m->sectors = VOLUME_BYTES / m->ssds / ZT_SECTOR;
    m->devfn = kinds[kind].port ? BELOW_PORT : ZT_DEVFN;
    m->args = command_line(kind, nodes);
    m->card = zt_qemu("%s", m->args);
    m->status->qemu = qemu_pid();
    map_card(m);
    for (c = 0; c < MVS_CORES; c++) {
        zt_core_start(&m->card->core[c]);
    }
    fuzz_machine_program(m);
    m->data = zt_alloc(m->card, FUZZ_DATA_BYTES);
    m->rss = proc_status(m, "VmRSS:") * KiB;
    return m;
}

/*
 * QEMU flushes the nodes before it lets go of them.  Where an error waits for
 * the first flush it would be the migration that fails, as it should.
 */
static bool first_flush_fails(FuzzMachine *m)
{
    return !strcmp(kinds[m->kind].name, "errors");
}

void fuzz_machine_migrate(FuzzMachine *m)
{
    if (first_flush_fails(m)) {
        return;
    }
    m->card = zt_migrate(m->card, m->args);
    m->status->qemu = qemu_pid();
    m->cards++;
    zt_remove_tmp();
}

/*
 * Lines of the card in QEMU's log, and of QEMU on accesses that the card's
 * regions refuse.  QEMU's own on DMA that goes astray have no bound.
 */
static unsigned log_lines(void)
{
    g_autofree char *path = tmp_file("log");
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    unsigned i, n = 0;

    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return 0;
    }
    lines = g_strsplit(text, "\n", -1);
    for (i = 0; lines[i]; i++) {
        n += g_str_has_prefix(lines[i], "zdrive") ||
             (strstr(lines[i], "region 'zdrive") &&
              !g_str_has_prefix(lines[i], "Invalid access to non-RAM"));
    }
    return n;
}

void fuzz_machine_check(FuzzMachine *m)
{
    uint64_t rss = proc_status(m, "VmRSS:") * KiB;
    unsigned lines = log_lines();

    /* the parent ends us when the answer does not come */
    qtest_qmp_assert_success(m->card->qts, "{'execute': 'query-status'}");
    if (rss > m->rss + MOST_GROWTH) {
        fuzz_fail(m, "QEMU has grown from %" PRIu64 " to %" PRIu64 " MiB",
                  m->rss / MiB, rss / MiB);
    }
    if (lines > MOST_LOG_LINES * m->cards) {
        fuzz_fail(m, "%u log lines of %u cards", lines, m->cards);
    }
}

void fuzz_machine_finish(FuzzMachine *m)
{
    ZtCard *card = m->card;
    unsigned c;

    /* an SSD that recovers from a power cut does not listen yet */
    qtest_clock_step(card->qts, 1000000000ll);
    fuzz_machine_system_reset(m);
    for (c = 0; c < MVS_CORES; c++) {
        ZtCore *core = &card->core[c];
        uint16_t id[256];

        zt_core_program(core);
        if (zt_core_read(core, MVS_P_SER_CTLSTAT(0)) & PHY_READY) {
            zt_identify(core, 0, id);
            g_assert_cmphex(id[0], ==, 0x0040);
        }
    }
    qtest_kill_qemu(card->qts);
    zt_remove_tmp();
}

bool fuzz_machine_can_unplug(const FuzzMachine *m)
{
    return kinds[m->kind].port;
}

void fuzz_machine_unplug(FuzzMachine *m)
{
    QTestState *qts = m->card->qts;

    qtest_qmp_assert_success(qts, "{'execute': 'device_del', "
                             "'arguments': {'id': 'zd'}}");
    qtest_outl(qts, ACPI_SELECT, 0);
    qtest_outl(qts, ACPI_EJECT, 1);
    qtest_qmp_eventwait(qts, "DEVICE_DELETED");
}

void fuzz_machine_replug(FuzzMachine *m)
{
    g_autofree char *out = qtest_hmp(m->card->qts,
                                     "device_add zdrive-r4,id=zd,bus=rp,%s",
                                     kinds[m->kind].card);

    if (*out) {
        fuzz_fail(m, "device_add: %s", out);
    }
    map_card(m);
    fuzz_machine_program(m);
    m->cards++;
}

bool fuzz_machine_bus_reset(FuzzMachine *m)
{
    QPCIDevice *port;
    uint16_t ctl;

    if (!kinds[m->kind].port) {
        return false;
    }
    port = qpci_device_find(m->card->bus, ROOT_PORT);
    ctl = qpci_config_readw(port, PCI_BRIDGE_CONTROL);
    qpci_config_writew(port, PCI_BRIDGE_CONTROL,
                       ctl | PCI_BRIDGE_CTL_BUS_RESET);
    qpci_config_writew(port, PCI_BRIDGE_CONTROL,
                       ctl & ~PCI_BRIDGE_CTL_BUS_RESET);
    g_free(port);
    return true;
}
