#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# boot-check.sh IMAGE: the firmware finds one whole kernel, old or new.

kernel=$(mktemp) || exit
trap 'rm "$kernel"' EXIT
mcopy -n -o -i "$1" ::/vmlinuz "$kernel" 2>/dev/null
[ "$(wc -c <"$kernel")" -eq 300000 ] &&
    [ "$(tr -d 1 <"$kernel" | wc -c)" -eq 0 -o \
      "$(tr -d 2 <"$kernel" | wc -c)" -eq 0 ] && exit 0
echo "vmlinuz has $(wc -c <"$kernel") bytes:" \
     "$(tr -d 2 <"$kernel" | wc -c) are not of the new kernel"
exit 1
