/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between a phy of a bridge and the device at its end.
 *
 * Purpose: order.  Requests start first come, first served.  Native queued
 * commands run beside each other; any other command waits until the device is
 * idle and runs alone (Serial ATA 3.0 13.6.2: a host never mixes the two).
 * Besides that the link owns the way back: completion, abort, reset, and the
 * queue error that ends all queued commands at once.
 */
#include "qemu/osdep.h"
#include "hw/zdrive/link.h"

void zd_link_init(ZdLink *link, unsigned phy)
{
    memset(link, 0, sizeof(*link));
    link->phy = phy;
    link->max_rate = ZD_RATE_NONE;
    QTAILQ_INIT(&link->active);
    QTAILQ_INIT(&link->waiting);
}

void zd_link_attach_device(ZdLink *link, const ZdDeviceOps *ops, void *dev,
                           ZdRate max_rate)
{
    link->dev_ops = ops;
    link->dev = dev;
    link->max_rate = ops ? max_rate : ZD_RATE_NONE;
}

void zd_link_attach_host(ZdLink *link, const ZdHostOps *ops, void *host)
{
    link->host_ops = ops;
    link->host = host;
}

bool zd_link_present(const ZdLink *link)
{
    return link->dev_ops && !link->down;
}

/* The request that may start now, or NULL. */
static ZdRequest *zd_link_next(ZdLink *link)
{
    ZdRequest *req;

    if (!zd_link_present(link) || link->active_single) {
        return NULL;
    }
    QTAILQ_FOREACH(req, &link->waiting, next) {
        if (req->queued) {
            if (!link->halted) {
                return req;
            }
            /* after a queue error what reads the log overtakes the queue */
        } else {
            return link->active_queued ? NULL : req;
        }
    }
    return NULL;
}

static void zd_link_start(ZdLink *link, ZdRequest *req)
{
    QTAILQ_INSERT_TAIL(&link->active, req, next);
    req->started = true;
    if (req->queued) {
        link->active_queued++;
    } else {
        link->active_single++;
    }
    link->dev_ops->start(link->dev, req);
}

/*
 * Start what may run now.  Completions that happen inside start() and
 * submissions that happen inside completions do not recurse: they leave their
 * work to the loop of the outermost call.
 */
static void zd_link_run(ZdLink *link)
{
    ZdRequest *req;

    if (link->starting) {
        return;
    }
    link->starting = true;
    while ((req = zd_link_next(link)) != NULL) {
        QTAILQ_REMOVE(&link->waiting, req, next);
        zd_link_start(link, req);
    }
    link->starting = false;
}

/* Take @req off the list it is on. */
static void zd_link_unlink(ZdLink *link, ZdRequest *req)
{
    if (req->started) {
        QTAILQ_REMOVE(&link->active, req, next);
        if (req->queued) {
            link->active_queued--;
        } else {
            link->active_single--;
        }
        req->started = false;
    } else {
        QTAILQ_REMOVE(&link->waiting, req, next);
    }
    req->finish = NULL;
    g_free(req->buffer);
    req->buffer = NULL;
    req->buffer_len = 0;
}

/* Make the device forget @req and take it off its list. */
static void zd_link_take_back(ZdLink *link, ZdRequest *req)
{
    if (req->started && link->dev_ops) {
        link->dev_ops->abort(link->dev, req);
    }
    zd_link_unlink(link, req);
}

/* No driver has more than one queue of commands on its way. */
static bool zd_link_holds_enough(ZdLink *link)
{
    unsigned n = 0;
    ZdRequest *req;

    QTAILQ_FOREACH(req, &link->waiting, next) {
        n += req->queued;
    }
    return n >= ZD_LINK_HELD;
}

void zd_link_submit(ZdLink *link, ZdRequest *req)
{
    req->link = link;
    req->started = false;
    req->queued = link->dev_ops && link->dev_ops->is_queued(link->dev, req);
    if (req->queued && link->halted && zd_link_holds_enough(link)) {
        /* the device refuses it */
        zd_link_start(link, req);
        return;
    }
    QTAILQ_INSERT_TAIL(&link->waiting, req, next);
    zd_link_run(link);
}

void zd_link_complete(ZdRequest *req)
{
    ZdLink *link = req->link;

    zd_link_unlink(link, req);
    req->complete(req);
    zd_link_run(link);
}

void zd_link_abort(ZdLink *link, ZdRequest *req)
{
    zd_link_take_back(link, req);
    zd_link_run(link);
}

