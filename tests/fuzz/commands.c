/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands: valid ones, of which now and then a field is changed.  A program
 * of nothing but noise would be refused at the door; this way it gets as far
 * as the medium and the block layer with something wrong in its pocket.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "fuzz.h"

#define MOST_COMMANDS   32
#define MOST_PRDS       200

/* What a command's data is, when it goes to the SSD and means something. */
typedef enum Payload {
    NOTHING,
    RANGES,                     /* of TRIM */
    KEY,                        /* of SCT */
    PASSWORD,
} Payload;

typedef enum Shape {
    REGISTERS,                  /* any values */
    SECTORS,                    /* LBA and count */
    QUEUED,
    LOG,                        /* log address, page, count */
    SMART,
} Shape;

static const struct {
    uint8_t opcode;
    uint8_t weight;
    uint8_t shape;
    uint8_t payload;
} opcodes[] = {
    { 0x60, 60, QUEUED }, { 0x61, 60, QUEUED },
    { 0x25, 16, SECTORS }, { 0x35, 16, SECTORS }, { 0x3d, 6, SECTORS },
    { 0x20, 3, SECTORS }, { 0x24, 3, SECTORS }, { 0x29, 3, SECTORS },
    { 0x30, 3, SECTORS }, { 0x34, 3, SECTORS }, { 0x39, 3, SECTORS },
    { 0x40, 3, SECTORS }, { 0x42, 6, SECTORS }, { 0xc4, 3, SECTORS },
    { 0xc5, 3, SECTORS }, { 0xc8, 5, SECTORS }, { 0xca, 5, SECTORS },
    { 0xce, 3, SECTORS },
    { 0x06, 12, REGISTERS, RANGES },
    { 0xe7, 6, REGISTERS }, { 0xea, 8, REGISTERS },
    { 0x2f, 10, LOG }, { 0x47, 8, LOG }, { 0x3f, 8, LOG, KEY },
    { 0x57, 4, LOG, KEY },
    { 0xb0, 16, SMART, KEY },
    { 0xec, 10, REGISTERS }, { 0xef, 12, REGISTERS }, { 0xc6, 4, REGISTERS },
    { 0xe5, 6, REGISTERS }, { 0xe1, 3, REGISTERS }, { 0xe3, 3, REGISTERS },
    { 0xe0, 3, REGISTERS }, { 0xe2, 3, REGISTERS }, { 0xe6, 1, REGISTERS },
    { 0x27, 3, REGISTERS }, { 0x37, 3, SECTORS }, { 0xf8, 3, REGISTERS },
    { 0xf9, 3, SECTORS },
    { 0xf1, 2, REGISTERS, PASSWORD }, { 0xf2, 3, REGISTERS, PASSWORD },
    { 0xf3, 3, REGISTERS }, { 0xf4, 3, REGISTERS, PASSWORD },
    { 0xf5, 1, REGISTERS }, { 0xf6, 3, REGISTERS, PASSWORD },
    { 0x90, 2, REGISTERS }, { 0x91, 2, REGISTERS }, { 0xe4, 3, REGISTERS },
    { 0xe8, 3, REGISTERS }, { 0x00, 2, REGISTERS },
};

static const uint8_t features[] = {
    0x02, 0x03, 0x05, 0x10, 0x55, 0x82, 0x85, 0x90, 0xaa, 0x00, 0xff,
};

static const uint8_t logs[] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x06, 0x07, 0x09, 0x10, 0x11, 0x30, 0x80,
    0x81, 0x9f, 0xa0, 0xb7, 0xe0, 0xe1, 0xff,
};

static unsigned any_opcode(FuzzRng *rng)
{
    unsigned i, n, total = 0;

    for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
        total += opcodes[i].weight;
    }
    n = fuzz_below(rng, total);
    for (i = 0; n >= opcodes[i].weight; i++) {
        n -= opcodes[i].weight;
    }
    return i;
}

static uint64_t any_lba(FuzzMachine *m, FuzzRng *rng)
{
    switch (fuzz_below(rng, 12)) {
    case 0:
        return m->sectors - fuzz_below(rng, 20);
    case 1:
        return fuzz_rnd64(rng) & 0xffffffffffffull;
    case 2:
        return m->sectors + fuzz_below(rng, 20) - 1;
    case 3:
        return fuzz_below(rng, 4);
    default:
        return fuzz_below(rng, m->sectors);
    }
}

