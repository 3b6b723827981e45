# SPDX-License-Identifier: GPL-2.0-or-later
"""From the journal of a card to every state that a power cut could leave.

    journal    the file that the card writes: reading, writing
    volume     where the sectors of each SSD lie in the volume
    logwrites  the same in the format of the kernel's dm-log-writes
    history    which writes are durable when, and the moments to cut at
    states     what a cut may leave at such a moment, by name
    plan       which of these are tried
    images     a state as an image that a checker may also write to
    check      the user's checker, on one state
    minimise   the fewest lost writes that still fail
    explore    all of that, by several processes
    record     a script in a guest, with its journal
    command    `scripts/zdrive crash` and `scripts/zdrive journal`
"""
