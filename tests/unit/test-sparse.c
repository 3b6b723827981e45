/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sparse memory against a plain buffer under random reads, writes and zeroing,
 * and how much host memory it takes.
 */
#include <string.h>
#include <glib.h>

#include "hw/zdrive/store/sparse.h"

#define SPAN        (6 * 1024 * 1024)
#define ROUNDS      4000
#define MAX_LEN     (3 * 1024 * 1024)

/* Across the border of a table (1 GiB), so that all three levels change. */
#define BASE        ((1ull << 30) - SPAN / 2)

static void test_model(void)
{
    ZdSparse *s = zd_sparse_new(BASE + SPAN);
    g_autofree uint8_t *model = g_malloc0(SPAN);
    g_autofree uint8_t *buf = g_malloc(MAX_LEN);
    g_autofree uint8_t *all = g_malloc(SPAN);
    g_autoptr(GRand) rand = g_rand_new_with_seed(20111);

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t at = g_rand_int_range(rand, 0, SPAN);
        uint32_t max = MIN(SPAN - at, i % 16 ? 20000 : MAX_LEN);
        uint32_t len = g_rand_int_range(rand, 0, max + 1);

        switch (g_rand_int_range(rand, 0, 4)) {
        case 0:
            zd_sparse_zero(s, BASE + at, len);
            memset(model + at, 0, len);
            break;
        case 1:
            /* mostly zeros, so that pages stay absent and half filled */
            memset(buf, 0, len);
            if (len) {
                buf[g_rand_int_range(rand, 0, len)] = i;
            }
            g_assert_true(zd_sparse_write(s, BASE + at, buf, len));
            memcpy(model + at, buf, len);
            break;
        case 2:
            memset(buf, i | 1, len);
            g_assert_true(zd_sparse_write(s, BASE + at, buf, len));
            memcpy(model + at, buf, len);
            break;
        default:
            zd_sparse_read(s, BASE + at, buf, len);
            g_assert_cmpmem(buf, len, model + at, len);
        }
    }
    zd_sparse_read(s, BASE, all, SPAN);
    g_assert_cmpmem(all, SPAN, model, SPAN);
    zd_sparse_free(s);
}

static void test_memory(void)
{
    uint64_t bytes = 400088457216ull;       /* 400 GB */
    ZdSparse *s = zd_sparse_new(bytes);
    uint64_t fresh = zd_sparse_memory_bytes(s);
    uint8_t buf[8192] = { 0 };

    g_assert_cmpuint(fresh, <, 8192);

    g_assert_true(zd_sparse_write(s, bytes - sizeof(buf), buf, sizeof(buf)));
    zd_sparse_read(s, 0, buf, sizeof(buf));
    g_assert_cmpuint(zd_sparse_memory_bytes(s), ==, fresh);

    buf[0] = 1;
    g_assert_true(zd_sparse_write(s, bytes - sizeof(buf), buf, sizeof(buf)));
    g_assert_cmpuint(zd_sparse_memory_bytes(s), >, fresh);
    g_assert_cmpuint(zd_sparse_memory_bytes(s), <=, fresh + 5 * 4096);

    zd_sparse_zero(s, 0, bytes);
    zd_sparse_read(s, bytes - sizeof(buf), buf, sizeof(buf));
    g_assert_cmpuint(buf[0], ==, 0);
    /* the last table is covered in part only and stays, empty */
    g_assert_cmpuint(zd_sparse_memory_bytes(s), <=, fresh + 2 * 4096);
    zd_sparse_free(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sparse/model", test_model);
    g_test_add_func("/sparse/memory", test_memory);
    return g_test_run();
}
