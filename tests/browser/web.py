#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two browsers, plain RTP and a dpmclient in one room of examples/web.

usage: web.py SOURCE-ROOT BUILD-ROOT [PICTURES]

Chromium without a window, with WAV files for microphones, joins by the page that
people use; the room has joined a dpmmixer.  What it hears is looked at twenty times a second, in each of its slots,
for the tone of everybody in the room.  Each step waits for what it claims, so that
a busy machine takes longer and finds the same.  With a folder for PICTURES it
leaves the page in it, as PNG, at three moments.
"""
import json
import os
import pathlib
import sys
import time

from devtools import Failed
from room import Room

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
TALKERS = {4001: 1500, 4002: 1900, 4003: 2300}  # SSRC: Hz
NAMES = {4001: 'Dora', 4002: 'Emil', 4003: 'Fay'}
BROWSERS = {'Ada': 700, 'Ben': 1100}
MEETING = 'Cem', 2700
TONES = [*BROWSERS.values(), *TALKERS.values(), MEETING[1]]
TALKER_BPS = 96000              # so that all of them need more than 400 kbit/s
FREE_KBPS, NARROW_KBPS = 4000, 60              # less than a voice and a mix
MIN_BPS = 400000
GAP_S = 8                       # at a load of 70; one second on a quieter machine


def say(text):
    print(f'{time.monotonic() - BEGAN:5.1f} s  {text}', flush=True)


class Listener:
    """What one browser hears, and who sends it."""

    def __init__(self, room, name):
        self.browser, self.name = room.browsers[name], name
        self.own = TONES.index(BROWSERS[name])
        self.ssrc = self.browser.wait_for(
            lambda: self.browser.evaluate('ear.me()'), 'it sends nothing')
        self.others = {}                # index of a tone: SSRC
        self.looks, self.phase = [], []

    def listen(self):
        """Takes what was heard since, and says what is heard now."""
        new = self.browser.evaluate('ear.take()')
        self.looks += new
        self.phase += new
        return self.looks[-1] if self.looks else None

    def wait_for(self, is_so, otherwise):
        try:
            self.browser.wait_for(lambda: is_so(self.listen()), otherwise)
        except Failed as error:
            you = self.browser.evaluate('picture.you')
            raise Failed(f'{self.name}: {error}; heard {self.looks[-1:]}, '
                         f'told {json.dumps(you)}') from error

    def is_apart(self, look):
        """Each other one in a slot of his own, under his own name."""
        slots = [look['loud'][tone] for tone in self.others] if look else []
        return slots and all(len(s) == 1 for s in slots) \
            and len({s[0] for s in slots}) == len(slots) \
            and all(look['named'][look['loud'][tone][0]] == [ssrc]
                    for tone, ssrc in self.others.items())

    def is_mixed(self, look):
        """All others in one slot, and in no other, which names as many of them
        as there is room for."""
        slots = {tuple(look['loud'][tone]) for tone in self.others} \
            if look else ()
        if len(slots) != 1 or len(min(slots)) != 1:
            return False
        named = set(look['named'][min(slots)[0]])
        return named and named <= set(self.others.values())

    def longest_gap_s(self, tone):
        """Since the phase began: the longest time in which @tone was not heard."""
        gap, last = 0, None
        for look in self.phase:
            if look['loud'][tone] or last is None:
                gap = max(gap, look['t'] - last if last is not None else 0)
                last = look['t']
        return max(gap, self.phase[-1]['t'] - last)

    def check_continuity(self, what, tones=None):
        gap = max(self.longest_gap_s(tone) for tone in tones or self.others)
        say(f'{self.name}: {what}: the longest silence of a voice was {gap:.2f} s')
        if gap > GAP_S:
            raise Failed(f'{self.name}: {what}: a voice was silent for {gap:.1f} s')
        self.phase = []

    def check_own(self):
        heard = sum(bool(look['loud'][self.own]) for look in self.looks)
        named = sum(self.ssrc in slot for look in self.looks
                    for slot in look['named'])
        say(f'{self.name}: {len(self.looks)} looks; own voice in {heard}, '
            f'own name in {named}')
        if named or heard:
            raise Failed(f'{self.name} hears itself')

    def take_picture(self, name):
        if PICTURES:
            PICTURES.mkdir(parents=True, exist_ok=True)
            self.browser.picture(PICTURES / f'{name}.png')


def report_playout(listener, what):
    """Each slot's mean delay since the last report."""
    for slot in listener.browser.evaluate('ear.slots()'):
        before = listener.__dict__.setdefault('playout', {}).get(slot['slot'])
        listener.playout[slot['slot']] = slot
        if before and slot['emitted'] > before['emitted'] + 24000:
            emitted = slot['emitted'] - before['emitted']
            say(f'{listener.name}: {what}: slot {slot["slot"]} plays '
                f'{1000 * (slot["delay"] - before["delay"]) / emitted:.0f} ms late')


