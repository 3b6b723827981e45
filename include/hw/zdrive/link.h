/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link: the cable between one phy of a bridge and the device at its end.
 *
 * Both sides see each other only through the two tables below, so that any
 * bridge can drive any device.  The link serialises as a SATA host does:
 * queued (NCQ) commands run beside each other, every other command runs alone.
 *
 * All calls are made under the big lock, from any of: an MMIO write, a virtual
 * timer, a block layer completion.
 */
#ifndef HW_ZDRIVE_LINK_H
#define HW_ZDRIVE_LINK_H

#include "migration/vmstate.h"
#include "hw/zdrive/fault.h"
#include "hw/zdrive/request.h"

#define ZD_LINK_HELD    32

typedef enum ZdReset {
    ZD_RESET_POWER_ON,      /* volatile settings return to their defaults */
    ZD_RESET_COMRESET,      /* hardware reset, ACS-2 4.2 (SATA OOB) */
    ZD_RESET_SOFT,          /* SRST in a Control FIS */
} ZdReset;

/* Signalling rate as SStatus.SPD names it. */
typedef enum ZdRate {
    ZD_RATE_NONE,
    ZD_RATE_1_5G,
    ZD_RATE_3G,
    ZD_RATE_6G,
} ZdRate;

/* What a device at the end of a link can do. */
typedef struct ZdDeviceOps {
    /* True when @req is a native queued command. */
    bool (*is_queued)(void *dev, const ZdRequest *req);
    /* Execute; ends in zd_link_complete() or zd_link_queue_error(). */
    void (*start)(void *dev, ZdRequest *req);
    /*
     * Forget a started request.  Synchronous: when it returns no host memory
     * of the request is touched any more and it will never be completed.
     */
    void (*abort)(void *dev, ZdRequest *req);
    /* Reset; the link has aborted every request before. */
    void (*reset)(void *dev, ZdReset kind);
    /*
     * Register D2H FIS that the device sends after a reset.  False: not yet;
     * it says so by zd_link_sign_in() when it is there.
     */
    bool (*signature)(void *dev, uint8_t fis[ZD_FIS_REG_LEN]);
    /* A number from which restore() knows how a started request goes on. */
    uint8_t (*save)(void *dev, const ZdRequest *req);
    /* Take over a started request that was migrated; false: no such number. */
    bool (*restore)(void *dev, ZdRequest *req, uint8_t resume);
} ZdDeviceOps;

/* What the bridge at the other end hears. */
typedef struct ZdHostOps {
    /*
     * The device sent a Set Device Bits FIS with ERR (SATA 3.0 13.6.5): every
     * queued command is dead without completion; READ LOG 10h tells the tag.
     * The link has already aborted all of them in the device.  @drop is
     * called for the others before and for @failed right after, so that
     * @failed can still be read here.
     */
    void (*queue_error)(void *host, ZdLink *link, ZdRequest *failed,
                        uint8_t status, uint8_t error);
    /*
     * @req will not be completed; the host takes it back and frees it.  It
     * must not submit, abort or reset anything from here.
     */
    void (*drop)(void *host, ZdRequest *req);
    /* zd_link_present() has changed; what was under way is dropped already. */
    void (*changed)(void *host, ZdLink *link);
    /* The signature that was missing at the last reset has come. */
    void (*signed_in)(void *host, ZdLink *link);
    /* A frame arrived with a bad checksum, here or there. */
    void (*crc_error)(void *host, ZdLink *link);
    /*
     * @req is nothing that a driver should send.  @what, for a log of such
     * things, is the same pointer each time.
     */
    void (*mistake)(void *host, ZdLink *link, const ZdRequest *req,
                    const char *what);
} ZdHostOps;

/* Why nothing answers at the end of a link; each by itself is enough. */
enum {
    ZD_LINK_UNPLUGGED   = 1 << 0,   /* the user has pulled the SSD */
    ZD_LINK_MISSING     = 1 << 1,   /* it has no power, or is not fitted */
    ZD_LINK_DROPPED     = 1 << 2,   /* lost; the SSD is under power */
    ZD_LINK_UNPOWERED   = 1 << 3,   /* the card has no power */
};

