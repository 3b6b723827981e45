# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: replace a file over and over, the way that is said to be safe:
# a new one, fsync, rename.  Its content says which one it is.

volume
mount /dev/md0 /mnt
for number in 1 2 3 4 5; do
    seq 2000 | sed "s,.*,version $number," >/mnt/new
    sync /mnt/new
    mv /mnt/new /mnt/file
    mkdir "/mnt/folder$number"
done
umount /mnt
