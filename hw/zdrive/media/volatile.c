/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a power cut can take back.
 *
 * Data goes to the image as soon as the host sends it, so that what is outside
 * of the card (a backup job, a copy of the file, another QEMU) never sees less
 * than the guest does.  What stood there before is kept here until the real
 * SSD would have the new data safe: in NAND, with the map that says where.  A
 * cut then puts back what the rules of cut.c say is lost.
 *
 * Writes are kept in the order in which they came and leave in that order:
 *  - by a FLUSH that has succeeded, all that came before it;
 *  - a write that went through (FUA, or the write cache is off), with its end;
 *  - by time, when its programs have ended and the map's journal is written,
 *    which happens with every ZD_JOURNAL_PROGRAMS programs.
 *
 * Memory is bounded, and so is the work of a cut: where there is more than
 * ZD_VOLATILE_BYTES to keep, the oldest counts as safe.  That goes for a trim,
 * too, and for a write whose command has not ended.
 */
#include "qemu/osdep.h"
#include "internal.h"

/* A look at what has become safe, with each so many writes. */
#define PRUNE_EVERY             16

#define PAGE_SECTORS            (ZD_FLASH_PAGE / ZD_SECTOR_SIZE)

/* A cut looks at each page, also at those of a trim. */
uint64_t zd_write_bytes(const ZdWrite *w)
{
    return sizeof(*w) + zd_write_pages(w) * sizeof(uint64_t) +
           (w->old ? (uint64_t)w->sectors * ZD_SECTOR_SIZE : 0);
}

static void write_free(ZdVolatile *v, ZdWrite *w)
{
    QTAILQ_REMOVE(&v->writes, w, next);
    v->bytes -= zd_write_bytes(w);
    g_free(w->old);
    g_free(w->programs);
    g_free(w);
}

void zd_volatile_init(ZdVolatile *v)
{
    *v = (ZdVolatile) {
        .bad = g_hash_table_new(NULL, NULL),
    };
    QTAILQ_INIT(&v->writes);
}

void zd_volatile_settle(ZdVolatile *v)
{
    zd_volatile_flushed(v, v->seq);
}

void zd_volatile_clear(ZdVolatile *v)
{
    zd_volatile_settle(v);
    g_hash_table_remove_all(v->bad);
}

void zd_volatile_drop(ZdVolatile *v)
{
    ZdWrite *w;

    while ((w = QTAILQ_FIRST(&v->writes)) != NULL) {
        write_free(v, w);
    }
    g_hash_table_remove_all(v->bad);
}

void zd_volatile_cleanup(ZdVolatile *v)
{
    zd_volatile_drop(v);
    g_hash_table_unref(v->bad);
}

/* The first program whose place in the map is not in the journal yet. */
uint64_t zd_volatile_journaled(const ZdFlash *flash, int64_t now)
{
    return QEMU_ALIGN_DOWN(zd_flash_first_unstable(flash, now),
                           ZD_JOURNAL_PROGRAMS);
}

uint32_t zd_write_pages(const ZdWrite *w)
{
    return (w->lba % PAGE_SECTORS + w->sectors + PAGE_SECTORS - 1) /
           PAGE_SECTORS;
}

/* The command of @w has not ended: what it covers will not come back. */
static void write_give_up(ZdVolatile *v, ZdWrite *w)
{
    w->durable = true;
    if (w->old && !w->writing) {
        zd_volatile_forget_old(v, w);
    }
}

/* Make room for @bytes more where there is none. */
static void volatile_prune(ZdVolatile *v, const ZdFlash *flash, int64_t now,
                           uint64_t bytes)
{
    uint64_t journaled = zd_volatile_journaled(flash, now);
    ZdWrite *w, *tmp;

    QTAILQ_FOREACH_SAFE(w, &v->writes, next, tmp) {
        bool full = v->bytes + bytes > ZD_VOLATILE_BYTES;

        if (w->open && (full || w->durable)) {
            write_give_up(v, w);
        } else if (!w->open &&
                   (full || w->durable ||
                    w->programs[zd_write_pages(w) - 1] < journaled)) {
            write_free(v, w);
        } else {
            break;
        }
    }
}

