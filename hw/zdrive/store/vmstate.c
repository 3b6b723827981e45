/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration of a memory store: every page that has memory behind it.  Block
 * nodes are shared between source and destination, or copied by QEMU itself.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/qemu-file-types.h"
#include "internal.h"

/* Each page goes with its member and offset; this ends the list. */
#define END_OF_PAGES    UINT8_MAX

static int put_pages(QEMUFile *f, void *pv, size_t size,
                     const VMStateField *field, JSONWriter *vmdesc)
{
    ZdStore *store = pv;
    unsigned i;

    for (i = 0; i < ZD_MAX_MEMBERS && store->sparse[i]; i++) {
        uint64_t offset = 0;
        const void *page;

        while ((page = zd_sparse_next_page(store->sparse[i], &offset))) {
            qemu_put_byte(f, i);
            qemu_put_be64(f, offset);
            qemu_put_buffer(f, page, ZD_SPARSE_PAGE);
            offset += ZD_SPARSE_PAGE;
        }
    }
    qemu_put_byte(f, END_OF_PAGES);
    return 0;
}

static int get_pages(QEMUFile *f, void *pv, size_t size,
                     const VMStateField *field)
{
    ZdStore *store = pv;
    uint8_t page[ZD_SPARSE_PAGE];
    unsigned i;

    for (i = 0; i < ZD_MAX_MEMBERS && store->sparse[i]; i++) {
        zd_sparse_zero(store->sparse[i], 0, store->member_bytes);
    }
    while ((i = qemu_get_byte(f)) != END_OF_PAGES) {
        uint64_t offset = qemu_get_be64(f);
        uint64_t len = ZD_SPARSE_PAGE;

        if (qemu_get_buffer(f, page, len) != len) {
            return -EIO;
        }
        if (i >= store->members || !store->sparse[i] ||
            offset >= store->member_bytes) {
            error_report("zdrive: the stream holds data of SSD %u at offset %"
                         PRIu64 ", this card keeps no such data in memory",
                         i, offset);
            return -EINVAL;
        }
        len = MIN(len, store->member_bytes - offset);
        if (!zd_sparse_write(store->sparse[i], offset, page, len)) {
            return -ENOMEM;
        }
    }
    return 0;
}

static const VMStateInfo vmstate_info_pages = {
    .name = "zdrive-pages",
    .get = get_pages,
    .put = put_pages,
};

const VMStateDescription zd_vmstate_store = {
    .name = "zdrive/store",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64_EQUAL(member_bytes, ZdStore, NULL),
        {
            .name = "pages",
            .info = &vmstate_info_pages,
            .size = sizeof(ZdStore),
            .flags = VMS_SINGLE,
        },
        VMSTATE_END_OF_LIST()
    },
};
