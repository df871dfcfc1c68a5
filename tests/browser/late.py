#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mouth to ear, before, while and after a link is narrow; for docs, not for the check.

usage: late.py [--write] SOURCE-ROOT BUILD-ROOT [RUNS [NARROW-KBPS]]

Three talkers say a tone and, once a second, a tick, of which it is known when they say
it; a Chromium in a room of examples/web says when it hears it.  A line for each run: the
latest of the three voices, the longest silence of one of them, and what the browser
itself holds each sample for and wants to.  --write: the page examples/web/README.md has
them as a table.
"""
import os
import pathlib
import sys
import time

import gi

import readme
from room import Room
from silence import Watch, longest_silence

gi.require_version('Gst', '1.0')
# pylint: disable=wrong-import-position
from gi.repository import Gst  # noqa: E402

TALKERS = {4001: 400, 4002: 600, 4003: 800}     # SSRC: Hz
TALKER_BPS, WIDE_KBPS = 96000, 4000
WIDE_S, NARROW_S, AGAIN_S = 15, 12, 40        # all are apart again after 20 to 30 s
FULL_S = 3                      # for so long the queue stays full
HEARD_DB = -48                  # these voices are 10 dB less than those of web.py
MAX_MS = 600                    # later than that is a click before the next tick


def talk(room):
    """Returns the pipeline, and when its ticks begin, on time.monotonic()."""
    pipe = Gst.parse_launch(' '.join(
        f'audiomixer name=m{ssrc} ! audioconvert ! opusenc bitrate={TALKER_BPS} ! '
        f'rtpopuspay pt=111 ssrc={ssrc} ! udpsink host=127.0.0.1 port={room.rtp_port} '
        f'sync=false audiotestsrc is-live=true samplesperbuffer=960 volume=0.08 freq={hz} ! '
        f'm{ssrc}. audiotestsrc is-live=true samplesperbuffer=960 wave=ticks volume=0.6 '
        f'freq=6000 sine-periods-per-tick=40 ! m{ssrc}.' for ssrc, hz in TALKERS.items()))
    pipe.set_state(Gst.State.PLAYING)
    pipe.get_state(10 * Gst.SECOND)
    return pipe, pipe.get_base_time() / Gst.SECOND


class Ear:
    """What is heard, second by second."""

    def __init__(self, browser, began):
        self.browser, self.began = browser, began
        self.last = {}

    def second(self):
        """{mouth_to_ear, held, wanted: of each voice apart or mixed, ms}; looks"""
        time.sleep(1)
        wall = time.time() - time.monotonic()
        ticks = [round(1000 * ((t - wall - self.began) % 1))
                 for t in self.browser.evaluate('ear.ticks.splice(0)')]
        ticks = [t for t in ticks if t < MAX_MS]
        held, wanted = [], []
        for slot in self.browser.evaluate('ear.slots()'):
            was, self.last[slot['slot']] = self.last.get(slot['slot'], slot), slot
            n = slot['emitted'] - was['emitted']
            if n > 0 and slot['packets'] > was['packets']:
                held.append(round(1000 * (slot['delay'] - was['delay']) / n))
                wanted.append(round(1000 * (slot['target'] - was['target']) / n))
        return {'mouth_to_ear': max(ticks, default=None), 'held': max(held, default=None),
                'wanted': max(wanted, default=None),
                'apart': self.browser.evaluate('picture.you.separate.length')
                }, self.browser.evaluate('ear.take()')


def run(root, build, narrow_kbps):
    with Room(root, build, '--slots', '8', '--link',
              f'{WIDE_KBPS},{narrow_kbps},{WIDE_KBPS}') as room:
        pipe, began = talk(room)
        room.add_browser('Ada', 1000)
        room.sit_down('Ada', list(TALKERS.values()))
        ada = room.browsers['Ada']
        ada.wait_for(lambda: ada.evaluate(
            f'picture.you.separate.length === {len(TALKERS)}'), 'not all are separate')
        ada.evaluate(f'ear.HEARD_DB = {HEARD_DB}; ear.startTicks()')
        ear, seconds, looks = Ear(ada, began), [], []
        for phase_s in (WIDE_S, NARROW_S, AGAIN_S):
            if seconds:
                room.next_link()
            watch = Watch() if len(seconds) < 2 else watch      # of the narrow phase
            found = [ear.second() for _ in range(phase_s)]
            seconds.append([figures for figures, _ in found])
            looks.append(sum((some for _, some in found), []))
        pipe.set_state(Gst.State.NULL)
    return seconds, longest_silence(looks[1], range(len(TALKERS)))[0], \
        watch.why_busy(looks[1])


def tabulate(runs, loads, narrow_kbps):
    """@runs: (seconds, silence_s, busy) of each.  Returns text for the page."""
    rows = {name: [] for name in (
        'wide', f'narrow: its queue is full for {FULL_S} s', 'narrow, after that',
        'wide again, still mixed', 'all apart again')}
    for (wide, narrow, again), _, _ in runs:
        still = [s for s in again if s['apart'] < len(TALKERS)]
        parts = (wide[FULL_S:], narrow[:FULL_S], narrow[FULL_S:], still,
                 [s for s in again if s not in still])
        for found, part in zip(rows.values(), parts):
            found += [s['mouth_to_ear'] for s in part if s['mouth_to_ear'] is not None]
    silences = [silence_s for _, silence_s, _ in runs]
    mixed_s = [sum(s['apart'] < len(TALKERS) for s in again) for (_, _, again), _, _ in runs]
    n_busy = sum(busy is not None for _, _, busy in runs)
    return (f'{len(runs)} runs, {WIDE_KBPS} to {narrow_kbps} kbit/s, at a load of '
            f'{readme.span(loads)}:\n\n'
            + readme.table(('the link', 'mouth to ear, ms'),
                           [(name, readme.span(found)) for name, found in rows.items()]
                           + [('the longest silence of a voice as it narrows, s, each run',
                               ', '.join(f'{s:.2f}' for s in sorted(silences))),
                              ('all are apart again after, s, each run',
                               ', '.join(map(str, sorted(mixed_s))))])
            + f'\nIn {n_busy} of these runs the machine was too busy for the test of '
            'that to judge.\n')


def main():
    arguments = [a for a in sys.argv[1:] if a != '--write']
    root, build = (pathlib.Path(p).resolve() for p in arguments[:2])
    runs = int(arguments[2]) if len(arguments) > 2 else 1
    narrow_kbps = int(arguments[3]) if len(arguments) > 3 else 60
    Gst.init(None)
    found, loads = [], []
    for n in range(runs):
        seconds, silence_s, busy = run(root, build, narrow_kbps)
        found.append((seconds, silence_s, busy))
        loads.append(os.getloadavg()[0])
        print(f'run {n + 1}: longest silence of a voice {silence_s:.2f} s'
              + (f' ({busy})' if busy else ''))
        for what, phase in zip(('wide', 'narrow', 'wide again'), seconds):
            for name in ('mouth_to_ear', 'held', 'wanted'):
                print(f'  {what:10} {name:12} ms, each second: '
                      + ' '.join('-' if f[name] is None else str(f[name])
                                 for f in phase), flush=True)
    if '--write' in sys.argv:
        readme.fill('late', tabulate(found, loads, narrow_kbps))


main()
