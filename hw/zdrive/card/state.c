/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The property "state": what the card keeps without power, in a file of the
 * host, from one QEMU to the next.
 *
 * The file is little-endian: the header below, then a migration stream with the
 * card's identity and each SSD's settings, then each SSD's flash model.  The
 * header's sum is of itself and the stream; the blocks of the flash models have
 * sums of their own.  Nothing in it depends on the host or its time.
 *
 * The file says whether the card is under power.  That is so from the moment at
 * which the machine first runs until QEMU ends or the card is unplugged; a file
 * that still says so at the next start is what a crash has left.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/crc32c.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "io/channel-buffer.h"
#include "migration/qemu-file.h"
#include "sysemu/runstate.h"
#include "sysemu/sysemu.h"
#include "hw/zdrive/card/card.h"
#include "hw/zdrive/card/state-file.h"

#define VERSION         1
#define END_OF_STREAM   0x5a44454f
#define MOST_IDENTITY   1024

/* No single wrong bit makes one of these from another. */
enum {
    POWER_OFF       = 0x66464f2d,
    POWER_ON        = 0x216e4f2b,   /* at that time this state was saved */
    POWER_ON_SINCE  = 0x7e6e7353,   /* the state is from before */
};

typedef struct QEMU_PACKED Header {
    char magic[8];
    uint32_t version;
    uint32_t power;             /* written in place, not in the sum */
    uint64_t generation;        /* counts the saves */
    uint64_t length;            /* of the file */
    uint32_t front;             /* of header and stream */
    uint32_t sum;               /* CRC-32C of both */
    uint64_t flash[ZD_MAX_MEMBERS]; /* bytes of each; 0: timing=off */
} Header;

/* Many times what the largest stream takes: 8 SSDs with all host logs. */
#define MOST_FRONT      (16 * MiB)

struct ZdCardState {
    ZdCard *card;
    ZdStateFile file;
    Notifier exit;
    uint64_t generation;
    bool empty;                 /* the file holds no state of this card */
    bool on;                    /* the card is under power; has the file */
    /* flash models of the file that timing=off leaves alone */
    uint8_t *flash[ZD_MAX_MEMBERS];
    uint64_t flash_bytes[ZD_MAX_MEMBERS];
};

static unsigned ssds(const ZdCardState *s)
{
    return s->card->plan.product->ssds;
}

/* Saving */

static uint8_t *make_stream(ZdCardState *s, size_t *len)
{
    QIOChannelBuffer *buffer = qio_channel_buffer_new(64 * KiB);
    QEMUFile *f = qemu_file_new_output(QIO_CHANNEL(buffer));
    g_autofree char *identity = zd_card_describe(s->card);
    uint8_t *stream;

    object_unref(OBJECT(buffer));
    qemu_put_be16(f, strlen(identity));
    qemu_put_buffer(f, (uint8_t *)identity, strlen(identity));
    for (unsigned i = 0; i < ssds(s); i++) {
        vmstate_save_state(f, &zd_vmstate_ssd_kept, s->card->ssd[i], NULL);
    }
    qemu_put_be32(f, END_OF_STREAM);
    /* closing the file empties the buffer */
    qemu_fflush(f);
    *len = buffer->usage;
    stream = g_memdup2(buffer->data, buffer->usage);
    qemu_fclose(f);
    return stream;
}

static uint32_t sum_of(const Header *h, const uint8_t *stream, size_t len)
{
    Header copy = *h;

    copy.power = 0;
    copy.sum = 0;
    return crc32c(crc32c(0xffffffff, (uint8_t *)&copy, sizeof(copy)), stream,
                  len);
}

static bool write_all(int fd, const void *data, size_t len)
{
    return qemu_write_full(fd, data, len) == len;
}

/* One after the other: together they can be gigabytes. */
static bool write_flash(ZdCardState *s, int fd, Header *h)
{
    bool good = true;

    for (unsigned i = 0; i < ssds(s) && good; i++) {
        ZdFlash *flash = zd_ssd_flash(s->card->ssd[i]);
        size_t bytes = s->flash_bytes[i];
        uint8_t *data = flash ? zd_flash_save(flash, &bytes) : s->flash[i];

        good = write_all(fd, data, bytes);
        h->flash[i] = cpu_to_le64(bytes);
        h->length += bytes;
        if (flash) {
            g_free(data);
        }
    }
    return good;
}

