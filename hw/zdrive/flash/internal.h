/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of flash/ share: the parts of one controller, in the order in
 * which a command meets them.
 *
 * The unit of allocation is the superblock: one block of every plane of every
 * die.  It is filled row by row (one page of each block); one row is a stripe
 * over the dies, one die of it holding RAISE parity.  The pages of one die that
 * are programmed together (multi-plane) are a program unit.
 */
#ifndef ZDRIVE_FLASH_INTERNAL_H
#define ZDRIVE_FLASH_INTERNAL_H

#include "hw/zdrive/flash.h"

/* A map entry: superblock, NAND page in it, size class. */
#define ZD_ENTRY_NONE       0u      /* never written */
#define ZD_ENTRY_TRIMMED    1u      /* deallocated; superblock 0 is no one's */
#define ZD_ENTRY_SB_SHIFT   20
#define ZD_ENTRY_PAGE_SHIFT 5
#define ZD_MAX_SUPERBLOCKS  4096
#define ZD_MAX_SB_PAGES     32768
#define ZD_MAX_DIES         64
#define ZD_MAX_CHANNELS     16

#define ZD_LEAF_SHIFT       10      /* 4 MiB of LBAs */
#define ZD_LEAF_PAGES       (1u << ZD_LEAF_SHIFT)

/* Superblocks that the collector keeps for itself. */
#define ZD_COLLECT_AT       3

static inline uint32_t zd_entry(uint32_t sb, uint32_t page, uint32_t class)
{
    return sb << ZD_ENTRY_SB_SHIFT | page << ZD_ENTRY_PAGE_SHIFT | class;
}

static inline uint32_t zd_entry_sb(uint32_t entry)
{
    return entry >> ZD_ENTRY_SB_SHIFT;
}

static inline uint32_t zd_entry_page(uint32_t entry)
{
    return entry >> ZD_ENTRY_PAGE_SHIFT & (ZD_MAX_SB_PAGES - 1);
}

static inline uint32_t zd_entry_class(uint32_t entry)
{
    return entry & (ZD_FLASH_CLASSES - 1);
}

/* calendar.c: bandwidth of a shared resource, with gaps that can be filled. */

typedef struct ZdSlot {
    uint16_t first, end;        /* ns of the slot that are in use; 0, 0: none */
} ZdSlot;

typedef struct ZdCalendar {
    ZdSlot *used;               /* a ring */
    uint32_t slots;             /* power of two */
    uint32_t shift;             /* log2 of the slot in ns, at most 15 */
    int64_t head;               /* slots from here on are not in use */
    int64_t full_from, full_to; /* a run of slots that are full */
} ZdCalendar;

void zd_calendar_init(ZdCalendar *c, uint32_t slots, uint32_t shift);
void zd_calendar_clear(ZdCalendar *c);
void zd_calendar_free(ZdCalendar *c);
/* Take @amount ns from @t on, or as soon as they are free; returns the end. */
int64_t zd_calendar_search(ZdCalendar *c, int64_t t, int64_t amount);

/* What nearly always works: behind all else in the slot of @t. */
static inline int64_t zd_calendar_take(ZdCalendar *c, int64_t t,
                                       int64_t amount)
{
    const int64_t size = (int64_t)1 << c->shift;
    int64_t slot = t >> c->shift;

    if (slot < c->head && slot > c->head - c->slots &&
        !(slot >= c->full_from && slot < c->full_to)) {
        ZdSlot *used = &c->used[slot & (c->slots - 1)];
        int64_t start = slot << c->shift;
        int64_t from = t - start;

        if (from >= used->first) {
            from = MAX(from, used->end);
            if (amount > 0 && amount <= size - from) {
                if (!used->end) {
                    used->first = from;
                }
                used->end = from + amount;
                return start + used->end;
            }
        }
    }
    return zd_calendar_search(c, t, amount);
}

/* Bytes to ns without a division. */
typedef uint64_t ZdRate;

static inline ZdRate zd_rate(uint32_t mbps)
{
    return (1000ull << 20) / (mbps ? mbps : 1);
}

static inline int64_t zd_rate_ns(ZdRate rate, uint64_t bytes)
{
    return bytes * rate >> 20;
}

/* nand.c */

