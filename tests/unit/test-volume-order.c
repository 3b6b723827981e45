/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Volume order against a naive simulation of "mdadm --build --level=0": deal
 * chunks of the SSDs out round after round while every one has a full chunk
 * left, then append what remains of each.  With one unit per sector the order
 * must agree everywhere, which also makes it a bijection.
 */
#include <glib.h>

#include "hw/zdrive/store/volume-order.h"

#define SECTOR          512
#define CHUNK_SECTORS   (ZD_VOLUME_CHUNK / SECTOR)

typedef struct Place {
    unsigned member;
    uint64_t sector;
} Place;

static Place *simulate(unsigned members, uint64_t sectors, uint64_t *len)
{
    Place *volume = g_new(Place, members * sectors);
    uint64_t at = 0, row = 0;

    for (; row + CHUNK_SECTORS <= sectors; row += CHUNK_SECTORS) {
        for (unsigned m = 0; m < members; m++) {
            for (unsigned i = 0; i < CHUNK_SECTORS; i++) {
                volume[at++] = (Place) { m, row + i };
            }
        }
    }
    for (unsigned m = 0; m < members; m++) {
        for (uint64_t i = row; i < sectors; i++) {
            volume[at++] = (Place) { m, i };
        }
    }
    *len = at;
    return volume;
}

static void check(unsigned members, uint64_t sectors)
{
    uint64_t len, run;
    g_autofree Place *volume = simulate(members, sectors, &len);

    g_assert_cmpuint(len * SECTOR, ==,
                     zd_volume_bytes(members, sectors * SECTOR));
    for (uint64_t at = 0; at < len; at++) {
        uint64_t pos = zd_volume_map(members, volume[at].member,
                                     sectors * SECTOR,
                                     volume[at].sector * SECTOR, &run);

        g_assert_cmpuint(pos, ==, at * SECTOR);
        /* the run ends where the neighbour in the volume is another's */
        g_assert_cmpuint(run % SECTOR, ==, 0);
        g_assert_cmpuint(run, >, 0);
        g_assert_cmpuint(volume[at].sector + run / SECTOR, <=, sectors);
        for (uint64_t i = 0; i < run / SECTOR; i++) {
            g_assert_cmpuint(volume[at + i].member, ==, volume[at].member);
            g_assert_cmpuint(volume[at + i].sector, ==, volume[at].sector + i);
        }
    }
}

static void test_simulation(void)
{
    static const uint64_t sectors[] = {
        1, 127, 128, 129, 255, 256, 3 * 128, 3 * 128 + 17, 1000,
    };

    for (unsigned members = 1; members <= 8; members++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(sectors); i++) {
            check(members, sectors[i]);
        }
    }
}

/* The largest card, its far end: no overflow, the last byte is the last. */
static void test_large(void)
{
    uint64_t bytes = 781422768ull * SECTOR;
    uint64_t run;

    g_assert_cmpuint(zd_volume_map(8, 7, bytes, bytes - 1, &run), ==,
                     zd_volume_bytes(8, bytes) - 1);
    g_assert_cmpuint(run, ==, 1);
    g_assert_cmpuint(zd_volume_map(8, 0, bytes, 0, &run), ==, 0);
    g_assert_cmpuint(run, ==, ZD_VOLUME_CHUNK);
    g_assert_cmpuint(zd_volume_map(8, 3, bytes, 5 * 65536 + 7, &run), ==,
                     (5 * 8 + 3) * 65536 + 7);
    g_assert_cmpuint(run, ==, ZD_VOLUME_CHUNK - 7);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/volume-order/simulation", test_simulation);
    g_test_add_func("/volume-order/large", test_large);
    return g_test_run();
}