def run(room):
    room.add_talkers(TALKERS, TALKER_BPS)
    for name, frequency_hz in BROWSERS.items():
        room.add_browser(name, frequency_hz, size=(760, 1000))
    for name in BROWSERS:
        room.sit_down(name, TONES)
    say('two browsers have sat down')
    ada, ben = everybody = [Listener(room, name) for name in BROWSERS]
    cem = ada.browser.wait_for(lambda: ada.browser.evaluate(
        f'picture.people.find(p => p.name === "{MEETING[0]}")?.ssrc'),
        'nobody comes from the meeting')
    for one, other in ((ada, ben), (ben, ada)):
        one.others = {other.own: other.ssrc, TONES.index(MEETING[1]): cem, **{
            TONES.index(hz): ssrc for ssrc, hz in TALKERS.items()}}

    for one in everybody:
        one.wait_for(one.is_apart, 'the others are not apart')
    say('each hears five others, each in a slot of his own')
    for one in everybody:
        seat = room.said('joined', name=one.name)[0]['seat']
        rates = [e['target-bps'] for e in room.said('rate', seat=seat)]
        one.wait_for(lambda _, seat=seat: room.said('rate', seat=seat)[-1][
            'target-bps'] >= MIN_BPS, f'less than {MIN_BPS} bit/s')
        say(f'{one.name}: from {rates[0] // 1000} kbit/s to '
            f'{MIN_BPS // 1000} and more')
        report_playout(one, 'apart')
    ada.take_picture('separate')
    for one in everybody:
        report_playout(one, 'apart')
        one.listen()
        one.phase = []

    room.next_link()
    for one in everybody:
        one.wait_for(one.is_mixed, 'the others are not mixed')
    say(f'a link of {NARROW_KBPS} kbit/s: each hears one mix')
    for one in everybody:
        report_playout(one, 'narrow')
    ada.take_picture('mixed')
    room.next_link()
    for one in everybody:
        one.wait_for(one.is_apart, 'the others are not apart again')
    say(f'a link of {FREE_KBPS} kbit/s: each hears all apart again')
    for one in everybody:
        one.listen()
        one.check_continuity('narrow and wide again')
        report_playout(one, 'wide again')
    ada.take_picture('again')

    heard = []

    def meeting_hears_all():
        heard[:] = room.heard_in_meeting(TONES, 1)
        return heard == TONES[:-1]

    try:
        room.wait_for(meeting_hears_all, 'the meeting does not hear them')
    except Failed as error:
        raise Failed(f'{error}: {heard} Hz, not {TONES[:-1]}') from error
    say('the dpmclient hears all five of this room, and not itself')

    room.browsers['Ben'].kill()
    say('Ben was killed')
    ada.wait_for(lambda _: room.said('left', name='Ben'), 'Ben is still there')
    ada.wait_for(lambda look: look['t'] > ada.phase[0]['t'] + 1 if ada.phase
                 else False, 'nothing is looked at')
    ada.check_continuity('beside one who was killed', [
        tone for tone in ada.others if tone != ben.own])
    report_playout(ada, 'after that')
    say(f'Ada believes that her way up carries {ada.browser.evaluate("ear.wayUp()")}'
        ' bit/s')
    for one in everybody:
        one.check_own()


def main():
    room = Room(ROOT, BUILD, '--slots', '6', '--absent-s', '3', '--link',
                f'{FREE_KBPS},{NARROW_KBPS},{FREE_KBPS}',
                *(f'--name={ssrc}={name}' for ssrc, name in NAMES.items()),
                meeting_hz=MEETING[1])
    wrong = None
    try:
        run(room)
    except Failed as error:
        wrong = str(error)
    returned = room.close()
    if wrong or returned != 0 or room.errors:
        print(*(json.dumps(e) for e in room.events), room.errors, sep='\n')
        sys.exit(wrong or f'the server ended with {returned}: {room.errors}')


BEGAN = time.monotonic()
main()
