/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A UEFI application that does what is typed, a line at a time, with the
 * first card of the machine; tests/boot/remote.py has the list.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <efi.h>
#include <efipciio.h>
#include "hw/zdrive/bridge/mv94xx/regs.h"

#define VENDOR_OCZ      0x1B85
#define SECTOR          512
#define BUFFER_SECTORS  1024
#define SERIAL          0x3F8
#define PCI_BAR2        0x18
#define PCI_COMMAND     0x04
#define STALL_US        10000

/* Registers, or memory that the card writes. */
typedef volatile uint32_t Register;     /* volatile: see above */

static EFI_SYSTEM_TABLE *system_table;
static EFI_BOOT_SERVICES *services;
static EFI_HANDLE image;
static bool exited;

static EFI_GUID guid_pci_io = EFI_PCI_IO_PROTOCOL_GUID;
static EFI_GUID guid_block_io = EFI_BLOCK_IO_PROTOCOL_GUID;

static EFI_HANDLE card;
static EFI_PCI_IO_PROTOCOL *pci;
static uint8_t *buffer;

/* The compiler calls them by itself. */
void *memset(void *at, int value, size_t len);
void *memcpy(void *to, const void *from, size_t len);

void *memset(void *at, int value, size_t len)
{
    uint8_t *p = at;

    while (len--) {
        *p++ = value;
    }
    return at;
}

void *memcpy(void *to, const void *from, size_t len)
{
    uint8_t *d = to;
    const uint8_t *s = from;

    while (len--) {
        *d++ = *s++;
    }
    return to;
}

static uint64_t now(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
    return (uint64_t)high << 32 | low;
}

static void put(char c)
{
    CHAR16 text[2] = { (uint8_t)c, 0 };

    if (exited) {
        __asm__ volatile("outb %0, %1" : : "a" (c),
                         "Nd" ((uint16_t)SERIAL));
    } else {
        system_table->ConOut->OutputString(system_table->ConOut, text);
    }
}

static void print(const char *s)
{
    while (*s) {
        put(*s++);
    }
}

static void number(uint64_t n)
{
    unsigned shift = 60;

    while (shift && !(n >> shift)) {
        shift -= 4;
    }
    print(" ");
    for (;; shift -= 4) {
        put("0123456789abcdef"[n >> shift & 15]);
        if (!shift) {
            return;
        }
    }
}

/* Of a status only the sign and the low byte. */
static void status(EFI_STATUS s)
{
    number(EFI_ERROR(s) ? 0x100 | (s & 0xFF) : s & 0xFF);
}

static char key(void)
{
    EFI_INPUT_KEY in;

    while (EFI_ERROR(system_table->ConIn->ReadKeyStroke(system_table->ConIn,
                                                        &in))) {
        services->Stall(1000);
    }
    return (char)in.UnicodeChar;
}

/* A line, echoed; its length. */
static unsigned line(char *to, unsigned room)
{
    unsigned len = 0;

    for (;;) {
        char c = key();

        if (c == '\r') {
            to[len] = 0;
            print("\r\n");
            return len;
        }
        if (c > 0 && len + 1 < room) {
            to[len++] = c;
            put(c);
        }
    }
}

/* The hexadecimal number at *@s, which moves on behind it. */
static uint64_t argument(const char **s)
{
    uint64_t n = 0;

    while (**s == ' ') {
        ++*s;
    }
    for (; **s && **s != ' '; ++*s) {
        n = n << 4 | (**s <= '9' ? **s - '0' : (**s & ~0x20) - 'A' + 10);
    }
    return n;
}

static void find_card(void)
{
    EFI_HANDLE *handles;
    UINTN count, i;

    card = NULL;
    services->LocateHandleBuffer(ByProtocol, &guid_pci_io, NULL, &count,
                                 &handles);
    for (i = 0; i < count && !card; i++) {
        uint16_t vendor = 0;

        services->HandleProtocol(handles[i], &guid_pci_io, (void **)&pci);
        pci->Pci.Read(pci, EfiPciIoWidthUint16, 0, 1, &vendor);
        if (vendor == VENDOR_OCZ) {
            card = handles[i];
        }
    }
    services->FreePool(handles);
}