static uint16_t any_count(FuzzRng *rng)
{
    switch (fuzz_below(rng, 16)) {
    case 0:
        return 0;               /* the largest */
    case 1:
        return fuzz_rnd(rng);
    case 2:
    case 3:
        return fuzz_below(rng, 2048);
    default:
        return 1 + fuzz_below(rng, 16);
    }
}

/* An address for a structure: nearly always memory. */
static uint64_t any_address(FuzzMachine *m, FuzzRng *rng)
{
    switch (fuzz_below(rng, 6)) {
    case 0:
        return m->card->bar2.addr + fuzz_below(rng, MVS_BAR2_SIZE);
    case 1:
        return m->bar0 + fuzz_below(rng, MVS_BAR0_SIZE);
    case 2:
        return fuzz_rnd64(rng);
    case 3:
        return ~0ull - fuzz_below(rng, 8192);
    case 4:
        return 0x000a0000 + fuzz_below(rng, 0x60000);   /* VGA, ROMs */
    default:
        return fuzz_below(rng, 128 * 1024 * 1024);
    }
}

static uint64_t any_buffer(FuzzMachine *m, FuzzRng *rng)
{
    uint64_t at = fuzz_below(rng, FUZZ_DATA_BYTES);

    return m->data + (fuzz_one_in(rng, 4) ? at : at & ~0xfffull);
}

static void fill_payload(FuzzMachine *m, FuzzRng *rng, Payload payload,
                         uint64_t addr)
{
    uint8_t page[ZT_SECTOR] = { 0 };
    unsigned i;

    switch (payload) {
    case NOTHING:
        return;
    case RANGES:
        for (i = 0; i < 64; i += 1 + fuzz_below(rng, 32)) {
            stq_le_p(page + 8 * i, any_lba(m, rng) |
                                   (uint64_t)any_count(rng) << 48);
        }
        break;
    case KEY:
        stw_le_p(page, 1 + 2 * fuzz_below(rng, 4));
        stw_le_p(page + 2, fuzz_below(rng, 4));
        stw_le_p(page + 4, fuzz_below(rng, 4));
        break;
    case PASSWORD:
        page[0] = fuzz_below(rng, 2);
        page[1] = fuzz_below(rng, 2);
        page[2] = fuzz_one_in(rng, 4);
        break;
    }
    qtest_memwrite(m->card->qts, addr, page, sizeof(page));
}

/* The command itself; its data comes after. */
static ZtCmd any_command(FuzzMachine *m, FuzzRng *rng, unsigned which)
{
    uint8_t opcode = opcodes[which].opcode;
    uint16_t count = any_count(rng);
    ZtCmd cmd;

    switch (opcodes[which].shape) {
    case SECTORS:
        return zt_ata(opcode, any_lba(m, rng), count);
    case QUEUED:
        return zt_ncq(opcode, fuzz_below(rng, 32), any_lba(m, rng), count);
    case LOG:
        return zt_ata_features(opcode, fuzz_below(rng, 2),
                               fuzz_pick(rng, logs) |
                               (fuzz_one_in(rng, 4) ? fuzz_below(rng, 20) << 8
                                                    : 0),
                               1 + fuzz_below(rng, 4));
    case SMART:
        return zt_ata_features(opcode, 0xd0 + fuzz_below(rng, 13),
                               0xc24f00 | (fuzz_one_in(rng, 2)
                                           ? fuzz_pick(rng, logs)
                                           : fuzz_value(rng) & 0x87),
                               fuzz_value(rng) & 0xff);
    default:
        cmd = zt_ata_features(opcode, fuzz_value(rng), fuzz_rnd64(rng),
                              fuzz_value(rng));
        if (opcode == 0xef) {
            cmd.fis[3] = fuzz_pick(rng, features);
        }
        if (opcode == 0x06) {
            cmd.fis[3] = 1;
            cmd.fis[12] = 1;
            cmd.fis[13] = 0;
        }
        return cmd;
    }
}

/* Bytes that the command moves, more or less. */
static uint32_t data_bytes(const ZtCmd *cmd, unsigned which)
{
    unsigned count = cmd->fis[12] | cmd->fis[13] << 8;

    switch (opcodes[which].shape) {
    case QUEUED:
        count = cmd->fis[3] | cmd->fis[11] << 8;
        return (count ? count : 65536) * ZT_SECTOR;
    case SECTORS:
        return (count ? count : 65536) * ZT_SECTOR;
    default:
        return MAX(count & 0xff, 1) * ZT_SECTOR;
    }
}

