/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that a user arms: what they are called, when they fire, how often
 * they have.  Plain C, no QEMU header; what a fault does is where it is done
 * (disk/ata/fault.c, bridge/, card/).
 *
 *   FAULTS = FAULT { ";" FAULT }
 *   FAULT  = NAME { "," KEY "=" VALUE }
 *
 * Blanks separate as commas do; on a QEMU command line, where a comma ends the
 * property, they are the simpler way.  docs/faults.rst has every name and key.
 */
#ifndef HW_ZDRIVE_FAULT_H
#define HW_ZDRIVE_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

typedef enum ZdFaultKind {
    /* of an SSD */
    ZD_FAULT_READ_ERROR,
    ZD_FAULT_WRITE_FAULT,
    ZD_FAULT_HANG,
    ZD_FAULT_SLOW,
    ZD_FAULT_CRC_ERROR,
    ZD_FAULT_LINK_DROP,
    ZD_FAULT_MISSING,
    ZD_FAULT_SIGNATURE_LATE,
    ZD_FAULT_SIGNATURE_ABSENT,
    ZD_FAULT_PANIC,
    /* of the card */
    ZD_FAULT_COMPLETION_LATE,
    ZD_FAULT_IRQ_LOST,
    ZD_FAULT_INTX_DEAD,
    ZD_FAULT_SPI_CORRUPT,
    ZD_FAULT_LINK_WIDTH,
    ZD_FAULT_KINDS
} ZdFaultKind;

typedef enum ZdFaultScope {
    ZD_FAULT_OF_SSD,
    ZD_FAULT_OF_CARD,
} ZdFaultScope;

/* ZdFault.choice of ZD_FAULT_PANIC and of ZD_FAULT_SPI_CORRUPT */
enum {
    ZD_PANIC_NO_CAPACITY,
    ZD_PANIC_DIAGNOSTIC,
    ZD_PANIC_BUSY,
};

enum {
    ZD_SPI_SIGNATURE,
    ZD_SPI_CHECKSUM,
    ZD_SPI_DRIVE_COUNT,
    ZD_SPI_SERIAL,
};

typedef struct ZdFault {
    ZdFaultKind kind;
    uint32_t given;             /* one bit per key that the user gave */
    /* which commands */
    uint64_t lba_first, lba_last;
    uint8_t opcode;
    uint8_t tag;
    /* when */
    uint32_t times;             /* 0: for ever */
    uint32_t after;             /* so many go well first */
    uint32_t one_in;            /* then one of so many, at random */
    /* how */
    uint64_t delay_ns;
    unsigned choice;            /* form, field or width */
    /* what was */
    uint64_t seen;              /* commands that it could have hit */
    uint64_t hits;
} ZdFault;

typedef struct ZdFaults {
    ZdFaultScope scope;
    uint32_t armed;             /* one bit per kind on the list */
    uint32_t count;
    ZdFault *list;
    uint64_t random;            /* state of the generator, never 0 */
    /* only while migrating */
    uint8_t *saved;
    uint32_t saved_len;
} ZdFaults;

/* What a command does to the medium. */
typedef enum ZdFaultAccess {
    ZD_ACCESS_NONE,
    ZD_ACCESS_READ,
    ZD_ACCESS_WRITE,
    ZD_ACCESS_FLUSH,
} ZdFaultAccess;

/* A command as the faults see it. */
typedef struct ZdFaultCommand {
    uint8_t opcode;
    int tag;                    /* -1: not queued */
    bool data;                  /* moves data over the link */
    ZdFaultAccess access;
    uint64_t lba;
    uint32_t sectors;           /* 0: addresses none */
} ZdFaultCommand;

void zd_faults_init(ZdFaults *faults, ZdFaultScope scope, uint64_t seed);
void zd_faults_clear(ZdFaults *faults);

/*
 * Replace all faults by those of @text.  False: nothing has changed, and
 * *@error, to be freed, says what is wrong and what would be right.
 */
bool zd_faults_parse(ZdFaults *faults, const char *text, char **error);
/* What zd_faults_parse() takes, with the counters; to be freed. */
char *zd_faults_format(const ZdFaults *faults);

static inline bool zd_faults_armed(const ZdFaults *faults, ZdFaultKind kind)
{
    return faults->armed & (1u << kind);
}

/*
 * The fault of @kind that hits now, or NULL.  @cmd is NULL where no command is
 * concerned.  Counts.
 */
ZdFault *zd_faults_fire(ZdFaults *faults, ZdFaultKind kind,
                        const ZdFaultCommand *cmd);
/* The first fault of @kind; without counting. */
const ZdFault *zd_faults_find(const ZdFaults *faults, ZdFaultKind kind);
/* True once in @one_in, at random. */
bool zd_faults_chance(ZdFaults *faults, uint32_t one_in);
uint64_t zd_faults_hits(const ZdFaults *faults);

/* Faults of a whole card: every one has "ssdN:" or "card:" before it. */
#define ZD_FAULT_SSDS       8

typedef struct ZdFaultTexts {
    GString *ssd[ZD_FAULT_SSDS];
    GString *card;
} ZdFaultTexts;

/*
 * Sort the faults of @text by target, the prefixes taken off; false as for
 * zd_faults_parse().  zd_fault_texts_free() in either case.
 */
bool zd_fault_texts_split(ZdFaultTexts *texts, const char *text, unsigned ssds,
                          char **error);
void zd_fault_texts_free(ZdFaultTexts *texts);

#endif
