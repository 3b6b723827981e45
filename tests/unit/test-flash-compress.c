/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DuraWrite's estimate: its ends, its order, and liblz4 as the oracle where
 * that library is installed (any desktop has it; nothing is linked).
 */
#include <dlfcn.h>
#include <string.h>

#include "flash-small.h"

typedef int Lz4Fast(const char *, char *, int, int, int);

static const char text[] =
    "The controller has no DRAM: it compresses what it is given, packs pieces "
    "of any size into NAND pages and keeps its map in SRAM and in NAND. ";

static void test_ends(void)
{
    ZdFlash *f = zd_flash_new(&small_params, 80000, 1, &small_options);
    g_autofree uint8_t *page = g_malloc0(ZD_FLASH_PAGE);
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);

    g_assert_cmpuint(zd_flash_classify(f, page), ==, 0);
    memset(page, 0xa5, ZD_FLASH_PAGE);
    g_assert_cmpuint(zd_flash_classify(f, page), ==, 0);
    for (unsigned i = 0; i < ZD_FLASH_PAGE; i++) {
        page[i] = g_rand_int(rand);
    }
    g_assert_cmpuint(zd_flash_classify(f, page), ==, ZD_FLASH_CLASSES - 1);
    g_assert_cmpuint(zd_flash_class_bytes(f, 0), ==, 573);
    g_assert_cmpuint(zd_flash_class_bytes(f, ZD_FLASH_CLASSES - 1), ==,
                     ZD_FLASH_PAGE);
    for (unsigned i = 0; i <= 100; i++) {
        uint8_t class = zd_flash_class_of(f, i / 100.0);
        uint32_t bytes = zd_flash_class_bytes(f, class);

        /* rounded up, by less than one step */
        g_assert_cmpfloat(bytes + 1, >=, MAX(i / 100.0, 0.14) * 4096 - 1);
        g_assert_cmpfloat(bytes, <=, MAX(i / 100.0, 0.14) * 4096 + 115);
    }
    g_assert_cmpuint(zd_flash_class_of(f, -1), ==, 0);
    g_assert_cmpuint(zd_flash_class_of(f, 2), ==, ZD_FLASH_CLASSES - 1);
    zd_flash_free(f);
}

/* @permille of each page random, the rest as @filler says. */
static void make_page(uint8_t *page, unsigned permille, unsigned filler,
                      GRand *rand)
{
    for (unsigned i = 0; i < ZD_FLASH_PAGE; i++) {
        page[i] = filler == 0 ? 0 : text[(i * filler) % (sizeof(text) - 1)];
    }
    for (unsigned i = 0; i < ZD_FLASH_PAGE * permille / 1000; i++) {
        page[i] = g_rand_int(rand);
    }
}

static void test_order(void)
{
    g_autofree uint8_t *page = g_malloc(ZD_FLASH_PAGE);
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
    uint32_t last = 0;

    for (unsigned permille = 0; permille <= 1000; permille += 50) {
        uint32_t bytes;

        make_page(page, permille, 0, rand);
        bytes = zd_flash_compressed_bytes(page);
        g_assert_cmpuint(bytes, >=, last);
        g_assert_cmpfloat(ABS(bytes / 4096.0 - permille / 1000.0), <, 0.03);
        last = bytes;
    }
}

static void test_lz4(void)
{
    g_autofree uint8_t *page = g_malloc(ZD_FLASH_PAGE);
    g_autofree char *out = g_malloc(2 * ZD_FLASH_PAGE);
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    void *lib = dlopen("liblz4.so.1", RTLD_NOW);
    Lz4Fast *compress = lib ? (Lz4Fast *)dlsym(lib, "LZ4_compress_fast") :
                        NULL;
    double sum = 0;
    unsigned count = 0;

    if (!compress) {
        g_test_skip("liblz4 is not installed");
        return;
    }
    for (unsigned permille = 0; permille <= 1000; permille += 20) {
        for (unsigned filler = 0; filler < 5; filler++) {
            int theirs;

            make_page(page, permille, filler, rand);
            theirs = compress((char *)page, out, ZD_FLASH_PAGE,
                              2 * ZD_FLASH_PAGE, 1);
            theirs = MIN(theirs, ZD_FLASH_PAGE);
            sum += ABS((double)zd_flash_compressed_bytes(page) - theirs);
            count++;
        }
    }
    g_test_message("mean difference %.2f %% of a page", 100 * sum / count /
                   ZD_FLASH_PAGE);
    g_assert_cmpfloat(sum / count / ZD_FLASH_PAGE, <, 0.02);
    dlclose(lib);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flash/compress/ends", test_ends);
    g_test_add_func("/flash/compress/order", test_order);
    g_test_add_func("/flash/compress/lz4", test_lz4);
    return g_test_run();
}
