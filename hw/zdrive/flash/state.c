/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole state of an SSD, or of what the SSDs of a card share, as one block
 * of bytes: for migration and for the file that keeps it between runs.
 *
 * Little-endian, versioned, with a checksum.  What can be computed is not
 * saved: superblocks' valid bytes and logs, runs and counts of the map all
 * follow from the map entries.  The reader trusts nothing: the file may have
 * been made by anybody.
 */
#include <string.h>

#include "internal.h"

#define STATE_MAGIC     0x5344465a          /* "ZFDS" */
#define CARD_MAGIC      0x4344465a          /* "ZFDC" */
#define STATE_VERSION   1
#define HEADER_BYTES    24                  /* magic, version, size, sum */

/* Four lanes of multiply and rotate: fast, not meant to resist anyone. */
static uint64_t checksum(const uint8_t *data, size_t size)
{
    uint64_t lane[4] = { 1, 2, 3, 4 }, sum = size;

    for (; size >= 32; data += 32, size -= 32) {
        for (unsigned i = 0; i < 4; i++) {
            uint64_t word;

            memcpy(&word, data + i * 8, 8);
            lane[i] = (lane[i] ^ GUINT64_FROM_LE(word)) *
                      0x9fb21c651e98df25ULL;
            lane[i] ^= lane[i] >> 29;
        }
    }
    for (; size; data++, size--) {
        lane[0] = (lane[0] ^ *data) * 0x9fb21c651e98df25ULL;
        lane[0] ^= lane[0] >> 29;
    }
    for (unsigned i = 0; i < 4; i++) {
        sum = (sum ^ lane[i]) * 0xd6e8feb86659fd93ULL;
        sum ^= sum >> 32;
    }
    return sum;
}

/*
 * One description serves both ways: each item is put or got, depending on the
 * direction of the cursor.
 */
typedef struct Cursor {
    GByteArray *out;            /* NULL: reading */
    const uint8_t *at, *end;
    bool bad;
} Cursor;

static void bytes(Cursor *c, void *data, size_t size)
{
    if (c->out) {
        g_byte_array_append(c->out, data, size);
    } else if (c->bad || size > (size_t)(c->end - c->at)) {
        c->bad = true;
    } else {
        memcpy(data, c->at, size);
        c->at += size;
    }
}

static void u32(Cursor *c, uint32_t *v)
{
    uint32_t le = GUINT32_TO_LE(*v);

    bytes(c, &le, sizeof(le));
    if (!c->out && !c->bad) {
        *v = GUINT32_FROM_LE(le);
    }
}

static void u64(Cursor *c, uint64_t *v)
{
    uint64_t le = GUINT64_TO_LE(*v);

    bytes(c, &le, sizeof(le));
    if (!c->out && !c->bad) {
        *v = GUINT64_FROM_LE(le);
    }
}

/* Times: nothing that lies centuries off. */
static void time64(Cursor *c, int64_t *v)
{
    u64(c, (uint64_t *)v);
    if (*v < 0 || *v > INT64_MAX / 4) {
        c->bad = true;
        *v = 0;
    }
}

/* @v must be what the model has already. */
static void same(Cursor *c, uint64_t v)
{
    uint64_t got = v;

    u64(c, &got);
    c->bad |= got != v;
}

static void below(Cursor *c, uint32_t *v, uint32_t limit)
{
    u32(c, v);
    if (*v >= limit) {
        c->bad = true;
        *v = 0;
    }
}

/* Slots in use: those of the ring that lie before the head. */
static void calendar(Cursor *c, ZdCalendar *cal)
{
    uint32_t last = 0;

    time64(c, &cal->head);
    time64(c, &cal->full_from);
    time64(c, &cal->full_to);
    /* pairs of slot and use, ended by one beyond the ring */
    for (uint32_t i = 0; c->out && i < cal->slots; i++) {
        if (cal->used[i].end) {
            uint32_t used = cal->used[i].first << 16 | cal->used[i].end;

            u32(c, &i);
            u32(c, &used);
        }
    }
    if (c->out) {
        last = cal->slots;
        u32(c, &last);
        return;
    }
    memset(cal->used, 0, cal->slots * sizeof(*cal->used));
    while (!c->bad) {
        uint32_t used = 0;

        u32(c, &last);
        if (last >= cal->slots) {
            c->bad |= last > cal->slots;
            break;
        }
        u32(c, &used);
        cal->used[last] = (ZdSlot) { used >> 16, used & 0xffff };
        if (used >> 16 > (used & 0xffff) ||
            (used & 0xffff) > 1u << cal->shift) {
            c->bad = true;
        }
    }
    /* a run of full slots that is none would make a reservation skip far */
    if (cal->full_to > cal->head || cal->full_from > cal->full_to) {
        cal->full_from = cal->full_to = 0;
    }
}

