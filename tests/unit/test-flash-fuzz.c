/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random calls of every entry point, well formed or not, under the address and
 * undefined-behaviour sanitizers.  States get a right checksum over wrong
 * contents.  ZD_FUZZ_ROUNDS makes it longer.
 */
#include <stdlib.h>
#include <string.h>

#include "flash-small.h"

#define NS_PER_PAUSE    700000000

static uint64_t pick(GRand *rand)
{
    static const uint64_t odd[] = {
        0, 1, 7, 8, 9, 65535, UINT32_MAX, UINT64_MAX, UINT64_MAX / 512,
        1ull << 63, 1ull << 32, 100000, 99999,
    };

    return g_rand_boolean(rand) ? odd[g_rand_int_range(rand, 0,
                                                       G_N_ELEMENTS(odd))] :
           (uint64_t)g_rand_int(rand) % 120000;
}

/* The checksum is not part of the interface; a copy of state.c's. */
static uint64_t checksum(const uint8_t *data, size_t size)
{
    uint64_t lane[4] = { 1, 2, 3, 4 }, sum = size;

    for (; size >= 32; data += 32, size -= 32) {
        for (unsigned i = 0; i < 4; i++) {
            uint64_t word;

            memcpy(&word, data + i * 8, 8);
            lane[i] = (lane[i] ^ word) * 0x9fb21c651e98df25ULL;
            lane[i] ^= lane[i] >> 29;
        }
    }
    for (; size; data++, size--) {
        lane[0] = (lane[0] ^ *data) * 0x9fb21c651e98df25ULL;
        lane[0] ^= lane[0] >> 29;
    }
    for (unsigned i = 0; i < 4; i++) {
        sum = (sum ^ lane[i]) * 0xd6e8feb86659fd93ULL;
        sum ^= sum >> 32;
    }
    return sum;
}

static void hostile_state(ZdFlash *f, GRand *rand)
{
    g_autofree uint8_t *data = NULL;
    uint64_t sum;
    size_t size;

    data = zd_flash_save(f, &size);
    for (unsigned i = 0, n = g_rand_int_range(rand, 1, 5); i < n; i++) {
        size_t at = g_rand_int_range(rand, 24, size);

        /* mostly in the part before the map */
        if (g_rand_boolean(rand)) {
            at = 24 + (at - 24) % 4096;
        }
        data[at] = g_rand_int(rand);
    }
    sum = checksum(data + 24, size - 24);
    memcpy(data + 16, &sum, 8);
    zd_flash_load(f, data, size, NULL);
}

static void one_round(unsigned seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    ZdFlashParams params = small_params;
    ZdFlashOptions options = { .dies = g_rand_int_range(rand, 0, 12) };
    ZdFlash *f;
    int64_t now = 0;

    params.raise_dies = g_rand_int_range(rand, 0, 9);
    params.idle_collect = g_rand_boolean(rand);
    params.life_throttle = g_rand_boolean(rand);
    params.buffer_bytes = g_rand_int_range(rand, 0, 1 << 20);
    params.map_cached = g_rand_int_range(rand, 0, 8);
    f = zd_flash_new(&params, seed % 16 ? 100000 : pick(rand), seed, &options);
    if (!f) {
        return;
    }
    for (unsigned i = 0; i < 3000; i++) {
        uint8_t classes[32];
        ZdFlashCmd cmd = {
            .op = g_rand_int_range(rand, 0, 2),
            .through = g_rand_int_range(rand, 0, 20) == 0,
            .lba = pick(rand),
            .sectors = g_rand_int_range(rand, 0, 200),
            .depth = g_rand_int(rand),
            .class_all = g_rand_int(rand),
        };

        if (cmd.sectors > 8 * 30) {
            cmd.classes = classes;
            memset(classes, cmd.class_all, sizeof(classes));
        }
        switch (g_rand_int_range(rand, 0, 200)) {
        case 0:
            zd_flash_flush(f, now);
            break;
        case 1:
            zd_flash_trim(f, pick(rand), pick(rand), now);
            break;
        case 2:
            if (g_rand_int_range(rand, 0, 10) == 0) {
                zd_flash_secure_erase(f, now);
            }
            break;
        case 3:
            g_assert_cmpint(zd_flash_stage(f, zd_flash_first_unstable(f, now),
                                           now), !=, ZD_FLASH_IN_NAND);
            if (g_rand_int_range(rand, 0, 20) == 0) {
                zd_flash_power_cut(f, now);
            }
            break;
        case 4:
            zd_flash_advance(f, now);
            break;
        case 5:
            zd_flash_prefill(f, pick(rand) % 100000, pick(rand) % 100000,
                             cmd.class_all);
            break;
        case 6:
            g_free(zd_flash_stats_json(&f, 1));
            break;
        case 7:
            if (g_rand_int_range(rand, 0, 4) == 0) {
                hostile_state(f, rand);
                now = f->now;
            }
            break;
        case 8:
            zd_flash_settle(f);
            now = 0;
            break;
        case 9:
            zd_flash_expect(f, cmd.lba);
            zd_flash_mapped(f, cmd.lba);
            now = MAX(now, zd_flash_next_event(f));
            break;
        case 10:
            now += NS_PER_PAUSE;
            break;
        default:
            g_assert_cmpint(zd_flash_submit(f, &cmd, now), >=, now);
        }
        now += g_rand_int_range(rand, 0, 100000);
    }
    zd_flash_free(f);
}

static void test_calls(void)
{
    const char *rounds = g_getenv("ZD_FUZZ_ROUNDS");
    unsigned count = rounds ? atoi(rounds) : 60;

    for (unsigned i = 0; i < count; i++) {
        one_round(i);
    }
}

static void test_compress(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    /* exactly a page, so that the sanitizer sees a byte too many */
    g_autofree uint8_t *page = g_malloc(ZD_FLASH_PAGE);

    for (unsigned i = 0; i < 3000; i++) {
        unsigned symbols = 1 + g_rand_int_range(rand, 0, 255);
        unsigned repeat = g_rand_int_range(rand, 1, 600);

        for (unsigned j = 0; j < ZD_FLASH_PAGE; j++) {
            page[j] = j >= repeat && g_rand_int_range(rand, 0, 50) ?
                      page[j - repeat] :
                      g_rand_int_range(rand, 0, symbols);
        }
        g_assert_cmpuint(zd_flash_compressed_bytes(page), <=, ZD_FLASH_PAGE);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flash/fuzz/compress", test_compress);
    g_test_add_func("/flash/fuzz/calls", test_calls);
    return g_test_run();
}
