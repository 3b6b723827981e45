/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults and counters of a whole card: the properties "faults" and "stats".
 *
 * Before the card is realized there are no SSDs that could have faults; until
 * then the text is kept as it came.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/zdrive/card/card.h"

static bool set_bridge_faults(ZdCard *card, const char *text, Error **errp)
{
    MvBridge *bridge = &card->bridge;
    g_autofree char *message = NULL;

    if (!zd_faults_parse(&bridge->faults, text, &message)) {
        error_setg(errp, "%s", message);
        return false;
    }
    mv_bridge_faults_changed(bridge);
    zd_card_update_link(card);
    return true;
}

/* A dry run, so that a mistake in the last one does not leave the first. */
static bool check(ZdFaultScope scope, const char *text, Error **errp)
{
    g_autofree char *message = NULL;
    ZdFaults scratch;
    bool good;

    zd_faults_init(&scratch, scope, 0);
    good = zd_faults_parse(&scratch, text, &message);
    zd_faults_clear(&scratch);
    if (!good) {
        error_setg(errp, "%s", message);
    }
    return good;
}

bool zd_card_set_faults(ZdCard *card, const char *text, Error **errp)
{
    unsigned i, ssds = card->plan.product->ssds;
    g_autofree char *message = NULL;
    ZdFaultTexts texts;
    bool good;

    good = zd_fault_texts_split(&texts, text, ssds, &message);
    if (!good) {
        error_setg(errp, "%s", message);
    }
    good = good && check(ZD_FAULT_OF_CARD, texts.card->str, errp);
    for (i = 0; good && i < ssds; i++) {
        good = check(ZD_FAULT_OF_SSD, texts.ssd[i]->str, errp);
    }
    good = good && set_bridge_faults(card, texts.card->str, errp);
    for (i = 0; good && i < ssds; i++) {
        good = zd_ssd_set_faults(card->ssd[i], texts.ssd[i]->str, errp);
    }
    zd_fault_texts_free(&texts);
    return good;
}

static void append(GString *s, const char *target, const char *faults)
{
    g_auto(GStrv) parts = g_strsplit(faults, ";", 0);
    unsigned i;

    for (i = 0; parts[i]; i++) {
        g_string_append_printf(s, "%s%s:%s", s->len ? ";" : "", target,
                               parts[i]);
    }
}

static char *get_faults(Object *obj, Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);
    g_autofree char *of_card = NULL;
    GString *s = g_string_new(NULL);
    unsigned i;

    if (!DEVICE(card)->realized) {
        g_string_free(s, true);
        return g_strdup(card->props.faults);
    }
    of_card = zd_faults_format(&card->bridge.faults);
    append(s, "card", of_card);
    for (i = 0; i < card->plan.product->ssds; i++) {
        g_autofree char *name = g_strdup_printf("ssd%u", i);
        g_autofree char *faults = zd_ssd_get_faults(card->ssd[i]);

        append(s, name, faults);
    }
    return g_string_free(s, false);
}

static void set_faults(Object *obj, const char *value, Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);

    if (DEVICE(card)->realized) {
        zd_card_set_faults(card, value, errp);
    } else {
        g_free(card->props.faults);
        card->props.faults = g_strdup(value);
    }
}

/* The sum over all SSDs of what each of them counts, and the bridge's own. */
static void get_stats(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);
    MvBridge *bridge = &card->bridge;
    const char *counter = "";
    unsigned i, n;

    if (!visit_start_struct(v, name, NULL, 0, errp)) {
        return;
    }
    visit_type_uint64(v, "completions", &bridge->completions, &error_abort);
    visit_type_uint64(v, "interrupts", &bridge->interrupts, &error_abort);
    for (n = 0; DEVICE(card)->realized; n++) {
        uint64_t value, sum = 0;

        for (i = 0; i < card->plan.product->ssds; i++) {
            counter = zd_ssd_counter(card->ssd[i], n, &value);
            sum += value;
        }
        if (!counter) {
            break;
        }
        if (n == 0) {
            /* faults of the card itself; those of the SSDs come last */
            value = zd_faults_hits(&bridge->faults);
            visit_type_uint64(v, "card-fault-hits", &value, &error_abort);
        }
        visit_type_uint64(v, counter, &sum, &error_abort);
    }
    if (DEVICE(card)->realized) {
        ZdFlash *flash[ZD_MAX_MEMBERS];

        for (i = 0; i < card->plan.product->ssds; i++) {
            flash[i] = zd_ssd_flash(card->ssd[i]);
        }
        zd_media_visit_stats(v, flash, i);
    }
    visit_end_struct(v, NULL);
}

void zd_card_add_fault_properties(ObjectClass *klass)
{
    object_class_property_add_str(klass, "faults", get_faults, set_faults);
    object_class_property_set_description(klass, "faults",
        "what goes wrong on purpose: ssdN:FAULT or card:FAULT, several with "
        "';' between (docs/faults.rst)");
    object_class_property_add(klass, "stats", "struct", get_stats, NULL, NULL,
                              NULL);
    object_class_property_set_description(klass, "stats",
        "counters of all SSDs together and of the bridge");
}