static void unit(Cursor *c, ZdFlash *f, ZdUnit *u)
{
    time64(c, &u->start);
    time64(c, &u->end);
    u64(c, &u->number);
    u32(c, &u->location);
    below(c, &u->bytes, 2 * f->unit_bytes);
    u32(c, &u->count);
}

static void buffer(Cursor *c, ZdFlash *f)
{
    ZdBuffer *b = &f->buffer;
    uint32_t count = b->count;
    uint64_t used = 0;

    u64(c, &b->number);
    for (uint32_t i = 0; i < ZD_PROGRAMS_KEPT; i++) {
        time64(c, &b->time[i].start);
        time64(c, &b->time[i].end);
    }
    below(c, &count, ZD_BUFFER_UNITS);
    if (!c->out) {
        b->first = 0;
    }
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        unit(c, f, zd_buffer_unit(b, i));
        used += zd_buffer_unit(b, i)->bytes;
        if (i && zd_buffer_unit(b, i)->end < zd_buffer_unit(b, i - 1)->end) {
            c->bad = true;
        }
    }
    b->count = count;
    unit(c, f, &b->partial);
    used += b->partial.bytes;
    if (!c->out) {
        b->used = used;
        c->bad |= used > b->capacity + f->unit_bytes;
    }
}

static void stream(Cursor *c, ZdFlash *f, ZdStream *s)
{
    below(c, &s->sb, f->superblocks);
    below(c, &s->unit, f->sb_units + 1);
    below(c, &s->fill, f->unit_bytes);
    if (s->sb && s->unit == f->sb_units) {
        c->bad = true;
    }
}

static void counters(Cursor *c, ZdFlashCounters *n)
{
    /* all that come before what is computed when it is asked for */
    for (size_t at = 0; at < offsetof(ZdFlashCounters, mapped_pages);
         at += sizeof(uint64_t)) {
        u64(c, &G_STRUCT_MEMBER(uint64_t, n, at));
    }
    u64(c, &n->raw_bytes);
}

static void histogram(Cursor *c, ZdFlashHist *h)
{
    uint32_t end = ZD_FLASH_HIST_BUCKETS;

    u64(c, &h->count);
    u64(c, &h->sum);
    u64(c, &h->max);
    if (c->out) {
        for (uint32_t i = 0; i < ZD_FLASH_HIST_BUCKETS; i++) {
            if (h->bucket[i]) {
                u32(c, &i);
                u64(c, &h->bucket[i]);
            }
        }
        u32(c, &end);
        return;
    }
    memset(h->bucket, 0, sizeof(h->bucket));
    for (uint32_t i = 0; !c->bad;) {
        below(c, &i, ZD_FLASH_HIST_BUCKETS + 1);
        if (i == ZD_FLASH_HIST_BUCKETS) {
            break;
        }
        u64(c, &h->bucket[i]);
    }
}

static void superblocks(Cursor *c, ZdFlash *f)
{
    for (uint32_t i = 1; i < f->superblocks; i++) {
        ZdSuperblock *sb = &f->sb[i];
        uint32_t word = sb->erases << 4 | sb->fresh << 3 | sb->state;

        u32(c, &word);
        sb->erases = word >> 4;
        sb->fresh = word >> 3 & 1;
        sb->state = word & 7;
        c->bad |= sb->state > ZD_SB_DEAD;
    }
}

static void map_leaf(Cursor *c, uint32_t *leaf)
{
    bytes(c, leaf, ZD_LEAF_PAGES * sizeof(*leaf));
    for (uint32_t i = 0; G_BYTE_ORDER == G_BIG_ENDIAN && i < ZD_LEAF_PAGES;
         i++) {
        leaf[i] = GUINT32_SWAP_LE_BE(leaf[i]);
    }
}

