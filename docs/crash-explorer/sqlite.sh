# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: move money between accounts, one transaction after the other,
# in an SQLite database.  FULL lets SQLite wait for the card; OFF does not.

volume
mount /dev/md0 /mnt
python3 - /mnt/bank FULL <<'END'
import sqlite3
import sys

bank = sqlite3.connect(sys.argv[1], isolation_level=None)
bank.execute("BEGIN")
# large rows, so that a transaction takes many pages
bank.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, money, pad)")
for number in range(40):
    bank.execute("INSERT INTO account VALUES (?, 100, ?)",
                 (number, "x" * 3000))
bank.execute("COMMIT")
bank.execute(f"PRAGMA synchronous = {sys.argv[2]}")
for turn in range(12):
    bank.execute("BEGIN")
    for number in range(40):
        bank.execute("UPDATE account SET money = money + ? WHERE id = ?",
                     (turn + 1 if number % 2 else -turn - 1, number))
    bank.execute("COMMIT")
bank.close()
END
umount /mnt
