/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST: find the card's registers, start the bridge, look at the SSDs, and
 * leave behind as little as int 13h needs.
 */
#include "bios.h"
#include "words.h"

#define PCI_COMMAND     0x04
#define PCI_BAR2        0x18
#define PCI_MEMORY      0x02
#define PCI_MASTER      0x04

#define VENDOR_OCZ      0x1B85
#define KEY_SETUP       0x0F        /* Ctrl-O */
/* How long the key for the setup is waited for: 18.2 ticks are a second. */
#define SETUP_TICKS     6
#define BDA_TICKS       0x46C       /* counted by the BIOS, IRQ 0 */

/* What AX tells a Plug and Play BIOS. */
#define PNP_NO_DEVICE   0x0010
#define PNP_BOOTS       0x0120      /* with int 13h, an IPL device is there */

static uint32_t pci_read(uint8_t at)
{
    Regs r = { .eax = 0xB10A, .ebx = pci_address, .edi = at };

    bios_call(0x1A, &r);
    return r.ecx;
}

static void pci_write16(uint8_t at, uint16_t value)
{
    Regs r = { .eax = 0xB10C, .ebx = pci_address, .edi = at, .ecx = value };

    bios_call(0x1A, &r);
}

static bool is_card(void)
{
    uint32_t id = pci_read(0);

    return id == (0x1044u << 16 | VENDOR_OCZ) ||
           id == (0x1084u << 16 | VENDOR_OCZ);
}

/* A firmware that does not say in AX where the card is has one at most. */
static bool find_card(uint16_t address)
{
    static const uint16_t devices[] = { 0x1084, 0x1044 };
    unsigned i;

    pci_address = address;
    if (is_card()) {
        return true;
    }
    for (i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        Regs r = { .eax = 0xB102, .ecx = devices[i], .edx = VENDOR_OCZ };

        bios_call(0x1A, &r);
        if (!(r.flags & FLAG_CARRY)) {
            pci_address = LOW16(r.ebx);
            return true;
        }
    }
    return false;
}

static bool map_registers(void)
{
    uint32_t low = pci_read(PCI_BAR2), high = pci_read(PCI_BAR2 + 4);

    hba.bar = low & ~0xFu;
    if (!hba.bar || high) {
        put_text("  The firmware has put the card's registers out of reach of "
                 "a BIOS\n");
        return false;
    }
    pci_write16(PCI_COMMAND, pci_read(PCI_COMMAND) | PCI_MEMORY | PCI_MASTER);
    return true;
}

static unsigned data_bytes(void)
{
    return rom_data_end - rom_data;
}

/* Memory for the bridge and for our data, in KiB. */
static uint16_t memory_kib(void)
{
    return (sizeof(HbaDma) + data_bytes() + 1023) / 1024;
}

/* From the top of conventional memory, as option ROMs always did. */
static uint32_t take_memory(void)
{
    uint16_t kib = peek16(BDA_MEMORY_KIB) - memory_kib();

    poke16(BDA_MEMORY_KIB, kib);
    return (uint32_t)kib * 1024;
}

static void give_memory_back(void)
{
    poke16(BDA_MEMORY_KIB, peek16(BDA_MEMORY_KIB) + memory_kib());
}

static void show_flash(const Card *card)
{
    if (card->flash != FLASH_GOOD) {
        put_text("  Configuration in SPI flash ");
        put_text(flash_words(card->flash));
        put_text(": using all SSDs\n");
    } else if (card->config.error_flags != 0xFFFFFFFF) {
        put_text("  Configuration in SPI flash reports error ");
        put_hex(~card->config.error_flags, 8);
        put_text("\n");
    }
}

/* Look at the card and tell what is there. */
static void examine(Card *card)
{
    unsigned n;

    hba_start(&hba);
    card->flash = flash_read_config(&hba, &card->config);
    show_flash(card);
    card->good = ssd_find(&hba, expected_phys(card), card->ssd);
    for (n = 0; n < HBA_PHYS; n++) {
        if (card->ssd[n].state != SSD_NONE ||
            (expected_phys(card) & (1u << n))) {
            show_ssd(card, n);
        }
    }
}

/* int 13h reaches 1024 cylinders; the more heads, the more of the disk. */
static void set_geometry(Disk *disk)
{
    uint32_t rest, heads = 16;
    uint64_t tracks;

    disk->sectors = 63;
    tracks = hba_divide(disk->unit.sectors, disk->sectors, &rest);
    while (heads < 255 && tracks > heads * 1024) {
        heads = heads < 128 ? heads * 2 : 255;
    }
    disk->heads = heads;
    tracks = hba_divide(tracks, heads, &rest);
    disk->cylinders = tracks > 1024 ? 1024 : tracks ? (uint16_t)tracks : 1;
}

