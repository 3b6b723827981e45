/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One SandForce controller with its NAND, and the card around several of them,
 * as a pure function of (state, command, time).  Plain C11 and GLib: the
 * device, the bench and the tests use the same code.
 *
 * Time is the caller's, in nanoseconds, and must not run backwards between
 * calls.  A call returns at once and says *when* the command is complete; all
 * that happens inside until then has been reserved on the resources it needs
 * ("busy until").  No thread, no timer, no clock, no randomness but the seed.
 * The model moves no data: it knows of a 4 KiB page where it lies and how
 * much room it takes once compressed, no more.
 */
#ifndef HW_ZDRIVE_FLASH_H
#define HW_ZDRIVE_FLASH_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZD_FLASH_PAGE       4096    /* unit of mapping and compression */
#define ZD_FLASH_CLASSES    32      /* stored sizes, from the floor to 1 */

/* Parameters: one file per profile in catalog/; see there for sources. */

typedef struct ZdFlashNand {
    const char *name;
    uint32_t page_bytes;            /* without the spare area */
    uint32_t spare_bytes;           /* moved over the bus as well */
    uint32_t pages_per_block;
    uint32_t planes;                /* read and programmed together */
    uint32_t die_gib;
    uint32_t bus_mbps;              /* one channel, 10^6 bytes/s */
    uint32_t read_ns;               /* tR */
    uint32_t prog_lower_ns;         /* tPROG of a lower page */
    uint32_t prog_upper_ns;         /* tPROG of its upper page */
    uint32_t erase_ns;              /* tBERS */
    uint32_t endurance;             /* erase cycles that the maker rates */
} ZdFlashNand;

typedef struct ZdFlashParams {
    const char *name;
    const ZdFlashNand *nand;

    /* host link */
    uint32_t link_mbps;             /* after 8b/10b */
    uint32_t fis_bytes;             /* largest data FIS */
    uint32_t fis_ns;                /* primitives and headers of one data FIS */
    uint32_t link_command_ns;       /* command, set-up and status FIS */

    /* front end */
    uint32_t read_ns;               /* firmware time of a read, serial */
    uint32_t write_ns;              /* ... of a write, serial */
    uint32_t read_latency_ns;       /* further delay of a read, overlapped */
    uint32_t write_latency_ns;      /* ... of a write */
    uint32_t read_mbps;             /* data path of host data, both ways */
    uint32_t write_mbps;
    uint32_t run_ns;                /* looking up a run of a broken map */
    uint32_t map_load_ns;           /* fetching a part of the map from NAND */
    uint32_t map_cached;            /* parts (4 MiB of LBAs each) in SRAM */
    uint32_t map_runs;              /* a part with more runs is "broken" */
    uint32_t collect_write_ns;      /* extra, random, while collecting */

    /* write buffer: on-chip SRAM and the NAND page registers */
    uint32_t buffer_bytes;
    uint32_t buffer_idle_ns;        /* then a partial NAND page is written */

    /* back end: ECC, RAISE and scrambler, shared by all channels */
    uint32_t store_mbps;            /* towards NAND, stored bytes */
    uint32_t scan_mbps;             /* reading a superblock to collect it */

    /* DuraWrite */
    uint32_t floor_ppm;             /* smallest stored fraction */

    /* flash translation layer */
    uint32_t channels;
    uint32_t raw_ppm;               /* raw NAND bytes per user byte */
    uint32_t raise_dies;            /* so many or more: one is for parity */
    uint32_t reserve_ppm;           /* of raw: map, journal, bad blocks */
    uint32_t factory_bad_ppm;       /* of blocks */
    uint32_t wear_delta;            /* spread of erases that is put right */
    bool idle_collect;              /* firmware collects when idle */
    uint32_t idle_after_ns;
    bool life_throttle;             /* see life_years */
    uint32_t life_years;            /* endurance is spread over these */
} ZdFlashParams;

typedef struct ZdFlashCardParams {
    const char *name;
    uint32_t lanes;
    uint32_t lane_mbps;             /* after line coding: 250, 500 */
    uint32_t payload_bytes;         /* of a packet, commonly negotiated */
    uint32_t packet_bytes;          /* header, framing and its share of DLLPs */
    bool half_duplex;               /* PCI-X behind the bridge */
    uint32_t read_mbps;             /* what the bridge moves at best */
    uint32_t write_mbps;
    uint32_t read_ns;               /* bridge time of a command, serial */
    uint32_t write_ns;
    uint32_t latency_ns;            /* further delay, overlapped */
} ZdFlashCardParams;

/* The dies of an SSD that is sold with @sectors. */
uint32_t zd_flash_dies(const ZdFlashParams *params, uint64_t sectors);

/* Changes that the bench and tests make; 0 is "as the profile says". */
typedef struct ZdFlashOptions {
    uint32_t dies;                  /* 0: from sectors and raw_ppm */
    uint32_t spare_ppm;             /* (T - U) / U, instead of raw_ppm */
} ZdFlashOptions;

