/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card's journal as a user sees it: the property "journal" names its file,
 * and at run time "mark" gives a moment in it a name.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/zdrive/card/card.h"
#include "hw/zdrive/journal.h"

bool zd_card_open_journal(ZdCard *card, Error **errp)
{
    const ZdProduct *product = card->plan.product;
    ZdJournalConfig cfg = {
        .file = card->props.journal,
        .model = product->model,
        .ssds = product->ssds,
        .sectors = card->plan.member_bytes / ZD_SECTOR_SIZE,
        /* enough of a charge for all that the write buffers can hold */
        .capacitor = product->profile->supercap &&
                     card->power.health * ZD_CAPACITOR_RESERVE >= 100 * 100,
    };

    if (!cfg.file) {
        return true;
    }
    card->journal = zd_journal_open(&cfg, errp);
    return card->journal != NULL;
}

void zd_card_close_journal(ZdCard *card)
{
    zd_journal_close(card->journal);
    card->journal = NULL;
}

static void set_mark(Object *obj, const char *value, Error **errp)
{
    ZdCard *card = ZDRIVE_R4(obj);

    if (!DEVICE(card)->realized) {
        error_setg(errp, "a mark is set when the card is there");
        return;
    }
    if (!card->journal) {
        error_setg(errp, "a mark goes to the card's journal, and it has none: "
                   "start it with journal=FILE");
        return;
    }
    zd_journal_mark(card->journal, value, errp);
}

void zd_card_add_journal_properties(ObjectClass *klass)
{
    object_class_property_add_str(klass, "mark", NULL, set_mark);
    object_class_property_set_description(klass, "mark",
        "gives this moment a name in the journal (at run time)");
}
