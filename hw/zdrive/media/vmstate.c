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