/* The next number: Sebastiano Vigna's splitmix64 (public domain). */
static inline uint64_t zd_flash_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

typedef struct ZdFlash ZdFlash;
typedef struct ZdFlashCard ZdFlashCard;

typedef enum ZdFlashOp {
    ZD_FLASH_READ,
    ZD_FLASH_WRITE,
} ZdFlashOp;

typedef struct ZdFlashCmd {
    ZdFlashOp op;
    bool through;                   /* write: complete when it is in NAND */
    uint64_t lba;                   /* 512-byte sectors */
    uint32_t sectors;
    uint32_t depth;                 /* commands in flight, this one included */
    /* write: how well each 4 KiB page touched compresses; or for all */
    const uint8_t *classes;
    uint8_t class_all;
    /* write, out if not NULL: the program that carries each page's end */
    uint64_t *programs;
    int64_t data_ns;                /* out: when its data begins to move */
} ZdFlashCmd;

/*
 * NULL when @sectors is 0 or more than the geometry can hold.  @params must
 * outlive the model.
 */
ZdFlash *zd_flash_new(const ZdFlashParams *params, uint64_t sectors,
                      uint64_t seed, const ZdFlashOptions *options);
void zd_flash_free(ZdFlash *f);

/*
 * Called with each block of memory that the maps of large media take, so that
 * the caller may ask the kernel for huge pages; see map.c.  For all models.
 */
typedef void ZdFlashAdvise(void *block, size_t size);
void zd_flash_set_advise(ZdFlashAdvise *advise);

/*
 * Each returns the time of completion, never before @now.  Ranges outside of
 * the medium are cut off.
 */
/* A command for @lba is queued and comes soon: saves a wait for memory. */
void zd_flash_expect(const ZdFlash *f, uint64_t lba);
int64_t zd_flash_submit(ZdFlash *f, ZdFlashCmd *cmd, int64_t now);
int64_t zd_flash_flush(ZdFlash *f, int64_t now);
int64_t zd_flash_trim(ZdFlash *f, uint64_t lba, uint64_t sectors, int64_t now);
int64_t zd_flash_secure_erase(ZdFlash *f, int64_t now);
/* A command that the firmware answers without the medium. */
int64_t zd_flash_short(ZdFlash *f, int64_t now);

/*
 * What the firmware does by itself: the next time at which it has something
 * to do (a partial page to write, a program that ends), or -1; and doing what
 * is due until @now.  Both are optional: every call above does it first.
 */
int64_t zd_flash_next_event(const ZdFlash *f);
void zd_flash_advance(ZdFlash *f, int64_t now);

/* Fill [lba, lba + sectors) as one sequential write would, in no time. */
void zd_flash_prefill(ZdFlash *f, uint64_t lba, uint64_t sectors,
                      uint8_t class);

/*
 * All that is in flight has ended; time may begin anew at 0.  The time until
 * now stays in the account of the life-time throttle.
 */
void zd_flash_settle(ZdFlash *f);

/* DuraWrite: the class of 4 KiB of data, and of a stored fraction 0..1. */
uint8_t zd_flash_classify(const ZdFlash *f, const void *page);
uint8_t zd_flash_class_of(const ZdFlash *f, double fraction);
uint32_t zd_flash_class_bytes(const ZdFlash *f, uint8_t class);
/* Bytes that 4 KiB would take, before the floor; see compress.c. */
uint32_t zd_flash_compressed_bytes(const void *page);

/*
 * How far a program operation is, by the number that zd_flash_submit() gave.
 * Until its end, what it carries is in the write buffer alone.
 */
typedef enum ZdFlashStage {
    ZD_FLASH_BUFFERED,              /* not begun */
    ZD_FLASH_PROGRAMMING,           /* the NAND page is neither old nor new */
    ZD_FLASH_IN_NAND,
} ZdFlashStage;

ZdFlashStage zd_flash_stage(const ZdFlash *f, uint64_t program, int64_t now);
/* The first program that is not in NAND at @now. */
uint64_t zd_flash_first_unstable(const ZdFlash *f, int64_t now);
/* Program operations that the write buffer has room for. */
uint32_t zd_flash_buffer_programs(const ZdFlash *f);

/* What has been reserved last, for those who wait for a moment of it. */
typedef struct ZdFlashActivity {
    uint64_t programs;              /* for the host, given to NAND so far */
    int64_t program_start, program_end;
    uint64_t erases;                /* of superblocks, reserved so far */
    int64_t erase_start, erase_end;
    bool collecting;
} ZdFlashActivity;

void zd_flash_activity(const ZdFlash *f, ZdFlashActivity *out);

/* @count more blocks have gone bad. */
void zd_flash_retire(ZdFlash *f, uint64_t count);

/*
 * The power is gone at @now: nothing is in flight any more, the buffer is
 * empty.  The map keeps what was written; what is lost of the data is the
 * caller's to say.
 */
