/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that belongs to one card of one QEMU at a time and that is only ever
 * replaced as a whole.
 */
#ifndef HW_ZDRIVE_CARD_STATE_FILE_H
#define HW_ZDRIVE_CARD_STATE_FILE_H

/* With this a state begins. */
#define ZD_STATE_MAGIC  "ZDRIVEST"

typedef struct ZdStateFile {
    char *path;                 /* absolute, without symbolic links */
    int fd;                     /* locked; -1: not open */
} ZdStateFile;

/* From the name that the user gave; false: its folder does not exist. */
bool zd_state_file_init(ZdStateFile *file, const char *name, Error **errp);
/*
 * Open the file, made if it is missing, and lock it.  False when it cannot be
 * used, or not be replaced, or somebody else uses it.
 */
bool zd_state_file_open(ZdStateFile *file, Error **errp);
void zd_state_file_close(ZdStateFile *file);

/*
 * Give the file another name, which is returned; an empty one is in its place,
 * open and locked.  Nothing that exists is overwritten.
 */
char *zd_state_file_set_aside(ZdStateFile *file, Error **errp);

/*
 * Replace the contents: write them to what zd_state_file_begin() returns, then
 * zd_state_file_end().  Until that has returned true, the file and its lock
 * are as before.  With @good false nothing is replaced.
 */
int zd_state_file_begin(ZdStateFile *file, Error **errp);
bool zd_state_file_end(ZdStateFile *file, int fd, bool good, Error **errp);

#endif
