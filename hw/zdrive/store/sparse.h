/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sparse memory: the bytes of one SSD without an image.  Costs memory only for
 * what was written with something other than zeros.  C11 and GLib only.
 */
#ifndef ZDRIVE_STORE_SPARSE_H
#define ZDRIVE_STORE_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ZdSparse ZdSparse;

ZdSparse *zd_sparse_new(uint64_t bytes);
void zd_sparse_free(ZdSparse *s);

/* The caller keeps [offset, offset + len) inside of the SSD. */
void zd_sparse_read(const ZdSparse *s, uint64_t offset, void *buf,
                    uint64_t len);
/* False when the host has no memory left; what was written until then stays. */
bool zd_sparse_write(ZdSparse *s, uint64_t offset, const void *buf,
                     uint64_t len);
/* Gives the memory of all pages back that the range covers in full. */
void zd_sparse_zero(ZdSparse *s, uint64_t offset, uint64_t len);

/*
 * The first page with memory at or after *@offset, which becomes its offset;
 * NULL when there is none.  For migration.
 */
const void *zd_sparse_next_page(const ZdSparse *s, uint64_t *offset);
#define ZD_SPARSE_PAGE  4096

/* Host memory in use, tables included. */
uint64_t zd_sparse_memory_bytes(const ZdSparse *s);

#endif