static void map(Cursor *c, ZdFlash *f)
{
    uint32_t i, end = f->map.leaves;

    if (c->out) {
        for (i = 0; i < f->map.leaves; i++) {
            if (f->map.leaf[i]) {
                u32(c, &i);
                map_leaf(c, f->map.leaf[i]);
            }
        }
        u32(c, &end);
        return;
    }
    while (!c->bad) {
        below(c, &i, f->map.leaves + 1);
        if (c->bad || i == end) {
            break;
        }
        if (!f->map.leaf[i]) {
            zd_map_leaf(&f->map, i);
        }
        map_leaf(c, f->map.leaf[i]);
    }
}

static void everything(Cursor *c, ZdFlash *f)
{
    uint32_t active = f->gc.active;

    same(c, g_str_hash(f->p->name));
    same(c, f->sectors);
    same(c, f->superblocks);
    same(c, f->sb_units);
    same(c, f->unit_bytes);
    time64(c, &f->now);
    time64(c, &f->last_ns);
    time64(c, &f->fe_busy);
    time64(c, &f->data_busy);
    time64(c, &f->store_busy);
    time64(c, &f->life_ns);
    u64(c, &f->next_lba);
    u64(c, &f->random);
    u64(c, &f->collections);
    calendar(c, &f->link);
    for (uint32_t i = 0; i < MAX(f->p->map_cached, 1); i++) {
        below(c, &f->map_cache[i], f->map.leaves + 1);
    }
    for (uint32_t i = 0; i < f->nand.dies; i++) {
        ZdDie *d = &f->nand.die[i];

        time64(c, &d->read_busy);
        time64(c, &d->prog_start);
        time64(c, &d->prog_end);
        time64(c, &d->prog_end_before);
    }
    for (uint32_t i = 0; i < f->nand.channels; i++) {
        calendar(c, &f->nand.channel[i]);
    }
    superblocks(c, f);
    stream(c, f, &f->host);
    stream(c, f, &f->moved);
    buffer(c, f);
    below(c, &f->gc.victim, f->superblocks);
    below(c, &f->gc.next_page, f->pages + 1);
    below(c, &f->gc.valid, f->sb_bytes + ZD_FLASH_PAGE + 1);
    u64(c, &f->gc.host);
    u64(c, &f->gc.moved);
    u64(c, &f->gc.scanned);
    below(c, &active, 2);
    f->gc.active = active;
    counters(c, &f->n);
    histogram(c, &f->latency[0]);
    histogram(c, &f->latency[1]);
    histogram(c, &f->depth);
    map(c, f);
}

/* Around what an SSD or a card has to say: header and checksum. */

static void header_begin(Cursor *c, uint32_t magic)
{
    uint32_t version = STATE_VERSION;
    uint64_t zero = 0;

    u32(c, &magic);
    u32(c, &version);
    u64(c, &zero);
    u64(c, &zero);
}

static uint8_t *header_end(Cursor *c, size_t *size)
{
    uint64_t length = GUINT64_TO_LE((uint64_t)c->out->len);
    uint64_t sum = GUINT64_TO_LE(checksum(c->out->data + HEADER_BYTES,
                                          c->out->len - HEADER_BYTES));

    memcpy(c->out->data + 8, &length, 8);
    memcpy(c->out->data + 16, &sum, 8);
    *size = c->out->len;
    return g_byte_array_free(c->out, FALSE);
}

/* NULL, or why this cannot be read. */
static const char *header_check(Cursor *c, uint32_t magic)
{
    const uint8_t *data = c->at;
    uint32_t got = 0, version = 0;
    uint64_t length = 0, sum = 0;

    u32(c, &got);
    u32(c, &version);
    u64(c, &length);
    u64(c, &sum);
    return c->bad || got != magic ? "this is no state of a flash model" :
           version != STATE_VERSION ? "the state is of another version" :
           length != c->end - data || sum != checksum(c->at, c->end - c->at) ?
           "the state is damaged" : NULL;
}

uint8_t *zd_flash_save(const ZdFlash *flash, size_t *size)
{
    /* a cursor that writes changes nothing */
    ZdFlash *f = (ZdFlash *)flash;
    Cursor c = {
        .out = g_byte_array_sized_new(f->map.touched * 4100ull + (1 << 20)),
    };

    header_begin(&c, STATE_MAGIC);
    everything(&c, f);
    return header_end(&c, size);
}

