/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls every function of int 13h on drive 80h and prints a line of TAP for
 * each finding.  The disk holds a volume whose sector n begins with n as a
 * 64-bit number; tests/boot/int13.py makes and checks it.
 */
#include "int13.h"

typedef struct __attribute__((packed)) Packet {
    uint8_t size, zero;
    uint16_t count, offset, segment;
    uint64_t lba, flat;
} Packet;

#define CARRY       1
#define DRIVE       0x80
#define SECTOR      512
#define BUFFER      0x10000     /* linear; 128 KiB from there are ours */
#define HIGH_BUFFER 0x200000
#define CHUNK       128
/* Chunks with faults, one on each SSD; see int13.py */
#define BAD_READ    400
#define BAD_WRITE   401
#define CRC_TWICE   402
#define CRC_ALWAYS  403
#define HANGS_ONCE  405
#define BAD_AT      10      /* sector of the chunk */

static unsigned tests;
static uint64_t total;
static uint32_t heads, per_track;

static void put(char c)
{
    Regs r = { .eax = 0x0E00 | (uint8_t)c, .ebx = 7 };

    bios(0x10, &r);
}

static void print(const char *s)
{
    while (*s) {
        put(*s++);
    }
}

static void number(uint32_t n, uint32_t base)
{
    if (n >= base) {
        number(n / base, base);
    }
    put("0123456789abcdef"[n % base]);
}

static void ok(const char *name, bool good, uint32_t found)
{
    print(good ? "ok " : "not ok ");
    number(++tests, 10);
    print(" - ");
    print(name);
    if (!good) {
        print(" (found ");
        number(found, 16);
        print(")");
    }
    print("\r\n");
}

/* int 13h; AH, and 100h when carry is set. */
static uint32_t disk(Regs *r)
{
    r->edx = (r->edx & ~0xFFu) | DRIVE;
    bios(0x13, r);
    return (r->eax >> 8 & 0xFF) | (r->flags & CARRY ? 0x100 : 0);
}

static uint32_t simple(uint8_t function)
{
    Regs r = { .eax = function << 8 };

    return disk(&r);
}

/* A far copy of one dword; the segments of C end at 64 KiB. */
static uint32_t far_read(uint32_t at)
{
    uint32_t value;

    __asm__ volatile("movw %w1, %%gs\n\tmovl %%gs:(%2), %0"
                     : "=r" (value) : "r" (at >> 4), "r" (at & 15));
    return value;
}

static void far_write(uint32_t at, uint32_t value)
{
    __asm__ volatile("movw %w0, %%gs\n\tmovl %1, %%gs:(%2)"
                     : : "r" (at >> 4), "r" (value), "r" (at & 15)
                     : "memory");
}

static uint32_t packet_call(uint8_t function, Packet *p)
{
    Regs r = { .eax = function << 8, .esi = (uint32_t)p };

    return disk(&r);
}

static uint32_t lba_call(uint8_t function, uint64_t lba, uint16_t count,
                         uint32_t at, uint16_t *done)
{
    Packet p = {
        .size = 16, .count = count, .segment = at >> 4, .offset = at & 15,
        .lba = lba,
    };
    uint32_t ret = packet_call(function, &p);

    if (done) {
        *done = p.count;
    }
    return ret;
}

/* As below, and the count that comes back in AL above that. */
static uint32_t chs_count(uint8_t function, uint16_t cylinder, uint8_t head,
                          uint8_t sector, uint8_t count, uint32_t at)
{
    uint32_t ret;

    Regs r = {
        .eax = function << 8 | count,
        .ecx = (cylinder & 0xFF) << 8 | (cylinder >> 8) << 6 | sector,
        .edx = head << 8,
        .ebx = at & 15,
        .es = at >> 4,
    };

    ret = disk(&r);
    return ret | (r.eax & 0xFF) << 16;
}

static uint32_t chs_call(uint8_t function, uint16_t cylinder, uint8_t head,
                         uint8_t sector, uint8_t count, uint32_t at)
{
    return chs_count(function, cylinder, head, sector, count, at) & 0xFFFF;
}

/* The same for a sector by its number. */
static uint32_t chs_at(uint8_t function, uint32_t lba, uint8_t count,
                       uint32_t at)
{
    return chs_count(function, lba / per_track / heads,
                     lba / per_track % heads, lba % per_track + 1, count, at);
}

