# SPDX-License-Identifier: LGPL-2.1-or-later
"""For how long a voice was not heard, and whether this machine is quiet enough to tell."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'examples/python'))
# pylint: disable=wrong-import-position
import machine  # noqa: E402

LIMIT_S = 0.4                   # partialmix-narrow.c has 0.21 in virtual time; a syllable is 0.2
BUSY_LIMIT_S = 5
BUSY_LOAD = 2                   # for each processor; of browser and server themselves 1
LOOK_S = 0.050                  # ear.js; a page that gets few turns looks half as often


def longest_silence(looks, tones):
    """(for how long none of @looks heard one of @tones, s; from when on)"""
    longest = 0.0, looks[0]['t']
    for tone in tones:
        since = None
        for look in looks:
            if since is not None:
                longest = max(longest, (look['t'] - since, since))
            if look['heard'][tone]:
                since = None
            elif since is None:
                since = look['t']
    return longest


class Watch:
    """Looks whether the machine does what is due, from now on."""

    def __init__(self):
        self.stalls = machine.Stalls()
        self.stalls.start()

    def why_busy(self, looks):
        """What kept it from that; None if nothing did."""
        if looks[-1]['t'] - looks[0]['t'] > 2 * LOOK_S * len(looks):
            return 'the page got few turns'
        load = os.getloadavg()[0]
        if load > BUSY_LOAD * os.cpu_count():
            return f'a load of {load:.0f}'
        return self.stalls.why()

    def limit_s(self, busy):
        """How long a silence may be: while a machine stands still nobody is heard."""
        return BUSY_LIMIT_S + self.stalls.longest_s if busy else LIMIT_S
