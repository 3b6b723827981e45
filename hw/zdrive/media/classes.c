/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DuraWrite makes of the data of a write: guest memory, cut at the pages
 * of the medium.  A page that lies in one piece is looked at where it is.
 */
#include "qemu/osdep.h"
#include "internal.h"

#define PAGE_SECTORS    (ZD_FLASH_PAGE / ZD_SECTOR_SIZE)

/* A place in a vector that only moves forward. */
typedef struct Cursor {
    const QEMUIOVector *iov;
    int entry;
    size_t offset;              /* in that entry */
} Cursor;

/* Copy the next @bytes. */
static void copy(Cursor *c, uint8_t *to, size_t bytes)
{
    while (bytes) {
        const struct iovec *v = &c->iov->iov[c->entry];
        size_t n = MIN(bytes, v->iov_len - c->offset);

        memcpy(to, (uint8_t *)v->iov_base + c->offset, n);
        to += n;
        bytes -= n;
        c->offset += n;
        if (c->offset == v->iov_len) {
            c->entry++;
            c->offset = 0;
        }
    }
}

/*
 * Of a page that is written in part, the rest stays what it is.  Nobody has
 * looked at that; it is taken to compress like the part that is seen.
 */
static uint8_t classify_part(const ZdFlash *flash, uint8_t *page, size_t bytes)
{
    memset(page + bytes, 0, ZD_FLASH_PAGE - bytes);
    return zd_flash_class_of(flash, (double)zd_flash_compressed_bytes(page) /
                                    bytes);
}

void zd_classify(const ZdFlash *flash, const QEMUIOVector *iov, uint64_t lba,
                 uint32_t sectors, uint8_t *classes)
{
    Cursor c = { .iov = iov };
    uint8_t page[ZD_FLASH_PAGE];

    while (sectors) {
        uint32_t n = MIN(sectors, PAGE_SECTORS - lba % PAGE_SECTORS);
        size_t bytes = n * ZD_SECTOR_SIZE;
        const struct iovec *v = &iov->iov[c.entry];

        if (bytes < ZD_FLASH_PAGE) {
            copy(&c, page, bytes);
            *classes++ = classify_part(flash, page, bytes);
        } else if (v->iov_len - c.offset >= ZD_FLASH_PAGE) {
            *classes++ = zd_flash_classify(flash, (uint8_t *)v->iov_base +
                                                  c.offset);
            c.offset += ZD_FLASH_PAGE;
            if (c.offset == v->iov_len) {
                c.entry++;
                c.offset = 0;
            }
        } else {
            copy(&c, page, bytes);
            *classes++ = zd_flash_classify(flash, page);
        }
        lba += n;
        sectors -= n;
    }
}
