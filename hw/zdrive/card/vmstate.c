/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose state a stream holds.  What a card is comes from its properties and is
 * not in the stream; a card that is told to go on as another one says so in
 * words before it loads anything.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/qemu-file-types.h"
#include "hw/zdrive/card/card.h"

#define MOST_BYTES  1024

static const char *data_place(const ZdCard *card)
{
    return card->props.drive ? "one drive" :
           card->props.member[0] ? "a drive per SSD" : "memory";
}

char *zd_card_describe(const ZdCard *card)
{
    const ZdCardPlan *plan = &card->plan;

    return g_strdup_printf("model %s\n%" PRIu64 " bytes per SSD\n"
                           "serial number %s\nworld wide name 0x%" PRIx64,
                           plan->product->model, plan->member_bytes,
                           plan->serial[0], plan->wwn[0]);
}

/* One line per thing that has to be the same on both sides. */
static char *describe(const ZdCard *card)
{
    g_autofree char *same = zd_card_describe(card);

    return g_strdup_printf("%s\nits data in %s\nfirmware %s\ntiming=%s",
                           same, data_place(card), card->plan.firmware,
                           card->plan.timed ? "model" : "off");
}

char *zd_card_differs(const char *here, const char *there)
{
    g_auto(GStrv) want = g_strsplit(here, "\n", -1);
    g_auto(GStrv) got = g_strsplit(there, "\n", -1);
    unsigned i;

    for (i = 0; want[i] && got[i]; i++) {
        if (strcmp(want[i], got[i])) {
            return g_strdup_printf("has %s, this one has %s", got[i], want[i]);
        }
    }
    return !want[i] && !got[i] ? NULL :
           g_strdup("has another number of properties than this one");
}

static int put_identity(QEMUFile *f, void *pv, size_t size,
                        const VMStateField *field, JSONWriter *vmdesc)
{
    g_autofree char *text = describe(pv);

    qemu_put_be16(f, strlen(text));
    qemu_put_buffer(f, (uint8_t *)text, strlen(text));
    return 0;
}

static int get_identity(QEMUFile *f, void *pv, size_t size,
                        const VMStateField *field)
{
    g_autofree char *here = describe(pv);
    char there[MOST_BYTES + 1] = { 0 };
    unsigned len = qemu_get_be16(f);
    g_autofree char *differs = NULL;

    if (len > MOST_BYTES ||
        qemu_get_buffer(f, (uint8_t *)there, len) != len) {
        error_report("zdrive: the stream does not say what card it is of");
        return -EINVAL;
    }
    differs = zd_card_differs(here, there);
    if (differs) {
        error_report("zdrive: the card in the stream %s; give both the same "
                     "properties", differs);
        return -EINVAL;
    }
    return 0;
}

const VMStateInfo zd_card_identity = {
    .name = "zdrive-identity",
    .get = get_identity,
    .put = put_identity,
};
