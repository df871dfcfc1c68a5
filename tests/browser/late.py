#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mouth to ear, before, while and after a link is narrow; for docs, not for the check.

usage: late.py SOURCE-ROOT BUILD-ROOT [RUNS [NARROW-KBPS]]

Three talkers say a tone and, once a second, a tick, of which it is known when they say
it; a Chromium in a room of examples/web says when it hears it.  A line for each run: the
latest of the three voices, the longest silence of one of them, and what the browser
itself holds each sample for and wants to.
"""
import pathlib
import sys
import time

import gi

from room import Room
from silence import Watch, longest_silence

gi.require_version('Gst', '1.0')
# pylint: disable=wrong-import-position
from gi.repository import Gst  # noqa: E402

TALKERS = {4001: 400, 4002: 600, 4003: 800}     # SSRC: Hz
TALKER_BPS, WIDE_KBPS = 96000, 4000
WIDE_S, NARROW_S, AGAIN_S = 15, 12, 16
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
                'wanted': max(wanted, default=None)}, self.browser.evaluate('ear.take()')


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


def main():
    root, build = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    narrow_kbps = int(sys.argv[4]) if len(sys.argv) > 4 else 60
    Gst.init(None)
    for n in range(runs):
        seconds, silence_s, busy = run(root, build, narrow_kbps)
        print(f'run {n + 1}: longest silence of a voice {silence_s:.2f} s'
              + (f' ({busy})' if busy else ''))
        for what, phase in zip(('wide', 'narrow', 'wide again'), seconds):
            for name in ('mouth_to_ear', 'held', 'wanted'):
                found = [figures[name] for figures in phase]
                print(f'  {what:10} {name:12} ms, each second: '
                      + ' '.join('-' if f is None else str(f) for f in found), flush=True)


main()
