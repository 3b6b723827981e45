/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the journal of a card: a header, then one record per event.
 *
 * A record goes to the file with one write() when its event happens, so that a
 * QEMU that is killed leaves whole records but for the last one.  Nothing in
 * it depends on the host: no time, no order but that of the events.
 */
#include "qemu/osdep.h"
#include <sys/file.h>
#include <zlib.h>
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "hw/zdrive/journal.h"

#define MAGIC           "ZDJOURNL"
#define MAGIC_BYTES     8
#define VERSION         1
#define HEADER_BYTES    128
#define PAGE_BYTES      4096        /* of the SSD's map */

/* Offsets in the header. */
enum {
    H_VERSION = 8,
    H_BYTES = 12,
    H_FLAGS = 16,
    H_SSDS = 20,
    H_SECTORS = 24,
    H_CHUNK = 32,
    H_PAGE = 36,
    H_MODEL = 40,                   /* 32 bytes */
    H_CRC = 124,                    /* of all before it */
};

#define FLAG_CAPACITOR  1

/* Offsets in a record. */
enum {
    R_BYTES = 0,                    /* of the whole record */
    R_CRC = 4,                      /* of all behind it */
    R_TYPE = 8,
    R_FLAGS = 9,
    R_SSD = 10,
    R_COUNT = 12,                   /* sectors, ranges, or how it ended */
    R_ID = 16,                      /* of the command, from 1 */
    R_LBA = 24,
    R_DATA = 32,
};

enum {
    TYPE_WRITE = 1,
    TYPE_FLUSH = 2,
    TYPE_TRIM = 3,
    TYPE_END = 4,
    TYPE_MARK = 5,
    TYPE_LOADED = 6,
    TYPE_CUT = 7,
};

#define FLAG_THROUGH    1

enum {
    END_GOOD = 0,
    END_ERROR = 1,
    END_ABORTED = 2,
};

#define RANGE_BYTES     16
#define MOST_MARK       4096
/* A buffer that is larger than this is not kept for the next record. */
#define KEPT_BYTES      (1024 * 1024)

struct ZdJournal {
    char *file;
    int fd;                         /* -1: stopped */
    uint64_t end;                   /* of the last whole record */
    uint64_t last_id;
    uint8_t *buf;
    size_t buf_bytes;
};

/* The file */

static void journal_stop(ZdJournal *journal, const char *reason)
{
    error_report("zdrive: journal %s: %s: recording has ended after %" PRIu64
                 " bytes, the guest goes on: make room and start it again",
                 journal->file, reason, journal->end);
    /* no half record; what was written before stays of use */
    if (ftruncate(journal->fd, journal->end) < 0) {
        warn_report("zdrive: journal %s ends with half a record",
                    journal->file);
    }
    close(journal->fd);
    journal->fd = -1;
}

static void journal_append(ZdJournal *journal, const void *buf, size_t len)
{
    if (qemu_write_full(journal->fd, buf, len) == len) {
        journal->end += len;
    } else {
        journal_stop(journal, strerror(errno));
    }
}

static bool is_locked(int ret)
{
    return ret == -EAGAIN || ret == -EACCES;
}

/* Refuse what somebody may have named by mistake. */
static bool check_file(int fd, const char *file, Error **errp)
{
    char magic[MAGIC_BYTES];
    struct stat st;
    ssize_t len;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        error_setg(errp, "journal %s is not a regular file: give another name",
                   file);
        return false;
    }
    /* one among journals, one that state files and images know too */
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 ||
        (qemu_has_ofd_lock() && is_locked(qemu_lock_fd(fd, 0, 0, true)))) {
        error_setg(errp, "journal %s is in use: give each card its own", file);
        return false;
    }
    len = pread(fd, magic, sizeof(magic), 0);
    if (len != 0 && (len < (ssize_t)sizeof(magic) ||
                     memcmp(magic, MAGIC, sizeof(magic)))) {
        error_setg(errp, "journal %s holds something that is no journal: give "
                   "another name, or remove it", file);
        return false;
    }
    if (ftruncate(fd, 0) < 0) {
        error_setg_errno(errp, errno, "journal %s cannot be emptied", file);
        return false;
    }
    return true;
}

static bool is_removed(const ZdJournal *journal)
{
    struct stat st;

    return fstat(journal->fd, &st) == 0 && !st.st_nlink;
}

ZdJournal *zd_journal_open(const ZdJournalConfig *cfg, Error **errp)
{
    uint8_t header[HEADER_BYTES] = MAGIC;
    int fd = qemu_open_old(cfg->file, O_RDWR | O_CREAT | O_NONBLOCK, 0666);
    ZdJournal *journal;

    if (fd < 0) {
        error_setg_errno(errp, errno, "journal '%s' cannot be opened; make it "
                         "and its folder writable, or give another name",
                         cfg->file);
        return NULL;
    }
    if (!check_file(fd, cfg->file, errp)) {
        close(fd);
        return NULL;
    }
    stl_le_p(header + H_VERSION, VERSION);
    stl_le_p(header + H_BYTES, HEADER_BYTES);
    stl_le_p(header + H_FLAGS, cfg->capacitor ? FLAG_CAPACITOR : 0);
    stl_le_p(header + H_SSDS, cfg->ssds);
    stq_le_p(header + H_SECTORS, cfg->sectors);
    stl_le_p(header + H_CHUNK, ZD_CHUNK_BYTES);
    stl_le_p(header + H_PAGE, PAGE_BYTES);
    g_strlcpy((char *)header + H_MODEL, cfg->model, 32);
    stl_le_p(header + H_CRC, crc32(0, header, H_CRC));

    if (qemu_write_full(fd, header, sizeof(header)) != sizeof(header)) {
        error_setg_errno(errp, errno, "journal %s cannot be written: make "
                         "room, or give another name", cfg->file);
        close(fd);
        return NULL;
    }

    journal = g_new0(ZdJournal, 1);
    journal->file = g_strdup(cfg->file);
    journal->fd = fd;
    journal->end = sizeof(header);
    return journal;
}

