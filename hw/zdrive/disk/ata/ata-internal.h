/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ATA device, private part: its state, the command table's row and what
 * the files of this folder share.
 *
 * Standards are quoted as ACS-2 (T13/2015-D revision 3, the one the firmware
 * names), SATA (Serial ATA 3.0) and SCT (its part of ACS-2, clause 8).
 */
#ifndef ZDRIVE_ATA_INTERNAL_H
#define ZDRIVE_ATA_INTERNAL_H

#include "hw/zdrive/fault.h"
#include "hw/zdrive/ssd.h"

/* Register FIS, host to device and device to host (SATA 10.3.4, 10.3.5) */
enum {
    FIS_TYPE        = 0,
    FIS_FLAGS       = 1,
    FIS_COMMAND     = 2,        /* D2H: status */
    FIS_FEATURES    = 3,        /* D2H: error */
    FIS_LBA_LOW     = 4,
    FIS_LBA_MID     = 5,
    FIS_LBA_HIGH    = 6,
    FIS_DEVICE      = 7,
    FIS_LBA_LOW_EXP = 8,
    FIS_LBA_MID_EXP = 9,
    FIS_LBA_HIGH_EXP = 10,
    FIS_FEATURES_EXP = 11,
    FIS_COUNT       = 12,
    FIS_COUNT_EXP   = 13,
    FIS_CONTROL     = 15,
};

#define FIS_STATUS          FIS_COMMAND
#define FIS_ERROR           FIS_FEATURES

#define FIS_TYPE_REG_H2D    0x27
#define FIS_TYPE_REG_D2H    0x34
#define FIS_FLAG_C          0x80    /* H2D: command, not device control */
#define FIS_FLAG_I          0x40    /* D2H: interrupt */

#define ATA_ST_DRDY         0x40
#define ATA_ST_DF           0x20
#define ATA_ST_DSC          0x10    /* obsolete, still set by the firmware */
#define ATA_ST_ERR          0x01
#define ATA_ST_GOOD         (ATA_ST_DRDY | ATA_ST_DSC)
#define ATA_ST_FAILED       (ATA_ST_GOOD | ATA_ST_ERR)
#define ATA_ST_FAULT        (ATA_ST_FAILED | ATA_ST_DF)

#define ATA_ER_ICRC         0x80
#define ATA_ER_UNC          0x40
#define ATA_ER_IDNF         0x10
#define ATA_ER_ABRT         0x04

#define ATA_DEV_LBA         0x40
#define ATA_DEV_FUA         0x80    /* FPDMA QUEUED only */

#define ATA_QUEUE_DEPTH     32
#define ATA_MULTIPLE_MAX    16
#define ATA_TRIM_BLOCKS     1       /* IDENTIFY word 105 */
#define ATA_TRIM_RANGES     (ATA_TRIM_BLOCKS * ZD_SECTOR_SIZE / 8)

#define ATA_APM_DEFAULT     0xfe

/* Logs that a host may write as it likes, 80h to 9Fh */
#define ATA_HOST_LOGS       32
#define ATA_HOST_LOG_BYTES  (16 * ZD_SECTOR_SIZE)

#define ATA_IMAGE_BLOCKS    4096    /* DOWNLOAD MICROCODE: 2 MiB at most */

#define ATA_SELFTEST_ENTRIES 19     /* of the one page of log 07h */
#define ATA_PASSWORD_LEN    32

typedef enum ZdPower {
    ZD_POWER_ACTIVE,
    ZD_POWER_IDLE,
    ZD_POWER_STANDBY,
    ZD_POWER_SLEEP,
} ZdPower;

/* One descriptor of the extended self-test log (ACS-2 A.11) */
typedef struct ZdSelftest {
    uint8_t number;             /* subcommand that started it */
    uint8_t status;             /* as byte 363 of the SMART data */
    uint16_t hours;             /* life time stamp */
} ZdSelftest;

