# SPDX-License-Identifier: LGPL-2.1-or-later
"""For how long a voice was not heard, and whether this machine is quiet enough to tell."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'examples/python'))
# pylint: disable=wrong-import-position
import machine  # noqa: E402

LIMIT_S = 0.4                   # partialmix-narrow.c has 0.21 in virtual time; a syllable is 0.2
BUSY_LIMIT_S = 20               # a load of 13 on two processors had 0.3 to 6.4
BUSY_LOAD = 2                   # for each processor; of browser and server themselves 1
LOOK_S = 0.050                  # ear.js; a page that gets few turns looks half as often


def longest_silence(looks, tones):
    """(for how long none of @looks heard one of @tones, s; from when on; which).  Of a page
    that got no turn nobody knows what was heard meanwhile."""
    longest = 0.0, looks[0]['t'], None
    for tone in tones:
        since = last = None
        for look in looks:
            if since is not None:
                end = min(look['t'], last + 2 * LOOK_S)
                longest = max(longest, (end - since, since, tone), key=lambda found: found[0])
            if look['heard'][tone]:
                since = None
            elif since is None:
                since = look['t']
            last = look['t']
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
