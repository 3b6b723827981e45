/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of media/ share: how the medium reaches guest memory.
 */
#ifndef ZDRIVE_MEDIA_INTERNAL_H
#define ZDRIVE_MEDIA_INTERNAL_H

#include "hw/zdrive/media.h"

/*
 * Make op->iov of the first op->bytes of the request's scatter list: guest
 * pages where all of it is plain memory, else a bounce buffer (filled already
 * when the data goes to the medium).  0, -EFAULT or -ENOMEM.
 */
int zd_dma_begin(ZdRequest *req, bool to_guest);

/*
 * Give guest pages back; empty the bounce buffer into the guest when @good.
 * 0 or -EFAULT.
 */
int zd_dma_end(ZdRequest *req, bool good);

#endif