/* What a driver can do wrong with a command */
typedef enum ZdAtaMistake {
    ZD_ATA_BAD_FIS,
    ZD_ATA_BAD_TAG,
    ZD_ATA_BAD_CHS,
    ZD_ATA_BAD_SLEEP,
} ZdAtaMistake;

/* Settings that a host can change and that a reset may take back */
typedef struct ZdAtaSettings {
    bool write_cache;
    bool look_ahead;
    bool apm;
    uint8_t apm_level;
    uint8_t xfer_mode;          /* as in SET FEATURES 03h */
    uint8_t multiple;           /* sectors per DRQ block, 0: disabled */
    bool preserve;              /* software settings preservation */
    bool auto_activate;         /* DMA Setup FIS auto-activate */
    bool dipm;                  /* device initiated power management */
    uint8_t standby;            /* timer as in IDLE and STANDBY, 0: off */
} ZdAtaSettings;

struct ZdSsd {
    Object parent_obj;

    /* fixed at set-up */
    ZdLink *link;
    ZdMedia media;
    const ZdSsdProfile *profile;
    uint64_t native_sectors;
    uint64_t wwn;
    char model[41];
    char firmware[9];
    char serial[21];

    ZdAtaSettings settings;

    /*
     * The command before, when it was one that another has to follow
     * immediately: SECURITY ERASE PREPARE, READ NATIVE MAX ADDRESS (EXT)
     */
    uint8_t preceding;

    /* host protected area */
    uint64_t sectors;           /* that the host can reach now */
    uint64_t kept_sectors;      /* after the next power-on */
    bool hpa_kept;              /* set once since power-on */

    /* power: the standby timer is a comparison, not a QEMU timer */
    uint8_t power;              /* ZdPower */
    int64_t last_access_ns;     /* QEMU_CLOCK_VIRTUAL */

    /* native command queueing */
    uint32_t ncq_active;        /* one bit per tag */
    bool ncq_error;             /* stopped until READ LOG 10h or a reset */
    uint8_t ncq_log[16];        /* first bytes of log 10h */

    /* SMART */
    bool smart_enabled;
    bool smart_autosave;
    bool auto_offline;
    uint8_t offline_status;     /* SMART data byte 362 */
    uint64_t power_cycles;
    uint64_t unsafe_off;
    uint64_t uncorrectable;
    uint64_t crc_errors;
    int64_t power_on_ns;        /* QEMU_CLOCK_VIRTUAL of the last power-on */
    uint64_t power_on_ms;       /* before that */
    int64_t kept_ns;            /* when the state file was written */

    /* self-test: runs in virtual time, its end is found when one looks */
    uint8_t selftest;           /* running subcommand, 0: none */
    uint8_t selftest_status;    /* byte 363 when none runs */
    int64_t selftest_start_ns;
    int64_t selftest_end_ns;
    uint8_t selftest_last;      /* newest entry, from 1; 0: log is empty */
    ZdSelftest selftest_log[ATA_SELFTEST_ENTRIES];
    uint8_t selective[ZD_SECTOR_SIZE];      /* log 09h */

    /* SATA phy event counters, log 11h */
    uint16_t phy_not_ready;
    uint16_t phy_comreset;
    uint16_t phy_crc;

    /* SCT */
    uint16_t sct_action;        /* of the last command */
    uint16_t sct_function;
    uint16_t sct_status;        /* its extended status code */
    bool sct_table;             /* a table waits in log E1h */
    uint16_t sct_erc[2];        /* read, write; 100 ms units */

    /* security (ACS-2 4.20) */
    bool sec_enabled;
    bool sec_locked;
    bool sec_frozen;
    bool sec_maximum;           /* level maximum, else high */
    uint8_t sec_attempts;       /* left until the counter expires */
    uint16_t sec_master_id;     /* IDENTIFY word 92 */
    uint8_t sec_user[ATA_PASSWORD_LEN];
    uint8_t sec_master[ATA_PASSWORD_LEN];