/* Whether @count sectors at @at are those from @lba on. */
static bool holds(uint32_t at, uint64_t lba, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        if (far_read(at + i * SECTOR) != (uint32_t)(lba + i) ||
            far_read(at + i * SECTOR + 4) != (uint32_t)((lba + i) >> 32)) {
            return false;
        }
    }
    return true;
}

static void wipe(uint32_t at, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count * SECTOR; i += 4) {
        far_write(at + i, 0xDEADBEEF);
    }
}

static void test_parameters(void)
{
    static uint8_t buffer[80];
    Regs r = { .eax = 0x4100, .ebx = 0x55AA };
    uint32_t ret, cylinders;
    unsigned i;
    static const struct { uint16_t size, says; } sizes[] = {
        { 26, 26 }, { 30, 30 }, { 66, 66 }, { 74, 74 }, { 80, 74 },
    };

    ret = disk(&r);
    ok("41h: EDD 3.0", ret == 0x30, ret);
    ok("41h: signature", (uint16_t)r.ebx == 0xAA55, r.ebx);
    ok("41h: disk access and parameters", (r.ecx & 5) == 5, r.ecx);
    r = (Regs) { .eax = 0x4100, .ebx = 0x1234 };
    ret = disk(&r);
    ok("41h: wrong signature", ret == 0x101, ret);

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        *(uint16_t *)buffer = sizes[i].size;
        r = (Regs) { .eax = 0x4800, .esi = (uint32_t)buffer };
        ret = disk(&r);
        ok("48h: size of the answer",
           !ret && *(uint16_t *)buffer == sizes[i].says, *(uint16_t *)buffer);
    }
    total = *(uint64_t *)(buffer + 16);
    ok("48h: bytes of a sector", *(uint16_t *)(buffer + 24) == SECTOR, 0);
    ok("48h: device path", *(uint16_t *)(buffer + 30) == 0xBEDD &&
       *(uint32_t *)(buffer + 36) == 0x20494350, 0);
    *(uint16_t *)buffer = 25;
    r = (Regs) { .eax = 0x4800, .esi = (uint32_t)buffer };
    ret = disk(&r);
    ok("48h: buffer too small", ret == 0x101, ret);

    r = (Regs) { .eax = 0x0800 };
    ret = disk(&r);
    heads = (r.edx >> 8 & 0xFF) + 1;
    per_track = r.ecx & 0x3F;
    cylinders = ((r.ecx >> 8 & 0xFF) | (r.ecx & 0xC0) << 2) + 1;
    ok("08h: geometry", !ret && per_track == 63 && heads <= 255 &&
       cylinders <= 1024 &&
       (uint64_t)cylinders * heads * per_track <= total, cylinders);
    ok("08h: one disk", (r.edx & 0xFF) == 1, r.edx & 0xFF);
    r = (Regs) { .eax = 0x1500 };
    ret = disk(&r);
    ok("15h: a fixed disk", ret == 3, ret);
    ok("15h: its sectors", (uint32_t)((r.ecx & 0xFFFF) << 16 |
                                      (r.edx & 0xFFFF)) == (uint32_t)total,
       r.edx);
}

