# SPDX-License-Identifier: GPL-2.0-or-later
"""smartctl -x of every SSD while all of them are busy.

Names of attributes are those of smartmontools' drive database, the set and
the flags those of shared/hardware/real-cards.md 2.4.
"""

import json

import guestlib
from zdlib import fio, vm

# id: name, flags as smartctl prints them, threshold
ATTRIBUTES = {
    1: ("Raw_Read_Error_Rate", "POSR--", 50),
    5: ("Retired_Block_Count", "PO--CK", 3),
    9: ("Power_On_Hours_and_Msec", "-O--CK", 0),
    12: ("Power_Cycle_Count", "-O--CK", 0),
    171: ("Program_Fail_Count", "-O--CK", 0),
    172: ("Erase_Fail_Count", "-O--CK", 0),
    174: ("Unexpect_Power_Loss_Ct", "----CK", 0),
    177: ("Wear_Range_Delta", "------", 0),
    181: ("Program_Fail_Count", "-O--CK", 0),
    182: ("Erase_Fail_Count", "-O--CK", 0),
    187: ("Reported_Uncorrect", "-O--CK", 0),
    194: ("Temperature_Celsius", "-O---K", 0),
    195: ("ECC_Uncorr_Error_Count", "--SRC-", 0),
    196: ("Reallocated_Event_Count", "PO--CK", 3),
    201: ("Unc_Soft_Read_Err_Rate", "--SRC-", 0),
    204: ("Soft_ECC_Correct_Rate", "--SRC-", 0),
    230: ("Life_Curve_Status", "PO--C-", 0),
    231: ("SSD_Life_Left", "PO--C-", 10),
    233: ("SandForce_Internal", "------", 0),
    234: ("SandForce_Internal", "-O--CK", 0),
    241: ("Lifetime_Writes_GiB", "-O--CK", 0),
    242: ("Lifetime_Reads_GiB", "-O--CK", 0),
}
SUPERCAP = 235, "SuperCap_Health"
# SMART logs of firmware 2.25; smartctl -x asks for some that are not there.
LOGS = {0x00, 0x07, 0x09, 0x10, 0x11, *range(0x80, 0xa0), 0xb7, 0xe0, 0xe1}

# smartctl -x has bit 2 set, "a command to the disk failed", when there is no
# SCT error recovery control; the real SSDs have none.
NO_SCT_ERC = 1 << 2
# All else that -x asks for has to have worked.
SECTIONS = ("ata_apm", "ata_log_directory", "ata_sct_status",
            "ata_sct_temperature_history", "ata_security",
            "ata_smart_attributes", "ata_smart_data",
            "ata_smart_selective_self_test_log", "ata_smart_self_test_log",
            "read_lookahead", "sata_phy_event_counters", "write_cache")

CARDS = ("cm84", "rm84")
SIZE = "512M"

# Verified writes go on until the file is away.
BUSY = """
touch /run/busy
while [ -e /run/busy ]; do
    {fio} >/run/fio || rm /run/busy /run/fio-good
done &
touch /run/fio-good
echo $! >/run/fio-pid
"""
QUIET = """
rm /run/busy
while [ -e /proc/$(cat /run/fio-pid) ]; do sleep 0.1; done
ls /run/fio-good
"""


def check_ssd(report, what, model, asked):
    """Check what smartctl said of one SSD."""
    said = json.loads(asked.out)
    report.ok(f"{what}: smartctl only misses SCT ERC",
              asked.status == NO_SCT_ERC, f"status {asked.status}",
              said["smartctl"].get("messages"))
    for section in SECTIONS:
        report.ok(f"{what}: {section}", section in said)
    shown = {
        "model_name": f"OCZ Z-DRIVE R4 {model.upper()}",
        "model_family": "SandForce Driven SSDs",
        "smart_support": {"available": True, "enabled": True},
        "smart_status": {"passed": True},
        "trim": {"supported": True, "deterministic": True, "zeroed": False},
        "rotation_rate": 0,
        "logical_block_size": 512,
        "physical_block_size": 512,
    }
    for field, wanted in shown.items():
        report.ok(f"{what}: {field}", said.get(field) == wanted,
                  f"{said.get(field)}, expected {wanted}")
    speed = said["interface_speed"]["max"]["string"]
    report.ok(f"{what}: SATA speed", speed == "6.0 Gb/s", speed)
    found = {row["id"]: (row["name"], row["flags"]["string"].strip(),
                         row["thresh"])
             for row in said["ata_smart_attributes"]["table"]}
    capacitor = found.pop(SUPERCAP[0], None)
    for number, wanted in ATTRIBUTES.items():
        report.ok(f"{what}: attribute {number}", found.get(number) == wanted,
                  f"{found.get(number)}, expected {wanted}")
    report.ok(f"{what}: no other attributes", set(found) == set(ATTRIBUTES),
              *sorted(set(found) - set(ATTRIBUTES)))
    if model.startswith("rm"):
        report.ok(f"{what}: capacitor", capacitor
                  and capacitor[0] == SUPERCAP[1], capacitor)
    else:
        report.ok(f"{what}: no capacitor", capacitor is None, capacitor)
    logs = {row["address"] for row in said["ata_log_directory"]["table"]}
    report.ok(f"{what}: log directory", logs == LOGS, *sorted(logs ^ LOGS))


def body(report):
    """A client and an enterprise card in one guest, both busy."""
    devices = []
    for number, model in enumerate(CARDS):
        devices += vm.root_port(f"rp{number}", number + 1)
        devices += vm.card(f"zd{number}", f"rp{number}", model=model,
                           size=SIZE)
    with guestlib.guest(report, devices) as machine:
        found = guestlib.members(machine)
        report.ok("all SSDs are there", len(found) == 8, *found)
        machine.run(BUSY.format(fio=fio.command(
            [member.name for member in found], *fio.VERIFY, "--size=4M")))
        slots = sorted({member.pci for member in found})
        for member in found:
            model = CARDS[slots.index(member.pci)]
            asked = machine.run(f"smartctl -j -x /dev/{member.name}",
                                check=False)
            check_ssd(report, f"{model} SSD {member.phy}", model, asked)
        report.ok("fio went on all the time and found all right",
                  machine.run(QUIET, check=False, timeout=120).status == 0)


guestlib.run(body)
