/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the properties of a card to what will be built: one clear error for
 * everything that does not fit together.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/zdrive/card/card.h"

#define DEFAULT_MODEL   "cm88"
/* Larger than any card by far; bounds the tables that a size asks for. */
#define MAX_SIZE        (64 * TiB)

static char *list_models(const char *type)
{
    GString *s = g_string_new(NULL);
    const ZdProduct *p = NULL;

    while ((p = zd_catalog_next(type, p))) {
        g_string_append_printf(s, "%s%s", s->len ? " " : "", p->model);
    }
    return g_string_free(s, false);
}

static char *list_capacities(const ZdProduct *product)
{
    GString *s = g_string_new(NULL);
    const ZdCapacity *c;

    for (c = product->capacities; c->card_gb; c++) {
        g_string_append_printf(s, "%s%u", s->len ? " " : "", c->card_gb);
    }
    return g_string_free(s, false);
}

static bool find_product(const char *type, const char *model,
                         ZdCardPlan *plan, Error **errp)
{
    g_autofree char *models = NULL;

    plan->product = zd_catalog_find(type, model ? model : DEFAULT_MODEL);
    if (plan->product) {
        return true;
    }
    models = list_models(type);
    error_setg(errp, "model '%s' is unknown; %s has: %s", model, type, models);
    return false;
}

/* Either one node for the card, or one for each of its SSDs, or none. */
static bool check_drives(const ZdCardProps *props, const ZdProduct *product,
                         Error **errp)
{
    int missing = -1, given = -1;
    unsigned i;

    for (i = 0; i < ZD_MAX_MEMBERS; i++) {
        if (props->member[i]) {
            given = i;
        } else if (i < product->ssds && missing < 0) {
            missing = i;
        }
    }
    if (given < 0) {
        return true;
    }
    if (props->drive) {
        error_setg(errp, "drive and drive%d together: drive is the whole card, "
                   "drive%d one SSD of it; give one or the other",
                   given, given);
        return false;
    }
    if (given >= product->ssds) {
        error_setg(errp, "drive%d: a %s has SSDs 0 to %u", given,
                   product->model, product->ssds - 1);
        return false;
    }
    if (missing >= 0) {
        error_setg(errp, "drive%d is missing: give all of drive0 to drive%u, "
                   "or drive", missing, product->ssds - 1);
        return false;
    }
    return true;
}

static uint64_t capacity_member_bytes(const ZdCapacity *capacity)
{
    return zd_catalog_idema_sectors(capacity->ssd_gb) * ZD_SECTOR_SIZE;
}

static bool member_bytes_from_size(uint64_t size, const ZdProduct *product,
                                   const char *what, ZdCardPlan *plan,
                                   Error **errp)
{
    uint64_t stripe = (uint64_t)product->ssds * ZD_CHUNK_BYTES;

    if (size % stripe || !size || size > MAX_SIZE) {
        error_setg(errp, "%s is %" PRIu64 " bytes; a %s takes a multiple of %"
                   PRIu64 " KiB (%u SSDs x 64 KiB) up to 64 TiB: the next is %"
                   PRIu64, what, size, product->model, stripe / KiB,
                   product->ssds,
                   (uint64_t)MIN(MAX(ROUND_UP(size, stripe), stripe),
                                 MAX_SIZE));
        return false;
    }
    plan->member_bytes = size / product->ssds;
    return true;
}

/* Without size and capacity-gb the node says what the card holds. */
static bool member_bytes_from_nodes(const ZdCardProps *props,
                                    ZdCardPlan *plan, Error **errp)
{
    const ZdProduct *product = plan->product;
    BlockBackend *blk = props->drive ? props->drive : props->member[0];
    int64_t len = zd_store_node_bytes(blk, errp);
    const ZdCapacity *c;

    if (len < 0) {
        return false;
    }
    if (!props->drive) {
        plan->member_bytes = QEMU_ALIGN_DOWN(len, ZD_SECTOR_SIZE);
        if (!plan->member_bytes || len > MAX_SIZE / product->ssds) {
            error_setg(errp, "drive0 holds %" PRId64 " bytes; an SSD of a %s "
                       "takes 512 bytes to %" PRIu64 " TiB", len,
                       product->model,
                       (uint64_t)(MAX_SIZE / product->ssds / TiB));
            return false;
        }
        return true;
    }
    for (c = product->capacities; c->card_gb; c++) {
        uint64_t bytes = capacity_member_bytes(c);

        if (len == zd_store_volume_bytes(product->ssds, bytes)) {
            plan->member_bytes = bytes;
            return true;
        }
    }
    return member_bytes_from_size(len, product, "drive", plan, errp);
}

static bool find_size(const ZdCardProps *props, ZdCardPlan *plan, Error **errp)
{
    const ZdProduct *product = plan->product;
    g_autofree char *sold = NULL;
    const ZdCapacity *capacity;
    uint32_t gb = props->capacity_gb;

    if (props->size && gb) {
        error_setg(errp, "size and capacity-gb together: give one of them");
        return false;
    }
    if (props->size) {
        return member_bytes_from_size(props->size, product, "size", plan,
                                      errp);
    }
    if (!gb && (props->drive || props->member[0])) {
        return member_bytes_from_nodes(props, plan, errp);
    }
    capacity = zd_catalog_capacity(product, gb ? gb : product->default_gb);
    if (!capacity) {
        sold = list_capacities(product);
        error_setg(errp, "capacity-gb=%u: the %s was sold with %s", gb,
                   product->model, sold);
        return false;
    }
    plan->member_bytes = capacity_member_bytes(capacity);
    return true;
}

