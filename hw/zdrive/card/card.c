/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QOM type "zdrive-r4": properties, and the life of a card from realize to
 * unplug.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "migration/vmstate.h"
#include "sysemu/runstate.h"
#include "sysemu/sysemu.h"
#include "hw/zdrive/card/card.h"
#include "hw/zdrive/journal.h"

static void free_ssds(ZdCard *card)
{
    for (unsigned i = 0; i < ZD_MAX_MEMBERS; i++) {
        if (card->ssd[i]) {
            object_unparent(OBJECT(card->ssd[i]));
            card->ssd[i] = NULL;
        }
    }
    zd_flash_card_free(card->timing);
    card->timing = NULL;
}

static bool make_ssds(ZdCard *card, Error **errp)
{
    const ZdCardPlan *plan = &card->plan;
    unsigned i;

    if (plan->timed) {
        card->timing = zd_flash_card_new(plan->product->card, 0, 0);
    }
    for (i = 0; i < plan->product->ssds; i++) {
        g_autofree char *name = g_strdup_printf("ssd%u", i);
        ZdSsdConfig cfg = {
            .profile = plan->product->profile,
            .model = plan->product->ssd_model,
            .firmware = plan->firmware,
            .wwn = plan->wwn[i],
            .media = {
                .store = card->store,
                .member = i,
                .sectors = plan->member_bytes / ZD_SECTOR_SIZE,
                .flash = plan->timed ? plan->product->flash : NULL,
                .dies = plan->dies,
                .seed = card->props.seed + i,
                .bridge = card->timing,
                .stored = plan->stored,
                .journal = card->journal,
                .event = zd_card_media_event,
                .event_opaque = card,
            },
            .seed = card->props.seed,
        };

        pstrcpy(cfg.serial, sizeof(cfg.serial), plan->serial[i]);
        card->ssd[i] = ZDRIVE_SSD(object_new(TYPE_ZDRIVE_SSD));
        object_property_add_child(OBJECT(card), name, OBJECT(card->ssd[i]));
        object_unref(OBJECT(card->ssd[i]));
        zd_link_init(&card->link[i], i);
        if (!zd_ssd_setup(card->ssd[i], &cfg, &card->link[i])) {
            error_setg(errp, "an SSD of %" PRIu64 " bytes is more than the "
                       "flash model of the %s has room for; use timing=off "
                       "or less", plan->member_bytes, plan->product->model);
            free_ssds(card);
            return false;
        }
        zd_ssd_set_capacitor(card->ssd[i], card->power.health);
    }
    return true;
}

/* SSDs as new, or as the state file says. */
static bool power_up(ZdCard *card, Error **errp)
{
    bool as_new;

    if (!make_ssds(card, errp)) {
        return false;
    }
    if (!zd_card_open_state(card, &as_new, errp)) {
        free_ssds(card);
        return false;
    }
    if (as_new) {
        free_ssds(card);
        make_ssds(card, &error_abort);
    }
    return true;
}

static bool open_store(ZdCard *card, Error **errp)
{
    ZdStoreConfig cfg = {
        .members = card->plan.product->ssds,
        .member_bytes = card->plan.member_bytes,
        .volume = card->props.drive,
    };

    memcpy(cfg.member, card->props.member, sizeof(cfg.member));
    card->store = zd_store_new(&cfg, errp);
    return card->store != NULL;
}

/* A stopped machine has no data under way: so says the block layer's rule. */
static void vm_state_changed(void *opaque, bool running, RunState state)
{
    ZdCard *card = opaque;
    unsigned i;

    for (i = 0; !running && i < card->plan.product->ssds; i++) {
        zd_link_settle(&card->link[i]);
    }
    if (running) {
        zd_card_run_state(card);
    } else {
        zd_card_stop_state(card, state);
    }
}

static void zd_card_stop(ZdCard *card)
{
    qemu_del_vm_change_state_handler(card->vm_state);
    zd_card_close_state(card);
    zd_card_stop_power(card);
    mv_bridge_stop(&card->bridge);
    zd_card_exit_config(PCI_DEVICE(card));
}

