/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A load for instructions.py, which counts what QEMU executes for it: COUNT
 * commands of a KIND, 31 per doorbell, with timing=off on an empty card, so
 * that each ends within the write of its doorbell.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "zdrive-qtest.h"

#define BATCH       31
#define PAGE        4096
#define MOST_PRDS   32

static uint64_t memory;

static ZtCmd cheap(unsigned tag)
{
    return zt_cheap(0, tag);
}

static ZtCmd queued(uint8_t opcode, unsigned tag)
{
    return zt_with_data(zt_ncq(opcode, tag, 8 * tag, PAGE / ZT_SECTOR),
                        memory + tag * PAGE, PAGE);
}

static ZtCmd queued_read(unsigned tag)
{
    return queued(ATA_READ_FPDMA, tag);
}

static ZtCmd queued_write(unsigned tag)
{
    return queued(ATA_WRITE_FPDMA, tag);
}

/* 128 KiB in pages that are not neighbours. */
static ZtCmd scattered_read(unsigned tag)
{
    static ZtPrd prd[MOST_PRDS];
    ZtCmd cmd = zt_ncq(ATA_READ_FPDMA, tag, 256 * tag,
                       MOST_PRDS * PAGE / ZT_SECTOR);
    unsigned i;

    for (i = 0; i < MOST_PRDS; i++) {
        prd[i].addr = cpu_to_le64(memory + 2 * i * PAGE);
        prd[i].len = cpu_to_le32(PAGE);
    }
    cmd.len = MOST_PRDS * PAGE;
    cmd.prd = prd;
    cmd.prds = MOST_PRDS;
    return cmd;
}

static const struct {
    const char *name;
    ZtCmd (*make)(unsigned tag);
} kinds[] = {
    { "non-data", cheap },
    { "read-4k", queued_read },
    { "write-4k", queued_write },
    { "read-128k", scattered_read },
};

static void run(ZtCore *core, ZtCmd (*make)(unsigned tag), unsigned count)
{
    unsigned tag, n;

    for (; count; count -= n) {
        n = MIN(count, BATCH);
        for (tag = 0; tag < n; tag++) {
            ZtCmd cmd = make(tag);

            zt_queue(core, &cmd);
        }
        zt_doorbell(core);
        for (tag = 0; tag < n; tag++) {
            g_assert_true(zt_completed(core));
            g_assert_cmphex(zt_completion(core) & ~0xFFF, ==,
                            RXQ_DONE | RXQ_GOOD);
        }
    }
}

int main(int argc, char **argv)
{
    unsigned i = 0;
    ZtCard *card;

    while (argc == 3 && i < ARRAY_SIZE(kinds) &&
           strcmp(argv[1], kinds[i].name)) {
        i++;
    }
    if (argc != 3 || i == ARRAY_SIZE(kinds)) {
        fprintf(stderr, "usage: %s KIND COUNT\n", argv[0]);
        return EXIT_FAILURE;
    }
    card = zt_boot(ZT_CARD ",timing=off,size=64M");
    zt_core_start(&card->core[0]);
    memory = zt_alloc(card, 2 * MOST_PRDS * PAGE);
    run(&card->core[0], kinds[i].make, atoi(argv[2]));
    zt_quit(card);
    return EXIT_SUCCESS;
}