typedef struct ZdDie {
    int64_t read_busy;          /* end of the last read */
    int64_t prog_start;         /* the last program, data transfer included */
    int64_t prog_end;
    int64_t prog_end_before;    /* of the one before */
} ZdDie;

typedef struct ZdNand {
    /* the last erase that was reserved; not counted in the state */
    uint64_t erases;
    int64_t erase_start, erase_end;
    uint32_t dies, channels, planes;
    uint32_t read_ns, erase_ns;
    uint32_t prog_ns[2];        /* lower, upper */
    uint32_t page_bytes, moved_bytes;   /* one page, without and with spare */
    ZdRate bus;
    ZdDie die[ZD_MAX_DIES];
    ZdCalendar channel[ZD_MAX_CHANNELS];
} ZdNand;

void zd_nand_init(ZdNand *n, const ZdFlashParams *p, uint32_t dies);
void zd_nand_idle(ZdNand *n);
void zd_nand_free(ZdNand *n);
/* Read a page; @bytes of it move over the bus.  Returns when they have. */
int64_t zd_nand_read(ZdNand *n, int64_t t, uint32_t die, uint32_t bytes);
/* Program one page of each plane, erasing the blocks first if @erase. */
int64_t zd_nand_program(ZdNand *n, int64_t t, uint32_t die, bool upper,
                        bool erase, int64_t *start);

/* map.c */

#define ZD_LEAF_BLOCK       512     /* leaves that are allocated together */

typedef struct ZdMap {
    uint32_t pages;             /* of the medium */
    uint32_t leaves;
    uint32_t **leaf;            /* NULL: nothing in these 4 MiB was touched */
    uint16_t *breaks;           /* of each leaf: neighbours that lie apart */
    uint32_t run_gap;           /* pages that a run may skip (parity) */
    uint32_t touched;           /* leaves that exist */
    GPtrArray *blocks;          /* of the memory that they are in */
    uint64_t mapped;
} ZdMap;

void zd_map_init(ZdMap *m, uint32_t pages, uint32_t run_gap);
void zd_map_clear(ZdMap *m);
void zd_map_free(ZdMap *m);

static inline uint32_t zd_map_get(const ZdMap *m, uint32_t page)
{
    const uint32_t *leaf = m->leaf[page >> ZD_LEAF_SHIFT];

    return leaf ? leaf[page & (ZD_LEAF_PAGES - 1)] : ZD_ENTRY_NONE;
}

/* A random page of a large map is not in the cache; ask for it early. */
static inline void zd_map_prefetch(const ZdMap *m, uint32_t page)
{
    const uint32_t *leaf = m->leaf[page >> ZD_LEAF_SHIFT];

    if (leaf) {
        /* its neighbours are looked at, too; most often in the same line */
        leaf += page & (ZD_LEAF_PAGES - 1);
        __builtin_prefetch(leaf - 1, 1);
        __builtin_prefetch(leaf + 1, 1);
        __builtin_prefetch(&m->breaks[page >> ZD_LEAF_SHIFT], 1);
    }
}

/* Whether @b lies right behind @a, or neither is anywhere. */
static inline bool zd_map_run(const ZdMap *m, uint32_t a, uint32_t b)
{
    uint32_t step = zd_entry_page(b) - zd_entry_page(a);

    return zd_entry_sb(a) == zd_entry_sb(b) &&
           (step <= m->run_gap || a < (1u << ZD_ENTRY_SB_SHIFT));
}

/* Returns the old entry. */
uint32_t zd_map_set(ZdMap *m, uint32_t page, uint32_t entry);
/* Make a leaf of untouched pages. */
uint32_t *zd_map_leaf(ZdMap *m, uint32_t leaf);
/* Count the breaks of a leaf anew, after its entries were loaded. */
void zd_map_recount(ZdMap *m, uint32_t leaf);

/* log.c: which pages a superblock holds. */

typedef struct ZdLog {
    uint8_t *data;              /* ascending pages as gaps, one more byte */
    uint32_t bytes;
    uint32_t count;
} ZdLog;

typedef struct ZdLogReader {
    const uint8_t *at, *end;
    uint32_t page;
} ZdLogReader;