/* Cut @len bytes at @addr into pieces of all kinds. */
static unsigned cut(FuzzMachine *m, FuzzRng *rng, uint64_t addr, uint32_t len,
                    ZtPrd *prd)
{
    unsigned n = 0;

    while (len && n < MOST_PRDS - 1) {
        uint32_t part = MIN(len, 0x3fffff);

        if (n < MOST_PRDS / 2) {
            part = MIN(part, fuzz_one_in(rng, 2) ? 4096
                                                 : 1 + fuzz_below(rng, 8192));
        }
        prd[n].addr = cpu_to_le64(addr);
        prd[n].len = cpu_to_le32(part);
        n++;
        addr = fuzz_one_in(rng, 3) ? any_buffer(m, rng) : addr + part;
        len -= part;
    }
    return n;
}

static void spoil_prd(FuzzMachine *m, FuzzRng *rng, ZtCore *core,
                      const ZtCmd *cmd, ZtPrd *prd)
{
    switch (fuzz_below(rng, 6)) {
    case 0:
        prd->len = 0;
        break;
    case 1:
        prd->len = cpu_to_le32(fuzz_rnd(rng));
        break;
    case 2:                     /* to itself */
        prd->addr = cpu_to_le64(zt_slot_buf(core, cmd->slot) + SLOT_PRD);
        prd->len = cpu_to_le32(PRD_CHAIN | fuzz_below(rng, 300));
        break;
    case 3:                     /* to another command's list */
        prd->addr = cpu_to_le64(zt_slot_buf(core, fuzz_below(rng, 32)) +
                                SLOT_PRD);
        prd->len = cpu_to_le32(PRD_CHAIN | fuzz_below(rng, 300));
        break;
    default:
        prd->addr = cpu_to_le64(any_address(m, rng));
    }
}

/* Change dwords of the header that zt_queue() has written. */
static void spoil_header(FuzzMachine *m, FuzzRng *rng, ZtCore *core,
                         const ZtCmd *cmd)
{
    uint64_t hdr = zt_header(core, cmd->slot);
    unsigned dword = fuzz_below(rng, 12);

    fuzz_note(m, " header %u", dword);
    if (dword >= 4) {
        qtest_writeq(m->card->qts, hdr + (dword & ~1u) * 4,
                     any_address(m, rng));
    } else {
        qtest_writel(m->card->qts, hdr + dword * 4, fuzz_value(rng));
    }
}

static void queue_command(FuzzMachine *m, FuzzRng *rng, ZtCore *core)
{
    unsigned which = any_opcode(rng);
    ZtCmd cmd = any_command(m, rng, which);
    uint64_t addr = any_buffer(m, rng);
    ZtPrd prd[MOST_PRDS];

    cmd.phy = fuzz_one_in(rng, 20) ? fuzz_below(rng, MVS_PHYS)
                                   : fuzz_below(rng, m->ssds / MVS_CORES);
    if (m->ssds == MVS_PHYS) {
        /* four SSDs are all on the first core */
        cmd.phy = fuzz_below(rng, MVS_PHYS);
    }
    cmd.reg_set = fuzz_one_in(rng, 16) ? fuzz_below(rng, 64) : cmd.phy;
    cmd.slot = fuzz_one_in(rng, 16) ? fuzz_below(rng, MVS_SLOTS)
                                    : cmd.phy * 128 + fuzz_below(rng, 128);
    cmd.len = data_bytes(&cmd, which);
    if (fuzz_one_in(rng, 30)) {
        cmd.len = fuzz_value(rng);
    }
    if (fuzz_one_in(rng, 30)) {
        cmd.fis[fuzz_below(rng, sizeof(cmd.fis))] = fuzz_value(rng);
    }
    fill_payload(m, rng, opcodes[which].payload, addr);
    cmd.prd = prd;
    cmd.prds = cut(m, rng, addr, cmd.len, prd);
    if (cmd.prds && fuzz_one_in(rng, 12)) {
        spoil_prd(m, rng, core, &cmd, &prd[fuzz_below(rng, cmd.prds)]);
        cmd.prd_count = fuzz_one_in(rng, 2) ? 0xffff : 0;
    }
    fuzz_note(m, " %02x/%u/%u", cmd.fis[2], cmd.phy, cmd.slot);

    if (fuzz_one_in(rng, 40)) {
        uint32_t desc = TXQ(TXQ_STP, cmd.reg_set, 1u << cmd.phy, cmd.slot) ^
                        1u << fuzz_below(rng, 32);

        fuzz_note(m, " descriptor 0x%x", desc);
        zt_prepare(core, &cmd);
        zt_queue_raw(core, desc);
        return;
    }
    zt_queue(core, &cmd);
    if (fuzz_one_in(rng, 20)) {
        spoil_header(m, rng, core, &cmd);
    }
}

