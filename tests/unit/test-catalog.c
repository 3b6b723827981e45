/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The catalogue against the tables of real-cards.md: every capacity with its
 * sector counts, strings that fit their IDENTIFY fields, unique identities.
 */
#include <string.h>
#include <glib.h>

#include "hw/zdrive/catalog.h"
#include "hw/zdrive/store/volume-order.h"

#define MODEL_CHARS     40
#define FIRMWARE_CHARS  8
#define SMART_MAX       30      /* rows of the SMART data structure */

/* real-cards.md 3.1 */
static const struct {
    uint32_t gb;
    uint64_t sectors;
} members[] = {
    { 25, 48858768 },
    { 30, 58626288 },
    { 40, 78161328 },
    { 60, 117231408 },
    { 75, 146533968 },
    { 80, 156301488 },
    { 90, 175836528 },
    { 100, 195371568 },
    { 120, 234441648 },
    { 150, 293046768 },
    { 180, 351651888 },
    { 200, 390721968 },
    { 240, 468862128 },
    { 300, 586072368 },
    { 400, 781422768 },
    { 480, 937703088 },
};

/* real-cards.md 3.2: full stripes of 64 KiB chunks */
static const struct {
    const char *type;
    const char *model;
    uint16_t device_id;
    uint8_t ssds;
    uint32_t card_gb;
    uint32_t ssd_gb;
    uint64_t volume_sectors;
} cards[] = {
    { "zdrive-r4", "cm84", 0x1044, 4, 300, 75, 586135552 },
    { "zdrive-r4", "cm84", 0x1044, 4, 600, 150, 1172186624 },
    { "zdrive-r4", "cm84", 0x1044, 4, 1200, 300, 2344289280 },
    { "zdrive-r4", "rm84", 0x1044, 4, 300, 75, 586135552 },
    { "zdrive-r4", "rm84", 0x1044, 4, 600, 150, 1172186624 },
    { "zdrive-r4", "rm84", 0x1044, 4, 1200, 300, 2344289280 },
    { "zdrive-r4", "cm88", 0x1084, 8, 800, 100, 1562972160 },
    { "zdrive-r4", "cm88", 0x1084, 8, 1600, 200, 3125775360 },
    { "zdrive-r4", "cm88", 0x1084, 8, 3200, 400, 6251381760 },
    { "zdrive-r4", "rm88", 0x1084, 8, 800, 100, 1562972160 },
    { "zdrive-r4", "rm88", 0x1084, 8, 1600, 200, 3125775360 },
    { "zdrive-r4", "rm88", 0x1084, 8, 3200, 400, 6251381760 },
    { "revodrive3", "revodrive3", 0x1021, 2, 120, 60, 234462720 },
    { "revodrive3", "revodrive3", 0x1021, 2, 240, 120, 468883200 },
    { "revodrive3", "revodrive3", 0x1021, 2, 480, 240, 937724160 },
    { "revodrive3-x2", "revodrive3-x2", 0x1041, 4, 240, 60, 468925440 },
    { "revodrive3-x2", "revodrive3-x2", 0x1041, 4, 480, 120, 937766400 },
    { "revodrive3-x2", "revodrive3-x2", 0x1041, 4, 960, 240, 1875448320 },
    { "revodrive350", "revodrive350-240", 0x1021, 2, 240, 120, 468883200 },
    { "revodrive350", "revodrive350-480", 0x1041, 4, 480, 120, 937766400 },
    { "revodrive350", "revodrive350-480", 0x1041, 4, 960, 240, 1875448320 },
};

static void test_idema(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(members); i++) {
        g_assert_cmpuint(zd_catalog_idema_sectors(members[i].gb), ==,
                         members[i].sectors);
    }
}

static void test_capacities(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(cards); i++) {
        const ZdProduct *p = zd_catalog_find(cards[i].type, cards[i].model);
        const ZdCapacity *cap;
        uint64_t chunk_sectors = ZD_VOLUME_CHUNK / 512;
        uint64_t sectors;

        g_assert_nonnull(p);
        g_assert_cmpuint(p->vendor_id, ==, 0x1b85);
        g_assert_cmpuint(p->device_id, ==, cards[i].device_id);
        g_assert_cmpuint(p->revision, ==, 2);
        g_assert_cmpuint(p->pci_class, ==, 0x0100);
        g_assert_cmpuint(p->ssds, ==, cards[i].ssds);

        cap = zd_catalog_capacity(p, cards[i].card_gb);
        g_assert_nonnull(cap);
        g_assert_cmpuint(cap->ssd_gb, ==, cards[i].ssd_gb);
        sectors = zd_catalog_idema_sectors(cap->ssd_gb);
        g_assert_cmpuint(sectors / chunk_sectors * chunk_sectors * p->ssds, ==,
                         cards[i].volume_sectors);
    }
}