static void test_read(void)
{
    uint16_t done;
    uint32_t ret;

    wipe(BUFFER, 1);
    ret = lba_call(0x42, 0, 1, BUFFER, &done);
    ok("42h: first sector", !ret && done == 1 && holds(BUFFER, 0, 1), ret);
    wipe(BUFFER, 1);
    ret = lba_call(0x42, total - 1, 1, BUFFER, &done);
    ok("42h: last sector", !ret && holds(BUFFER, total - 1, 1), ret);
    wipe(BUFFER, 127);
    ret = lba_call(0x42, 1000, 127, BUFFER, &done);
    ok("42h: 127 sectors over two SSDs", !ret && done == 127 &&
       holds(BUFFER, 1000, 127), ret);
    wipe(BUFFER + 0x8000, 128);
    ret = lba_call(0x42, CHUNK * 7 + 3, 128, BUFFER + 0x8000, &done);
    ok("42h: over a 64 KiB boundary of memory", !ret &&
       holds(BUFFER + 0x8000, CHUNK * 7 + 3, 128), ret);
    wipe(BUFFER, 3);
    ret = lba_call(0x42, CHUNK - 1, 2, BUFFER + 1, &done);
    ok("42h: odd address", !ret && holds(BUFFER + 1, CHUNK - 1, 2) &&
       far_read(BUFFER) << 24 == 0xEF000000, ret);
    ret = lba_call(0x42, 5, 0, BUFFER, &done);
    ok("42h: no sector", !ret && !done, ret);
    ret = lba_call(0x42, total, 1, BUFFER, &done);
    ok("42h: past the end", ret == 0x104 && !done, ret);
    ret = lba_call(0x42, total - 1, 2, BUFFER, &done);
    ok("42h: over the end", ret == 0x104 && !done, ret);
    ret = lba_call(0x42, 1ull << 40, 1, BUFFER, &done);
    ok("42h: far past the end", ret == 0x104 && !done, ret);
    ret = simple(0x01);
    ok("01h: status of the last one", ret == 0x104, ret);

    wipe(BUFFER, 128);
    ret = chs_call(0x02, 0, 1, 5, 128, BUFFER);
    ok("02h: 128 sectors", !ret && holds(BUFFER, per_track + 4, 128), ret);
    ret = chs_call(0x02, 0, 0, 0, 1, BUFFER);
    ok("02h: sector 0", ret == 0x101, ret);
    ret = chs_call(0x02, 0, 0, 1, 0, BUFFER);
    ok("02h: no sector", ret == 0x101, ret);
    ret = chs_call(0x02, 1023, 0, 1, 1, BUFFER);
    ok("02h: cylinder past the end", ret == 0x101, ret);
}

/* Read to memory above 1 MiB, and bring it down with int 15h 87h. */
static void test_high(void)
{
    static uint64_t gdt[6];
    Packet p = {
        .size = 24, .count = 64, .lba = CHUNK * 5 + 100,
        .segment = 0xFFFF, .offset = 0xFFFF, .flat = HIGH_BUFFER,
    };
    Regs r = { .eax = 0x8700, .ecx = 64 * SECTOR / 2, .esi = (uint32_t)gdt };
    uint32_t ret;

    wipe(BUFFER, 64);
    ret = packet_call(0x42, &p);
    gdt[2] = 0x000093000000FFFFull | (uint64_t)HIGH_BUFFER << 16;
    gdt[3] = 0x000093000000FFFFull | (uint64_t)BUFFER << 16;
    bios(0x15, &r);
    ok("42h: flat address above 1 MiB", !ret &&
       holds(BUFFER, CHUNK * 5 + 100, 64), ret);
    p.size = 16;
    ret = packet_call(0x42, &p);
    ok("42h: flat address without room in the packet", ret == 0x101, ret);
    p.size = 8;
    ret = packet_call(0x42, &p);
    ok("42h: packet too small", ret == 0x101, ret);
}

/* What is written is checked here and by the host. */
static void test_write(void)
{
    uint16_t done;
    uint32_t ret, i;

    for (i = 0; i < 100; i++) {
        far_write(BUFFER + i * SECTOR, 0x10000 + i);
        far_write(BUFFER + i * SECTOR + 4, 0x5A5A5A5A);
    }
    ret = lba_call(0x43, CHUNK * 9 - 50, 100, BUFFER, &done);
    ok("43h: 100 sectors over two SSDs", !ret && done == 100, ret);
    wipe(BUFFER, 100);
    ret = lba_call(0x42, CHUNK * 9 - 50, 100, BUFFER, &done);
    ok("42h: finds them", !ret && far_read(BUFFER) == 0x10000 &&
       far_read(BUFFER + 99 * SECTOR) == 0x10063, ret);
    far_write(BUFFER + 1, 0x20000);
    far_write(BUFFER + 5, 0x5A5A5A5A);
    ret = lba_call(0x43, 4000, 1, BUFFER + 1, &done);
    ok("43h: odd address", !ret && done == 1, ret);
    far_write(BUFFER, 0x30000);
    far_write(BUFFER + 4, 0x5A5A5A5A);
    ret = chs_call(0x03, 0, 3, 2, 1, BUFFER);
    ok("03h: one sector", !ret, ret);
    wipe(BUFFER, 1);
    ret = lba_call(0x42, 3 * per_track + 1, 1, BUFFER, &done);
    ok("42h: finds it", !ret && far_read(BUFFER) == 0x30000, ret);
    ret = lba_call(0x43, total, 1, BUFFER, &done);
    ok("43h: past the end", ret == 0x104 && !done, ret);
    {
        Packet p = { .size = 16, .count = 1, .segment = BUFFER >> 4,
                     .lba = 4100 };
        Regs r = { .eax = 0x4302, .esi = (uint32_t)&p };

        ret = disk(&r);
        ok("43h: with verification", !ret, ret);
        r = (Regs) { .eax = 0x4303, .esi = (uint32_t)&p };
        ret = disk(&r);
        ok("43h: unknown verification", ret == 0x101, ret);
    }
}