static void zd_card_take_apart(ZdCard *card)
{
    zd_card_exit_power(card);
    free_ssds(card);
    mv_bridge_cleanup(&card->bridge);
    zd_store_free(card->store);
    card->store = NULL;
    zd_card_close_journal(card);
}

static void zd_card_gone(void *opaque)
{
    zd_card_take_apart(opaque);
    object_unref(OBJECT(opaque));
}

/*
 * A guest can have the card unplugged from within: by an MSI that is a write
 * to the power control of its slot.  All rooms may be on the stack then, so
 * they fall silent now and go when the main loop is back.
 */
static void zd_card_exit(PCIDevice *pci)
{
    ZdCard *card = ZDRIVE_R4(pci);

    zd_card_stop(card);
    object_ref(OBJECT(card));
    aio_bh_schedule_oneshot(qemu_get_aio_context(), zd_card_gone, card);
}

static void zd_card_realize(PCIDevice *pci, Error **errp)
{
    ZdCard *card = ZDRIVE_R4(pci);
    g_autofree char *place = qdev_get_dev_path(DEVICE(pci));
    ZdLink *links[ZD_CARD_PHYS] = { NULL };
    unsigned i;

    if (!zd_card_plan(object_get_typename(OBJECT(card)), &card->props, place,
                      &card->plan, errp) ||
        !zd_card_init_config(pci, card->plan.product, errp)) {
        return;
    }
    if (!zd_card_init_rom(card, errp) || !zd_card_open_flash(card, errp) ||
        !zd_card_open_journal(card, errp) || !open_store(card, errp) ||
        !power_up(card, errp)) {
        zd_store_free(card->store);
        card->store = NULL;
        zd_card_close_journal(card);
        zd_card_exit_config(pci);
        return;
    }
    for (i = 0; i < card->plan.product->ssds; i++) {
        links[i] = &card->link[i];
    }
    mv_bridge_init(&card->bridge, pci, links);
    card->vm_state = qemu_add_vm_change_state_handler(vm_state_changed, card);
    zd_faults_init(&card->bridge.faults, ZD_FAULT_OF_CARD,
                   card->props.seed + ZD_MAX_MEMBERS);
    if (!zd_card_init_power(card, errp) || !zd_card_load_flash(card, errp) ||
        (card->props.faults &&
         !zd_card_set_faults(card, card->props.faults, errp))) {
        zd_card_stop(card);
        zd_card_take_apart(card);
        return;
    }
    if (runstate_is_running()) {
        zd_card_run_state(card);
    }
}

static void zd_card_reset_hold(Object *obj)
{
    ZdCard *card = ZDRIVE_R4(obj);

    zd_card_reset_config(card);
    if (card->power.off) {
        mv_bridge_sleep(&card->bridge);
    } else {
        mv_bridge_reset(&card->bridge);
        /* a reset of the machine ends S3, and no notifier says so */
        zd_card_wake(card);
    }
}

static void zd_card_finalize(Object *obj)
{
    ZdCard *card = ZDRIVE_R4(obj);

    g_free(card->props.faults);
    g_free(card->props.power_cut);
}

