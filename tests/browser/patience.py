# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a test waits for what it claims."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'examples/python'))
# pylint: disable=wrong-import-position
import machine  # noqa: E402

LONGER = 4                      # so many times as long on a machine that has no time


class Patience:
    """Ends after @seconds, of which those do not count in which this machine had nothing
    to spare: then nobody does what he is waited for.  It ends in any case."""

    def __init__(self, seconds):
        self.left_s = seconds
        self.last = time.monotonic()
        self.end = self.last + LONGER * seconds
        self.idle = machine.idle_s()

    def is_over(self):
        now = time.monotonic()
        passed_s = now - self.last
        if passed_s >= 1:
            idle = machine.idle_s()
            if idle - self.idle >= machine.Stalls.SPARE * passed_s:
                self.left_s -= passed_s
            self.last, self.idle = now, idle
        return self.left_s <= 0 or now > self.end
