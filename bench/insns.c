/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A TCG plugin that counts the instructions which a guest executes, in eight
 * bytes at the start of a file that others can look into while it runs:
 *
 *   -plugin zdrive-insns.so,count=PATH
 *
 * One processor only: the count is not atomic.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "qemu/qemu-plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t *count;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    qemu_plugin_register_vcpu_tb_exec_inline(
        tb, QEMU_PLUGIN_INLINE_ADD_U64, count, qemu_plugin_tb_n_insns(tb));
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info,
                                           int argc, char **argv)
{
    int fd;

    if (argc != 1 || strncmp(argv[0], "count=", 6)) {
        fputs("zdrive-insns: count=PATH is missing\n", stderr);
        return -1;
    }
    fd = open(argv[0] + 6, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof(*count))) {
        perror(argv[0] + 6);
        return -1;
    }
    count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                 0);
    close(fd);
    if (count == MAP_FAILED) {
        perror("mmap");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
