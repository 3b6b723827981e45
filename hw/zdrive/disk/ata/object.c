/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user sees and sets of an SSD at run time: QOM properties of
 * /machine/peripheral/CARD/ssdN.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/zdrive/text.h"
#include "ata-internal.h"

/* Faults */

bool zd_ssd_set_faults(ZdSsd *ssd, const char *text, Error **errp)
{
    char *message = NULL;

    if (!zd_faults_parse(&ssd->faults, text, &message)) {
        error_setg(errp, "%s", message);
        g_free(message);
        return false;
    }
    zd_ata_faults_changed(ssd);
    return true;
}

char *zd_ssd_get_faults(const ZdSsd *ssd)
{
    return zd_faults_format(&ssd->faults);
}

static void set_faults(Object *obj, const char *value, Error **errp)
{
    zd_ssd_set_faults(ZDRIVE_SSD(obj), value, errp);
}

static char *get_faults(Object *obj, Error **errp)
{
    return zd_ssd_get_faults(ZDRIVE_SSD(obj));
}

/* Link */

static void set_link(Object *obj, const char *value, Error **errp)
{
    ZdSsd *ssd = ZDRIVE_SSD(obj);
    bool up = !strcmp(value, "up");
    ZdCutReport report;
    bool pulled;

    if (!up && strcmp(value, "down")) {
        error_setg(errp, "link '%s' is unknown; it is one of: up down", value);
        return;
    }
    timer_del(ssd->return_timer);
    zd_link_set_down(ssd->link, ZD_LINK_DROPPED, false);
    pulled = !up && zd_link_present(ssd->link);
    zd_link_set_down(ssd->link, ZD_LINK_UNPLUGGED, !up);
    if (pulled) {
        ssd->link_losses++;
        zd_ata_lose_power(ssd, ZD_LOSS_RANDOM, &report);
    }
}

static char *get_link(Object *obj, Error **errp)
{
    return g_strdup(zd_link_present(ZDRIVE_SSD(obj)->link) ? "up" : "down");
}

/* What a power cut has ruined */

static char *get_unreadable(Object *obj, Error **errp)
{
    GString *text = g_string_new(NULL);
    unsigned count;
    g_autofree ZdRange *ranges =
        zd_media_unreadable(&ZDRIVE_SSD(obj)->media, &count);

    for (unsigned i = 0; i < count; i++) {
        g_string_append_printf(text, "%s%" PRIu64 "-%" PRIu64, i ? "," : "",
                               ranges[i].lba,
                               ranges[i].lba + ranges[i].sectors - 1);
    }
    return g_string_free(text, false);
}

/* A-B, or A for one sector. */
static bool parse_range(const char *text, uint64_t sectors, ZdRange *range)
{
    g_auto(GStrv) ends = g_strsplit(text, "-", 2);
    uint64_t last;

    if (!ends[0] || !zd_text_number(ends[0], 0, sectors - 1, &range->lba) ||
        !zd_text_number(ends[1] ?: ends[0], range->lba,
                        MIN(sectors - 1, range->lba + UINT32_MAX - 1),
                        &last)) {
        return false;
    }
    range->sectors = last - range->lba + 1;
    return true;
}

static void set_unreadable(Object *obj, const char *value, Error **errp)
{
    ZdMedia *media = &ZDRIVE_SSD(obj)->media;
    g_auto(GStrv) words = g_strsplit_set(value, ", ", 0);
    g_autofree ZdRange *ranges = g_new(ZdRange, g_strv_length(words) + 1);
    unsigned count = 0;

    for (unsigned i = 0; words[i]; i++) {
        if (!*words[i]) {
            continue;
        }
        if (!parse_range(words[i], media->sectors, &ranges[count])) {
            error_setg(errp, "'%s' is no range of sectors; this SSD has 0-%"
                       PRIu64, words[i], media->sectors - 1);
            return;
        }
        count++;
    }
    zd_media_set_unreadable(media, ranges, count);
}

/* Counters */

static const struct {
    const char *name;
    size_t offset;
} counters[] = {
    { "commands", offsetof(ZdSsd, commands) },
    { "errors", offsetof(ZdSsd, errors) },
    { "queue-errors", offsetof(ZdSsd, queue_errors) },
    { "uncorrectable", offsetof(ZdSsd, uncorrectable) },
    { "crc-errors", offsetof(ZdSsd, crc_errors) },
    { "hung", offsetof(ZdSsd, hung) },
    { "resets", offsetof(ZdSsd, resets) },
    { "link-losses", offsetof(ZdSsd, link_losses) },
    { "power-cycles", offsetof(ZdSsd, power_cycles) },
    { "unsafe-off", offsetof(ZdSsd, unsafe_off) },
    { "sectors-read", offsetof(ZdSsd, media.sectors_read) },
    { "sectors-written", offsetof(ZdSsd, media.sectors_written) },
    { "sectors-trimmed", offsetof(ZdSsd, media.sectors_trimmed) },
    { "flushes", offsetof(ZdSsd, media.flushes) },
    { "late", offsetof(ZdSsd, media.late) },
};

const char *zd_ssd_counter(const ZdSsd *ssd, unsigned n, uint64_t *value)
{
    if (n < ARRAY_SIZE(counters)) {
        *value = *(const uint64_t *)((const char *)ssd + counters[n].offset);
        return counters[n].name;
    }
    *value = zd_faults_hits(&ssd->faults);
    return n == ARRAY_SIZE(counters) ? "fault-hits" : NULL;
}

static void get_stats(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    const char *counter;
    uint64_t value;
    unsigned n;

    if (!visit_start_struct(v, name, NULL, 0, errp)) {
        return;
    }
    for (n = 0; (counter = zd_ssd_counter(ZDRIVE_SSD(obj), n, &value)); n++) {
        if (!visit_type_uint64(v, counter, &value, errp)) {
            break;
        }
    }
    /* no sum, so not among the counters that the card adds up */
    visit_type_uint64(v, "late-max-ns", &ZDRIVE_SSD(obj)->media.late_max_ns,
                      &error_abort);
    zd_media_visit_stats(v, &ZDRIVE_SSD(obj)->media.flash, 1);
    visit_end_struct(v, NULL);
}

static void get_smart(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    zd_ata_smart_visit(ZDRIVE_SSD(obj), v, name, errp);
}

void zd_ssd_class_init(ObjectClass *klass, void *data)
{
    object_class_property_add_str(klass, "faults", get_faults, set_faults);
    object_class_property_set_description(klass, "faults",
        "what goes wrong on purpose, with hit counts; empty for nothing "
        "(docs/faults.rst)");
    object_class_property_add_str(klass, "link", get_link, set_link);
    object_class_property_set_description(klass, "link",
        "up, or down to pull the SSD out");
    object_class_property_add_str(klass, "unreadable", get_unreadable,
                                  set_unreadable);
    object_class_property_set_description(klass, "unreadable",
        "sectors that power cuts have left unreadable, until they are written "
        "or trimmed: A-B,A-B");
    object_class_property_add(klass, "stats", "struct", get_stats, NULL, NULL,
                              NULL);
    object_class_property_set_description(klass, "stats",
        "counters of commands, errors and resets");
    object_class_property_add(klass, "smart", "struct", get_smart, NULL, NULL,
                              NULL);
    object_class_property_set_description(klass, "smart",
        "SMART attributes by their numbers");
}
