/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The saved state: an SSD that was saved and loaded goes on exactly as the one
 * that was not, and nothing that is not a state is taken for one.
 */
#include <string.h>

#include "flash-small.h"

#define PAGES   8192

static ZdFlash *new_ssd(void)
{
    return zd_flash_new(&small_params, PAGES * 8, 5, &small_options);
}

static int64_t random_work(ZdFlash *f, GRand *rand, unsigned rounds,
                           int64_t now)
{
    int64_t last = now;

    for (unsigned i = 0; i < rounds; i++) {
        uint32_t page = g_rand_int_range(rand, 0, PAGES);

        switch (g_rand_int_range(rand, 0, 20)) {
        case 0:
            last = zd_flash_trim(f, page * 8, 64, now);
            break;
        case 1:
            last = zd_flash_flush(f, now);
            break;
        case 2 ... 7:
            last = small_read(f, page, 1 + page % 16, now);
            break;
        default:
            last = small_write(f, page, page % ZD_FLASH_CLASSES, now);
        }
        now += g_rand_int_range(rand, 0, 60000);
    }
    return last ^ now << 1;
}

static void test_twin(void)
{
    ZdFlash *f = new_ssd(), *g = new_ssd();
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    g_autofree char *one = NULL;
    g_autofree char *two = NULL;
    int64_t now = 0;

    for (unsigned i = 0; i < 12; i++) {
        g_autoptr(GRand) again = NULL;
        g_autofree uint8_t *data = NULL;
        char *error = NULL;
        size_t size;

        random_work(f, rand, 4000, now);
        now = f->now;
        data = zd_flash_save(f, &size);
        g_assert_true(zd_flash_load(g, data, size, &error));
        g_assert_null(error);
        again = g_rand_copy(rand);
        g_assert_cmpint(random_work(f, rand, 3000, now), ==,
                        random_work(g, again, 3000, now));
        now = f->now;
    }
    one = zd_flash_stats_json(&f, 1);
    two = zd_flash_stats_json(&g, 1);
    /* memory may differ: logs are shorter after loading */
    *strstr(one, "\"memory_bytes\"") = '\0';
    *strstr(two, "\"memory_bytes\"") = '\0';
    g_assert_cmpstr(one, ==, two);
    g_assert_cmpuint(f->n.collected_superblocks, >, 0);
    zd_flash_free(f);
    zd_flash_free(g);
}

static void refused(ZdFlash *f, const uint8_t *data, size_t size)
{
    g_autofree char *error = NULL;

    g_assert_false(zd_flash_load(f, data, size, &error));
    g_assert_nonnull(error);
    /* it is fresh and works */
    g_assert_cmpuint(f->map.mapped, ==, 0);
    small_write(f, 3, 31, 0);
}

static void test_refuse(void)
{
    ZdFlash *f = new_ssd();
    ZdFlash *other = zd_flash_new(&small_params, PAGES * 16, 5,
                                  &small_options);
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
    g_autofree uint8_t *data = NULL;
    g_autofree uint8_t *copy = NULL;
    size_t size;

    random_work(f, rand, 5000, 0);
    data = zd_flash_save(f, &size);
    copy = g_memdup2(data, size);
    refused(other, data, size);
    refused(f, data, 0);
    refused(f, data, 10);
    refused(f, data, size - 1);
    for (unsigned i = 0; i < 200; i++) {
        size_t at = g_rand_int_range(rand, 0, size);

        copy[at] ^= 1 << i % 8;
        refused(f, copy, size);
        copy[at] = data[at];
    }
    g_assert_true(zd_flash_load(f, data, size, NULL));
    zd_flash_free(f);
    zd_flash_free(other);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flash/state/twin", test_twin);
    g_test_add_func("/flash/state/refuse", test_refuse);
    return g_test_run();
}
