#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two browsers, plain RTP and a dpmclient in one room of examples/web.

usage: web.py SOURCE-ROOT BUILD-ROOT [PICTURES]

Chromium without a window, with WAV files for microphones, joins by the page that
people use; the room has joined a dpmmixer.  What it hears is looked at twenty times
a second, in each of its slots, for the tone of everybody in the room.  After one has
gone, Firefox comes, where it is installed, and says by getStats() what it hears.
Ada uses the page's controls by keys and by mouse, on a phone, by day and by night.
Each step waits for what it claims, so that a busy machine takes longer and finds the
same.  With a folder for PICTURES it leaves the page in it, as PNG, at three moments.
"""
import json
import pathlib
import sys
import time

import firefox
from controls import Controls
from devtools import Failed
from room import Room
from silence import Watch, longest_silence

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
# In Hz.  No two lie as far apart as any two others (a Golomb ruler times 200), so that
# what a limiter makes of three (a + b - c) is nobody's tone.
TALKERS = {4001: 1400, 4002: 2600, 4003: 3000}  # SSRC: Hz
NAMES = {4001: 'Dora', 4002: 'Emil', 4003: 'Fay'}
BROWSERS = {'Ada': 600, 'Ben': 800}
MEETING = 'Cem', 4000
TONES = [*BROWSERS.values(), *TALKERS.values(), MEETING[1]]
TALKER_BPS = 96000              # so that all of them need more than 400 kbit/s
# Room for all; for a mix and one talker; for less than a mix and any voice
FREE_KBPS, KEEP_KBPS, NARROW_KBPS = 4000, 260, 60
MIN_BPS = 400000
SLOTS = 6
OWN_LOOKS, OWN_DB = 5, 10       # a mix of 60 kbit/s is noisy: 13 dB below a voice at
LOUD_DB = -45                   # times, 20 on the mean of so many; a voice has -26,
OWN_LEAST_DB = -36              # ... also one's own; what fills a gap had -42
MAX_PLAYOUT_MS, PLAYOUT_SAMPLES = 150, 24000    # on a path with room
BUSY_PATIENCE_S = 30            # what was late at the beginning is forgotten then


def say(text):
    print(f'{time.monotonic() - BEGAN:5.1f} s  {text}', flush=True)


class Listener:
    """What one browser hears, and who sends it."""

    def __init__(self, room, name):
        self.browser, self.name = room.browsers[name], name
        self.hands = Controls(self.browser)
        self.own = TONES.index(BROWSERS[name])
        self.ssrc = self.browser.wait_for(
            lambda: self.browser.evaluate('ear.me()'), 'it sends nothing')
        self.others = {}                # index of a tone: SSRC
        self.looks, self.phase, self.watch = [], [], Watch()
        self.playout = {}               # slot: its counters when it was asked last
        self.late_ms = {}               # slot: see playout_ms()

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

    def begin_phase(self):
        self.phase, self.watch = [], Watch()

    def check_continuity(self, what, tones=None):
        gap_s, since, tone = longest_silence(self.phase, tones or self.others)
        busy = self.watch.why_busy(self.phase)
        say(f'{self.name}: {what}: the longest silence of a voice was {gap_s:.2f} s'
            + (f'; too busy to tell: {busy}' if busy else ''))
        if gap_s > self.watch.limit_s(busy):
            told = [look for look in self.phase if 0 <= look['t'] - since <= gap_s]
            raise Failed(f'{self.name}: {what}: {TONES[tone]} Hz were silent for {gap_s:.2f} s '
                         f'from {since:.1f} s on, {len(told)} looks: {told[::20]}')
        self.begin_phase()

    def voices(self, looks, loud_db=LOUD_DB):
        """Whom it hears in @looks: of each slot the tones that are as loud as the
        loudest there, on the mean.  What is beside the voices is less: a codec's
        noise, what a gap is filled with."""
        found = []
        for slot in zip(*(look['db'] for look in looks)):
            power = [sum(10 ** (db / 10) for db in tone) / len(tone)
                     for tone in zip(*slot)]
            least = max(10 ** (loud_db / 10), max(power) / 10 ** (OWN_DB / 10))
            found.append([n for n, p in enumerate(power) if p > least])
        return found

    def hears_all_in_one(self):
        return sorted(self.others) in map(sorted, self.voices(self.looks[-OWN_LOOKS:]))

    def is_own(self, looks):
        """As loud as a voice, and there all the time: while a slot goes from a voice to
        a mix there is some of each tone for a moment."""
        always_db = [min(slot[self.own] for slot in slots)
                     for slots in zip(*(look['db'] for look in looks))]
        return max(always_db) >= LOUD_DB and any(
            self.own in slot for slot in self.voices(looks, OWN_LEAST_DB))

    def check_own(self):
        new = self.looks[:1]            # the same again where it has not got on
        new += [b for a, b in zip(self.looks, self.looks[1:])
                if b['played'] > a['played']]
        heard = [w for w in (new[n - OWN_LOOKS:n]
                             for n in range(OWN_LOOKS, len(new) + 1)) if self.is_own(w)]
        named = [w for w in self.looks if self.ssrc in sum(w['named'], [])]
        say(f'{self.name}: {len(new)} looks; own voice in {len(heard)}, '
            f'own name in {len(named)}')
        if heard or named:
            raise Failed(f'{self.name} hears itself: {heard[:1]} {named[:1]}')

    def playout_ms(self):
        """{slot: how late it played, on the mean of half a second or more, when it was
        looked at last, ms}, of those where somebody is heard.  They do not get on in step."""
        slots = [slot for slot in self.browser.evaluate('ear.slots()') if slot['named']]
        for slot in slots:
            n = slot['slot']
            before = self.playout.setdefault(n, slot)
            emitted = slot['emitted'] - before['emitted']
            if emitted > PLAYOUT_SAMPLES:
                self.playout[n] = slot
                self.late_ms[n] = round(1000 * (slot['delay'] - before['delay']) / emitted)
        return {slot['slot']: self.late_ms[slot['slot']] for slot in slots
                if slot['slot'] in self.late_ms}

    def plays_in_time(self):
        """playout_ms(), and why that may be late: None, if all play in time.  A browser
        that began on a busy machine got packets late, and remembers that for 10 to 20 s:
        there it need not become better in the end, nor are all apart for so long."""
        late_ms = self.playout_ms()
        self.listen()
        last = self.looks[-20:]
        if len(last) < 20:
            return None
        if len(late_ms) >= len(self.others) and max(late_ms.values()) < MAX_PLAYOUT_MS:
            return late_ms, None
        busy = self.watch.why_busy(last)
        return (late_ms, busy) if busy and self.looks[-1]['t'] > self.looks[0]['t'] \
            + BUSY_PATIENCE_S else None

    def report_playout(self, what):
        say(f'{self.name}: {what}: slots play so many ms late: {self.playout_ms()}')

    def take_picture(self, name):
        if PICTURES:
            PICTURES.mkdir(parents=True, exist_ok=True)
            self.browser.picture(PICTURES / f'{name}.png')


def use_the_page(ada, ben):
    """While all are apart: keys, mouse, phone, day and night."""
    hands = ada.hands
    wanted = [('heading', 'The room'), ('group', 'Places'), ('button', 'Mute'),
              ('button', 'Leave'), ('image', 'What your'),
              ('region', 'Round table'), ('region', 'Your connection')]
    for name in [*NAMES.values(), MEETING[0], 'Ben']:
        wanted += [('slider', f'{name}, separate'), ('button', f'Keep {name} separate')]
    hands.check_names(wanted)
    hands.check_news()
    hands.tab_through()
    hands.mute(ben, ada.own)
    place = hands.drag(4001, -0.2, 0.1)
    hands.check_phone('all apart')
    contrast = hands.check_contrast('all apart')
    say(f'Ada was muted, has moved {NAMES[4001]}, can read all: contrast {contrast}')
    return place


def forget_lateness(ada):
    """A slot that has become later than it was, and is silent, begins anew, once.  It is
    heard again after that, and she who sits there as well: check_continuity() sees it."""
    calm, late, silent = (50, 0.020, 0.030), (10, 0.300, 0.100), (0, 0, 0)
    held, pause = (10, 0.020, 0.300), (3, 0.300, 0.100)
    seconds = [calm, calm, late, silent, silent, calm, silent, held, silent, late, pause, pause]
    found = ada.browser.evaluate(f'ear.forgets({json.dumps(seconds)})')
    if found != [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0]:
        raise Failed(f'slots begin anew at {found}')
    found, slots = ada.browser.evaluate('ear.renew()'), SLOTS - 1
    if found != ['stable', SLOTS, 'sendrecv', *['recvonly'] * slots]:
        raise Failed(f'slots that began anew are {found}')


def name_late(ada):
    """Who was heard up to 0.6 s before the latest of all is named, however late that is
    told; a slot whose talker has gone names nobody; nor does any, after a silence."""
    told = [[{'ssrc': 1, 'at': 900}], [{'ssrc': 2, 'at': 500}, {'ssrc': 3, 'at': 300}], []]
    found = [ada.browser.evaluate(f'fresh({json.dumps(told)}, {now})')
             for now in (910, 2900, 4000)]
    if found != [[[1], [2], []], [[1], [2], []], [[], [], []]]:
        raise Failed(f'named late are {found}')


def follow_losses(ada):
    """Where the browser does not say what its way up carries: what is left of 56 kbit/s
    where a fifth is lost, the same while some is, a bit more where next to nothing is, and
    never less than 32; an SSRC that begins again has lost nothing."""
    found = ada.browser.evaluate('ear.carries([[0, 0, 32e3], [50, 0, 32e3], [80, 20, 32e3], '
                                 '[175, 25, 20800], [275, 25, 20800], [300, 900, 20800], '
                                 '[0, 0, 8e3], [100, 0, 8e3]])')
    if found != [56000, 56000, 44800, 44800, 45800, 32000, 32000, 33000]:
        raise Failed(f'a way up is believed to carry {found}')


def tell_why(ada):
    """Whoever is mixed is so for a reason, which the page has in words; others need none."""
    you = {'separate': [1], 'mixed': [2, 3], 'held': [], 'target': 90e3, 'sent': 80e3,
           'slots': SLOTS, 'state': 'sending', 'cause': 'down-delay'}
    for change, wanted in (
            ({}, 'Mixed: your connection has room for 90 kbit/s only (a queue grew).'),
            ({'cause': 'coupled'}, 'Mixed: your connection has room for 90 kbit/s only.'),
            ({'target': 900e3}, 'There is room: who is mixed comes apart when it lasts.'),
            ({'separate': [*range(4, 3 + SLOTS)]},
             f'Who is mixed finds no place: your browser has {SLOTS}.'),
            ({'mixed': [], 'held': [2, 3]},
             'Not even a mix of all has room in your connection.'),
            ({'state': 'probing', 'target': 0},
             'Nothing is sent: your browser does not answer.'),
            ({'mixed': []}, '')):
        said = ada.browser.evaluate(f'why({json.dumps({**you, **change})})')
        if said != wanted:
            raise Failed(f'{change} is told as {said!r}')
    ada.browser.wait_for(lambda: 'your connection has room for' in ada.browser.evaluate(
        '$("why").textContent'), 'the page does not say why all are mixed')


def keep_apart(room, keeps):
    """@keeps: {listener: the SSRC that is to stay apart for him alone}"""
    for one, ssrc in keeps.items():
        one.hands.keep(ssrc, 'true')
        for other in keeps:             # who thinks better of it, for himself alone
            if other is not one:
                other.hands.keep(ssrc, 'true')
                other.hands.keep(ssrc, 'false')
    room.next_link()
    for one, ssrc in keeps.items():
        others = [other for other in keeps.values() if other != ssrc]
        one.wait_for(lambda look, ssrc=ssrc, others=others: [ssrc] in look['named']
                     and look['loud'][TONES.index(TALKERS[ssrc])]
                     and all([other] not in look['named'] for other in others),
                     f'{ssrc} is not kept apart')
        say(f'a link of {KEEP_KBPS} kbit/s: {one.name} keeps {NAMES[ssrc]} apart')
    for one, ssrc in keeps.items():
        one.hands.keep(ssrc, 'false')


def join_by_firefox(room, ada, others):
    """@others: the SSRCs that it shall hear.  It has the tone of who left."""
    room.sit_down('Gil', TONES)
    gil = room.browsers['Gil']
    ssrc = gil.wait_for(lambda: gil.evaluate('ear.me()'), 'it sends nothing')

    def heard():
        return sorted(slot['named'] for slot in gil.evaluate('ear.slots()')
                      if slot['energy'] > 0 and slot['named'])

    gil.wait_for(lambda: heard() == sorted([other] for other in others),
                 'Firefox does not hear each in a slot of his own')
    seat = room.said('joined', name='Gil')[0]['seat']
    gil.wait_for(lambda: room.said('rate', seat=seat)[-1]['target-bps'] >= MIN_BPS,
                 f'Firefox gets less than {MIN_BPS} bit/s')
    ada.others[TONES.index(BROWSERS['Ben'])] = ssrc
    ada.wait_for(ada.is_apart, 'Firefox is not heard')
    say('Firefox hears five others apart, and Ada hears it')


def run(room):
    room.add_talkers(TALKERS, TALKER_BPS)
    for name, frequency_hz in BROWSERS.items():
        room.add_browser(name, frequency_hz, size=(760, 1000))
    if firefox.PROGRAM:
        room.add_firefox('Gil', BROWSERS['Ben'])
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
        late_ms, busy = one.browser.wait_for(one.plays_in_time,
                                             f'more than {MAX_PLAYOUT_MS} ms late')
        say(f'{one.name}: slots play so many ms late: {late_ms}'
            + (f'; too busy for {MAX_PLAYOUT_MS}: {busy}' if busy else ''))
    ada.take_picture('separate')
    for one in everybody:
        one.listen()
        one.check_own()
    place = use_the_page(ada, ben)
    for one in everybody:
        one.wait_for(one.is_apart, 'the others are not apart')
        one.begin_phase()
    keep_apart(room, {ada: 4001, ben: 4003})

    room.next_link()
    for one in everybody:
        one.wait_for(one.is_mixed, 'the others are not mixed')
        one.wait_for(lambda _, one=one: one.hears_all_in_one(), 'not all are heard')
    say(f'a link of {NARROW_KBPS} kbit/s: each hears one mix')
    for one in everybody:
        one.report_playout('narrow')
        one.check_own()
    forget_lateness(ada)
    name_late(ada)
    follow_losses(ada)
    tell_why(ada)
    ada.take_picture('mixed')
    ada.hands.check_phone('all mixed')
    say(f'Ada can read it: contrast {ada.hands.check_contrast("all mixed")}')
    room.next_link()
    for one in everybody:
        one.wait_for(one.is_apart, 'the others are not apart again')
    say(f'a link of {FREE_KBPS} kbit/s: each hears all apart again')
    for one in everybody:
        one.listen()
        one.check_continuity('narrow and wide again')
        one.report_playout('wide again')
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
    ada.report_playout('after that')
    say(f'Ada believes that her way up carries {ada.browser.evaluate("ear.wayUp()")}'
        ' bit/s')
    for one in everybody:
        one.check_own()
    if firefox.PROGRAM:
        join_by_firefox(room, ada, [ada.ssrc, *[
            ssrc for tone, ssrc in ada.others.items() if tone != ben.own]])
    ada.hands.leave_and_return('Ada')
    ada.hands.wait_for_place(4001, *place)
    say(f'Ada has left and come back by keys; {NAMES[4001]} is where she was put')


def main():
    # --music: as speech, five tones in 24 kbit/s may be noise for minutes
    room = Room(ROOT, BUILD, '--music', '--slots', str(SLOTS), '--absent-s', '1', '--link',
                f'{FREE_KBPS},{KEEP_KBPS},{NARROW_KBPS},{FREE_KBPS}',
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