static void volatile_append(ZdVolatile *v, const ZdFlash *flash, int64_t now,
                            ZdWrite *w, uint64_t old)
{
    uint64_t bytes = zd_write_bytes(w) + old;

    if (w->seq % PRUNE_EVERY == 0 || v->bytes + bytes > ZD_VOLATILE_BYTES) {
        volatile_prune(v, flash, now, bytes);
    }
    if (old && v->bytes + bytes <= ZD_VOLATILE_BYTES) {
        w->old = g_malloc(old);
    }
    v->bytes += zd_write_bytes(w);
    QTAILQ_INSERT_TAIL(&v->writes, w, next);
}

/* What stands below a write that has not come to its place yet is unknown. */
static bool volatile_races(const ZdVolatile *v, const ZdWrite *w)
{
    unsigned left = v->writing;
    const ZdWrite *other;

    QTAILQ_FOREACH_REVERSE(other, &v->writes, next) {
        if (!left) {
            break;
        }
        if (other->writing) {
            left--;
            if (other->lba < w->lba + w->sectors &&
                w->lba < other->lba + other->sectors) {
                return true;
            }
        }
    }
    return false;
}

ZdWrite *zd_volatile_add(ZdVolatile *v, const ZdFlash *flash, int64_t now,
                         uint64_t lba, uint32_t sectors)
{
    uint64_t bytes = (uint64_t)sectors * ZD_SECTOR_SIZE;
    ZdWrite *w = g_new0(ZdWrite, 1);

    w->seq = ++v->seq;
    w->lba = lba;
    w->sectors = sectors;
    w->open = true;
    w->taken = true;
    w->programs = g_new0(uint64_t, zd_write_pages(w));
    volatile_append(v, flash, now, w, bytes <= ZD_VOLATILE_BYTES / 2 &&
                                      !volatile_races(v, w) ? bytes : 0);
    w->writing = true;
    v->writing++;
    return w;
}

void zd_volatile_trim(ZdVolatile *v, const ZdFlash *flash, int64_t now,
                      uint64_t lba, uint32_t sectors)
{
    ZdWrite *w;

    if (QTAILQ_EMPTY(&v->writes)) {
        return;
    }
    w = g_new0(ZdWrite, 1);
    w->seq = ++v->seq;
    w->lba = lba;
    w->sectors = sectors;
    w->durable = true;
    volatile_append(v, flash, now, w, 0);
}

void zd_volatile_forget_old(ZdVolatile *v, ZdWrite *w)
{
    v->bytes -= (uint64_t)w->sectors * ZD_SECTOR_SIZE;
    g_free(w->old);
    w->old = NULL;
}

void zd_volatile_written(ZdVolatile *v, ZdWrite *w)
{
    v->writing -= w->writing;
    w->writing = false;
    if (w->durable && w->old) {
        zd_volatile_forget_old(v, w);
    }
}

void zd_volatile_end(ZdVolatile *v, ZdWrite *w, bool acked, bool through)
{
    zd_volatile_written(v, w);
    w->open = false;
    w->acked = acked;
    w->durable |= acked && through;
    if (w->durable && w == QTAILQ_FIRST(&v->writes)) {
        write_free(v, w);
    }
}

ZdWrite *zd_volatile_take(ZdVolatile *v, uint64_t seq)
{
    ZdWrite *w;

    QTAILQ_FOREACH(w, &v->writes, next) {
        if (seq && w->seq == seq && w->open && !w->taken) {
            w->taken = true;
            break;
        }
    }
    return w;
}

void zd_volatile_undone(ZdVolatile *v, ZdWrite *w)
{
    zd_volatile_written(v, w);
    write_free(v, w);
}

void zd_volatile_flushed(ZdVolatile *v, uint64_t seq)
{
    ZdWrite *w, *tmp;

    QTAILQ_FOREACH_SAFE(w, &v->writes, next, tmp) {
        if (w->seq > seq) {
            break;
        }
        if (!w->open) {
            write_free(v, w);
        }
    }
}

/* Sectors that cannot be read */