static bool write_state(ZdCardState *s, int fd, uint32_t power)
{
    size_t len;
    g_autofree uint8_t *stream = make_stream(s, &len);
    Header h = {
        .version = cpu_to_le32(VERSION),
        .power = cpu_to_le32(power),
        .generation = cpu_to_le64(s->generation + 1),
        .length = sizeof(h) + len,
        .front = cpu_to_le32(sizeof(h) + len),
    };
    bool good;

    memcpy(h.magic, ZD_STATE_MAGIC, sizeof(h.magic));
    good = write_all(fd, &h, sizeof(h)) && write_all(fd, stream, len) &&
           write_flash(s, fd, &h);
    h.length = cpu_to_le64(h.length);
    h.sum = cpu_to_le32(sum_of(&h, stream, len));
    return good && pwrite(fd, &h, sizeof(h), 0) == sizeof(h);
}

static void save(ZdCardState *s, uint32_t power)
{
    Error *err = NULL;
    int fd = zd_state_file_begin(&s->file, &err);
    bool good;

    if (fd >= 0) {
        good = write_state(s, fd, power);
        if (!good) {
            error_setg_errno(&err, errno, "state file '%s' cannot be written; "
                             "it stays as it was: make room for it",
                             s->file.path);
        }
        good = zd_state_file_end(&s->file, fd, good, err ? NULL : &err) && good;
    }
    if (err) {
        error_prepend(&err, "zdrive: ");
        error_report_err(err);
        return;
    }
    s->generation++;
    s->empty = false;
}

/* In place, so that a large state is not written once more at each start. */
static void mark_on(ZdCardState *s)
{
    uint32_t power = cpu_to_le32(POWER_ON_SINCE);

    if (pwrite(s->file.fd, &power, sizeof(power), offsetof(Header, power)) !=
        sizeof(power) || qemu_fdatasync(s->file.fd) < 0) {
        error_report("zdrive: state file '%s' cannot be written: %s; a crash "
                     "of this QEMU will not be noticed", s->file.path,
                     strerror(errno));
    }
}

/* Loading: each returns NULL, or what is wrong with the file. */

static char *read_at(ZdCardState *s, void *data, uint64_t len, uint64_t at)
{
    uint8_t *p = data;

    while (len) {
        ssize_t n = pread(s->file.fd, p, MIN(len, GiB), at);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return g_strdup_printf("cannot be read: %s",
                                   n ? strerror(errno) : "it gets shorter");
        }
        p += n;
        at += n;
        len -= n;
    }
    return NULL;
}

static char *check_header(const Header *h, uint64_t length)
{
    uint32_t version = le32_to_cpu(h->version);
    uint32_t power = le32_to_cpu(h->power);
    uint32_t front = le32_to_cpu(h->front);
    uint64_t rest = front;

    if (length < sizeof(h->magic) ||
        memcmp(h->magic, ZD_STATE_MAGIC, sizeof(h->magic))) {
        return g_strdup("is no state of a card");
    }
    if (length < sizeof(*h)) {
        return g_strdup("is damaged: its end is missing");
    }
    if (version != VERSION) {
        return g_strdup_printf("is of version %u, this zdrive.so knows %u",
                               version, VERSION);
    }
    if (le64_to_cpu(h->length) != length) {
        return g_strdup_printf("is damaged: it has %" PRIu64 " bytes and not %"
                               PRIu64, length, le64_to_cpu(h->length));
    }
    for (unsigned i = 0; i < ZD_MAX_MEMBERS && rest <= length; i++) {
        uint64_t bytes = le64_to_cpu(h->flash[i]);

        rest = bytes <= length ? rest + bytes : UINT64_MAX;
    }
    if (front < sizeof(*h) || front > MOST_FRONT || rest != length ||
        (power != POWER_OFF && power != POWER_ON && power != POWER_ON_SINCE)) {
        return g_strdup("is damaged: its header is wrong");
    }
    return NULL;
}

static char *check_identity(ZdCardState *s, QEMUFile *f)
{
    g_autofree char *here = zd_card_describe(s->card);
    char there[MOST_IDENTITY + 1] = { 0 };
    unsigned len = qemu_get_be16(f);
    g_autofree char *differs = NULL;

    if (len > MOST_IDENTITY ||
        qemu_get_buffer(f, (uint8_t *)there, len) != len) {
        return g_strdup("is damaged: it does not say of what card it is");
    }
    differs = zd_card_differs(here, there);
    return differs ? g_strdup_printf("is of another card: that %s", differs)
                   : NULL;
}

