/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of media/ share: how the medium reaches guest memory.
 */
#ifndef ZDRIVE_MEDIA_INTERNAL_H
#define ZDRIVE_MEDIA_INTERNAL_H

#include "hw/zdrive/media.h"

static inline void zd_media_guard(ZdRequest *req, ZdMediaGuard *guard)
{
    guard->req = req;
    guard->gone = false;
    QSLIST_INSERT_HEAD(&req->media.media->guards, guard, next);
}

/* True when the request is gone and must not be touched any more. */
static inline bool zd_media_unguard(ZdMedia *media, ZdMediaGuard *guard)
{
    QSLIST_REMOVE_HEAD(&media->guards, next);
    return guard->gone;
}

/*
 * Make op->iov of the first op->bytes of the request's scatter list: guest
 * pages where all of it is plain memory, else a bounce buffer (filled already
 * when the data goes to the medium).  0, -EFAULT, -ENOMEM, or -ECANCELED when
 * the request was cancelled meanwhile and must not be touched any more.
 */
int zd_dma_begin(ZdRequest *req, bool to_guest);

/*
 * Give guest pages back; empty the bounce buffer into the guest when @good.
 * 0, -EFAULT or -ECANCELED.
 */
int zd_dma_end(ZdRequest *req, bool good);

#endif