/* What the superblocks hold, from the map; false when that cannot be. */
static bool rebuild(ZdFlash *f)
{
    g_autofree uint32_t *room = g_new0(uint32_t, f->superblocks);
    g_autofree uint32_t *last = g_new0(uint32_t, f->superblocks);
    uint32_t pages_per_sb = f->sb_units * f->nand.planes;

    f->free = 0;
    for (uint32_t i = 1; i < f->superblocks; i++) {
        ZdSuperblock *sb = &f->sb[i];
        bool open = i == f->host.sb || i == f->moved.sb;

        if (open != (sb->state == ZD_SB_OPEN) ||
            (i == f->gc.victim) != (sb->state == ZD_SB_VICTIM)) {
            return false;
        }
        f->free += sb->state == ZD_SB_FREE;
    }
    if (f->host.sb && f->host.sb == f->moved.sb) {
        return false;
    }
    for (uint32_t leaf = 0; leaf < f->map.leaves; leaf++) {
        for (uint32_t i = 0; f->map.leaf[leaf] && i < ZD_LEAF_PAGES; i++) {
            uint32_t entry = f->map.leaf[leaf][i];
            uint32_t page = leaf << ZD_LEAF_SHIFT | i;
            uint32_t number = zd_entry_sb(entry);
            ZdSuperblock *sb = &f->sb[number];

            if (entry <= ZD_ENTRY_TRIMMED) {
                continue;
            }
            if (page >= f->pages || !number || number >= f->superblocks ||
                zd_entry_page(entry) >= pages_per_sb ||
                sb->state == ZD_SB_FREE || sb->state == ZD_SB_DEAD) {
                return false;
            }
            sb->valid += f->class_bytes[zd_entry_class(entry)];
            sb->live++;
            if (sb->state == ZD_SB_OPEN) {
                ZdStream *s = number == f->host.sb ? &f->host : &f->moved;

                if (s->count == s->room) {
                    s->room = MAX(s->room * 2, 256);
                    s->pages = g_renew(uint32_t, s->pages, s->room);
                }
                s->pages[s->count++] = page;
            } else {
                zd_log_append(&sb->log, &room[number], &last[number], page);
            }
        }
        zd_map_recount(&f->map, leaf);
    }
    for (uint32_t i = 1; i < f->superblocks; i++) {
        if (f->sb[i].valid > f->sb_bytes + ZD_FLASH_PAGE) {
            return false;
        }
        if (f->sb[i].log.data) {
            zd_log_trim(&f->sb[i].log);
            f->log_bytes += f->sb[i].log.bytes;
        }
    }
    return true;
}

static bool refuse(ZdFlash *f, char **error, const char *why)
{
    for (uint32_t i = 1; i < f->superblocks; i++) {
        f->sb[i].state = ZD_SB_FREE;
        f->sb[i].erases = 0;
    }
    zd_ftl_fresh(f);
    zd_flash_settle(f);
    zd_flash_stats_reset(f);
    if (error) {
        *error = g_strdup(why);
    }
    return false;
}

bool zd_flash_load(ZdFlash *f, const uint8_t *data, size_t size, char **error)
{
    Cursor c = { .at = data, .end = data + size };
    uint64_t raw = (uint64_t)(f->superblocks - 1) * f->sb_bytes;
    const char *why;

    refuse(f, NULL, NULL);
    why = header_check(&c, STATE_MAGIC);
    if (why) {
        return refuse(f, error, why);
    }
    everything(&c, f);
    if (c.bad || c.at != c.end) {
        f->n.raw_bytes = raw;
        return refuse(f, error, "the state is of another SSD");
    }
    if (!rebuild(f)) {
        f->n.raw_bytes = raw;
        return refuse(f, error, "the state contradicts itself");
    }
    zd_gc_resume(f);
    return true;
}

static void card_state(Cursor *c, ZdFlashCard *card)
{
    same(c, g_str_hash(card->p->name));
    calendar(c, &card->command);
    calendar(c, &card->data[0]);
    calendar(c, &card->data[1]);
}

uint8_t *zd_flash_card_save(const ZdFlashCard *card, size_t *size)
{
    Cursor c = { .out = g_byte_array_new() };

    header_begin(&c, CARD_MAGIC);
    card_state(&c, (ZdFlashCard *)card);
    return header_end(&c, size);
}

bool zd_flash_card_load(ZdFlashCard *card, const uint8_t *data, size_t size,
                        char **error)
{
    Cursor c = { .at = data, .end = data + size };
    const char *why = header_check(&c, CARD_MAGIC);

    if (!why) {
        card_state(&c, card);
        why = c.bad || c.at != c.end ? "the state is of another card" : NULL;
    }
    if (why) {
        zd_flash_card_settle(card);
        *error = g_strdup(why);
    }
    return !why;
}