    /* DOWNLOAD MICROCODE */
    char given_firmware[9];     /* that the user gave the card */
    char new_firmware[9];       /* from the next reset on; empty: none */
    uint8_t *image;             /* what has come so far, or NULL */
    uint32_t image_len;

    uint8_t buffer[ZD_SECTOR_SIZE];         /* WRITE BUFFER */
    uint8_t *host_logs;         /* NULL while all of them are zero */

    /* what goes wrong on purpose */
    ZdFaults faults;
    bool busy;                  /* has not sent its signature since a reset */
    bool panicked;              /* came up as a controller without firmware */
    uint8_t panic;              /* ZD_PANIC_ form of that */

    /* supply */
    uint8_t capacitor;          /* % of a full charge */
    bool was_cut;               /* the last time that it lost power */
    int64_t ready_ns;           /* QEMU_CLOCK_VIRTUAL; no signature before */
    QEMUTimer *signature_timer;
    QEMUTimer *return_timer;    /* of a link that was dropped */

    /* counters that only stats shows */
    uint64_t commands;
    uint64_t errors;
    uint64_t queue_errors;
    uint64_t hung;
    uint64_t resets;
    uint64_t link_losses;
};

/* Direction and transport of a command's data (ACS-2 clause 6) */
typedef enum ZdAtaProtocol {
    ZD_ATA_NON_DATA,
    ZD_ATA_PIO_IN,
    ZD_ATA_PIO_OUT,
    ZD_ATA_DMA_IN,
    ZD_ATA_DMA_OUT,
    ZD_ATA_FPDMA_IN,
    ZD_ATA_FPDMA_OUT,
} ZdAtaProtocol;

enum {
    ZD_ATA_F_EXT    = 1 << 0,   /* 48-bit registers */
    ZD_ATA_F_LBA    = 1 << 1,   /* addresses sectors, by LBA only */
    ZD_ATA_F_MEDIA  = 1 << 2,   /* wakes the device from idle and standby */
    ZD_ATA_F_SECURE = 1 << 3,   /* aborted while locked (ACS-2 table 7) */
    ZD_ATA_F_FUA    = 1 << 4,   /* stable before it is done */
    ZD_ATA_F_MULTI  = 1 << 5,   /* aborted when multiple mode is off */
    ZD_ATA_F_FOLLOWS = 1 << 6,  /* wants another command straight before */
};

typedef struct ZdAtaCommand {
    const char *name;           /* NULL: no such command */
    uint8_t protocol;           /* ZdAtaProtocol */
    uint8_t flags;
    void (*run)(ZdSsd *ssd, ZdRequest *req, const struct ZdAtaCommand *cmd);
} ZdAtaCommand;

typedef void ZdAtaRun(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd);

/* One SET FEATURES, SMART or SCT function and what serves it */
typedef struct ZdAtaSub {
    uint8_t code;
    ZdAtaRun *run;
} ZdAtaSub;

static inline ZdSsd *zd_ata_ssd(ZdRequest *req)
{
    return req->link->dev;
}

static inline uint32_t zd_ata_lba28(const ZdRequest *req)
{
    return req->fis[FIS_LBA_LOW] | req->fis[FIS_LBA_MID] << 8 |
           req->fis[FIS_LBA_HIGH] << 16 | (req->fis[FIS_DEVICE] & 0xf) << 24;
}

static inline uint64_t zd_ata_lba48(const ZdRequest *req)
{
    return req->fis[FIS_LBA_LOW] | req->fis[FIS_LBA_MID] << 8 |
           req->fis[FIS_LBA_HIGH] << 16 |
           (uint64_t)req->fis[FIS_LBA_LOW_EXP] << 24 |
           (uint64_t)req->fis[FIS_LBA_MID_EXP] << 32 |
           (uint64_t)req->fis[FIS_LBA_HIGH_EXP] << 40;
}

