/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a medium stands on, for its tests: a clock that the test turns, guest
 * memory with registers in the middle, and a store whose operations end when
 * the test says so.
 */
#ifndef MEDIA_FAKES_H
#define MEDIA_FAKES_H

#include "qemu/rcu.h"
#include "exec/memory.h"
#include "hw/zdrive/media.h"

#define MEMORY_BYTES    (1024 * 1024)
#define MMIO_BASE       0x80000
#define MMIO_END        0x81000
#define HOLE_BASE       0xf0000     /* nothing from here on */
#define MEDIUM_SECTORS  4096

/* QEMU */

static int64_t now_ns;
static QEMUTimer *the_timer;
static uint8_t memory[MEMORY_BYTES];
static MemoryRegion ram = { .ram = true };
static MemoryRegion registers;
static AddressSpace address_space;
static unsigned maps, unmaps, accesses;
static uint64_t dirtied;
/* The IOMMU's tables change between a look and the mapping. */
static bool moved;
static uint8_t copy_of_registers[4096];

int use_icount;
unsigned long rcu_gp_ctr = 1;
QemuEvent rcu_gp_event;
QEMUTimerListGroup main_loop_tlg;

struct rcu_reader_data *get_ptr_rcu_reader(void)
{
    static struct rcu_reader_data reader = { .depth = 1 };

    return &reader;
}

void qemu_event_set(QemuEvent *ev)
{
}

bool memory_region_is_ram_device(MemoryRegion *mr)
{
    return false;
}

int64_t qemu_clock_get_ns(QEMUClockType type)
{
    g_assert_cmpint(type, ==, QEMU_CLOCK_VIRTUAL);
    return now_ns;
}

void timer_init_full(QEMUTimer *ts, QEMUTimerListGroup *group,
                     QEMUClockType type, int scale, int attributes,
                     QEMUTimerCB *cb, void *opaque)
{
    g_assert_cmpint(type, ==, QEMU_CLOCK_VIRTUAL);
    ts->cb = cb;
    ts->opaque = opaque;
    ts->expire_time = -1;
    the_timer = ts;
}

void timer_mod(QEMUTimer *ts, int64_t expire_time)
{
    ts->expire_time = expire_time;
}

void timer_del(QEMUTimer *ts)
{
    ts->expire_time = -1;
}

static void turn_clock(int64_t ns)
{
    int64_t end = now_ns + ns;

    while (the_timer->expire_time >= 0 && the_timer->expire_time <= end) {
        now_ns = MAX(now_ns, the_timer->expire_time);
        the_timer->expire_time = -1;
        the_timer->cb(the_timer->opaque);
    }
    now_ns = end;
}

MemoryRegion *flatview_translate(FlatView *fv, hwaddr addr, hwaddr *xlat,
                                 hwaddr *len, bool is_write, MemTxAttrs attrs)
{
    if (addr >= HOLE_BASE) {
        return &registers;
    }
    if (addr >= MMIO_BASE && addr < MMIO_END) {
        *len = MIN(*len, MMIO_END - addr);
        return &registers;
    }
    *len = MIN(*len, (addr < MMIO_BASE ? MMIO_BASE : HOLE_BASE) - addr);
    return &ram;
}

void *address_space_map(AddressSpace *as, hwaddr addr, hwaddr *len,
                        bool is_write, MemTxAttrs attrs)
{
    hwaddr xlat;

    g_assert_true(flatview_translate(NULL, addr, &xlat, len, is_write,
                                     attrs) == &ram);
    /* two banks, so that an entry over the border maps in two parts */
    if (addr < 0x20000) {
        *len = MIN(*len, 0x20000 - addr);
    }
    maps++;
    return moved ? copy_of_registers : memory + addr;
}

MemoryRegion *memory_region_from_host(void *ptr, ram_addr_t *offset)
{
    return ptr == copy_of_registers ? NULL : &ram;
}

void address_space_unmap(AddressSpace *as, void *buffer, hwaddr len,
                         bool is_write, hwaddr access_len)
{
    unmaps++;
    dirtied += is_write ? access_len : 0;
}

MemTxResult address_space_rw(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                             void *buf, hwaddr len, bool is_write)
{
    uint8_t *at = memory + addr;

    accesses++;
    if (addr + len > HOLE_BASE) {
        return MEMTX_DECODE_ERROR;
    }
    g_assert_true(attrs.memory);
    if (addr >= MMIO_BASE && addr < MMIO_END) {
        return MEMTX_ACCESS_ERROR;
    }
    memcpy(is_write ? at : buf, is_write ? buf : at, len);
    return MEMTX_OK;
}

void qemu_iovec_init_external(QEMUIOVector *qiov, struct iovec *iov, int niov)
{
    qiov->iov = iov;
    qiov->niov = niov;
    qiov->nalloc = -1;
    qiov->size = 0;
    for (int i = 0; i < niov; i++) {
        qiov->size += iov[i].iov_len;
    }
}

/* The store */

static uint8_t disk[MEDIUM_SECTORS * 512];
static bool at_once;
static int store_ret;
static ZdStoreOp *pending[64];
static unsigned npending, cancels, zeroed, store_ops;

static void store_op(ZdStoreOp *op)
{
    store_ops++;
    if (at_once) {
        op->done(op->opaque, store_ret);
    } else {
        pending[npending++] = op;
    }
}

static void store_end(void)
{
    ZdStoreOp *op = pending[0];

    g_assert_cmpuint(npending, >, 0);
    memmove(pending, pending + 1, --npending * sizeof(pending[0]));
    op->done(op->opaque, store_ret);
}

static void store_rw(uint64_t offset, QEMUIOVector *qiov, bool write)
{
    for (int i = 0; i < qiov->niov; i++) {
        memcpy(write ? disk + offset : qiov->iov[i].iov_base,
               write ? qiov->iov[i].iov_base : disk + offset,
               qiov->iov[i].iov_len);
        offset += qiov->iov[i].iov_len;
    }
}

void zd_store_read(ZdStore *store, unsigned member, uint64_t offset,
                   QEMUIOVector *qiov, ZdStoreOp *op)
{
    op->error_offset = offset;
    store_rw(offset, qiov, false);
    store_op(op);
}

void zd_store_write(ZdStore *store, unsigned member, uint64_t offset,
                    QEMUIOVector *qiov, bool through, ZdStoreOp *op)
{
    op->error_offset = offset;
    store_rw(offset, qiov, true);
    store_op(op);
}

void zd_store_zero(ZdStore *store, unsigned member, uint64_t offset,
                   uint64_t bytes, ZdStoreOp *op)
{
    op->error_offset = offset;
    memset(disk + offset, 0, bytes);
    zeroed++;
    store_op(op);
}

void zd_store_flush(ZdStore *store, unsigned member, ZdStoreOp *op)
{
    op->error_offset = 0;
    store_op(op);
}

void zd_store_cancel(ZdStore *store, ZdStoreOp *op)
{
    cancels++;
    for (unsigned i = 0; i < npending; i++) {
        if (pending[i] == op) {
            memmove(pending + i, pending + i + 1,
                    (--npending - i) * sizeof(pending[0]));
            return;
        }
    }
}

#endif
