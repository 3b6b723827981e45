/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration of a medium and of the bridge's share of the flash model.
 *
 * The model saves itself as one block of bytes and trusts nothing that it
 * loads; here the block only gets its length.  Maps are large (4 bytes for each
 * 4 KiB that was ever written), so they are the last thing of an SSD.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/qemu-file-types.h"
#include "internal.h"

static void put_block(QEMUFile *f, uint8_t *data, size_t size)
{
    qemu_put_be64(f, size);
    qemu_put_buffer(f, data, size);
    g_free(data);
}

/* Grows as bytes come: a length alone takes no memory. */
static uint8_t *get_block(QEMUFile *f, size_t *size)
{
    const size_t step = 16 * 1024 * 1024;
    uint64_t left = qemu_get_be64(f);
    GByteArray *block = g_byte_array_new();

    while (left) {
        size_t want = MIN(left, step);
        guint at = block->len;

        if (left > UINT32_MAX - step) {
            break;
        }
        g_byte_array_set_size(block, at + want);
        if (qemu_get_buffer(f, block->data + at, want) != want) {
            break;
        }
        left -= want;
    }
    *size = left ? 0 : block->len;
    return g_byte_array_free(block, false);
}

static int loaded(bool good, char *message)
{
    if (good) {
        return 0;
    }
    error_report("zdrive: the flash model cannot go on from the stream: %s",
                 message);
    g_free(message);
    return -EINVAL;
}

static int put_flash(QEMUFile *f, void *pv, size_t size,
                     const VMStateField *field, JSONWriter *vmdesc)
{
    ZdFlash *flash = *(ZdFlash **)pv;
    size_t bytes = 0;
    uint8_t *data = flash ? zd_flash_save(flash, &bytes) : NULL;

    put_block(f, data, bytes);
    return 0;
}

static int get_flash(QEMUFile *f, void *pv, size_t size,
                     const VMStateField *field)
{
    ZdFlash *flash = *(ZdFlash **)pv;
    char *message = NULL;
    size_t bytes;
    g_autofree uint8_t *data = get_block(f, &bytes);

    return flash ? loaded(zd_flash_load(flash, data, bytes, &message), message)
                 : 0;
}

static const VMStateInfo flash_info = {
    .name = "zdrive-flash",
    .get = get_flash,
    .put = put_flash,
};

static int put_bridge(QEMUFile *f, void *pv, size_t size,
                      const VMStateField *field, JSONWriter *vmdesc)
{
    ZdFlashCard *bridge = *(ZdFlashCard **)pv;
    size_t bytes = 0;
    uint8_t *data = bridge ? zd_flash_card_save(bridge, &bytes) : NULL;

    put_block(f, data, bytes);
    return 0;
}

static int get_bridge(QEMUFile *f, void *pv, size_t size,
                      const VMStateField *field)
{
    ZdFlashCard *bridge = *(ZdFlashCard **)pv;
    char *message = NULL;
    size_t bytes;
    g_autofree uint8_t *data = get_block(f, &bytes);

    return bridge ? loaded(zd_flash_card_load(bridge, data, bytes, &message),
                           message) : 0;
}

const VMStateInfo zd_vmstate_info_flash_card = {
    .name = "zdrive-flash-card",
    .get = get_bridge,
    .put = put_bridge,
};

/* Writes that a power cut could take back, and sectors that one has ruined */

static void put_write(QEMUFile *f, const ZdWrite *w)
{
    unsigned pages = w->programs ? zd_write_pages(w) : 0;

    qemu_put_be64(f, w->seq);
    qemu_put_be64(f, w->lba);
    qemu_put_be32(f, w->sectors);
    qemu_put_byte(f, w->open | w->acked << 1 | w->durable << 2 |
                     (w->old != NULL) << 3 | (w->programs != NULL) << 4);
    for (unsigned i = 0; i < pages; i++) {
        qemu_put_be64(f, w->programs[i]);
    }
    if (w->old) {
        qemu_put_buffer(f, w->old, (size_t)w->sectors * ZD_SECTOR_SIZE);
    }
}

static gint by_page(gconstpointer a, gconstpointer b)
{
    return (a > b) - (a < b);
}

static int put_bad(QEMUFile *f, void *pv, size_t size,
                   const VMStateField *field, JSONWriter *vmdesc)
{
    ZdVolatile *risk = pv;
    g_autoptr(GList) pages = g_list_sort(g_hash_table_get_keys(risk->bad),
                                         by_page);

    for (GList *page = pages; page; page = page->next) {
        qemu_put_byte(f, 1);
        qemu_put_be32(f, GPOINTER_TO_UINT(page->data));
        qemu_put_byte(f, GPOINTER_TO_UINT(g_hash_table_lookup(risk->bad,
                                                              page->data)));
    }
    qemu_put_byte(f, 0);
    return 0;
}