static inline uint16_t zd_ata_count16(const ZdRequest *req)
{
    return req->fis[FIS_COUNT] | req->fis[FIS_COUNT_EXP] << 8;
}

static inline uint16_t zd_ata_features16(const ZdRequest *req)
{
    return req->fis[FIS_FEATURES] | req->fis[FIS_FEATURES_EXP] << 8;
}

static inline unsigned zd_ata_tag(const ZdRequest *req)
{
    return req->fis[FIS_COUNT] >> 3;
}

/* What was straight before; a command with ZD_ATA_F_FOLLOWS asks once. */
static inline uint8_t zd_ata_preceding(ZdSsd *ssd)
{
    uint8_t opcode = ssd->preceding;

    ssd->preceding = 0;
    return opcode;
}

/* commands.c: the table, and how a command ends */
extern const ZdAtaCommand zd_ata_commands[256];
extern const ZdDeviceOps zd_ata_ops;

void zd_ata_fis(uint8_t fis[ZD_FIS_REG_LEN], uint8_t status, uint8_t error);
void zd_ata_set_lba(uint8_t fis[ZD_FIS_REG_LEN], uint64_t lba, bool ext);

/*
 * End @req now.  zd_ata_good() leaves registers alone that the command has
 * put into req->d2h; zd_ata_fail() with @status and @error of the standard,
 * @lba the first sector concerned.  A failing queued command takes all other
 * queued commands with it (zd_link_queue_error()).
 */
void zd_ata_good(ZdRequest *req);
void zd_ata_fail(ZdRequest *req, uint8_t status, uint8_t error, uint64_t lba);
/* The data did not get over the link. */
void zd_ata_fail_link(ZdRequest *req, uint64_t lba);
/* The host's memory is at fault, not the command. */
void zd_ata_outcome(ZdRequest *req, ZdOutcome outcome);
/* End with status 51h, error 04h after the latency of a short command. */
void zd_ata_abort_command(ZdRequest *req);
/* As zd_ata_good(), after that latency. */
void zd_ata_good_later(ZdRequest *req);
/* Send @len bytes, a copy of @buf, to the host and end @req. */
void zd_ata_data_in(ZdRequest *req, const void *buf, uint32_t len);
/*
 * Fetch @len bytes into req->buffer.  False: @req has already ended, the
 * host offered too little or memory that is none.
 */
bool zd_ata_data_out(ZdRequest *req, uint32_t len);
/* True when @sectors of data fit the host's list, else @req has ended. */
bool zd_ata_fits(ZdRequest *req, uint32_t sectors);
/*
 * How a command goes on when the medium is done with it.  Every callback given
 * to the medium is in the table of vmstate.c too.
 */
ZdMediaDone zd_ata_good_done, zd_ata_abort_done, zd_ata_data_in_done;
ZdMediaDone zd_ata_diagnostic_done, zd_ata_read_done, zd_ata_write_done;
ZdMediaDone zd_ata_standby_done, zd_ata_sleep_done, zd_ata_erase_done;
/* ... when a failure is a device fault */
ZdMediaDone zd_ata_fault_done;
/* Write byte 511 so that the 512 bytes sum up to 0. */
void zd_ata_checksum(uint8_t page[ZD_SECTOR_SIZE]);

/* rw.c */
/* What a read or write command names: first sector and number of sectors. */
void zd_ata_extent(const ZdRequest *req, const ZdAtaCommand *cmd,
                   uint64_t *lba, uint32_t *sectors);
ZdAtaRun zd_ata_read, zd_ata_write, zd_ata_verify, zd_ata_flush;
ZdAtaRun zd_ata_fpdma;

/* identify.c */
ZdAtaRun zd_ata_identify;

/* features.c */
ZdAtaRun zd_ata_set_features, zd_ata_set_multiple;
void zd_ata_settings_default(ZdSsd *ssd);