/* BlockIo number @n of the card; NULL: it has fewer. */
static EFI_BLOCK_IO_PROTOCOL *disk(unsigned n)
{
    EFI_OPEN_PROTOCOL_INFORMATION_ENTRY *entries;
    EFI_BLOCK_IO_PROTOCOL *io = NULL;
    UINTN count, i;

    if (EFI_ERROR(services->OpenProtocolInformation(card, &guid_pci_io,
                                                    &entries, &count))) {
        return NULL;
    }
    for (i = 0; i < count; i++) {
        if ((entries[i].Attributes & EFI_OPEN_PROTOCOL_BY_CHILD_CONTROLLER) &&
            !n--) {
            services->HandleProtocol(entries[i].ControllerHandle,
                                     &guid_block_io, (void **)&io);
            break;
        }
    }
    services->FreePool(entries);
    return io;
}

static void say_disks(void)
{
    EFI_BLOCK_IO_PROTOCOL *io;
    unsigned n;

    for (n = 0; (io = disk(n)); n++) {
        number(io->Media->LastBlock);
    }
}

/* Handles, pages of free memory, PCI command register. */
static void say_resources(void)
{
    UINTN size = 0, map_key, each, count;
    uint64_t pages = 0;
    uint16_t command;
    EFI_HANDLE *handles;
    uint32_t version;
    uint8_t *map, *at;

    services->LocateHandleBuffer(AllHandles, NULL, NULL, &count, &handles);
    services->FreePool(handles);
    number(count);
    services->GetMemoryMap(&size, NULL, &map_key, &each, &version);
    size += 8 * each;
    services->AllocatePool(EfiLoaderData, size, (void **)&map);
    services->GetMemoryMap(&size, (EFI_MEMORY_DESCRIPTOR *)map, &map_key,
                           &each, &version);
    for (at = map; at < map + size; at += each) {
        EFI_MEMORY_DESCRIPTOR *area = (EFI_MEMORY_DESCRIPTOR *)at;

        if (area->Type == EfiConventionalMemory) {
            pages += area->NumberOfPages;
        }
    }
    services->FreePool(map);
    number(pages);
    pci->Pci.Read(pci, EfiPciIoWidthUint16, PCI_COMMAND, 1, &command);
    number(command);
}

static void move(bool write, const char *args)
{
    EFI_BLOCK_IO_PROTOCOL *io = disk(argument(&args));
    uint64_t lba = argument(&args);
    UINTN i, sectors = argument(&args);
    uint64_t *first = (uint64_t *)buffer;
    uint64_t *last = (uint64_t *)(buffer + (sectors - 1) * SECTOR);

    for (i = 0; i < sectors; i++) {
        *(uint64_t *)(buffer + i * SECTOR) = write ? lba + i : 0xDEADBEEF;
    }
    status(write ?
           io->WriteBlocks(io, io->Media->MediaId, lba, sectors * SECTOR,
                           buffer) :
           io->ReadBlocks(io, io->Media->MediaId, lba, sectors * SECTOR,
                          buffer));
    number(*first);
    number(*last);
}

/* What a caller can do wrong. */
static void misuse(void)
{
    EFI_BLOCK_IO_PROTOCOL *io = disk(0);
    uint32_t media = io->Media->MediaId;
    uint64_t last = io->Media->LastBlock;

    status(io->ReadBlocks(io, media + 1, 0, SECTOR, buffer));
    status(io->ReadBlocks(io, media, 0, SECTOR - 1, buffer));
    status(io->ReadBlocks(io, media, 0, 0, buffer));
    status(io->ReadBlocks(io, media, 0, SECTOR, NULL));
    status(io->ReadBlocks(io, media, 0, SECTOR, buffer + 1));
    status(io->ReadBlocks(io, media, last + 1, SECTOR, buffer));
    status(io->ReadBlocks(io, media, last, 2 * SECTOR, buffer));
    status(io->WriteBlocks(io, media, last + 1, SECTOR, buffer));
    status(io->ReadBlocks(io, media, last, SECTOR, buffer));
    status(io->Reset(io, TRUE));
}