static Property zd_card_properties[] = {
    DEFINE_PROP_STRING("model", ZdCard, props.model),
    DEFINE_PROP_UINT32("capacity-gb", ZdCard, props.capacity_gb, 0),
    DEFINE_PROP_SIZE("size", ZdCard, props.size, 0),
    DEFINE_PROP_DRIVE("drive", ZdCard, props.drive),
    DEFINE_PROP_DRIVE("drive0", ZdCard, props.member[0]),
    DEFINE_PROP_DRIVE("drive1", ZdCard, props.member[1]),
    DEFINE_PROP_DRIVE("drive2", ZdCard, props.member[2]),
    DEFINE_PROP_DRIVE("drive3", ZdCard, props.member[3]),
    DEFINE_PROP_DRIVE("drive4", ZdCard, props.member[4]),
    DEFINE_PROP_DRIVE("drive5", ZdCard, props.member[5]),
    DEFINE_PROP_DRIVE("drive6", ZdCard, props.member[6]),
    DEFINE_PROP_DRIVE("drive7", ZdCard, props.member[7]),
    DEFINE_PROP_STRING("serial", ZdCard, props.serial),
    DEFINE_PROP_STRING("firmware", ZdCard, props.firmware),
    DEFINE_PROP_UINT64("wwn", ZdCard, props.wwn, 0),
    DEFINE_PROP_UINT64("seed", ZdCard, props.seed, 0),
    DEFINE_PROP_STRING("timing", ZdCard, props.timing),
    DEFINE_PROP_STRING("compress", ZdCard, props.compress),
    DEFINE_PROP_STRING("state", ZdCard, props.state),
    DEFINE_PROP_STRING("rom-view", ZdCard, props.rom_view),
    DEFINE_PROP_DRIVE("flash", ZdCard, props.flash),
    DEFINE_PROP_STRING("journal", ZdCard, props.journal),
    DEFINE_PROP_END_OF_LIST(),
};

/* The property table is the manual: what -device zdrive-r4,help prints. */
static const struct {
    const char *name;
    const char *description;
} zd_card_help[] = {
    { "model", "cm84, cm88, rm84 or rm88; the digit at the end is the number "
               "of SSDs (default cm88)" },
    { "capacity-gb", "a capacity that was sold: 300, 600 or 1200 with 4 SSDs, "
                     "800, 1600 or 3200 with 8 (default 600 or 1600, or what "
                     "the drive holds)" },
    { "size", "bytes of the whole volume, for a scaled-down card; a multiple "
              "of 64 KiB per SSD; not together with capacity-gb" },
    { "drive", "block node for the whole card, in volume order (RAID-0 of all "
               "SSDs, 64 KiB chunks); without any drive the data lives in "
               "memory and is gone at exit" },
    { "drive0", "block node of SSD 0; give drive0 to the last one, or drive" },
    { "drive1", "block node of SSD 1" },
    { "drive2", "block node of SSD 2" },
    { "drive3", "block node of SSD 3" },
    { "drive4", "block node of SSD 4" },
    { "drive5", "block node of SSD 5" },
    { "drive6", "block node of SSD 6" },
    { "drive7", "block node of SSD 7" },
    { "serial", "serial number, up to 19 printable characters; each SSD "
                "appends its number (default from seed and PCI address)" },
    { "firmware", "firmware revision, up to 8 printable characters (default: "
                  "as sold)" },
    { "wwn", "world wide name of SSD 0, the others count up (default from "
             "seed and PCI address)" },
    { "seed", "start of every random choice (default 0)" },
    { "timing", "model: each command takes the SSD's time in virtual time; "
                "off: as fast as the host (default model)" },
    { "compress", "what the SSDs' compression makes of the data: real, what "
                  "it is, or fixed:X, X of it is stored, 0 to 1; concerns "
                  "speed and wear only (default real)" },
    { "state", "file that keeps wear, mapping, SMART, passwords and power "
               "history of the SSDs from one QEMU to the next; made if it is "
               "missing (default: none, each QEMU has new SSDs)" },
    { "rom-view", "what the option ROM shows as disks: volume, the RAID-0 of "
                  "all SSDs, or members, each SSD (default volume, or what "
                  "the flash says)" },
    { "flash", "block node of 256 KiB that keeps the SPI flash, and with it "
               "what the setup utility of the ROM changes; one that is all "
               "zeros is programmed first" },
    { "journal", "file that records every write, flush and trim, for "
                 "scripts/zdrive crash; a journal that is there is replaced" },
};

static int zd_card_pre_save(void *opaque)
{
    zd_card_restore_config(PCI_DEVICE(opaque));
    zd_card_leave_state(opaque);
    return 0;
}

static int zd_card_pre_load(void *opaque)
{
    /* what the stream has is compared with this */
    zd_card_restore_config(PCI_DEVICE(opaque));
    /* What this machine did before is over; after this nothing is reset. */
    mv_bridge_reset(&((ZdCard *)opaque)->bridge);
    return 0;
}