static void zd_link_drop(ZdLink *link, ZdRequest *req)
{
    zd_link_take_back(link, req);
    if (link->host_ops) {
        link->host_ops->drop(link->host, req);
    }
}

/* Youngest first, so that nothing that waits is ever started on the way. */
void zd_link_abort_waiting(ZdLink *link)
{
    ZdRequest *req;

    while ((req = QTAILQ_LAST(&link->waiting))) {
        zd_link_drop(link, req);
    }
}

static void zd_link_drop_all(ZdLink *link)
{
    ZdRequest *req;

    zd_link_abort_waiting(link);
    while ((req = QTAILQ_LAST(&link->active))) {
        zd_link_drop(link, req);
    }
}

void zd_link_abort_all(ZdLink *link)
{
    bool starting = link->starting;

    link->starting = true;
    zd_link_drop_all(link);
    link->starting = starting;
}

void zd_link_reset(ZdLink *link, ZdReset kind)
{
    zd_link_abort_all(link);
    link->halted = false;
    if (zd_link_present(link)) {
        link->dev_ops->reset(link->dev, kind);
    }
}

void zd_link_set_down(ZdLink *link, unsigned reason, bool down)
{
    bool before = zd_link_present(link);

    link->down = down ? link->down | reason : link->down & ~reason;
    if (zd_link_present(link) == before) {
        return;
    }
    zd_link_reset(link, reason == ZD_LINK_DROPPED ? ZD_RESET_COMRESET
                                                  : ZD_RESET_POWER_ON);
    if (link->host_ops) {
        link->host_ops->changed(link->host, link);
    }
}

void zd_link_sign_in(ZdLink *link)
{
    if (zd_link_present(link) && link->host_ops) {
        link->host_ops->signed_in(link->host, link);
    }
}

void zd_link_crc_error(ZdLink *link)
{
    if (link->host_ops) {
        link->host_ops->crc_error(link->host, link);
    }
}

void zd_link_queue_error(ZdRequest *failed, uint8_t status, uint8_t error)
{
    ZdLink *link = failed->link;
    bool starting = link->starting;
    ZdRequest *req, *tmp;

    link->starting = true;
    link->halted = true;

    QTAILQ_FOREACH_SAFE(req, &link->waiting, next, tmp) {
        if (req->queued && req != failed) {
            zd_link_drop(link, req);
        }
    }
    QTAILQ_FOREACH_SAFE(req, &link->active, next, tmp) {
        if (req->queued && req != failed) {
            zd_link_drop(link, req);
        }
    }
    /* @failed stays valid for the host's report and is dropped last */
    zd_link_take_back(link, failed);
    if (link->host_ops) {
        link->host_ops->queue_error(link->host, link, failed, status, error);
        link->host_ops->drop(link->host, failed);
    }

    link->starting = starting;
    zd_link_run(link);
}

void zd_link_queue_resume(ZdLink *link)
{
    if (link->halted) {
        link->halted = false;
        zd_link_run(link);
    }
}

void zd_link_mistake(const ZdRequest *req, const char *what)
{
    ZdLink *link = req->link;

    if (link->host_ops && link->host_ops->mistake) {
        link->host_ops->mistake(link->host, link, req, what);
    }
}

void zd_request_init(ZdRequest *req)
{
    QEMUSGList sg = req->sg;

    memset(req, 0, sizeof(*req));
    req->sg = sg;
}

static bool zd_request_copy(ZdRequest *req, void *buf, uint32_t len,
                            DMADirection dir)
{
    QEMUSGList *sg = &req->sg;
    uint8_t *p = buf;
    int i;

    if (len > sg->size) {
        return false;
    }
    for (i = 0; len && i < sg->nsg; i++) {
        uint32_t n = MIN(len, sg->sg[i].len);

        if (zd_dma_rw(sg->as, sg->sg[i].base, p, n, dir) != MEMTX_OK) {
            return false;
        }
        p += n;
        len -= n;
    }
    return !len;
}

bool zd_request_to_host(ZdRequest *req, const void *buf, uint32_t len)
{
    return zd_request_copy(req, (void *)buf, len, DMA_DIRECTION_FROM_DEVICE);
}

bool zd_request_from_host(ZdRequest *req, void *buf, uint32_t len)
{
    return zd_request_copy(req, buf, len, DMA_DIRECTION_TO_DEVICE);
}
