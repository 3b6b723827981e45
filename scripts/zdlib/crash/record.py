# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive journal record`: a script in a guest, and what it made the
card write.

The image is not changed: the guest gets a copy, so the image stays what the
explorer needs, the card as it was before.
"""

import os
import tempfile
from pathlib import Path

from zdlib import build, run, ui, vm
from zdlib.crash import images

TIMEOUT = 600


def copy(source, target):
    """A sparse copy."""
    with open(source, "rb") as old, open(target, "wb") as new:
        size = os.fstat(old.fileno()).st_size
        new.truncate(size)
        for start, end in images.extents(old.fileno(), size):
            images.copy(old.fileno(), new.fileno(), start, end)


def record(journal, image, script, model="cm84", result=None):
    """Run the bash @script in a guest whose card has @image; its output."""
    build.module()
    run.prepare()
    with tempfile.TemporaryDirectory(dir=image.parent,
                                     prefix=".zdrive-") as folder:
        used = Path(folder, "card.img")
        copy(image, used)
        devices = [*vm.blockdev("volume", used.absolute(), discard="unmap"),
                   *vm.root_port(),
                   *vm.card(model=model, drive="volume",
                            journal=Path(journal).absolute())]
        with ui.step(f"Recording {journal}"), \
             vm.Vm(f"record-{Path(journal).stem}", devices) as guest:
            guest.boot()
            out = guest.run(script, timeout=TIMEOUT)
            guest.power_off()
        if result:
            os.replace(used, result)
    return out


def main(args):
    """Record, and print what the script has printed."""
    for path in (args.image, args.script):
        if not path.is_file():
            ui.die(f"there is no file {path}", "give the path of one")
    try:
        script = args.script.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        ui.die(f"{args.script} is no text", "give a script for bash")
    out = record(args.journal, args.image, script, args.model, args.result)
    for line in out.splitlines():
        ui.say(line)
