#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What one person alone sees of `examples/web.sh --demo`; takes its time, so not for the check.

usage: demo.py SOURCE-ROOT BUILD-ROOT [ROUNDS [PICTURES]]

A Chromium opens the link that the script prints.  Printed is each change of the picture;
each time that the link narrows some voices go into the mix, and before the next time all
are apart again, or it fails.  With a folder for PICTURES it leaves the page in it, as PNG,
as often.
"""
import os
import pathlib
import sys
import time

from devtools import Failed
from room import Room

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
PICTURES = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
N_VOICES = 8
LOOK_S = 0.5
PICTURE = '[picture.you.separate.length, $("sum").textContent + ": " + $("numbers").textContent]'


class Demo(Room):
    """A room of examples/web.sh --demo"""

    def command(self, root):
        self.environment.update(FMX_BUILD=str(BUILD), PORT=str(self.port))
        return [str(root / 'examples/web.sh'), '--demo', '--local']


def n_narrowings(room):
    steps = [e['kbps'] for e in room.said('link')]
    return sum(after < before for before, after in zip(steps, steps[1:]))


class Watch:
    """Prints each change of the picture"""

    def __init__(self, room, ada):
        self.room, self.ada, self.last = room, ada, None
        self.began = time.monotonic()

    def until(self, is_there, n_narrowings_most, otherwise):
        """Until is_there(N voices apart)"""
        while True:
            n_apart, text = self.ada.evaluate(PICTURE)
            took_s = time.monotonic() - self.began
            if n_apart != self.last:
                print(f'{took_s:5.1f} s  {text}', flush=True)
                self.last = n_apart
            if is_there(n_apart):
                break
            if n_narrowings(self.room) >= n_narrowings_most:
                raise Failed(otherwise)
            time.sleep(LOOK_S)
        if PICTURES:
            PICTURES.mkdir(parents=True, exist_ok=True)
            self.ada.picture(PICTURES / f'{took_s:03.0f}.png')


def main():
    with Demo(ROOT, BUILD) as room:
        room.add_browser('Ada', 600)
        room.sit_down('Ada', [600])
        watch = Watch(room, room.browsers['Ada'])
        for n in range(ROUNDS + 1):
            began = n_narrowings(room)
            watch.until(lambda n_apart: n_apart == N_VOICES, began + (1 if n else 2),
                        'the link is narrow again before all are apart')
            if n < ROUNDS:
                watch.until(lambda n_apart: n_apart <= N_VOICES // 2, began + 2,
                            'the link was narrow, and not half of them are mixed')
    print(f'at a load of {os.getloadavg()[0]:.0f}')


main()
