/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sparse memory in three levels: a directory with one entry per GiB, tables
 * with one entry per 2 MiB, leaves with one entry per 4 KiB page.  An absent
 * entry reads as zeros; so a fresh 400 GB SSD costs its directory, 3 KB.
 */
#include <string.h>
#include <glib.h>

#include "sparse.h"

#define PAGE_SHIFT      12
#define LEVEL_SHIFT     9
#define FANOUT          (1u << LEVEL_SHIFT)
#define LEAF_SHIFT      (PAGE_SHIFT + LEVEL_SHIFT)
#define TABLE_SHIFT     (LEAF_SHIFT + LEVEL_SHIFT)
#define PAGE_BYTES      ((uint64_t)ZD_SPARSE_PAGE)

G_STATIC_ASSERT(ZD_SPARSE_PAGE == 1 << PAGE_SHIFT);

#define LEAF_BYTES      (1ull << LEAF_SHIFT)
#define TABLE_BYTES     (1ull << TABLE_SHIFT)

typedef struct Leaf {
    void *page[FANOUT];
} Leaf;

typedef struct Table {
    Leaf *leaf[FANOUT];
} Table;

struct ZdSparse {
    uint64_t directory_len;
    uint64_t used;              /* host memory behind the directory */
    Table *directory[];
};

ZdSparse *zd_sparse_new(uint64_t bytes)
{
    uint64_t len = (bytes + TABLE_BYTES - 1) >> TABLE_SHIFT;
    ZdSparse *s = g_malloc0(sizeof(*s) + len * sizeof(s->directory[0]));

    s->directory_len = len;
    return s;
}

static void release(ZdSparse *s, void *mem, uint64_t bytes)
{
    g_free(mem);
    s->used -= bytes;
}

static void *acquire(ZdSparse *s, uint64_t bytes)
{
    void *mem = g_try_malloc0(bytes);

    if (mem) {
        s->used += bytes;
    }
    return mem;
}

static void leaf_free(ZdSparse *s, Leaf *leaf)
{
    for (unsigned i = 0; i < FANOUT; i++) {
        if (leaf->page[i]) {
            release(s, leaf->page[i], PAGE_BYTES);
        }
    }
    release(s, leaf, sizeof(*leaf));
}

static void table_free(ZdSparse *s, Table *table)
{
    for (unsigned i = 0; i < FANOUT; i++) {
        if (table->leaf[i]) {
            leaf_free(s, table->leaf[i]);
        }
    }
    release(s, table, sizeof(*table));
}

void zd_sparse_free(ZdSparse *s)
{
    if (!s) {
        return;
    }
    for (uint64_t i = 0; i < s->directory_len; i++) {
        if (s->directory[i]) {
            table_free(s, s->directory[i]);
        }
    }
    g_free(s);
}

static unsigned table_index(uint64_t offset)
{
    return (offset >> LEAF_SHIFT) & (FANOUT - 1);
}

static unsigned leaf_index(uint64_t offset)
{
    return (offset >> PAGE_SHIFT) & (FANOUT - 1);
}

static Leaf *leaf_find(const ZdSparse *s, uint64_t offset)
{
    const Table *table = s->directory[offset >> TABLE_SHIFT];

    return table ? table->leaf[table_index(offset)] : NULL;
}

/* The entry of the page at @offset; NULL without host memory. */
static void **page_slot(ZdSparse *s, uint64_t offset)
{
    Table **table = &s->directory[offset >> TABLE_SHIFT];
    Leaf **leaf;

    if (!*table) {
        *table = acquire(s, sizeof(Table));
        if (!*table) {
            return NULL;
        }
    }
    leaf = &(*table)->leaf[table_index(offset)];
    if (!*leaf) {
        *leaf = acquire(s, sizeof(Leaf));
        if (!*leaf) {
            return NULL;
        }
    }
    return &(*leaf)->page[leaf_index(offset)];
}

/* Bytes of [offset, offset + len) up to the end of the unit of 2^@shift. */
static uint64_t part(uint64_t offset, uint64_t len, unsigned shift)
{
    uint64_t unit = 1ull << shift;

    return MIN(len, unit - (offset & (unit - 1)));
}

