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

/* One line per thing that has to be the same on both sides. */
static char *describe(const ZdCard *card)
{
    const ZdCardPlan *plan = &card->plan;

    return g_strdup_printf("model %s\n%" PRIu64 " bytes per SSD\n"
                           "its data in %s\nserial number %s\n"
                           "world wide name 0x%" PRIx64 "\nfirmware %s\n"
                           "timing=%s",
                           plan->product->model, plan->member_bytes,
                           data_place(card), plan->serial[0], plan->wwn[0],
                           plan->firmware, plan->timed ? "model" : "off");
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
    g_auto(GStrv) want = g_strsplit(here, "\n", -1);
    g_auto(GStrv) got = NULL;
    unsigned i;

    if (len > MOST_BYTES ||
        qemu_get_buffer(f, (uint8_t *)there, len) != len) {
        error_report("zdrive: the stream does not say what card it is of");
        return -EINVAL;
    }
    got = g_strsplit(there, "\n", -1);
    for (i = 0; want[i] && got[i]; i++) {
        if (strcmp(want[i], got[i])) {
            error_report("zdrive: the card in the stream has %s, this one has "
                         "%s; give both the same properties", got[i], want[i]);
            return -EINVAL;
        }
    }
    return 0;
}

const VMStateInfo zd_card_identity = {
    .name = "zdrive-identity",
    .get = get_identity,
    .put = put_identity,
};
