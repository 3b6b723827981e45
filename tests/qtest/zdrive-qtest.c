/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stock QEMU with zdrive.so and a card, reached over PCI.
 */
#include "qemu/osdep.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "qapi/qmp/qdict.h"
#include <glib/gstdio.h>
#include "zdrive-qtest.h"

/* No test needs long; this ends one that hangs together with its QEMU. */
#define WATCHDOG_S      100

/* In the test's folder. */
#define LOG             "guest-errors.log"

static char *tmp_dir;

const char *zt_module(void)
{
    const char *path = g_getenv("ZDRIVE_SO");

    g_assert_nonnull(path);
    return path;
}

char *zt_tmp_file(const char *name)
{
    g_autoptr(GError) err = NULL;

    if (!tmp_dir) {
        tmp_dir = g_dir_make_tmp("zdrive-qtest-XXXXXX", &err);
        g_assert_no_error(err);
    }
    return g_build_filename(tmp_dir, name, NULL);
}

char *zt_tmp_image(const char *name, uint64_t len)
{
    char *path = zt_tmp_file(name);
    int fd = g_open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(ftruncate(fd, len), ==, 0);
    close(fd);
    return path;
}

void zt_add_cases(const char *group, const ZtCase *cases, size_t count)
{
    while (count--) {
        g_autofree char *path = g_strdup_printf("zdrive/%s/%s", group,
                                                cases->name);

        qtest_add_func(path, cases->run);
        cases++;
    }
}

void zt_add_variant(const char *group, const char *name, const char *variant,
                    unsigned index, void (*run)(const void *index))
{
    g_autofree char *path = g_strdup_printf("zdrive/%s/%s/%s", group, name,
                                            variant);

    qtest_add_data_func(path, GUINT_TO_POINTER(index), run);
}

void zt_remove_tmp(void)
{
    g_autoptr(GDir) dir = tmp_dir ? g_dir_open(tmp_dir, 0, NULL) : NULL;
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(tmp_dir, name, NULL);

        g_unlink(path);
    }
    if (tmp_dir) {
        g_rmdir(tmp_dir);
        g_clear_pointer(&tmp_dir, g_free);
    }
}

int zt_run_tests(void)
{
    int ret;

    alarm(WATCHDOG_S);
    ret = g_test_run();
    zt_remove_tmp();
    return ret;
}

static ZtCard *start(const char *fmt, va_list ap)
{
    g_autofree char *args = g_strdup_vprintf(fmt, ap);
    ZtCard *card = g_new0(ZtCard, 1);
    unsigned n;

    card->qts = qtest_initf("-M q35 -nodefaults -plugin %s %s", zt_module(),
                            args);
    card->bus = qpci_new_pc(card->qts, NULL);
    card->memory = 0x100000;
    for (n = 0; n < MVS_CORES; n++) {
        card->core[n].card = card;
        card->core[n].number = n;
    }
    return card;
}

ZtCard *zt_qemu(const char *fmt, ...)
{
    ZtCard *card;
    va_list ap;

    va_start(ap, fmt);
    card = start(fmt, ap);
    va_end(ap);
    return card;
}

ZtCard *zt_boot(const char *fmt, ...)
{
    ZtCard *card;
    va_list ap;

    va_start(ap, fmt);
    card = start(fmt, ap);
    va_end(ap);
    zt_map(card, ZT_DEVFN);
    return card;
}

ZtCard *zt_boot_logged(const char *props)
{
    g_autofree char *path = zt_tmp_file(LOG);
    ZtCard *card;
    unsigned c;

    unlink(path);
    card = zt_boot("-d guest_errors -D %s " ZT_CARD ",timing=off%s", path,
                   props);
    for (c = 0; c < MVS_CORES; c++) {
        zt_core_start(&card->core[c]);
    }
    return card;
}

char *zt_log(void)
{
    g_autofree char *path = zt_tmp_file(LOG);
    char *log = NULL;

    return g_file_get_contents(path, &log, NULL, NULL) ? log : g_strdup("");
}

unsigned zt_log_lines(const char *text)
{
    g_autofree char *log = zt_log();
    g_auto(GStrv) lines = g_strsplit(log, "\n", -1);
    unsigned i, n = 0;

    for (i = 0; lines[i]; i++) {
        n += strstr(lines[i], "zdrive") && strstr(lines[i], text);
    }
    return n;
}