void zd_flash_power_cut(ZdFlash *f, int64_t now);

/* State of the map for one 4 KiB page. */
bool zd_flash_mapped(const ZdFlash *f, uint64_t page);

#define ZD_FLASH_HIST_SUB       16      /* buckets per factor of two */
#define ZD_FLASH_HIST_BUCKETS   (40 * ZD_FLASH_HIST_SUB)

typedef struct ZdFlashHist {
    uint64_t count;
    uint64_t sum;
    uint64_t max;
    uint64_t bucket[ZD_FLASH_HIST_BUCKETS];
} ZdFlashHist;

void zd_flash_hist_add(ZdFlashHist *h, uint64_t value);
void zd_flash_hist_merge(ZdFlashHist *into, const ZdFlashHist *from);
/* Upper edge of the bucket that holds the @permille-th value. */
uint64_t zd_flash_hist_at(const ZdFlashHist *h, unsigned permille);

typedef struct ZdFlashCounters {
    uint64_t reads, writes, flushes, trims;     /* commands */
    uint64_t host_read_bytes;
    uint64_t host_written_bytes;
    uint64_t host_stored_bytes;     /* of these, compressed */
    uint64_t nand_written_bytes;    /* programmed, parity included */
    uint64_t nand_data_bytes;       /* programmed, without parity */
    uint64_t nand_read_bytes;
    uint64_t collected_superblocks;
    uint64_t moved_pages;
    uint64_t moved_bytes;
    uint64_t padded_bytes;
    uint64_t erases;                /* blocks */
    uint64_t erase_fails, program_fails;
    uint64_t retired_blocks;
    uint64_t reserve_blocks;        /* spare blocks that are left */
    uint64_t trimmed_pages;
    uint64_t map_loads;
    uint64_t wear_moves;            /* collections for wear levelling */
    uint64_t throttled_ns;          /* by the life-time throttle */
    /* now */
    uint64_t mapped_pages;
    uint64_t valid_bytes;           /* stored bytes of the mapped pages */
    uint64_t raw_bytes;             /* of the data area */
    uint32_t superblocks, free_superblocks;
    uint32_t erase_min, erase_max;
    double erase_mean;
    double write_amplification;     /* NAND data bytes per host byte */
    uint32_t wear_range_percent;    /* attribute 177 */
    uint32_t life_left_percent;     /* attribute 231 */
    uint32_t life_curve;            /* attribute 230 */
    bool collecting;
    uint64_t memory_bytes;          /* of this model on the host */
} ZdFlashCounters;

void zd_flash_counters(const ZdFlash *f, ZdFlashCounters *out);
const ZdFlashHist *zd_flash_latency(const ZdFlash *f, ZdFlashOp op);
const ZdFlashHist *zd_flash_depth(const ZdFlash *f);
/*
 * JSON object, of one SSD or of the @count SSDs of a card together; free with
 * g_free().
 */
char *zd_flash_stats_json(ZdFlash *const f[], unsigned count);
void zd_flash_stats_reset(ZdFlash *f);

/*
 * The whole state, versioned and checksummed; free with g_free().  Loading
 * needs a model made with the same parameters, sectors, seed and options;
 * false and a message in @error (g_free()) otherwise, and @f is then fresh.
 */
uint8_t *zd_flash_save(const ZdFlash *f, size_t *size);
bool zd_flash_load(ZdFlash *f, const uint8_t *data, size_t size,
                   char **error);

/* The card: the bridge and the PCI Express link that all SSDs share. */

/* @lanes and @lane_mbps as negotiated; 0: as the card is made. */
ZdFlashCard *zd_flash_card_new(const ZdFlashCardParams *params,
                               uint32_t lanes, uint32_t lane_mbps);
void zd_flash_card_free(ZdFlashCard *card);
/* The link was trained anew, or lost lanes; as zd_flash_card_new(). */
void zd_flash_card_set_link(ZdFlashCard *card, uint32_t lanes,
                            uint32_t lane_mbps);
/* As zd_flash_save() and zd_flash_load(). */
uint8_t *zd_flash_card_save(const ZdFlashCard *card, size_t *size);
bool zd_flash_card_load(ZdFlashCard *card, const uint8_t *data, size_t size,
                        char **error);
/* All that is in flight has ended; time may begin anew at 0. */
void zd_flash_card_settle(ZdFlashCard *card);
/* When the bridge hands a command that the host gave it at @now to the SSD. */
int64_t zd_flash_card_forward(ZdFlashCard *card, ZdFlashOp op, int64_t now);
/*
 * When the host sees the end of a command whose @bytes began to move at
 * @data_ns and that the SSD completes at @done_ns.
 */
int64_t zd_flash_card_finish(ZdFlashCard *card, ZdFlashOp op, uint64_t bytes,
                             int64_t data_ns, int64_t done_ns);
/* What the link and the bridge carry at best, in MB/s. */
uint32_t zd_flash_card_ceiling(const ZdFlashCard *card, ZdFlashOp op);

#endif
