# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: install a kernel on an EFI system partition as many scripts do:
# write it beside the old one, then rename it over that.

volume
modprobe -a vfat nls_cp437 nls_ascii
mount -t vfat /dev/md0 /mnt
head -c 300000 /dev/zero | tr '\0' 2 >/mnt/vmlinuz.new
mv /mnt/vmlinuz.new /mnt/vmlinuz
umount /mnt