void zt_map(ZtCard *card, int devfn)
{
    uint64_t size;

    card->pci = qpci_device_find(card->bus, devfn);
    g_assert_nonnull(card->pci);
    card->bar2 = qpci_iomap(card->pci, 2, &size);
    g_assert_cmpint(size, ==, MVS_BAR2_SIZE);
    qpci_device_enable(card->pci);
}

void zt_system_reset(ZtCard *card)
{
    int devfn = card->pci->devfn;

    qtest_qmp_assert_success(card->qts, "{'execute': 'system_reset'}");
    qtest_qmp_eventwait(card->qts, "RESET");
    g_free(card->pci);
    card->bus->mmio_alloc_ptr = card->bar2.addr;
    zt_map(card, devfn);
}

void zt_quit(ZtCard *card)
{
    g_free(card->pci);
    qpci_free_pc(card->bus);
    qtest_quit(card->qts);
    g_free(card);
}

static void wait_migrated(QTestState *qts)
{
    bool done = false;

    while (!done) {
        QDict *reply = qtest_qmp(qts, "{'execute': 'query-migrate'}");
        QDict *info = qdict_get_qdict(reply, "return");
        const char *status = qdict_get_try_str(info, "status");

        g_assert_cmpstr(status, !=, "failed");
        done = !g_strcmp0(status, "completed");
        qobject_unref(reply);
    }
}

/* Virtual time goes on where it was, and the card keeps its place. */
ZtCard *zt_migrate(ZtCard *card, const char *args)
{
    g_autofree char *path = zt_tmp_file("migration");
    g_autofree char *save = g_strdup_printf("exec:cat > %s", path);
    g_autofree char *load = g_strdup_printf("exec:cat %s", path);
    int64_t now = qtest_clock_step(card->qts, 0);
    int devfn = card->pci->devfn;
    ZtCard *to;
    unsigned n;

    qtest_qmp_assert_success(card->qts, "{'execute': 'migrate', "
                             "'arguments': {'uri': %s}}", save);
    wait_migrated(card->qts);
    to = zt_qemu("-incoming defer %s", args);
    to->memory = card->memory;
    to->bar2 = card->bar2;
    memcpy(to->core, card->core, sizeof(to->core));
    for (n = 0; n < MVS_CORES; n++) {
        to->core[n].card = to;
    }
    zt_quit(card);
    qtest_clock_set(to->qts, now);
    qtest_qmp_assert_success(to->qts, "{'execute': 'migrate-incoming', "
                             "'arguments': {'uri': %s}}", load);
    qtest_qmp_eventwait(to->qts, "RESUME");
    to->pci = qpci_device_find(to->bus, devfn);
    g_assert_nonnull(to->pci);
    return to;
}

uint64_t zt_alloc(ZtCard *card, uint64_t len)
{
    uint64_t addr = card->memory;

    card->memory += ROUND_UP(len, 4096);
    return addr;
}

uint32_t zt_read(ZtCard *card, uint32_t offset)
{
    return qpci_io_readl(card->pci, card->bar2, offset);
}

void zt_write(ZtCard *card, uint32_t offset, uint32_t val)
{
    qpci_io_writel(card->pci, card->bar2, offset, val);
}

uint32_t zt_core_read(ZtCore *core, uint32_t offset)
{
    return zt_read(core->card, MVS_CORE(core->number) + offset);
}

void zt_core_write(ZtCore *core, uint32_t offset, uint32_t val)
{
    zt_write(core->card, MVS_CORE(core->number) + offset, val);
}

uint32_t zt_cfg_read(ZtCore *core, unsigned phy, uint32_t index)
{
    zt_core_write(core, MVS_P_CFG_ADDR(phy), index);
    return zt_core_read(core, MVS_P_CFG_DATA(phy));
}

void zt_cfg_write(ZtCore *core, unsigned phy, uint32_t index, uint32_t val)
{
    zt_core_write(core, MVS_P_CFG_ADDR(phy), index);
    zt_core_write(core, MVS_P_CFG_DATA(phy), val);
}

uint32_t zt_vsr_read(ZtCore *core, unsigned phy, uint32_t index)
{
    zt_core_write(core, MVS_P_VSR_ADDR(phy), index);
    return zt_core_read(core, MVS_P_VSR_DATA(phy));
}