/* Errors of the SSDs: the code, and how many sectors were moved before. */
static void test_errors(void)
{
    uint32_t bad = BAD_READ * CHUNK, ret;
    uint16_t done;

    wipe(BUFFER, CHUNK);
    ret = lba_call(0x42, bad, CHUNK, BUFFER, &done);
    ok("42h: uncorrectable", ret == 0x110, ret);
    ok("42h: the sectors before it", done == BAD_AT &&
       holds(BUFFER, bad, BAD_AT), done);
    ret = simple(0x01);
    ok("01h: uncorrectable", ret == 0x110, ret);
    wipe(BUFFER, CHUNK);
    ret = lba_call(0x42, bad - 50, 100, BUFFER, &done);
    ok("42h: uncorrectable on the second SSD", ret == 0x110 &&
       done == 50 + BAD_AT && holds(BUFFER, bad - 50, 50 + BAD_AT), done);
    ret = lba_call(0x42, bad + BAD_AT, 1, BUFFER, &done);
    ok("42h: uncorrectable at once", ret == 0x110 && !done, done);
    wipe(BUFFER, 20);
    ret = lba_call(0x42, bad + 1, 20, BUFFER + 1, &done);
    ok("42h: uncorrectable, odd address", ret == 0x110 &&
       done == BAD_AT - 1 && holds(BUFFER + 1, bad + 1, BAD_AT - 1), done);
    ret = lba_call(0x44, bad, CHUNK, 0, &done);
    ok("44h: uncorrectable", ret == 0x110 && done == BAD_AT, done);
    ret = chs_at(0x02, bad + 3, 20, BUFFER);
    ok("02h: uncorrectable", ret == ((BAD_AT - 3) << 16 | 0x110), ret);
    ret = chs_at(0x04, bad + 4, 20, 0);
    ok("04h: uncorrectable", ret == ((BAD_AT - 4) << 16 | 0x110), ret);
    ret = lba_call(0x42, bad + BAD_AT + 1, 5, BUFFER, &done);
    ok("42h: behind it", !ret && done == 5 &&
       holds(BUFFER, bad + BAD_AT + 1, 5), ret);

    bad = BAD_WRITE * CHUNK;
    ret = lba_call(0x42, bad - 50, 100, BUFFER, &done);
    ok("42h: where writing fails", !ret && done == 100, ret);
    ret = lba_call(0x43, bad - 50, 100, BUFFER, &done);
    ok("43h: write fault on the second SSD", ret == 0x1CC && done == 50, ret);
    ret = chs_at(0x03, bad - 50, 100, BUFFER);
    ok("03h: write fault", ret == (50 << 16 | 0x1CC), ret);
    ret = simple(0x01);
    ok("01h: write fault", ret == 0x1CC, ret);

    bad = CRC_TWICE * CHUNK;
    ret = lba_call(0x42, bad, CHUNK, BUFFER, &done);
    ok("42h: two damaged frames", !ret && done == CHUNK &&
       holds(BUFFER, bad, CHUNK), ret);
    bad = CRC_ALWAYS * CHUNK;
    ret = lba_call(0x42, bad, CHUNK, BUFFER, &done);
    ok("42h: every frame is damaged", ret == 0x110 && !done, ret);
    ret = lba_call(0x43, bad - CHUNK, 2 * CHUNK, BUFFER, &done);
    ok("43h: every frame is damaged", ret == 0x110 && done == CHUNK, ret);

    bad = HANGS_ONCE * CHUNK;
    wipe(BUFFER, CHUNK);
    ret = lba_call(0x42, bad - 3, CHUNK, BUFFER, &done);
    ok("42h: no answer", ret == 0x180 && done == 3, ret);
    ret = lba_call(0x42, bad, CHUNK, BUFFER, &done);
    ok("42h: after the reset", !ret && holds(BUFFER, bad, CHUNK), ret);
}