/* Sorts @pages in place; keeps each once. */
void zd_log_build(ZdLog *log, uint32_t *pages, uint32_t count);
/* For ascending pages one by one; @room is what @data can hold. */
void zd_log_append(ZdLog *log, uint32_t *room, uint32_t *last, uint32_t page);
/* Give back the memory that nothing was appended to. */
void zd_log_trim(ZdLog *log);
void zd_log_free(ZdLog *log);
void zd_log_begin(ZdLogReader *r, const ZdLog *log);
bool zd_log_next(ZdLogReader *r, uint32_t *page);

/* ftl.c */

typedef enum ZdSbState {
    ZD_SB_FREE,
    ZD_SB_OPEN,
    ZD_SB_CLOSED,
    ZD_SB_VICTIM,
    ZD_SB_DEAD,                 /* lost to bad blocks; number 0 always is */
} ZdSbState;

typedef struct ZdSuperblock {
    uint32_t valid;             /* stored bytes that are current */
    uint32_t live;              /* pages that are current */
    uint32_t erases;
    uint8_t state;
    bool fresh;                 /* erased */
    ZdLog log;                  /* when closed */
} ZdSuperblock;

/* Where new data goes; one for the host, one for what is collected. */
typedef struct ZdStream {
    uint32_t sb;                /* 0: none is open */
    uint32_t unit;              /* program unit that is being filled */
    uint32_t fill;              /* bytes in it */
    uint32_t *pages;            /* of the superblock so far, in any order */
    uint32_t count, room;
} ZdStream;

/* buffer.c */

#define ZD_BUFFER_UNITS     256     /* program units in flight, power of two */

typedef struct ZdUnit {
    int64_t start, end;
    uint64_t number;
    uint32_t location;          /* map entry of its first page, class 0 */
    uint32_t bytes;             /* of buffer that its end frees */
    uint32_t count;             /* of pages whose data it carries */
} ZdUnit;

/* When a program is, for some time after it was; a ring by its number. */
#define ZD_PROGRAMS_KEPT    1024

typedef struct ZdProgramTime {
    int64_t start, end;
} ZdProgramTime;

typedef struct ZdBuffer {
    ZdProgramTime time[ZD_PROGRAMS_KEPT];
    uint32_t capacity;
    uint32_t used;
    uint32_t first, count;      /* of the ring, sorted by end */
    uint64_t number;
    ZdUnit ring[ZD_BUFFER_UNITS];
    ZdUnit partial;             /* being filled: start is when it got data */
} ZdBuffer;

void zd_buffer_init(ZdBuffer *b, uint32_t capacity, uint32_t unit_bytes);
void zd_buffer_clear(ZdBuffer *b);
/* Room for @bytes: returns when there is, @t or later. */
int64_t zd_buffer_accept(ZdBuffer *b, int64_t t, uint32_t bytes);
void zd_buffer_retire(ZdBuffer *b, int64_t now);
/* The partial unit has been given to NAND. */
void zd_buffer_send(ZdBuffer *b, int64_t start, int64_t end);
/* Whether the NAND page at map entry @entry is not yet readable at @t. */
bool zd_buffer_holds(const ZdBuffer *b, uint32_t entry, uint32_t planes,
                     int64_t t);
int64_t zd_buffer_drained(const ZdBuffer *b, int64_t t);

static inline ZdUnit *zd_buffer_unit(const ZdBuffer *b, uint32_t i)
{
    return (ZdUnit *)&b->ring[(b->first + i) & (ZD_BUFFER_UNITS - 1)];
}

/* gc.c */

#define ZD_GC_BATCH         16

typedef struct ZdCollector {
    uint32_t victim;            /* 0: none */
    uint32_t next_page;         /* of the medium; lower ones are done */
    uint32_t valid;             /* bytes that were valid when it began */
    uint64_t host;              /* bytes that the host has stored since */
    uint64_t moved, scanned;
    bool active;                /* free space was short at the last look */
    ZdLogReader reader;
    uint32_t batch[ZD_GC_BATCH];    /* read ahead, to prefetch the map */
    uint32_t batch_at, batch_count;
} ZdCollector;

#define ZD_MAP_CACHE_MAX    4096

struct ZdFlash {
    const ZdFlashParams *p;
    uint64_t seed;
    uint64_t sectors;
    uint32_t pages;
    uint32_t spare_ppm;