void zt_vsr_write(ZtCore *core, unsigned phy, uint32_t index, uint32_t val)
{
    zt_core_write(core, MVS_P_VSR_ADDR(phy), index);
    zt_core_write(core, MVS_P_VSR_DATA(phy), val);
}

uint32_t zt_cmd_read(ZtCore *core, uint32_t index)
{
    zt_core_write(core, MVS_CMD_ADDR, index);
    return zt_core_read(core, MVS_CMD_DATA);
}

void zt_cmd_write(ZtCore *core, uint32_t index, uint32_t val)
{
    zt_core_write(core, MVS_CMD_ADDR, index);
    zt_core_write(core, MVS_CMD_DATA, val);
}

/* The index as mvs_94xx_command_active() makes it, low bits and all. */
bool zt_slot_active(ZtCore *core, unsigned slot)
{
    return zt_cmd_read(core, MVS_COMMAND_ACTIVE + (slot >> 3)) &
           (1u << (slot % 32));
}

bool zt_intx(ZtCard *card)
{
    return qpci_config_readw(card->pci, PCI_STATUS) & PCI_STATUS_INTERRUPT;
}

void zt_pattern(void *buf, size_t len, uint32_t seed)
{
    uint8_t *p = buf;
    size_t i;

    for (i = 0; i < len; i++) {
        uint32_t x = (i / 4 + 1) * 2654435761u ^ seed * 40503u;

        p[i] = x >> (8 * (i % 4));
    }
}

void zt_fill(ZtCard *card, uint64_t addr, size_t len, uint32_t seed)
{
    g_autofree uint8_t *buf = g_malloc(len);

    zt_pattern(buf, len, seed);
    qtest_bufwrite(card->qts, addr, buf, len);
}

void zt_assert_pattern(ZtCard *card, uint64_t addr, size_t len, uint32_t seed)
{
    g_autofree uint8_t *want = g_malloc(len);
    g_autofree uint8_t *got = g_malloc(len);

    zt_pattern(want, len, seed);
    qtest_bufread(card->qts, addr, got, len);
    g_assert_cmpmem(got, len, want, len);
}

void zt_assert_zero(ZtCard *card, uint64_t addr, size_t len)
{
    g_autofree uint8_t *want = g_malloc0(len);
    g_autofree uint8_t *got = g_malloc(len);

    qtest_bufread(card->qts, addr, got, len);
    g_assert_cmpmem(got, len, want, len);
}

/* The monitor */

static char *path_of(int ssd)
{
    return ssd < 0 ? g_strdup("/machine/peripheral/zd")
                   : g_strdup_printf("/machine/peripheral/zd/ssd%d", ssd);
}

char *zt_try_set(ZtCard *card, int ssd, const char *property,
                 const char *value)
{
    g_autofree char *path = path_of(ssd);
    QDict *reply = qtest_qmp(card->qts, "{'execute': 'qom-set', 'arguments': "
                             "{'path': %s, 'property': %s, 'value': %s}}",
                             path, property, value);
    QDict *error = qdict_get_qdict(reply, "error");
    char *text = error ? g_strdup(qdict_get_str(error, "desc")) : NULL;

    qobject_unref(reply);
    return text;
}

void zt_set(ZtCard *card, int ssd, const char *property, const char *value)
{
    g_autofree char *error = zt_try_set(card, ssd, property, value);

    g_assert_cmpstr(error, ==, NULL);
}

QDict *zt_get(ZtCard *card, int ssd, const char *property)
{
    g_autofree char *path = path_of(ssd);

    return qtest_qmp(card->qts, "{'execute': 'qom-get', 'arguments': "
                     "{'path': %s, 'property': %s}}", path, property);
}

void zt_assert_get(ZtCard *card, int ssd, const char *property,
                   const char *value)
{
    QDict *reply = zt_get(card, ssd, property);

    g_assert_cmpstr(qdict_get_str(reply, "return"), ==, value);
    qobject_unref(reply);
}

int64_t zt_count(ZtCard *card, int ssd, const char *property,
                 const char *name)
{
    QDict *reply = zt_get(card, ssd, property);
    int64_t value = qdict_get_int(qdict_get_qdict(reply, "return"), name);

    qobject_unref(reply);
    return value;
}