static void name_disk(unsigned i, const char *model, bool member)
{
    char *to = product_names[i];
    unsigned room = PRODUCT_LEN - 20;

    while (*model && room--) {
        *to++ = *model++;
    }
    if (member) {
        to = format_text(to, " SSD ");
        to = format_number(to, disks[i].unit.phy[0]);
    }
    *to++ = ' ';
    format_size(to, disks[i].unit.sectors);
}

static unsigned make_members(const Card *card)
{
    unsigned n, count = 0;

    for (n = 0; n < HBA_PHYS; n++) {
        if (card->good & (1u << n)) {
            unit_make(&hba, 1u << n, &disks[count].unit);
            name_disk(count, card->ssd[n].model, true);
            count++;
        }
    }
    return count;
}

static unsigned make_volume(const Card *card)
{
    uint8_t missing = expected_phys(card) & ~card->good;

    if (!card->good) {
        return 0;
    }
    if (missing || (card->flash == FLASH_GOOD &&
                    card->config.ssds != count_phys(card->good))) {
        put_text("  Of ");
        put_number(card->flash == FLASH_GOOD ? card->config.ssds :
                   count_phys(expected_phys(card)));
        put_text(" SSDs ");
        put_number(count_phys(card->good));
        put_text(" can be used: the volume is incomplete and not shown\n");
        return 0;
    }
    unit_make(&hba, card->good, &disks[0].unit);
    name_disk(0, card_model(card), false);
    put_text("  Volume: RAID-0 of ");
    put_number(disks[0].unit.members);
    put_text(" SSDs, ");
    put_size(disks[0].unit.sectors);
    put_text("\n");
    return 1;
}

static unsigned make_disks(const Card *card)
{
    unsigned i, count;

    if (card->flash == FLASH_GOOD &&
        card->config.rom_view == FLASH_VIEW_MEMBERS) {
        count = make_members(card);
    } else {
        count = make_volume(card);
    }
    for (i = 0; i < count; i++) {
        set_geometry(&disks[i]);
    }
    if (!count) {
        put_text("  Nothing to boot from\n");
    }
    return count;
}

static uint8_t byte_sum(const uint8_t *p, unsigned len)
{
    uint8_t sum = 0;

    while (len--) {
        sum += *p++;
    }
    return sum;
}

/* A chain of headers, one for each disk. */
static void publish(unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        uint8_t *header = (uint8_t *)pnp_headers[i];

        pnp_headers[i][3] = i + 1 < count ?
                            (uint16_t)(uintptr_t)pnp_headers[i + 1] : 0;
        header[9] = 0;
        header[9] = -byte_sum(header, sizeof(pnp_headers[i]));
    }
}

/* Move the data to where it stays and give up all but the resident code. */
static void settle(uint32_t memory)
{
    uint32_t at = memory + sizeof(HbaDma);
    unsigned i;

    /* these bytes have other names in C, too */
    hba_barrier();
    rom_data_segment = (at - (uint16_t)(uintptr_t)rom_data) >> 4;
    rom_dma_segment = memory >> 4;
    for (i = 0; i < data_bytes(); i++) {
        poke8(at + i, rom_data[i]);
    }
    rom_size = (rom_resident_end - rom_start) / 512;
    rom_checksum = 0;
    hba_barrier();
    rom_checksum = -byte_sum(rom_start, rom_resident_end - rom_start);
}

/* Give the user a moment to ask for the setup utility. */
/*
 * Between the looks at the keyboard the processor is halted until the next
 * interrupt, that of the timer at the latest.  To look without end would cost a
 * machine that counts instructions (-icount) minutes of the host's time.
 */
static bool setup_wanted(void)
{
    uint32_t start = *(FlatDword *)BDA_TICKS;

    do {
        if (key_poll() == KEY_SETUP) {
            return true;
        }
        __asm__ volatile("sti; hlt; cli" : : : "memory");
        flat_enter();
    } while (*(FlatDword *)BDA_TICKS - start < SETUP_TICKS);
    return false;
}

/* @address is what the BIOS gives in AX: bus, device, function. */
uint32_t init(uint32_t address)
{
    static Card card;
    uint32_t memory;
    unsigned count;

    interrupts = true;
    if (!find_card((uint16_t)address)) {
        rom_size = 0;
        return PNP_NO_DEVICE;
    }
    put_text("\n" ROM_NAME " " ROM_VERSION ", card at ");
    show_address();
    put_text("    Press Ctrl-O for setup\n");
    if (!map_registers()) {
        rom_size = 0;
        return PNP_NO_DEVICE;
    }
    memory = take_memory();
    hba.dma_address = memory;
    set_dma_segment(memory >> 4);
    examine(&card);
    while (setup_wanted()) {
        setup_run(&card);
        examine(&card);
    }
    count = make_disks(&card);
    if (!count) {
        hba_stop(&hba);
        give_memory_back();
        rom_size = 0;
        return PNP_NO_DEVICE;
    }
    publish(count);
    settle(memory);
    return PNP_BOOTS;
}