    /* geometry */
    bool raise;
    uint32_t page_shift;        /* log2 of the NAND page */
    uint32_t unit_bytes;
    uint32_t row_units;         /* dies */
    uint32_t rows;
    uint32_t sb_units;          /* parity included */
    uint32_t sb_bytes;          /* data that a superblock holds */
    uint32_t superblocks;       /* one more than usable: 0 is not used */
    uint32_t class_bytes[ZD_FLASH_CLASSES];

    /* link and front end */
    ZdCalendar link;
    ZdRate link_rate, read_rate, write_rate;
    int64_t page_link_ns;       /* 4 KiB with FIS overhead */
    int64_t read_page_ns, write_page_ns;
    int64_t fe_busy, data_busy;
    uint64_t next_lba;          /* that a sequential write would have */
    uint32_t *map_cache;
    int64_t last_ns;            /* of the last command's completion */
    int64_t now;

    /* back end */
    int64_t store_busy;
    ZdRate store_rate, scan_rate;
    ZdBuffer buffer;
    ZdNand nand;

    /* translation */
    ZdMap map;
    ZdSuperblock *sb;
    uint64_t log_bytes;         /* of all superblocks */
    ZdStream host, moved;
    uint32_t free;
    ZdCollector gc;
    uint64_t random;            /* state of the generator */
    uint64_t collections;
    int64_t life_ns;            /* powered, of earlier runs */

    ZdFlashCounters n;
    ZdFlashHist latency[2];
    ZdFlashHist depth;
};

/* card.c */

struct ZdFlashCard {
    const ZdFlashCardParams *p;
    ZdCalendar command;
    ZdCalendar data[2];         /* to the host, from the host */
    uint32_t mbps[2];
    ZdRate rate[2];
};

/* link.c */
void zd_sata_init(ZdFlash *f);
int64_t zd_sata_read(ZdFlash *f, int64_t t, uint32_t bytes);
int64_t zd_sata_write(ZdFlash *f, int64_t t, uint32_t bytes, int64_t *begin);

/* frontend.c */
void zd_frontend_init(ZdFlash *f);
void zd_frontend_idle(ZdFlash *f);
/* When the firmware has taken a command, with what the map costs it. */
int64_t zd_frontend_read(ZdFlash *f, int64_t t, uint32_t first,
                         uint32_t pages, bool *loads);
int64_t zd_frontend_write(ZdFlash *f, int64_t t, uint64_t lba,
                          uint32_t sectors);

/* ftl.c */
bool zd_ftl_init(ZdFlash *f, const ZdFlashOptions *options);
void zd_ftl_fresh(ZdFlash *f);
void zd_ftl_free(ZdFlash *f);
/* Store a page of the host that reached the buffer at @t. */
void zd_ftl_write(ZdFlash *f, int64_t t, uint32_t page, uint32_t class);
/* Store a page that is collected; fills whole units only. */
void zd_ftl_move(ZdFlash *f, int64_t t, uint32_t page, uint32_t entry);
/* Program the partial unit of the host stream. */
void zd_ftl_pad(ZdFlash *f, int64_t t);
void zd_ftl_trim(ZdFlash *f, uint32_t first, uint32_t end);
uint32_t zd_ftl_die(const ZdFlash *f, uint32_t entry);
/* A superblock has been collected. */
void zd_ftl_release(ZdFlash *f, uint32_t sb);
void zd_ftl_prefill(ZdFlash *f, uint32_t page, uint32_t class);

/* gc.c */
/* The host has stored @bytes; keep up with it. */
void zd_gc_pace(ZdFlash *f, int64_t t, uint32_t bytes);
/* Make a superblock free now. */
void zd_gc_force(ZdFlash *f, int64_t t);
void zd_gc_idle(ZdFlash *f, int64_t from, int64_t until);
void zd_gc_resume(ZdFlash *f);

/* wear.c */
uint32_t zd_wear_pick_free(const ZdFlash *f, bool cold);
/* A victim for wear levelling, or 0. */
uint32_t zd_wear_victim(const ZdFlash *f);
/* Bad blocks; false when the superblock is lost. */
bool zd_wear_erase(ZdFlash *f, uint32_t sb);
void zd_wear_factory(ZdFlash *f);
int64_t zd_wear_throttle(ZdFlash *f, int64_t t);

/* compress.c */
void zd_compress_init(ZdFlash *f);

#endif