static void test_rest(void)
{
    static const uint8_t fine[] = { 0x00, 0x09, 0x0C, 0x0D, 0x10, 0x11, 0x14,
                                    0x45 };
    uint32_t ret;
    unsigned i;

    ret = lba_call(0x44, 10, 127, 0, 0);
    ok("44h: verify", !ret, ret);
    ret = lba_call(0x44, total, 1, 0, 0);
    ok("44h: past the end", ret == 0x104, ret);
    ret = chs_call(0x04, 0, 0, 1, 63, 0);
    ok("04h: verify", !ret, ret);
    ret = lba_call(0x47, total - 1, 0, 0, 0);
    ok("47h: seek", !ret, ret);
    ret = lba_call(0x47, total, 0, 0, 0);
    ok("47h: past the end", ret == 0x104, ret);
    ret = chs_call(0x05, 0, 0, 1, 1, BUFFER);
    ok("05h: format a track", !ret, ret);
    ret = chs_call(0x05, 1023, 0, 1, 1, BUFFER);
    ok("05h: past the end", ret == 0x101, ret);
    for (i = 0; i < sizeof(fine); i++) {
        ret = simple(fine[i]);
        ok("a function without effect", !ret, ret << 8 | fine[i]);
    }
    ret = simple(0x46);
    ok("46h: not removable", ret == 0x1B2, ret);
    ret = simple(0x06);
    ok("06h: unknown", ret == 0x101, ret);
    ret = simple(0xFF);
    ok("FFh: unknown", ret == 0x101, ret);
    ret = simple(0x00);
    ok("00h: reset", !ret, ret);
    ret = simple(0x01);
    ok("01h: nothing is wrong", !ret, ret);
    {
        Regs r = { .eax = 0x0800 };

        r.edx = 0;
        bios(0x13, &r);
        ok("drive 0 is still the floppy", !(r.flags & CARRY) &&
           (r.ecx & 0x3F) == 18, r.ecx);
        r = (Regs) { .eax = 0x0800, .edx = 0x81 };
        bios(0x13, &r);
        ok("drive 81h does not exist", r.flags & CARRY, r.flags);
    }
}

/* The memory that the ROM keeps is nobody else's. */
static void test_memory(void)
{
    static uint32_t entry[6];
    Regs r = { 0 };
    uint32_t top, ebda, ram = 0;

    bios(0x12, &r);
    top = (r.eax & 0xFFFF) * 1024;
    ok("12h: what the data area of the BIOS says",
       top == (far_read(0x413) & 0xFFFF) * 1024, top);
    ok("12h: some of 640 KiB is taken, not much",
       top < 0xA0000 - 8 * 1024 && top > 0xA0000 - 32 * 1024, top);
    ebda = (far_read(0x40E) & 0xFFFF) << 4;
    ok("the extended data area is above that", ebda >= top && ebda < 0xA0000,
       ebda);
    r.ebx = 0;
    do {
        r.eax = 0xE820;
        r.ecx = 20;
        r.edx = 0x534D4150;
        r.edi = (uint32_t)entry;
        bios(0x15, &r);
        /* usable, and it begins below 640 KiB */
        if (entry[4] == 1 && !entry[1] && entry[0] < 0xA0000) {
            ram = entry[0] + entry[2] > ram ? entry[0] + entry[2] : ram;
        }
    } while (r.ebx && !(r.flags & CARRY));
    ok("15h E820h: no more is usable", ram && ram <= top, ram);
}

void main(void)
{
    print("\r\nint13: begin\r\n");
    test_memory();
    test_parameters();
    test_read();
    test_high();
    test_write();
    test_errors();
    test_rest();
    print("1..");
    number(tests, 10);
    print("\r\nint13: end\r\n");
}