/* Commands that mean something only one after the other. */
static void queue_sequence(FuzzMachine *m, FuzzRng *rng, ZtCore *core)
{
    static const uint8_t sequences[][3] = {
        { 0xf1, 0xf3, 0xf4 },   /* set password, erase */
        { 0xf8, 0xf9 }, { 0x27, 0x37 },         /* shorten the SSD */
        { 0x3f, 0x2f },         /* SCT: command, then what it left */
        { 0xef, 0xec },
    };
    unsigned which = fuzz_below(rng, ARRAY_SIZE(sequences));
    unsigned phy = fuzz_below(rng, MVS_PHYS), i;

    for (i = 0; i < 3 && sequences[which][i]; i++) {
        uint8_t opcode = sequences[which][i];
        uint64_t addr = any_buffer(m, rng);
        ZtCmd cmd = zt_ata_features(opcode, fuzz_pick(rng, features),
                                    opcode == 0x3f ? 0xe0 :
                                    opcode == 0x2f ? 0xe1 : any_lba(m, rng),
                                    1);

        cmd = zt_with_data(zt_on_phy(cmd, phy), addr, ZT_SECTOR);
        cmd.slot = 1900 + fuzz_below(rng, 100);
        fill_payload(m, rng, opcode == 0x3f ? KEY : PASSWORD, addr);
        fuzz_note(m, " %02x/%u/%u", opcode, phy, cmd.slot);
        zt_queue(core, &cmd);
    }
}

void fuzz_commands(FuzzMachine *m, FuzzRng *rng)
{
    unsigned c = m->ssds == MVS_PHYS && !fuzz_one_in(rng, 16)
                 ? 0 : fuzz_below(rng, MVS_CORES);
    ZtCore *core = &m->card->core[c];
    unsigned n = fuzz_one_in(rng, 3) ? 1 + fuzz_below(rng, MOST_COMMANDS)
                                     : 1 + fuzz_below(rng, 4);

    fuzz_note(m, "core %u", c);
    if (fuzz_one_in(rng, 8)) {
        queue_sequence(m, rng, core);
        n = 1;
    }
    while (n--) {
        queue_command(m, rng, core);
    }
    if (!fuzz_one_in(rng, 16)) {
        zt_doorbell(core);
    }
}

/* What brings an SSD back to work after a queued command has failed. */
void fuzz_read_error_log(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = &m->card->core[fuzz_below(rng, m->ssds / MVS_PHYS)];
    unsigned phy = fuzz_below(rng, MVS_PHYS);
    ZtCmd cmd = zt_on_phy(zt_ata(ATA_READ_LOG_EXT, 0x10, 1), phy);

    fuzz_note(m, "core %u phy %u", core->number, phy);
    cmd.slot = 2000 + fuzz_below(rng, 48);
    cmd = zt_with_data(cmd, any_buffer(m, rng), ZT_SECTOR);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_core_write(core, MVS_NON_NCQ_ERR_0, 0xffffffff);
}

/* Overwrite what the chip may read next, or may be reading. */
void fuzz_memory_noise(FuzzMachine *m, FuzzRng *rng)
{
    ZtCore *core = &m->card->core[fuzz_below(rng, MVS_CORES)];
    unsigned slot = fuzz_below(rng, 512);
    const uint64_t places[] = {
        core->tx + fuzz_below(rng, 2048) * 4,
        zt_header(core, slot),
        zt_slot_buf(core, slot),
        zt_slot_buf(core, slot) + SLOT_PRD,
        core->rx, core->fis + FIS_SET(fuzz_below(rng, 64)),
    };
    unsigned place = fuzz_below(rng, ARRAY_SIZE(places));
    uint32_t noise[32];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(noise); i++) {
        noise[i] = fuzz_value(rng);
    }
    fuzz_note(m, "place %u", place);
    qtest_memwrite(m->card->qts, places[place], noise, sizeof(noise));
}
