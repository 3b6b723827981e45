/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration of links and of the requests on them.
 *
 * A machine that stops first lets the data of every request be moved.  What is
 * left is the request's fields, its deadline in virtual time, and a number
 * from the device for what it does when that comes.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "block/aio-wait.h"
#include "hw/zdrive/link.h"

static bool data_pending(ZdLink *link)
{
    ZdRequest *req;

    QTAILQ_FOREACH(req, &link->active, next) {
        if (req->media.data_pending) {
            return true;
        }
    }
    return false;
}

void zd_link_settle(ZdLink *link)
{
    AIO_WAIT_WHILE_UNLOCKED(NULL, data_pending(link));
}

void zd_link_save(ZdLink *link, ZdRequest *req)
{
    req->resume = req->started ? link->dev_ops->save(link->dev, req) : 0;
}

bool zd_link_restore(ZdLink *link, ZdRequest *req)
{
    if (!link->dev_ops) {
        return false;
    }
    req->link = link;
    req->queued = link->dev_ops->is_queued(link->dev, req);
    if (!req->started) {
        QTAILQ_INSERT_TAIL(&link->waiting, req, next);
        return true;
    }
    if (!link->dev_ops->restore(link->dev, req, req->resume)) {
        return false;
    }
    QTAILQ_INSERT_TAIL(&link->active, req, next);
    if (req->queued) {
        link->active_queued++;
    } else {
        link->active_single++;
    }
    return true;
}

const VMStateDescription zd_vmstate_link = {
    .name = "zdrive/link",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(halted, ZdLink),
        VMSTATE_UINT8(down, ZdLink),
        VMSTATE_UINT8(rate, ZdLink),
        VMSTATE_END_OF_LIST()
    },
};

/* Faults travel as their text, counters included. */
static int faults_pre_save(void *opaque)
{
    ZdFaults *faults = opaque;

    g_free(faults->saved);
    faults->saved = (uint8_t *)zd_faults_format(faults);
    faults->saved_len = strlen((char *)faults->saved) + 1;
    return 0;
}

static int faults_pre_load(void *opaque)
{
    ZdFaults *faults = opaque;

    g_free(faults->saved);
    faults->saved = NULL;
    return 0;
}

static int faults_post_load(void *opaque, int version_id)
{
    ZdFaults *faults = opaque;
    g_autofree char *text = g_strndup((char *)faults->saved,
                                      faults->saved_len);
    g_autofree char *message = NULL;

    if (!zd_faults_parse(faults, text, &message)) {
        error_report("zdrive: the stream has a fault that is unknown here: %s",
                     message);
        return -EINVAL;
    }
    return 0;
}

const VMStateDescription zd_vmstate_faults = {
    .name = "zdrive/faults",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = faults_pre_save,
    .pre_load = faults_pre_load,
    .post_load = faults_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(random, ZdFaults),
        VMSTATE_UINT32(saved_len, ZdFaults),
        VMSTATE_VBUFFER_ALLOC_UINT32(saved, ZdFaults, 1, NULL, saved_len),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_sg_entry = {
    .name = "zdrive/sg-entry",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(base, ScatterGatherEntry),
        VMSTATE_UINT64(len, ScatterGatherEntry),
        VMSTATE_END_OF_LIST()
    },
};

static int request_pre_load(void *opaque)
{
    ZdRequest *req = opaque;

    /* the list that is loaded takes the place of this one */
    g_free(req->sg.sg);
    req->sg.sg = NULL;
    req->sg.nalloc = 0;
    return 0;
}

static int request_post_load(void *opaque, int version_id)
{
    ZdRequest *req = opaque;
    int i;

    req->sg.nalloc = req->sg.nsg;
    req->sg.size = 0;
    for (i = 0; i < req->sg.nsg; i++) {
        req->sg.size += req->sg.sg[i].len;
    }
    return 0;
}

const VMStateDescription zd_vmstate_request = {
    .name = "zdrive/request",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_load = request_pre_load,
    .post_load = request_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT8_ARRAY(fis, ZdRequest, ZD_FIS_REG_LEN),
        VMSTATE_UINT8_ARRAY(cdb, ZdRequest, 16),
        VMSTATE_UINT8_ARRAY(d2h, ZdRequest, ZD_FIS_REG_LEN),
        VMSTATE_INT32(sg.nsg, ZdRequest),
        VMSTATE_STRUCT_VARRAY_ALLOC(sg.sg, ZdRequest, sg.nsg, 1,
                                    vmstate_sg_entry, ScatterGatherEntry),
        VMSTATE_BOOL(started, ZdRequest),
        VMSTATE_UINT8(resume, ZdRequest),
        VMSTATE_UINT32(buffer_len, ZdRequest),
        VMSTATE_VBUFFER_ALLOC_UINT32(buffer, ZdRequest, 1, NULL, buffer_len),
        VMSTATE_BOOL(media.active, ZdRequest),
        VMSTATE_BOOL(media.timed, ZdRequest),
        VMSTATE_BOOL(media.busy, ZdRequest),
        VMSTATE_BOOL(media.waiting, ZdRequest),
        VMSTATE_INT64(media.deadline_ns, ZdRequest),
        VMSTATE_INT32(media.ret, ZdRequest),
        VMSTATE_UINT64(media.error_lba, ZdRequest),
        VMSTATE_UINT8(media.kind, ZdRequest),
        VMSTATE_BOOL(media.through, ZdRequest),
        VMSTATE_UINT64(media.write_seq, ZdRequest),
        VMSTATE_UINT64(media.flush_seq, ZdRequest),
        VMSTATE_END_OF_LIST()
    },
};
