# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: everybody pays 1 to account 0, in one transaction, twelve times,
# in an SQLite database.  Its rollback journal is a file that it DELETEs when the
# transaction is over.

volume
mount /dev/md0 /mnt
python3 - /mnt/bank DELETE <<'END'
import sqlite3
import sys

bank = sqlite3.connect(sys.argv[1], isolation_level=None)
bank.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
bank.execute("BEGIN")
# large rows, so that a transaction takes many pages
bank.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, money, pad)")
for number in range(40):
    bank.execute("INSERT INTO account VALUES (?, 100, ?)",
                 (number, "x" * 3000))
bank.execute("COMMIT")
for turn in range(12):
    bank.execute("BEGIN")
    for number in range(40):
        bank.execute("UPDATE account SET money = money + ? WHERE id = ?",
                     (39 if number == 0 else -1, number))
    bank.execute("COMMIT")
bank.close()
END
umount /mnt