/* power.c */
ZdAtaRun zd_ata_check_power, zd_ata_idle, zd_ata_idle_immediate;
ZdAtaRun zd_ata_standby, zd_ata_standby_immediate, zd_ata_sleep;
void zd_ata_accessed(ZdSsd *ssd);

/* trim.c */
ZdAtaRun zd_ata_dsm;

/* smart.c */
ZdAtaRun zd_ata_smart;
/* The raw value of every attribute, as struct @name. */
bool zd_ata_smart_visit(ZdSsd *ssd, Visitor *v, const char *name,
                        Error **errp);
/* Milliseconds under power in the life of the SSD. */
uint64_t zd_ata_power_on_ms(const ZdSsd *ssd);

/* selftest.c */
ZdAtaRun zd_ata_offline_immediate;
/* SMART data byte 363 as of now. */
uint8_t zd_ata_selftest_status(ZdSsd *ssd);
/* End a running test; @status is the high digit of byte 363. */
void zd_ata_selftest_stop(ZdSsd *ssd, uint8_t status);
void zd_ata_selftest_page(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE]);
void zd_ata_selective_page(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE]);

/* hpa.c */
ZdAtaRun zd_ata_read_native_max, zd_ata_set_max;
void zd_ata_hpa_power_on(ZdSsd *ssd);

/* log.c */
ZdAtaRun zd_ata_read_log_ext, zd_ata_write_log_ext;
ZdAtaRun zd_ata_smart_read_log, zd_ata_smart_write_log;
void zd_ata_ncq_log_clear(ZdSsd *ssd);

/* statistics.c */
void zd_ata_statistics_page(const ZdSsd *ssd, unsigned number,
                            uint8_t page[ZD_SECTOR_SIZE]);

/* sct.c */
void zd_ata_sct_status(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE]);
/* False when no SCT command has left anything to read. */
bool zd_ata_sct_data(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE]);
/* Carry out the key sector in req->buffer and end @req. */
void zd_ata_sct_command(ZdSsd *ssd, ZdRequest *req);
void zd_ata_sct_reset(ZdSsd *ssd);

/* security.c */
ZdAtaRun zd_ata_security_set, zd_ata_security_unlock;
ZdAtaRun zd_ata_security_prepare, zd_ata_security_erase;
ZdAtaRun zd_ata_security_freeze, zd_ata_security_disable;
uint16_t zd_ata_security_word128(const ZdSsd *ssd);
void zd_ata_security_power_on(ZdSsd *ssd);
void zd_ata_security_comreset(ZdSsd *ssd);

/* microcode.c */
ZdAtaRun zd_ata_microcode;
/* A reset puts into force what was downloaded as a whole. */
void zd_ata_microcode_reset(ZdSsd *ssd);
void zd_ata_microcode_forget(ZdSsd *ssd);

/* fault.c */
/* True when a fault has taken @req; it is not to be touched any more then. */
bool zd_ata_fault_start(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd);
/* Every reset: what the SSD comes up as. */
void zd_ata_fault_reset(ZdSsd *ssd);
/* Other faults are armed than before. */
void zd_ata_faults_changed(ZdSsd *ssd);
void zd_ata_fault_init(ZdSsd *ssd, uint64_t seed);
void zd_ata_fault_cleanup(ZdSsd *ssd);

/* supply.c */
/* The SSD has lost its supply; the link has taken every request away. */
void zd_ata_lose_power(ZdSsd *ssd, ZdLoss loss, ZdCutReport *report);

/* object.c */
void zd_ssd_class_init(ObjectClass *klass, void *data);

/* vmstate.c */
uint8_t zd_ata_save(void *dev, const ZdRequest *req);
bool zd_ata_restore(void *dev, ZdRequest *req, uint8_t resume);
extern const VMStateDescription zd_vmstate_selftest;
extern const VMStateDescription zd_vmstate_ssd_host_logs;

#endif
