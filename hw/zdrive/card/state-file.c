/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state file as a file: who may use it, and how it is replaced so that a
 * crash at any moment leaves the old contents or the new ones.
 *
 * The lock is on the file itself, not on one beside it, so it moves on with
 * each new file: that one is locked before it gets the name.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/zdrive/card/state-file.h"

#define MOST_ASIDE  100

bool zd_state_file_init(ZdStateFile *file, const char *name, Error **errp)
{
    g_autofree char *folder = g_path_get_dirname(name);
    g_autofree char *base = g_path_get_basename(name);
    char *path = realpath(name, NULL);

    file->fd = -1;
    if (path) {
        file->path = g_strdup(path);
        free(path);
        return true;
    }
    /* absolute, because QEMU may change its folder later */
    path = realpath(folder, NULL);
    if (!path || g_str_has_suffix(name, "/")) {
        error_setg(errp, "state file '%s': there is no folder '%s'; make it, "
                   "or give another name", name, path ? name : folder);
        free(path);
        return false;
    }
    file->path = g_build_filename(path, base, NULL);
    free(path);
    return true;
}

static char *temporary(const ZdStateFile *file)
{
    return g_strconcat(file->path, ".tmp", NULL);
}

/* What is in the temporary file is the beginning of a state, or nothing. */
static bool is_leftover(const char *tmp)
{
    char magic[sizeof(ZD_STATE_MAGIC) - 1];
    int fd = open(tmp, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    ssize_t len = -1;

    if (fd < 0) {
        return errno == ENOENT;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        qemu_lock_fd_test(fd, 0, 0, true) == 0) {
        len = pread(fd, magic, sizeof(magic), 0);
    }
    close(fd);
    return len == 0 || (len > 0 && !memcmp(magic, ZD_STATE_MAGIC, len));
}

/* True unless somebody has replaced the file since @fd was opened. */
static bool still_named(const ZdStateFile *file, int fd)
{
    struct stat by_fd, by_name;

    return fstat(fd, &by_fd) == 0 && lstat(file->path, &by_name) == 0 &&
           by_fd.st_dev == by_name.st_dev && by_fd.st_ino == by_name.st_ino;
}

/* Somebody has put another file there; none at all is made anew. */
static bool is_replaced(const ZdStateFile *file)
{
    struct stat st;

    return lstat(file->path, &st) == 0 && !still_named(file, file->fd);
}

/* Open and lock what has the name now; -1 with *errp set. */
static int open_locked(ZdStateFile *file, Error **errp)
{
    struct stat st;
    int fd, ret;

    for (;;) {
        fd = open(file->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
                  O_NONBLOCK, 0644);
        if (fd < 0 && errno == ELOOP) {
            error_setg(errp, "state file '%s' is a link that leads nowhere; "
                       "remove it, or give another name", file->path);
            break;
        }
        if (fd < 0 || fstat(fd, &st) < 0) {
            error_setg_errno(errp, errno, "state file '%s' cannot be opened; "
                             "make it and its folder writable, or give "
                             "another name", file->path);
            break;
        }
        if (!S_ISREG(st.st_mode)) {
            error_setg(errp, "state file '%s' is not a regular file; give "
                       "another name", file->path);
            break;
        }
        ret = qemu_lock_fd(fd, 0, 0, true);
        if (ret < 0 && ret != -EAGAIN && ret != -EACCES) {
            error_setg_errno(errp, -ret, "state file '%s' cannot be locked; "
                             "use a file system that can", file->path);
            break;
        }
        if (ret < 0) {
            error_setg(errp, "state file '%s' is in use by another card or "
                       "another QEMU; give each card a file of its own",
                       file->path);
            break;
        }
        if (still_named(file, fd)) {
            return fd;
        }
        close(fd);
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static bool sync_folder(const ZdStateFile *file)
{
    g_autofree char *folder = g_path_get_dirname(file->path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* some file systems have no fsync() for folders, and no need of it */
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int error = errno;

    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return good;
}

bool zd_state_file_open(ZdStateFile *file, Error **errp)
{
    g_autofree char *tmp = temporary(file);
    int fd;

    file->fd = open_locked(file, errp);
    if (file->fd < 0) {
        return false;
    }
    /* better now than at the end that it cannot be replaced */
    fd = zd_state_file_begin(file, errp);
    if (fd < 0) {
        zd_state_file_close(file);
        return false;
    }
    return zd_state_file_end(file, fd, false, errp);
}

void zd_state_file_close(ZdStateFile *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
}

char *zd_state_file_set_aside(ZdStateFile *file, Error **errp)
{
    g_autofree char *to = g_strconcat(file->path, ".bad", NULL);
    unsigned i;

    for (i = 1; g_file_test(to, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK) &&
         i < MOST_ASIDE; i++) {
        g_free(to);
        to = g_strdup_printf("%s.bad.%u", file->path, i);
    }
    if (i == MOST_ASIDE) {
        error_setg(errp, "'%s.bad' and all names up to '%s' exist; delete "
                   "some of them", file->path, to);
        return NULL;
    }
    if (rename(file->path, to) < 0) {
        error_setg_errno(errp, errno, "state file '%s' cannot be renamed to "
                         "'%s'; do it yourself, or give another name",
                         file->path, to);
        return NULL;
    }
    zd_state_file_close(file);
    file->fd = open_locked(file, errp);
    return file->fd < 0 ? NULL : g_steal_pointer(&to);
}

int zd_state_file_begin(ZdStateFile *file, Error **errp)
{
    g_autofree char *tmp = temporary(file);
    struct stat st;
    int fd;

    /* what a QEMU that was killed has left is ours, but nothing else */
    if (!is_leftover(tmp)) {
        error_setg(errp, "state file '%s' cannot be replaced: '%s' is "
                   "something else and in the way; move that away, or give "
                   "another name", file->path, tmp);
        return -1;
    }
    unlink(tmp);
    fd = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(file->fd, &st) < 0 ||
        fchmod(fd, st.st_mode & 0777) < 0 ||
        qemu_lock_fd(fd, 0, 0, true) < 0) {
        error_setg_errno(errp, errno, "state file '%s' cannot be replaced: "
                         "'%s' cannot be made; make the folder writable, or "
                         "give another name", file->path, tmp);
        if (fd >= 0) {
            close(fd);
            unlink(tmp);
        }
        return -1;
    }
    return fd;
}

bool zd_state_file_end(ZdStateFile *file, int fd, bool good, Error **errp)
{
    g_autofree char *tmp = temporary(file);
    bool other = good && is_replaced(file);
    bool done = good && !other && fsync(fd) == 0 &&
                rename(tmp, file->path) == 0;

    if (done) {
        zd_state_file_close(file);
        file->fd = fd;
    } else {
        int error = errno;

        close(fd);
        unlink(tmp);
        errno = error;
    }
    if (other) {
        error_setg(errp, "state file '%s' is no longer the one that the card "
                   "has opened; it stays as it is and the state is not saved: "
                   "move it away to have it saved", file->path);
        return false;
    }
    if (good && (!done || !sync_folder(file))) {
        error_setg_errno(errp, errno, "state file '%s' cannot be replaced; "
                         "it stays as it was: make its folder writable",
                         file->path);
        return false;
    }
    return true;
}
