/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user sees and sets of the power rail: QOM properties of the card; and
 * the rail in a migration stream.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "qapi/qmp/qjson.h"
#include "qapi/qmp/qobject.h"
#include "qapi/visitor.h"
#include "hw/zdrive/card/card.h"
#include "hw/zdrive/text.h"

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static unsigned ssds(const ZdCard *card)
{
    return card->plan.product->ssds;
}

/* Properties */

static void set_power(Object *obj, const char *value, Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);
    ZdPower *power = &card->power;
    bool on = !strcmp(value, "on");

    if (!on && strcmp(value, "off")) {
        error_setg(errp, "power '%s' is unknown; it is one of: on off", value);
    } else if (!DEVICE(card)->realized) {
        error_setg(errp, "power is switched when the card is there");
    } else if (on && power->off) {
        zd_card_restore_power(card);
    } else if (!on && !power->off) {
        timer_del(power->timer);
        power->stage = ZD_POWER_STAGE_NONE;
        zd_card_cut_power(card, "user", NULL);
    }
}

static char *get_power(Object *obj, Error **errp)
{
    return g_strdup(ZDRIVE_R4(obj)->power.off ? "off" : "on");
}

static void set_power_cut(Object *obj, const char *value, Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);

    if (DEVICE(card)->realized) {
        zd_card_set_cuts(card, value, errp);
    } else {
        g_free(card->props.power_cut);
        card->props.power_cut = g_strdup(value);
    }
}

static char *get_power_cut(Object *obj, Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);

    return DEVICE(card)->realized ? zd_cuts_format(&card->power.cuts) :
                                    g_strdup(card->props.power_cut);
}

static void set_loss(Object *obj, const char *value, Error **errp)
{
    unsigned loss;

    if (zd_text_choice(value, ZD_LOSS_CHOICES, &loss)) {
        ZDRIVE_R4(obj)->power.loss = loss;
    } else {
        error_setg(errp, "power-loss '%s' is unknown; it is one of: %s", value,
                   ZD_LOSS_CHOICES);
    }
}

static char *get_loss(Object *obj, Error **errp)
{
    g_auto(GStrv) names = g_strsplit(ZD_LOSS_CHOICES, " ", 0);

    return g_strdup(names[ZDRIVE_R4(obj)->power.loss]);
}

static void set_health(Object *obj, Visitor *v, const char *name, void *opaque,
                       Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);
    uint8_t health;

    if (!visit_type_uint8(v, name, &health, errp)) {
        return;
    }
    if (health > 100) {
        error_setg(errp, "supercap-health is 0 to 100 percent");
        return;
    }
    card->power.health = health;
    for (unsigned i = 0; DEVICE(card)->realized && i < ssds(card); i++) {
        zd_ssd_set_capacitor(card->ssd[i], health);
    }
}

static void get_health(Object *obj, Visitor *v, const char *name, void *opaque,
                       Error **errp)
{
    visit_type_uint8(v, name, &ZDRIVE_R4(obj)->power.health, errp);
}

static void get_last_cut(Object *obj, Visitor *v, const char *name,
                         void *opaque, Error **errp)
{
    const char *report = ZDRIVE_R4(obj)->power.report;
    QObject *value = qobject_from_json(report ?: "{}", &error_abort);

    visit_type_any(v, name, &value, errp);
    qobject_unref(value);
}

void zd_card_add_power_properties(ObjectClass *klass)
{
    object_class_property_add_str(klass, "power", get_power, set_power);
    object_class_property_set_description(klass, "power",
        "on, or off to cut the power of the card");
    object_class_property_add_str(klass, "power-cut", get_power_cut,
                                  set_power_cut);
    object_class_property_set_description(klass, "power-cut",
        "when the power is cut by itself: TRIGGER[,KEY=VALUE...], several "
        "with ';' between (docs/power.rst)");
    object_class_property_add_str(klass, "power-loss", get_loss, set_loss);
    object_class_property_set_description(klass, "power-loss",
        "what a power cut does to data that is not safe: random, none, all or "
        "adversarial (default random)");
    object_class_property_add(klass, "supercap-health", "uint8", get_health,
                              set_health, NULL, NULL);
    object_class_property_set_description(klass, "supercap-health",
        "charge of the capacitors of an RM card, 0 to 100 percent "
        "(default 100)");
    object_class_property_add(klass, "last-cut", "any", get_last_cut, NULL,
                              NULL, NULL);
    object_class_property_set_description(klass, "last-cut",
        "what the last power cut found under way and what it took");
}

