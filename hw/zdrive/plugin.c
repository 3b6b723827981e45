/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way into a stock QEMU.
 *
 * "-plugin zdrive.so" calls qemu_plugin_install() before any -device is made;
 * LD_PRELOAD runs the type_init() constructor together with QEMU's own.  Either
 * way the types are registered once, and only after the ABI guard has seen that
 * this QEMU is the one whose headers the module was compiled with: anything
 * else would corrupt memory without a word.
 */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qemu/qemu-plugin.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-control.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pci_bus.h"
#include "trace/control.h"
#include "hw/zdrive/card/card.h"

/*
 * The generated file registers its events in a constructor.  A plugin comes
 * too late for that, so register_types() calls the function instead.
 */
#undef trace_init
#define trace_init(function)
#include "trace-zdrive.c"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* Bytes added to what the guard compares; not zero only in the guard's test. */
#ifndef ZDRIVE_ABI_SKEW
#define ZDRIVE_ABI_SKEW 0
#endif

/* Types that ours embed, derive from or look into. */
static const struct {
    const char *name;
    size_t instance_size;
    size_t class_size;          /* 0: has no class structure of its own */
} abi_types[] = {
    { TYPE_OBJECT, sizeof(Object), sizeof(ObjectClass) },
    { TYPE_DEVICE, sizeof(DeviceState), sizeof(DeviceClass) },
    { TYPE_BUS, sizeof(BusState), sizeof(BusClass) },
    { TYPE_PCI_DEVICE, sizeof(PCIDevice) + ZDRIVE_ABI_SKEW,
      sizeof(PCIDeviceClass) },
    { TYPE_PCI_BUS, sizeof(PCIBus), sizeof(PCIBusClass) },
    { TYPE_PCI_BRIDGE, sizeof(PCIBridge), 0 },
    { TYPE_MEMORY_REGION, sizeof(MemoryRegion), 0 },
};

/*
 * The first three words of QOM's private TypeImpl: name, class size, instance
 * size.  object_type_get_instance_size() does not exist in newer QEMUs.
 */
typedef struct TypeHead {
    const char *name;
    size_t class_size;
    size_t instance_size;
} TypeHead;

/*
 * One line for the user.  Not error_report(): while QEMU is being preloaded
 * with this module its monitor, which that one asks, is not there yet.
 */
static void G_GNUC_PRINTF(1, 2) refuse(const char *fmt, ...)
{
    va_list ap;

    fputs("zdrive.so", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

static bool abi_version_fits(void)
{
    g_autoptr(VersionInfo) info = qmp_query_version(NULL);
    g_autofree char *running = g_strdup_printf("%" PRId64 ".%" PRId64 ".%"
                                               PRId64, info->qemu->major,
                                               info->qemu->minor,
                                               info->qemu->micro);

    if (!strcmp(running, ZDRIVE_QEMU_VERSION) &&
        !strcmp(info->package, ZDRIVE_QEMU_PACKAGE)) {
        return true;
    }
    refuse(" was built for QEMU %s (%s), this is %s (%s); run 'scripts/zdrive "
           "build'", ZDRIVE_QEMU_VERSION, ZDRIVE_QEMU_PACKAGE, running,
           info->package);
    return false;
}

static bool abi_sizes_fit(void)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(abi_types); i++) {
        ObjectClass *klass = object_class_by_name(abi_types[i].name);
        const TypeHead *type;

        if (!klass) {
            refuse(": this QEMU has no type '%s'; run 'scripts/zdrive build'",
                   abi_types[i].name);
            return false;
        }
        type = (const TypeHead *)klass->type;
        if (type->instance_size != abi_types[i].instance_size ||
            (abi_types[i].class_size &&
             type->class_size != abi_types[i].class_size)) {
            refuse(" was built with other headers than this QEMU: '%s' has "
                   "%zu bytes here, %zu there; run 'scripts/zdrive build'",
                   abi_types[i].name, type->instance_size,
                   abi_types[i].instance_size);
            return false;
        }
    }
    return true;
}

static void register_types(void)
{
    trace_zdrive_register_events();
    type_register_static(&zd_ssd_type_info);
    type_register_static(&zd_card_type_info);
}

/* True when the types exist, now or already. */
static bool zdrive_load(bool preloaded)
{
    static bool loaded;

    if (loaded) {
        return true;
    }
    /*
     * While QEMU's own types are still being registered, a look at their sizes
     * would initialise them too early; preloading relies on the version, which
     * names one build.
     */
    if (!abi_version_fits() || (!preloaded && !abi_sizes_fit())) {
        return false;
    }
    /* Another copy of the module may have been here before. */
    if (preloaded || !object_class_by_name(TYPE_ZDRIVE_R4)) {
        register_types();
    }
    loaded = true;
    return true;
}

static void zdrive_preloaded(void)
{
    if (!zdrive_load(true)) {
        exit(EXIT_FAILURE);
    }
}

type_init(zdrive_preloaded)

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    int i;

    if (!zdrive_load(false)) {
        return EXIT_FAILURE;
    }
    for (i = 0; i < argc; i++) {
        if (g_str_has_prefix(argv[i], "trace=")) {
            trace_enable_events(argv[i] + strlen("trace="));
        } else {
            refuse(": unknown argument '%s'; there is trace=PATTERN", argv[i]);
            return EXIT_FAILURE;
        }
    }
    return 0;
}