/* Header and stream; the stream is left behind the identity. */
static char *open_stream(ZdCardState *s, Header *h, QEMUFile **f)
{
    QIOChannelBuffer *buffer;
    struct stat st;
    char *wrong;
    size_t len;

    memset(h, 0, sizeof(*h));
    if (fstat(s->file.fd, &st) < 0) {
        return g_strdup_printf("cannot be read: %s", strerror(errno));
    }
    wrong = read_at(s, h, MIN(st.st_size, sizeof(*h)), 0);
    wrong = wrong ?: check_header(h, st.st_size);
    if (wrong) {
        return wrong;
    }
    len = le32_to_cpu(h->front) - sizeof(*h);
    buffer = qio_channel_buffer_new(len);
    buffer->usage = len;
    wrong = read_at(s, buffer->data, len, sizeof(*h));
    if (!wrong && sum_of(h, buffer->data, len) != le32_to_cpu(h->sum)) {
        wrong = g_strdup("is damaged: its checksum is wrong");
    }
    *f = qemu_file_new_input(QIO_CHANNEL(buffer));
    object_unref(OBJECT(buffer));
    return wrong ?: check_identity(s, *f);
}

static char *load_ssds(ZdCardState *s, QEMUFile *f)
{
    for (unsigned i = 0; i < ssds(s); i++) {
        if (vmstate_load_state(f, &zd_vmstate_ssd_kept, s->card->ssd[i],
                               zd_vmstate_ssd_kept.version_id) < 0) {
            return g_strdup_printf("is damaged: SSD %u is in a state that "
                                   "does not exist", i);
        }
    }
    return qemu_get_be32(f) == END_OF_STREAM ? NULL :
           g_strdup("is damaged: it has other contents than it should");
}

static char *load_block(ZdCardState *s, unsigned i, uint8_t *data,
                        uint64_t bytes)
{
    ZdFlash *flash = zd_ssd_flash(s->card->ssd[i]);
    g_autofree char *why = NULL;

    if (!flash) {
        s->flash[i] = data;
        s->flash_bytes[i] = bytes;
        return NULL;
    }
    if (!zd_flash_load(flash, data, bytes, &why)) {
        g_free(data);
        return g_strdup_printf("is damaged: flash of SSD %u: %s", i, why);
    }
    g_free(data);
    zd_flash_settle(flash);
    return NULL;
}

static char *load_flash(ZdCardState *s, const Header *h)
{
    uint64_t at = le32_to_cpu(h->front);
    char *wrong = NULL;

    for (unsigned i = 0; i < ZD_MAX_MEMBERS && !wrong; i++) {
        uint64_t bytes = le64_to_cpu(h->flash[i]);
        uint8_t *data = bytes ? g_try_malloc(bytes) : NULL;

        if (!bytes) {
            continue;
        }
        if (i >= ssds(s)) {
            wrong = g_strdup("is damaged: it has too many SSDs");
        } else if (!data) {
            wrong = g_strdup("is larger than the memory of the host");
        } else {
            wrong = read_at(s, data, bytes, at);
            wrong = wrong ?: load_block(s, i, g_steal_pointer(&data), bytes);
        }
        g_free(data);
        at += bytes;
    }
    return wrong;
}

static void free_flash(ZdCardState *s)
{
    for (unsigned i = 0; i < ZD_MAX_MEMBERS; i++) {
        g_clear_pointer(&s->flash[i], g_free);
        s->flash_bytes[i] = 0;
    }
}

static void power_on(ZdCardState *s, const Header *h)
{
    uint32_t power = le32_to_cpu(h->power);

    for (unsigned i = 0; i < ssds(s); i++) {
        zd_ssd_kept_begin(s->card->ssd[i], s->card->plan.firmware,
                        power != POWER_OFF, power == POWER_ON_SINCE);
    }
    if (s->card->timing && !h->flash[0]) {
        warn_report("zdrive: state file '%s' was written with timing=off and "
                    "has no flash model; wear and map begin as new",
                    s->file.path);
    }
}

static char *load(ZdCardState *s)
{
    QEMUFile *f = NULL;
    Header h;
    char *wrong = open_stream(s, &h, &f);

    wrong = wrong ?: load_ssds(s, f);
    wrong = wrong ?: load_flash(s, &h);
    if (!wrong) {
        s->generation = le64_to_cpu(h.generation);
        power_on(s, &h);
    }
    if (f) {
        qemu_fclose(f);
    }
    return wrong;
}

/* The stream of a migration brings all but what timing=off leaves alone. */
static char *take_over(ZdCardState *s)
{
    QEMUFile *f = NULL;
    Header h;
    char *wrong = open_stream(s, &h, &f);

    if (!wrong && !s->card->timing) {
        wrong = load_flash(s, &h);
    }
    if (!wrong) {
        s->generation = le64_to_cpu(h.generation);
    }
    if (f) {
        qemu_fclose(f);
    }
    return wrong;
}