/* ATA strings are printable ASCII, 0x20 to 0x7E (ACS-2 3.3.10). */
static bool check_string(const char *name, const char *value, size_t max,
                         Error **errp)
{
    size_t i, len = strlen(value);

    if (!len || len > max) {
        error_setg(errp, "%s '%s' has %zu characters; 1 to %zu are possible",
                   name, value, len, max);
        return false;
    }
    for (i = 0; i < len; i++) {
        if (!g_ascii_isprint(value[i])) {
            error_setg(errp, "%s: character %zu is not printable ASCII", name,
                       i + 1);
            return false;
        }
    }
    return true;
}

static bool find_identity(const ZdCardProps *props, const char *place,
                          ZdCardPlan *plan, Error **errp)
{
    /* Two cards of one machine must not share serial numbers. */
    uint64_t seed = props->seed ^ ((uint64_t)g_str_hash(place) << 32);
    unsigned i;

    if ((props->serial && !check_string("serial", props->serial, 19, errp)) ||
        (props->firmware &&
         !check_string("firmware", props->firmware, 8, errp))) {
        return false;
    }
    if (props->wwn > UINT64_MAX - (plan->product->ssds - 1)) {
        error_setg(errp, "wwn 0x%" PRIx64 " leaves no room for the other SSDs, "
                   "which count up from it; give a smaller one", props->wwn);
        return false;
    }
    plan->firmware = props->firmware ? props->firmware
                                     : plan->product->firmware;
    for (i = 0; i < plan->product->ssds; i++) {
        if (props->serial) {
            snprintf(plan->serial[i], sizeof(plan->serial[i]), "%s%u",
                     props->serial, i);
        } else {
            zd_catalog_serial(seed, i, plan->serial[i]);
        }
        plan->wwn[i] = props->wwn ? props->wwn + i : zd_catalog_wwn(seed, i);
    }
    plan->hba_wwn = zd_catalog_wwn(seed, ZD_MAX_MEMBERS);
    return true;
}

/* The number of @value among @names, 0 when it is not given. */
static bool find_word(const char *name, const char *value,
                      const char *const names[], unsigned *number,
                      Error **errp)
{
    g_autofree char *all = g_strjoinv(" ", (char **)names);

    for (*number = 0; value && names[*number]; (*number)++) {
        if (!strcmp(value, names[*number])) {
            return true;
        }
    }
    if (!value) {
        return true;
    }
    error_setg(errp, "%s '%s' is unknown; it is one of: %s", name, value, all);
    return false;
}

static bool find_timing(const char *timing, ZdCardPlan *plan, Error **errp)
{
    static const char *const names[] = { "model", "off", NULL };
    unsigned number;

    if (!find_word("timing", timing, names, &number, errp)) {
        return false;
    }
    plan->timed = number == 0;
    return true;
}

/* How much room data takes: as it is, or a share that is given. */
static bool find_compress(const char *compress, ZdCardPlan *plan, Error **errp)
{
    const char *value;
    double stored;

    plan->stored = -1;
    if (!compress || !strcmp(compress, "real")) {
        return true;
    }
    if (strstart(compress, "fixed:", &value) &&
        qemu_strtod_finite(value, NULL, &stored) == 0 &&
        stored >= 0 && stored <= 1) {
        plan->stored = stored;
        return true;
    }
    error_setg(errp, "compress '%s' is unknown; it is real, or fixed:X with X "
               "from 0 to 1, the stored part of the data", compress);
    return false;
}

/*
 * A scaled-down card has the dies, and so the parallelism, of the card that it
 * is a small copy of.
 */
static void find_dies(ZdCardPlan *plan)
{
    const ZdProduct *product = plan->product;
    uint64_t sectors = plan->member_bytes / ZD_SECTOR_SIZE;
    uint64_t sold = zd_catalog_idema_sectors(
        zd_catalog_capacity(product, product->default_gb)->ssd_gb);
    const ZdCapacity *c;

    for (c = product->capacities; c->card_gb; c++) {
        if (capacity_member_bytes(c) == plan->member_bytes) {
            sold = sectors;
        }
    }
    plan->dies = zd_flash_dies(product->flash, MAX(sold, sectors));
}

static bool find_rom_view(const char *view, ZdCardPlan *plan, Error **errp)
{
    static const char *const names[] = {
        [MV_VIEW_VOLUME] = "volume", [MV_VIEW_MEMBERS] = "members", NULL
    };
    unsigned number;

    if (!find_word("rom-view", view, names, &number, errp)) {
        return false;
    }
    plan->rom_view = number;
    return true;
}

bool zd_card_plan(const char *type, const ZdCardProps *props,
                  const char *place, ZdCardPlan *plan, Error **errp)
{
    if (!find_product(type, props->model, plan, errp) ||
        !check_drives(props, plan->product, errp) ||
        !find_size(props, plan, errp) ||
        !find_identity(props, place, plan, errp) ||
        !find_timing(props->timing, plan, errp) ||
        !find_compress(props->compress, plan, errp) ||
        !find_rom_view(props->rom_view, plan, errp)) {
        return false;
    }
    find_dies(plan);
    return true;
}