static int get_bad(QEMUFile *f, void *pv, size_t size,
                   const VMStateField *field)
{
    ZdMedia *media = container_of(pv, ZdMedia, risk);

    while (qemu_get_byte(f) == 1) {
        uint64_t page = qemu_get_be32(f);
        uint8_t mask = qemu_get_byte(f);

        if (!mask || page * ZD_FLASH_PAGE / ZD_SECTOR_SIZE >= media->sectors) {
            error_report("zdrive: the stream names an unreadable sector that "
                         "the SSD does not have");
            return -EINVAL;
        }
        zd_bad_set(pv, page, mask);
    }
    return 0;
}

const VMStateInfo zd_vmstate_info_bad = {
    .name = "zdrive-bad",
    .get = get_bad,
    .put = put_bad,
};

static int put_risk(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field, JSONWriter *vmdesc)
{
    ZdVolatile *risk = pv;
    const ZdWrite *w;

    qemu_put_be64(f, risk->seq);
    QTAILQ_FOREACH(w, &risk->writes, next) {
        qemu_put_byte(f, 1);
        put_write(f, w);
    }
    qemu_put_byte(f, 0);
    return put_bad(f, pv, size, field, vmdesc);
}

/* False when it cannot be one of this medium. */
static bool get_write(QEMUFile *f, ZdMedia *media)
{
    ZdVolatile *risk = &media->risk;
    ZdWrite *w = g_new0(ZdWrite, 1);
    const ZdWrite *last = QTAILQ_LAST(&risk->writes);
    uint8_t flags;

    w->seq = qemu_get_be64(f);
    w->lba = qemu_get_be64(f);
    w->sectors = qemu_get_be32(f);
    flags = qemu_get_byte(f);
    w->open = flags & 1;
    w->acked = flags & 2;
    w->durable = flags & 4;
    QTAILQ_INSERT_TAIL(&risk->writes, w, next);
    risk->bytes += zd_write_bytes(w);
    if (!media->flash || w->lba >= media->sectors || !w->sectors ||
        w->sectors > media->sectors - w->lba || w->seq > risk->seq ||
        (last && w->seq <= last->seq)) {
        return false;
    }
    if (flags & 16) {
        unsigned pages = zd_write_pages(w);

        if (pages > ZD_MAX_PAGES) {
            return false;
        }
        w->programs = g_new(uint64_t, pages);
        for (unsigned i = 0; i < pages; i++) {
            w->programs[i] = qemu_get_be64(f);
        }
    } else if (!w->durable) {
        return false;
    }
    if (flags & 8) {
        size_t size = (size_t)w->sectors * ZD_SECTOR_SIZE;

        if (!w->programs || risk->bytes + size > 2 * ZD_VOLATILE_BYTES) {
            return false;
        }
        w->old = g_malloc(size);
        risk->bytes += size;
        return qemu_get_buffer(f, w->old, size) == size;
    }
    return risk->bytes <= 2 * ZD_VOLATILE_BYTES && qemu_file_get_error(f) == 0;
}

static int get_risk(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field)
{
    ZdMedia *media = container_of(pv, ZdMedia, risk);
    ZdVolatile *risk = pv;

    zd_volatile_drop(risk);
    risk->seq = qemu_get_be64(f);
    while (qemu_get_byte(f) == 1) {
        if (!get_write(f, media)) {
            /* half of a write must not be there if the machine goes on */
            zd_volatile_drop(risk);
            error_report("zdrive: the stream holds a write that cannot have "
                         "been");
            return -EINVAL;
        }
    }
    return get_bad(f, pv, size, field);
}

static const VMStateInfo risk_info = {
    .name = "zdrive-risk",
    .get = get_risk,
    .put = put_risk,
};

const VMStateDescription zd_vmstate_media = {
    .name = "zdrive/media",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(sectors_read, ZdMedia),
        VMSTATE_UINT64(sectors_written, ZdMedia),
        VMSTATE_UINT64(sectors_trimmed, ZdMedia),
        VMSTATE_UINT64(flushes, ZdMedia),
        VMSTATE_UINT64(late, ZdMedia),
        VMSTATE_UINT64(late_max_ns, ZdMedia),
        VMSTATE_UINT64(random, ZdMedia),
        VMSTATE_BOOL(frozen, ZdMedia),
        {
            .name = "risk",
            .info = &risk_info,
            .size = sizeof(ZdVolatile),
            .offset = offsetof(ZdMedia, risk),
            .flags = VMS_SINGLE,
        },
        {
            .name = "flash",
            .info = &flash_info,
            .size = sizeof(ZdFlash *),
            .offset = offsetof(ZdMedia, flash),
            .flags = VMS_SINGLE,
        },
        VMSTATE_END_OF_LIST()
    },
};