struct ZdLink {
    const ZdDeviceOps *dev_ops;     /* NULL: nothing at the end */
    void *dev;
    ZdRate max_rate;                /* of the device */
    const ZdHostOps *host_ops;
    void *host;
    unsigned phy;                   /* of the card, 0 to 7 */
    uint8_t down;                   /* ZD_LINK_ bits: why it is */
    uint8_t rate;                   /* ZdRate, as the host has negotiated */

    bool starting;                  /* zd_link_run() is on the stack */
    bool halted;                    /* queued commands wait: queue error */
    unsigned active_queued;
    unsigned active_single;
    QTAILQ_HEAD(, ZdRequest) active;
    QTAILQ_HEAD(, ZdRequest) waiting;
};

void zd_link_init(ZdLink *link, unsigned phy);
void zd_link_attach_device(ZdLink *link, const ZdDeviceOps *ops, void *dev,
                           ZdRate max_rate);
void zd_link_attach_host(ZdLink *link, const ZdHostOps *ops, void *host);

/* True when a device answers at the end of the link. */
bool zd_link_present(const ZdLink *link);
/*
 * Take the device away or bring it back, @reason being one ZD_LINK_ bit.  One
 * that returns has been reset: by power-on, but from ZD_LINK_DROPPED.
 */
void zd_link_set_down(ZdLink *link, unsigned reason, bool down);

/* Bridge side.  @req->complete may run before the call returns. */
void zd_link_submit(ZdLink *link, ZdRequest *req);
/* Take @req back, whatever its state; see ZdDeviceOps.abort. */
void zd_link_abort(ZdLink *link, ZdRequest *req);
/* Drop every request (ZdHostOps.drop), then reset the device. */
void zd_link_reset(ZdLink *link, ZdReset kind);
/* Drop every request that the device has not seen yet. */
void zd_link_abort_waiting(ZdLink *link);
/* Drop every request; the device keeps its state. */
void zd_link_abort_all(ZdLink *link);

/* Device side. */
void zd_link_complete(ZdRequest *req);
/*
 * @failed and all other queued commands end in ZdHostOps.queue_error.  Queued
 * commands that come later wait, and others overtake them, until the device
 * calls zd_link_queue_resume() or is reset; so none is lost that was under way
 * to the device when the error happened.  At most ZD_LINK_HELD wait like that;
 * the device sees the others at once, and refuses them.
 */
void zd_link_queue_error(ZdRequest *failed, uint8_t status, uint8_t error);
void zd_link_queue_resume(ZdLink *link);
void zd_link_sign_in(ZdLink *link);
void zd_link_crc_error(ZdLink *link);
void zd_link_mistake(const ZdRequest *req, const char *what);

/*
 * Migration.  When the machine stops, zd_link_settle() waits until the data of
 * every request has been moved; after that a request is only its fields and a
 * deadline.  A bridge saves the requests of a link in the order of @active and
 * then @waiting, each prepared by zd_link_save(), and puts them back in that
 * order by zd_link_restore(), which returns false on a stream that is not ours.
 */
extern const VMStateDescription zd_vmstate_request;
extern const VMStateDescription zd_vmstate_link;
extern const VMStateDescription zd_vmstate_faults;
void zd_link_settle(ZdLink *link);
void zd_link_save(ZdLink *link, ZdRequest *req);
bool zd_link_restore(ZdLink *link, ZdRequest *req);

/* Request life cycle, for bridges: clear everything but the scatter list. */
void zd_request_init(ZdRequest *req);

/*
 * Copy @len bytes between a device buffer and the start of the request's
 * scatter list.  Returns false when the list is shorter (nothing is copied
 * then) or when it points to anything but memory.
 */
bool zd_request_to_host(ZdRequest *req, const void *buf, uint32_t len);
bool zd_request_from_host(ZdRequest *req, void *buf, uint32_t len);

#endif
