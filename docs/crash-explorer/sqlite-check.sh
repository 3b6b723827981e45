#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sqlite-check.sh IMAGE: what a program does after a crash.  The file system is
# repaired, SQLite rolls back what was not committed; then all the money has to
# be there.

command -v sqlite3 >/dev/null || {
    echo "it needs the package sqlite3" >&2
    exit 127
}
e2fsck -fy "$1" >/dev/null 2>&1
[ $? -le 1 ] || { echo "e2fsck could not repair it"; exit 1; }
folder=$(mktemp -d) || exit
trap 'rm -r "$folder"' EXIT
debugfs -R "rdump / $folder" "$1" >/dev/null 2>&1
# not yet made, or not yet in the folder
[ -s "$folder/bank" ] || exit 0
result=$(sqlite3 "$folder/bank" "PRAGMA integrity_check" 2>&1)
[ "$result" = ok ] || { echo "integrity_check: $result"; exit 1; }
tables=$(sqlite3 "$folder/bank" .tables 2>&1)
[ -n "$tables" ] || exit 0
money=$(sqlite3 "$folder/bank" "SELECT SUM(money) FROM account" 2>&1)
[ "$money" = 4000 ] || { echo "the money is $money"; exit 1; }