static void test_lookup(void)
{
    const ZdProduct *p = NULL;
    unsigned n = 0;

    while ((p = zd_catalog_next("zdrive-r4", p)) != NULL) {
        g_assert_true(zd_catalog_find("zdrive-r4", p->model) == p);
        g_assert_nonnull(zd_catalog_capacity(p, p->default_gb));
        g_assert_null(zd_catalog_capacity(p, 0));
        g_assert_null(zd_catalog_capacity(p, 301));
        n++;
    }
    g_assert_cmpuint(n, ==, 4);
    g_assert_null(zd_catalog_find("zdrive-r4", "cm99"));
    g_assert_null(zd_catalog_find("revodrive3", "cm88"));
    g_assert_null(zd_catalog_next("no-such-type", NULL));
}

static void test_strings(void)
{
    for (const ZdProduct *p = zd_catalog_next(NULL, NULL); p;
         p = zd_catalog_next(NULL, p)) {
        g_autofree char *model = g_ascii_strup(p->model, -1);

        g_assert_cmpuint(strlen(p->ssd_model), <=, MODEL_CHARS);
        g_assert_cmpuint(strlen(p->firmware), <=, FIRMWARE_CHARS);
        if (strcmp(p->type, "zdrive-r4") == 0) {
            g_assert_true(g_str_has_suffix(p->ssd_model, model));
            g_assert_true(g_str_has_suffix(p->title, model));
        } else {
            g_assert_true(g_str_has_prefix(p->model, p->type));
            g_assert_true(g_str_has_prefix(p->ssd_model, "OCZ-REVODRIVE"));
        }
    }
}

/* Ascending ids, no more than fit, nothing that starts as failed. */
static void test_smart(void)
{
    for (const ZdProduct *p = zd_catalog_next(NULL, NULL); p;
         p = zd_catalog_next(NULL, p)) {
        const ZdSmartAttr *a = p->profile->smart;
        unsigned n = 0;
        bool supercap = false;

        for (; a->id; a++, n++) {
            g_assert_true(n == 0 || a->id > a[-1].id);
            g_assert_true(a->threshold == 0 || a->value > a->threshold);
            g_assert_true(a->threshold == 0 || a->worst > a->threshold);
            g_assert_cmpuint(a->raw >> 48, ==, 0);
            g_assert_cmpuint(a->flags >> 6, ==, 0);
            supercap |= a->id == 235;
        }
        g_assert_cmpuint(n, <=, SMART_MAX);
        g_assert_true(supercap == p->profile->supercap);
    }
}

/* real-cards.md 2.4: what firmware 2.25 has, and what it has not. */
static void test_logs(void)
{
    static const uint8_t absent[] = { 0x03, 0x04, 0x08, 0x0c, 0x30 };
    const ZdProduct *p = zd_catalog_find("zdrive-r4", "cm88");
    const ZdLogEntry *log;
    bool present[256] = { false };

    for (log = p->profile->logs;
         log->address || log->gpl_sectors || log->smart_sectors; log++) {
        g_assert_false(present[log->address]);
        present[log->address] = true;
        if (log->address >= 0x80 && log->address <= 0x9f) {
            g_assert_cmpuint(log->gpl_sectors, ==, 16);
            g_assert_cmpuint(log->smart_sectors, ==, 16);
        }
    }
    for (unsigned i = 0; i < sizeof(absent); i++) {
        g_assert_false(present[absent[i]]);
    }
    for (unsigned i = 0x80; i <= 0x9f; i++) {
        g_assert_true(present[i]);
    }
    g_assert_true(present[0x10] && present[0x11] && present[0xe0]);
}

static void test_identities(void)
{
    g_autoptr(GHashTable) serials = g_hash_table_new_full(g_str_hash,
                                                          g_str_equal,
                                                          g_free, NULL);
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_int64_hash,
                                                        g_int64_equal,
                                                        g_free, NULL);

    for (uint64_t seed = 0; seed < 1000; seed++) {
        for (unsigned m = 0; m < 8; m++) {
            uint64_t *wwn = g_new(uint64_t, 1);
            char serial[21], again[21];

            zd_catalog_serial(seed, m, serial);
            zd_catalog_serial(seed, m, again);
            g_assert_cmpstr(serial, ==, again);
            g_assert_cmpuint(strlen(serial), ==, 20);
            g_assert_true(g_str_has_prefix(serial, "OCZ-"));
            g_assert_cmpuint(strspn(serial + 4, "0123456789"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), ==, 16);
            g_assert_true(g_hash_table_add(serials, g_strdup(serial)));

            *wwn = zd_catalog_wwn(seed, m);
            g_assert_cmphex(*wwn, ==, zd_catalog_wwn(seed, m));
            g_assert_cmphex(*wwn >> 36, ==, 0x5e83a97);
            g_assert_true(g_hash_table_add(names, wwn));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/catalog/idema", test_idema);
    g_test_add_func("/catalog/capacities", test_capacities);
    g_test_add_func("/catalog/lookup", test_lookup);
    g_test_add_func("/catalog/strings", test_strings);
    g_test_add_func("/catalog/smart", test_smart);
    g_test_add_func("/catalog/logs", test_logs);
    g_test_add_func("/catalog/identities", test_identities);
    return g_test_run();
}
