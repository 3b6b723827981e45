/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal of a card: a file with every write, flush and trim that its SSDs
 * accepted, in the order in which they did, and how each ended.  From it
 * "scripts/zdrive crash" works out what a power cut could have left.
 *
 * docs/crash-explorer.rst describes the format.  A journal that cannot be
 * written any more says so once and stops; the guest does not notice.
 */
#ifndef HW_ZDRIVE_JOURNAL_H
#define HW_ZDRIVE_JOURNAL_H

#include "hw/zdrive/media.h"

typedef struct ZdJournal ZdJournal;

/* What the header says about the card. */
typedef struct ZdJournalConfig {
    const char *file;
    const char *model;          /* of the catalogue */
    unsigned ssds;
    uint64_t sectors;           /* of each SSD */
    bool capacitor;             /* what was acknowledged outlives a cut */
} ZdJournalConfig;

/*
 * Begin a journal, in place of one that is in the file.  NULL and *errp if it
 * cannot be made, is somebody's open journal, or holds something else.
 */
ZdJournal *zd_journal_open(const ZdJournalConfig *cfg, Error **errp);
void zd_journal_close(ZdJournal *journal);

/* A name for this moment; false with *errp when it is too long. */
bool zd_journal_mark(ZdJournal *journal, const char *text, Error **errp);

/*
 * From here on the medium is not what the records before have made it: a
 * snapshot or a migration was loaded, or the power was cut.
 */
void zd_journal_loaded(ZdJournal *journal);
void zd_journal_power_cut(ZdJournal *journal);

/*
 * Hooks of the medium; all do nothing without a journal.  The first three are
 * called once the medium has taken the command and before it can end, the data
 * of a write being in req->media.iov; then exactly one of the last two.
 */
void zd_journal_write(ZdMedia *media, ZdRequest *req, uint64_t lba,
                      uint32_t sectors, bool through);
void zd_journal_flush(ZdMedia *media, ZdRequest *req);
void zd_journal_trim(ZdMedia *media, ZdRequest *req, const ZdRange *ranges,
                     unsigned count);
void zd_journal_complete(ZdRequest *req, int ret);
void zd_journal_abort(ZdRequest *req);

#endif
