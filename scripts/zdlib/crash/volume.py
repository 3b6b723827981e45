# SPDX-License-Identifier: GPL-2.0-or-later
"""Volume order: where the sectors of each SSD lie in the image of the card.

RAID-0 with 64 KiB chunks; what is left of each SSD behind its last full chunk
follows behind the last stripe (hw/zdrive/store/volume-order.h).
"""

from zdlib.crash.journal import CHUNK, SECTOR


class Volume:
    """The arithmetic for @ssds SSDs of @sectors each; all else in bytes."""

    def __init__(self, ssds, sectors):
        self.ssds = ssds
        self.member = sectors * SECTOR
        self.bytes = ssds * self.member
        # one SSD is its own volume: as if it were one chunk
        self._chunk = CHUNK if ssds > 1 else self.member
        self._chunks = self.member // self._chunk
        self._tail = self.member % self._chunk
        self._striped = self._chunks * self._chunk * ssds

    def pieces(self, ssd, offset, size):
        """The (place in the volume, bytes) of a part of an SSD, in order."""
        while size:
            number, within = divmod(offset, self._chunk)
            if number < self._chunks:
                place = (number * self.ssds + ssd) * self._chunk + within
                run = min(size, self._chunk - within)
            else:
                place = self._striped + ssd * self._tail + within
                run = size
            yield place, run
            offset += run
            size -= run

    def members(self, place, size):
        """The (SSD, offset, bytes) of a part of the volume, in order."""
        while size:
            if place < self._striped:
                number, within = divmod(place, self._chunk)
                row, ssd = divmod(number, self.ssds)
                offset = row * self._chunk + within
                run = min(size, self._chunk - within)
            else:
                ssd, within = divmod(place - self._striped, self._tail)
                offset = self._chunks * self._chunk + within
                run = min(size, self._tail - within)
            yield ssd, offset, run
            place += run
            size -= run