/* Migration: cuts travel as their text, with what has been counted. */

static int power_pre_save(void *opaque)
{
    ZdPower *power = opaque;
    ZdCuts fired = { .count = power->stage != ZD_POWER_STAGE_NONE };

    for (unsigned i = 0; i < power->cuts.count; i++) {
        if (power->cuts.list[i].trigger == ZD_CUT_TIME) {
            power->cuts.list[i].seen = now_ns() - power->armed_ns;
        }
    }
    fired.list[0] = power->fired;
    for (unsigned i = 0; i < ARRAY_SIZE(power->text); i++) {
        g_free(power->text[i]);
    }
    power->text[0] = zd_cuts_format(&power->cuts);
    power->text[1] = zd_cuts_format(&fired);
    power->text[2] = g_strdup(power->report ?: "");
    for (unsigned i = 0; i < ARRAY_SIZE(power->text); i++) {
        power->text_len[i] = strlen(power->text[i]) + 1;
    }
    return 0;
}

static int power_pre_load(void *opaque)
{
    ZdPower *power = opaque;

    /* the texts that are loaded take the place of these */
    for (unsigned i = 0; i < ARRAY_SIZE(power->text); i++) {
        g_clear_pointer(&power->text[i], g_free);
    }
    return 0;
}

/* What is not made by describe_cut() cannot be shown either. */
static bool is_report(const char *text)
{
    QObject *value = *text ? qobject_from_json(text, NULL) : NULL;
    bool good = !*text || (value && qobject_type(value) == QTYPE_QDICT);

    qobject_unref(value);
    return good;
}

static int power_post_load(void *opaque, int version_id)
{
    ZdPower *power = opaque;
    ZdCard *card = container_of(power, ZdCard, power);
    g_autofree char *message = NULL;
    ZdCuts fired;

    for (unsigned i = 0; i < ARRAY_SIZE(power->text); i++) {
        if (!power->text_len[i] ||
            power->text[i][power->text_len[i] - 1]) {
            error_report("zdrive: the stream holds a power cut without end");
            return -EINVAL;
        }
    }
    if (!zd_cuts_parse(&power->cuts, power->text[0], ssds(card), &message) ||
        !zd_cuts_parse(&fired, power->text[1], ssds(card), &message)) {
        error_report("zdrive: the stream has a power cut that is unknown "
                     "here: %s", message);
        return -EINVAL;
    }
    power->fired = fired.list[0];
    if (power->loss > ZD_LOSS_ADVERSARIAL || power->health > 100 ||
        power->stage > ZD_POWER_STAGE_OFF || (power->stage && !fired.count) ||
        !is_report(power->text[2])) {
        error_report("zdrive: the stream holds a power rail in a state that "
                     "does not exist");
        return -EINVAL;
    }
    g_free(power->report);
    power->report = *power->text[2] ? g_strdup(power->text[2]) : NULL;
    return 0;
}

const VMStateDescription zd_vmstate_power = {
    .name = "zdrive/power",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = power_pre_save,
    .pre_load = power_pre_load,
    .post_load = power_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(off, ZdPower),
        VMSTATE_UINT8(loss, ZdPower),
        VMSTATE_UINT8(health, ZdPower),
        VMSTATE_UINT8(stage, ZdPower),
        VMSTATE_INT64(armed_ns, ZdPower),
        VMSTATE_TIMER_PTR(timer, ZdPower),
        VMSTATE_UINT32(text_len[0], ZdPower),
        VMSTATE_VBUFFER_ALLOC_UINT32(text[0], ZdPower, 1, NULL, text_len[0]),
        VMSTATE_UINT32(text_len[1], ZdPower),
        VMSTATE_VBUFFER_ALLOC_UINT32(text[1], ZdPower, 1, NULL, text_len[1]),
        VMSTATE_UINT32(text_len[2], ZdPower),
        VMSTATE_VBUFFER_ALLOC_UINT32(text[2], ZdPower, 1, NULL, text_len[2]),
        VMSTATE_END_OF_LIST()
    },
};