void zd_journal_close(ZdJournal *journal)
{
    if (!journal) {
        return;
    }
    if (journal->fd >= 0) {
        if (is_removed(journal)) {
            warn_report("zdrive: journal %s was removed while it was in use: "
                        "the recording is lost", journal->file);
        }
        close(journal->fd);
    }
    g_free(journal->buf);
    g_free(journal->file);
    g_free(journal);
}

/* Records */

/* Room for the record, its fields all zero; NULL when nobody records. */
static uint8_t *record_begin(ZdJournal *journal, uint8_t type, size_t data)
{
    size_t bytes = R_DATA + data;

    if (!journal || journal->fd < 0) {
        return NULL;
    }
    if (bytes > journal->buf_bytes) {
        g_free(journal->buf);
        journal->buf = g_try_malloc(bytes);
        journal->buf_bytes = journal->buf ? bytes : 0;
        if (!journal->buf) {
            journal_stop(journal, "no memory");
            return NULL;
        }
    }
    memset(journal->buf, 0, R_DATA);
    stl_le_p(journal->buf + R_BYTES, bytes);
    journal->buf[R_TYPE] = type;
    return journal->buf;
}

static void record_end(ZdJournal *journal)
{
    uint32_t bytes = ldl_le_p(journal->buf + R_BYTES);

    stl_le_p(journal->buf + R_CRC, crc32(0, journal->buf + R_TYPE,
                                         bytes - R_TYPE));
    journal_append(journal, journal->buf, bytes);
    if (journal->buf_bytes > KEPT_BYTES) {
        g_free(journal->buf);
        journal->buf = NULL;
        journal->buf_bytes = 0;
    }
}

/* A command begins: what all of these have in common. */
static uint8_t *command_begin(ZdMedia *media, ZdRequest *req, uint8_t type,
                              size_t data)
{
    ZdJournal *journal = media->journal;
    uint8_t *record = record_begin(journal, type, data);

    if (record) {
        req->media.journal_id = ++journal->last_id;
        record[R_SSD] = media->member;
        stq_le_p(record + R_ID, journal->last_id);
    }
    return record;
}

static void command_end(ZdRequest *req, uint32_t how)
{
    ZdMedia *media = req->media.media;
    uint64_t id = req->media.journal_id;
    uint8_t *record;

    req->media.journal_id = 0;
    record = id ? record_begin(media->journal, TYPE_END, 0) : NULL;
    if (record) {
        record[R_SSD] = media->member;
        stl_le_p(record + R_COUNT, how);
        stq_le_p(record + R_ID, id);
        record_end(media->journal);
    }
}

void zd_journal_write(ZdMedia *media, ZdRequest *req, uint64_t lba,
                      uint32_t sectors, bool through)
{
    size_t bytes = (size_t)sectors * ZD_SECTOR_SIZE;
    uint8_t *record = command_begin(media, req, TYPE_WRITE, bytes);

    if (record) {
        record[R_FLAGS] = through ? FLAG_THROUGH : 0;
        stl_le_p(record + R_COUNT, sectors);
        stq_le_p(record + R_LBA, lba);
        iov_to_buf(req->media.iov.iov, req->media.iov.niov, 0,
                   record + R_DATA, bytes);
        record_end(media->journal);
    }
}

void zd_journal_flush(ZdMedia *media, ZdRequest *req)
{
    if (command_begin(media, req, TYPE_FLUSH, 0)) {
        record_end(media->journal);
    }
}

void zd_journal_trim(ZdMedia *media, ZdRequest *req, const ZdRange *ranges,
                     unsigned count)
{
    uint8_t *record = command_begin(media, req, TYPE_TRIM,
                                    (size_t)count * RANGE_BYTES);
    unsigned i;

    if (record) {
        stl_le_p(record + R_COUNT, count);
        for (i = 0; i < count; i++) {
            uint8_t *range = record + R_DATA + i * RANGE_BYTES;

            stq_le_p(range, ranges[i].lba);
            stq_le_p(range + 8, ranges[i].sectors);
        }
        record_end(media->journal);
    }
}

void zd_journal_complete(ZdRequest *req, int ret)
{
    command_end(req, ret < 0 ? END_ERROR : END_GOOD);
}

void zd_journal_abort(ZdRequest *req)
{
    command_end(req, END_ABORTED);
}

bool zd_journal_mark(ZdJournal *journal, const char *text, Error **errp)
{
    size_t len = strlen(text);
    uint8_t *record;

    if (len > MOST_MARK) {
        error_setg(errp, "a mark has up to %d bytes, not %zu", MOST_MARK, len);
        return false;
    }
    record = record_begin(journal, TYPE_MARK, len);
    if (record) {
        memcpy(record + R_DATA, text, len);
        record_end(journal);
    }
    if (journal->fd < 0) {
        error_setg(errp, "journal %s: the recording has ended, there is no "
                   "room for a mark: make room and start it again",
                   journal->file);
        return false;
    }
    if (is_removed(journal)) {
        error_setg(errp, "journal %s was removed while it was in use: start "
                   "it again", journal->file);
        return false;
    }
    return true;
}

void zd_journal_loaded(ZdJournal *journal)
{
    if (record_begin(journal, TYPE_LOADED, 0)) {
        record_end(journal);
    }
}

void zd_journal_power_cut(ZdJournal *journal)
{
    if (record_begin(journal, TYPE_CUT, 0)) {
        record_end(journal);
    }
}