/* Bits of the sectors of @page that lie in [lba, end). */
static unsigned sector_mask(uint64_t page, uint64_t lba, uint64_t end)
{
    uint64_t first = page * PAGE_SECTORS;
    unsigned from = lba > first ? lba - first : 0;
    unsigned to = MIN(end - first, PAGE_SECTORS);

    return ((1u << to) - 1) & ~((1u << from) - 1);
}

void zd_bad_set(ZdVolatile *v, uint64_t page, unsigned mask)
{
    gpointer key = GUINT_TO_POINTER(page);
    unsigned old = GPOINTER_TO_UINT(g_hash_table_lookup(v->bad, key));

    g_hash_table_insert(v->bad, key, GUINT_TO_POINTER(old | mask));
}

void zd_bad_add(ZdVolatile *v, uint64_t lba, uint64_t end)
{
    for (uint64_t page = lba / PAGE_SECTORS; page * PAGE_SECTORS < end;
         page++) {
        zd_bad_set(v, page, sector_mask(page, lba, end));
    }
}

void zd_bad_clear(ZdVolatile *v, uint64_t lba, uint64_t sectors)
{
    uint64_t end = lba + sectors;
    GHashTableIter iter;
    gpointer key, value;

    if (!g_hash_table_size(v->bad)) {
        return;
    }
    g_hash_table_iter_init(&iter, v->bad);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        uint64_t page = GPOINTER_TO_UINT(key);
        unsigned left = GPOINTER_TO_UINT(value);

        if (page < lba / PAGE_SECTORS || page * PAGE_SECTORS >= end) {
            continue;
        }
        left &= ~sector_mask(page, lba, end);
        if (left) {
            g_hash_table_iter_replace(&iter, GUINT_TO_POINTER(left));
        } else {
            g_hash_table_iter_remove(&iter);
        }
    }
}

static gint by_page(gconstpointer a, gconstpointer b)
{
    return (a > b) - (a < b);
}

ZdRange *zd_media_unreadable(const ZdMedia *media, unsigned *count)
{
    GHashTable *bad = media->risk.bad;
    g_autoptr(GList) pages = g_list_sort(g_hash_table_get_keys(bad), by_page);
    GArray *ranges = g_array_new(false, false, sizeof(ZdRange));

    for (GList *page = pages; page; page = page->next) {
        unsigned mask = GPOINTER_TO_UINT(g_hash_table_lookup(bad, page->data));

        for (unsigned i = 0; i < PAGE_SECTORS; i++) {
            uint64_t lba = GPOINTER_TO_UINT(page->data) * PAGE_SECTORS + i;
            ZdRange *last = ranges->len ?
                &g_array_index(ranges, ZdRange, ranges->len - 1) : NULL;

            if (!(mask & 1u << i)) {
                continue;
            }
            if (last && last->lba + last->sectors == lba) {
                last->sectors++;
            } else {
                g_array_append_val(ranges, ((ZdRange) { lba, 1 }));
            }
        }
    }
    *count = ranges->len;
    return (ZdRange *)g_array_free(ranges, false);
}

void zd_media_set_unreadable(ZdMedia *media, const ZdRange *ranges,
                             unsigned count)
{
    g_hash_table_remove_all(media->risk.bad);
    for (unsigned i = 0; i < count; i++) {
        zd_bad_add(&media->risk, ranges[i].lba,
                   ranges[i].lba + ranges[i].sectors);
    }
}

bool zd_bad_find(const ZdVolatile *v, uint64_t lba, uint64_t sectors,
                 uint64_t *first)
{
    uint64_t end = lba + sectors;

    if (!g_hash_table_size(v->bad)) {
        return false;
    }
    for (uint64_t page = lba / PAGE_SECTORS; page * PAGE_SECTORS < end;
         page++) {
        unsigned mask = GPOINTER_TO_UINT(
            g_hash_table_lookup(v->bad, GUINT_TO_POINTER(page)));

        mask &= sector_mask(page, lba, end);
        if (mask) {
            *first = page * PAGE_SECTORS + ctz32(mask);
            return true;
        }
    }
    return false;
}