static Register *core_register(uint8_t *bar, unsigned core, uint32_t reg)
{
    return (Register *)(bar + MV_CORE_BASE + core * MV_CORE_STRIDE + reg);
}

/*
 * Leave the firmware, then ring the card's doorbells: is what it did before
 * still done?  Prints whether engines run and completions come, before and
 * after.
 */
static void leave(void)
{
    UINTN size = 0, map_key, each, i;
    uint32_t version, low;
    Register *completions[2];
    uint8_t *bar, *map;
    unsigned core;
    EFI_STATUS s;

    pci->Pci.Read(pci, EfiPciIoWidthUint32, PCI_BAR2, 1, &low);
    bar = (uint8_t *)(uintptr_t)(low & ~0xFu);
    for (core = 0; core < 2; core++) {
        uint64_t at = *core_register(bar, core, MV_RX_LO);

        at |= (uint64_t)*core_register(bar, core, MV_RX_LO + 4) << 32;
        completions[core] = (Register *)at;
        number(*core_register(bar, core, MV_PCS) != 0);
    }
    services->GetMemoryMap(&size, NULL, &map_key, &each, &version);
    size += 8 * each;
    services->AllocatePool(EfiLoaderData, size, (void **)&map);
    services->GetMemoryMap(&size, (EFI_MEMORY_DESCRIPTOR *)map, &map_key,
                           &each, &version);
    s = services->ExitBootServices(image, map_key);
    exited = !EFI_ERROR(s);
    status(s);
    for (core = 0; core < 2; core++) {
        uint32_t before = *completions[core];
        uint32_t index = *core_register(bar, core, MV_TX_PROD_IDX);

        *core_register(bar, core, MV_TX_PROD_IDX) = (index + 1) & 15;
        for (i = 0; i < STALL_US; i++) {
            (void)*core_register(bar, core, MV_PCS);
        }
        number(*core_register(bar, core, MV_PCS) != 0);
        number(*completions[core] != before);
    }
}

static void act(const char *words)
{
    EFI_BLOCK_IO_PROTOCOL *io;
    uint64_t begin = now();
    EFI_STATUS s = EFI_SUCCESS;

    if (*words == 'c') {
        /* which has something to say itself */
        s = services->ConnectController(card, NULL, NULL, TRUE);
        begin = now() - begin;
    }
    print("done");
    switch (*words++) {
    case 'c':
        status(s);
        number(begin);
        say_disks();
        break;
    case 'd':
        status(services->DisconnectController(card, NULL, NULL));
        say_disks();
        break;
    case 'm':
        say_resources();
        break;
    case 'r':
        move(false, words);
        break;
    case 'w':
        move(true, words);
        break;
    case 'f':
        io = disk(0);
        status(io->FlushBlocks(io));
        break;
    case 'u':
        misuse();
        break;
    case 'x':
        leave();
        break;
    }
    print(" end\r\n");
}

EFI_STATUS EFIAPI efi_main(EFI_HANDLE handle, EFI_SYSTEM_TABLE *table)
{
    char words[64];

    image = handle;
    system_table = table;
    services = table->BootServices;
    find_card();
    services->AllocatePool(EfiLoaderData, BUFFER_SECTORS * SECTOR,
                           (void **)&buffer);
    print("\r\nremote: ");
    print(card ? "ready\r\n" : "no card\r\n");
    while (!exited && line(words, sizeof(words))) {
        act(words);
    }
    for (;;) {
        __asm__ volatile("pause");
    }
}