static bool set_aside(ZdCardState *s, const char *wrong, const char *instead,
                      Error **errp)
{
    g_autofree char *to = zd_state_file_set_aside(&s->file, errp);

    free_flash(s);
    if (!to) {
        error_prepend(errp, "state file '%s' %s; ", s->file.path, wrong);
        return false;
    }
    warn_report("zdrive: state file '%s' %s; it is now '%s' and the card %s: "
                "delete that file, or use it with the card that it is of",
                s->file.path, wrong, to, instead);
    return true;
}

/*
 * Open the file and let @read have it.  A file that is of no use gets out of
 * the way, and *@damaged says so.
 */
static bool open_file(ZdCardState *s, char *(*read)(ZdCardState *s),
                      bool *damaged, Error **errp)
{
    g_autofree char *wrong = NULL;
    struct stat st;

    *damaged = false;
    if (!zd_state_file_open(&s->file, errp)) {
        return false;
    }
    s->empty = fstat(s->file.fd, &st) == 0 && st.st_size == 0;
    wrong = s->empty ? NULL : read(s);
    if (wrong) {
        *damaged = true;
        s->empty = true;
        if (!set_aside(s, wrong, read == load ? "starts as new" :
                       "goes on with what came by migration", errp)) {
            zd_state_file_close(&s->file);
            return false;
        }
    }
    return true;
}

/* The life of a card */

static void power_off(ZdCardState *s)
{
    if (s->on) {
        for (unsigned i = 0; i < ssds(s); i++) {
            zd_ssd_kept_end(s->card->ssd[i]);
        }
        save(s, POWER_OFF);
        s->on = false;
    }
    zd_state_file_close(&s->file);
}

static void qemu_ends(Notifier *n, void *data)
{
    power_off(container_of(n, ZdCardState, exit));
}

bool zd_card_open_state(ZdCard *card, bool *as_new, Error **errp)
{
    ZdCardState *s;

    *as_new = false;
    if (!card->props.state) {
        return true;
    }
    s = g_new0(ZdCardState, 1);
    s->card = card;
    s->exit.notify = qemu_ends;
    card->state = s;
    qemu_add_exit_notifier(&s->exit);
    /* the source of a migration still has the file */
    if (!zd_state_file_init(&s->file, card->props.state, errp) ||
        (!runstate_check(RUN_STATE_INMIGRATE) &&
         !open_file(s, load, as_new, errp))) {
        zd_card_close_state(card);
        return false;
    }
    return true;
}

void zd_card_close_state(ZdCard *card)
{
    ZdCardState *s = card->state;

    if (s) {
        power_off(s);
        qemu_remove_exit_notifier(&s->exit);
        free_flash(s);
        g_free(s->file.path);
        g_free(s);
        card->state = NULL;
    }
}

void zd_card_save_state(ZdCard *card)
{
    if (card->state && card->state->on) {
        save(card->state, card->power.off ? POWER_OFF : POWER_ON);
    }
}

void zd_card_run_state(ZdCard *card)
{
    ZdCardState *s = card->state;
    Error *err = NULL;
    bool damaged;

    if (!s || s->on) {
        return;
    }
    if (s->file.fd >= 0 && !s->empty) {
        s->on = true;
        mark_on(s);
        return;
    }
    if (s->file.fd < 0 && !open_file(s, take_over, &damaged, &err)) {
        error_prepend(&err, "zdrive: this card goes on without: ");
        error_report_err(err);
        return;
    }
    s->on = true;
    save(s, POWER_ON);
}

void zd_card_stop_state(ZdCard *card, RunState why)
{
    switch (why) {
    case RUN_STATE_SAVE_VM:
    case RUN_STATE_RESTORE_VM:
        /* the snapshot is what counts */
    case RUN_STATE_FINISH_MIGRATE:
        /* see zd_card_leave_state() */
        break;
    default:
        zd_card_save_state(card);
    }
}

void zd_card_leave_state(ZdCard *card)
{
    if (card->state && runstate_check(RUN_STATE_FINISH_MIGRATE)) {
        zd_card_save_state(card);
        card->state->on = false;
        zd_state_file_close(&card->state->file);
    }
}

bool zd_card_enter_state(ZdCard *card, Error **errp)
{
    ZdCardState *s = card->state;

    if (s && s->file.fd < 0) {
        if (!zd_state_file_open(&s->file, errp)) {
            return false;
        }
        zd_state_file_close(&s->file);
    }
    return true;
}
