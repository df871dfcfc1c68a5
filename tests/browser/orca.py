#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a blind person hears of the page of examples/web, who uses Orca.

usage: orca.py SOURCE-ROOT BUILD-ROOT

Debian's screen reader reads Chromium, which has a window on a screen that nobody
sees; keys come from that screen's keyboard.  What Orca gives to its synthesizer is
printed, and each step waits for the words that it claims.  Packages: orca xvfb
openbox xdotool at-spi2-core dbus-daemon, and those of the page's other tests.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from devtools import Chromium, Failed
from leftovers import UNTIL_WE_END, make_folder
from room import Room, write_tone

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
NEEDS = ['orca', 'Xvfb', 'openbox', 'xdotool', 'dbus-run-session', 'chromium']
SIZE = (1000, 1100)
ADA_HZ, TALKERS = 600, {4001: 1400, 4002: 2600, 4003: 3000}
NAMES = {4001: 'Dora', 4002: 'Emil', 4003: 'Fay'}
FREE_KBPS, NARROW_KBPS = 4000, 60
SAYS = re.compile(r"SPEECH OUTPUT: '(.*)'(?: \{.*)?$", re.M)
MAX_TABS = 40
PATIENCE_S = 90                 # the server waits 30 s for who is silent


class Seen(Chromium):
    """With a window, and with what a screen reader asks for."""
    flags = [flag for flag in Chromium.flags if not flag.startswith('--headless')] \
        + ['--force-renderer-accessibility', '--test-type', '--kiosk']


def own_screen():
    """Starts this program again on a screen, with a session's bus."""
    if 'FMX_ORCA' in os.environ:
        return
    missing = [program for program in NEEDS if not shutil.which(program)]
    if missing:
        print('not here:', *missing)
        sys.exit(77)
    home = make_folder('orca')
    number, told = os.pipe()
    with open(home / 'xvfb', 'w', encoding='utf-8') as log:
        subprocess.Popen([*UNTIL_WE_END, 'Xvfb', '-displayfd', str(told), '-screen', '0',
                          f'{SIZE[0]}x{SIZE[1]}x24'], pass_fds=[told], stderr=log)
    os.close(told)
    display = os.read(number, 20).decode().strip()
    sys.exit(subprocess.run(
        ['dbus-run-session', '--', sys.executable, *sys.argv], check=False, env={
            **os.environ, 'DISPLAY': f':{display}', 'HOME': str(home), 'FMX_ORCA': str(home),
            'XDG_RUNTIME_DIR': str(home)}).returncode)


class Reader:
    """Orca, and all that it says."""

    def __init__(self):
        self.path = pathlib.Path(os.environ['FMX_ORCA']) / 'orca'
        self.since = 0
        for command in (['openbox'], ['orca', f'--debug-file={self.path}']):
            subprocess.Popen([*UNTIL_WE_END, *command], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.expect('Screen reader on')

    def said(self):
        """All that it has said since the last expect()."""
        if not self.path.exists():
            return []
        return SAYS.findall(self.path.read_text(encoding='utf-8', errors='replace'))[
            self.since:]

    def expect(self, *words):
        """Until it has said all of them.  Returns what it said."""
        end = time.monotonic() + PATIENCE_S
        while True:
            said = self.said()
            if all(re.search(w, ' '.join(said)) for w in words):
                self.since += len(said)
                for text in said:
                    print(f'      “{text}”', flush=True)
                return said
            if time.monotonic() > end:
                raise Failed(f'it does not say {words}, but {said}')
            time.sleep(0.05)

    def press(self, *keys):
        subprocess.run(['xdotool', 'key', '--delay', '100', *keys], check=True)

    def at(self, page, control, *words):
        """By the Tab key to @control, a script's element: is it said what it is?"""
        for _ in range(MAX_TABS):
            here = page.evaluate('document.activeElement.outerHTML')
            self.since += len(self.said())
            self.press('Tab')
            page.wait_for(lambda here=here: here != page.evaluate(
                'document.activeElement.outerHTML'), 'the focus does not move')
            if page.evaluate(f'document.activeElement === {control}'):
                return self.expect(*words)
        raise Failed(f'the Tab key does not reach {control}')

    def does(self, key, *words):
        self.press(key)
        self.expect(*words)


def step(text):
    print(text, flush=True)


def use(reader, room, ada):
    """The page, from the door to the door, by what is said alone."""
    step('the door')
    reader.expect('A round table', 'heading 1', 'headphones')
    reader.at(ada, '$("name")', 'Your name entry required')
    reader.at(ada, '$("microphone")', 'Microphone combo box')
    reader.at(ada, '$("secret")', 'Secret password')
    reader.at(ada, 'document.querySelector("#join button")', 'Sit down button')
    ada.evaluate('$("name").focus()')
    reader.expect('Your name entry', 'Focus mode')
    reader.press('a', 'd', 'a')
    step('she sits down')
    reader.does('Return', 'Mute toggle button not pressed', 'here now')
    step('each control of the room')
    names = ada.wait_for(lambda: [
        name for name in ada.evaluate('[...people.values()].map(p => p.name)')]
        if ada.evaluate('people.size') == len(NAMES) else None, 'not all are there')
    reader.at(ada, '$("leave")', 'Leave button')
    for n, name in enumerate(names):
        person = f'[...people.values()][{n}]'
        reader.at(ada, f'{person}.face', f'{name}, (separate|mixed with others) .*slider '
                  r'\d+ % (left|right), \d+ % (ahead|behind)')
        reader.at(ada, f'{person}.pin', f'Keep {name} separate toggle button not pressed')
    step('what has an effect is said')
    reader.at(ada, '$("mute")', 'Mute toggle button not pressed')
    reader.does('space', r'\bpressed')
    reader.does('space', 'not pressed')
    ada.wait_for(lambda: ada.evaluate('picture.you.separate.length') == len(NAMES),
                 'not all are separate')
    reader.at(ada, '[...people.values()][0].face', f'{names[0]}, separate', 'Focus mode')
    reader.does('Right', r'\d+ % (left|right), \d+ % (ahead|behind)')
    reader.does('Up', r'\d+ % (left|right), \d+ % (ahead|behind)')
    reader.at(ada, '[...people.values()][0].pin', f'Keep {names[0]} separate')
    reader.does('space', r'\bpressed')
    reader.does('space', 'not pressed')
    step('the link becomes narrow, and wide again')
    for now in ('mixed', 'separate'):
        room.next_link()
        reader.expect(*(f'{name}[^:]*: {now} now' for name in names))
    step('all talkers go, one while she is at his place')
    room.talkers.pop().terminate()
    reader.expect('Mute toggle button not pressed',
                  *(f'{name}[^:]*: gone' for name in names))
    step('she leaves')
    reader.at(ada, '$("leave")', 'Leave button')
    reader.does('Return', 'Your name entry')


def main():
    own_screen()
    reader = Reader()
    with Room(ROOT, BUILD, '--slots', '4', '--absent-s', '1', '--link',
              f'{FREE_KBPS},{NARROW_KBPS},{FREE_KBPS}',
              *(f'--name={ssrc}={name}' for ssrc, name in NAMES.items())) as room:
        write_tone(room.folder / 'ada.wav', ADA_HZ)
        ada = room.browsers['Ada'] = Seen(room.folder / 'ada.wav', size=SIZE)
        room.add_talkers(TALKERS)
        ada.open(room.link)
        use(reader, room, ada)
    print('Orca has said all that there was to say')


main()