static int zd_card_post_load(void *opaque, int version_id)
{
    Error *err = NULL;

    zd_card_update_link(opaque);
    /* now that the flash models say where they are */
    zd_card_count_cuts(opaque);
    zd_journal_loaded(((ZdCard *)opaque)->journal);
    if (!zd_card_enter_state(opaque, &err)) {
        error_prepend(&err, "zdrive: ");
        error_report_err(err);
        return -EINVAL;
    }
    return 0;
}

static const VMStateDescription zd_card_vmstate = {
    .name = "zdrive",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = zd_card_pre_save,
    .pre_load = zd_card_pre_load,
    .post_load = zd_card_post_load,
    .fields = (const VMStateField[]) {
        {
            .name = "identity",
            .info = &zd_card_identity,
            .size = sizeof(ZdCard),
            .flags = VMS_SINGLE,
        },
        VMSTATE_PCI_DEVICE(parent_obj, ZdCard),
        VMSTATE_STRUCT(parent_obj.exp.aer_log, ZdCard, 0,
                       vmstate_pcie_aer_log, PCIEAERLog),
        VMSTATE_STRUCT(power, ZdCard, 1, zd_vmstate_power, ZdPower),
        VMSTATE_STRUCT_POINTER(store, ZdCard, zd_vmstate_store, ZdStore),
        VMSTATE_STRUCT_ARRAY(link, ZdCard, ZD_MAX_MEMBERS, 1, zd_vmstate_link,
                             ZdLink),
        {
            .name = "timing",
            .info = &zd_vmstate_info_flash_card,
            .size = sizeof(ZdFlashCard *),
            .offset = offsetof(ZdCard, timing),
            .flags = VMS_SINGLE,
        },
        VMSTATE_ARRAY_OF_POINTER_TO_STRUCT(ssd, ZdCard, ZD_MAX_MEMBERS, 1,
                                           zd_vmstate_ssd, ZdSsd),
        /* last: its commands go on in the devices above */
        VMSTATE_STRUCT(bridge, ZdCard, 1, mv_vmstate_bridge, MvBridge),
        VMSTATE_END_OF_LIST()
    },
};

static void zd_card_instance_init(Object *obj)
{
    ZDRIVE_R4(obj)->power.health = 100;
    /* the name of the node on the buses is all that firmware needs */
    device_add_bootindex_property(obj, &ZDRIVE_R4(obj)->bootindex,
                                  "bootindex", NULL, DEVICE(obj));
    object_property_set_description(obj, "bootindex", "place in the boot "
                                    "order of the firmware, 0 is the first");
}

static void zd_card_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);
    const ZdProduct *product = zd_catalog_next(TYPE_ZDRIVE_R4, NULL);
    unsigned i;

    /* The model decides on the device id when the card is realized. */
    pc->vendor_id = product->vendor_id;
    pc->device_id = product->device_id;
    pc->revision = product->revision;
    pc->class_id = product->pci_class;
    pc->romfile = zd_card_default_rom();
    pc->realize = zd_card_realize;
    pc->exit = zd_card_exit;
    pc->config_read = zd_card_read_config;
    pc->config_write = zd_card_write_config;
    rc->phases.hold = zd_card_reset_hold;
    dc->desc = "OCZ Z-Drive R4 PCIe SSD";
    dc->vmsd = &zd_card_vmstate;
    set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
    device_class_set_props(dc, zd_card_properties);
    zd_card_add_fault_properties(klass);
    zd_card_add_power_properties(klass);
    zd_card_add_journal_properties(klass);
    for (i = 0; i < ARRAY_SIZE(zd_card_help); i++) {
        object_class_property_set_description(klass, zd_card_help[i].name,
                                              zd_card_help[i].description);
    }
}

const TypeInfo zd_card_type_info = {
    .name = TYPE_ZDRIVE_R4,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(ZdCard),
    .instance_init = zd_card_instance_init,
    .instance_finalize = zd_card_finalize,
    .class_init = zd_card_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { }
    },
};