/* All zeros are the same one byte on; memcmp() stops at the first other. */
static bool is_zero(const char *buf, uint64_t len)
{
    return buf[0] == 0 && memcmp(buf, buf + 1, len - 1) == 0;
}

void zd_sparse_read(const ZdSparse *s, uint64_t offset, void *buf, uint64_t len)
{
    char *to = buf;

    while (len) {
        uint64_t n = part(offset, len, PAGE_SHIFT);
        const Leaf *leaf = leaf_find(s, offset);
        const char *page = leaf ? leaf->page[leaf_index(offset)] : NULL;

        if (page) {
            memcpy(to, page + (offset & (PAGE_BYTES - 1)), n);
        } else {
            memset(to, 0, n);
        }
        to += n;
        offset += n;
        len -= n;
    }
}

static bool page_write(ZdSparse *s, uint64_t offset, const void *buf,
                       uint64_t len)
{
    Leaf *leaf = leaf_find(s, offset);
    char *page = leaf ? leaf->page[leaf_index(offset)] : NULL;

    if (!page) {
        void **slot;

        /* zeros onto nothing; the guest may change them meanwhile, no matter */
        if (is_zero(buf, len)) {
            return true;
        }
        slot = page_slot(s, offset);
        page = slot ? acquire(s, PAGE_BYTES) : NULL;
        if (!page) {
            return false;
        }
        *slot = page;
    }
    memcpy(page + (offset & (PAGE_BYTES - 1)), buf, len);
    return true;
}

bool zd_sparse_write(ZdSparse *s, uint64_t offset, const void *buf,
                     uint64_t len)
{
    const char *from = buf;

    while (len) {
        uint64_t n = part(offset, len, PAGE_SHIFT);

        if (!page_write(s, offset, from, n)) {
            return false;
        }
        from += n;
        offset += n;
        len -= n;
    }
    return true;
}

static void leaf_zero(ZdSparse *s, Leaf *leaf, uint64_t offset, uint64_t len)
{
    while (len) {
        uint64_t n = part(offset, len, PAGE_SHIFT);
        void **slot = &leaf->page[leaf_index(offset)];

        if (*slot && n == PAGE_BYTES) {
            release(s, *slot, PAGE_BYTES);
            *slot = NULL;
        } else if (*slot) {
            memset((char *)*slot + (offset & (PAGE_BYTES - 1)), 0, n);
        }
        offset += n;
        len -= n;
    }
}

static void table_zero(ZdSparse *s, Table *table, uint64_t offset, uint64_t len)
{
    while (len) {
        uint64_t n = part(offset, len, LEAF_SHIFT);
        Leaf **leaf = &table->leaf[table_index(offset)];

        if (*leaf && n == LEAF_BYTES) {
            leaf_free(s, *leaf);
            *leaf = NULL;
        } else if (*leaf) {
            leaf_zero(s, *leaf, offset, n);
        }
        offset += n;
        len -= n;
    }
}

void zd_sparse_zero(ZdSparse *s, uint64_t offset, uint64_t len)
{
    while (len) {
        uint64_t n = part(offset, len, TABLE_SHIFT);
        Table **table = &s->directory[offset >> TABLE_SHIFT];

        if (*table && n == TABLE_BYTES) {
            table_free(s, *table);
            *table = NULL;
        } else if (*table) {
            table_zero(s, *table, offset, n);
        }
        offset += n;
        len -= n;
    }
}

const void *zd_sparse_next_page(const ZdSparse *s, uint64_t *offset)
{
    uint64_t pos = *offset & ~(PAGE_BYTES - 1);

    while (pos >> TABLE_SHIFT < s->directory_len) {
        const Table *table = s->directory[pos >> TABLE_SHIFT];
        const Leaf *leaf = table ? table->leaf[table_index(pos)] : NULL;

        if (!table) {
            pos = (pos | (TABLE_BYTES - 1)) + 1;
        } else if (!leaf) {
            pos = (pos | (LEAF_BYTES - 1)) + 1;
        } else if (!leaf->page[leaf_index(pos)]) {
            pos += PAGE_BYTES;
        } else {
            *offset = pos;
            return leaf->page[leaf_index(pos)];
        }
    }
    return NULL;
}

uint64_t zd_sparse_memory_bytes(const ZdSparse *s)
{
    return sizeof(*s) + s->directory_len * sizeof(s->directory[0]) + s->used;
}
