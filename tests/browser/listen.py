#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who has no microphone, or does not give it, sits in a room of examples/web and listens.

usage: listen.py SOURCE-ROOT BUILD-ROOT [PICTURES]

Two Chromiums and a plain RTP talker.  Ada's machine has no microphone; Ben does not let
the page have his, and lets it later; he leaves muted and comes back muted, with another
microphone.  With a folder for PICTURES it leaves Ada's page in it, as PNG.
"""
import pathlib
import sys

from devtools import FLAGS, Chromium, Failed
from room import Room

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
TALKER = {4001: 1400}           # SSRC: Hz
BEN_HZ = 800
TONES = [*TALKER.values(), BEN_HZ]


class Asked(Chromium):
    """A browser whose user is asked for the microphone"""
    flags = [flag for flag in FLAGS if flag != '--use-fake-ui-for-media-stream']

    def answer(self, setting):
        self.ask('Browser.setPermission', permission={'name': 'microphone'}, setting=setting)


class Poor(Chromium):
    """A browser on a machine without a microphone"""
    flags = [flag for flag in FLAGS if flag != '--use-fake-device-for-media-stream']
    environment = {'ALSA_CONFIG_PATH': '/dev/null', 'PULSE_SERVER': 'unix:/dev/null'}


def shows(browser, script, otherwise):
    return browser.wait_for(lambda: browser.evaluate(script), otherwise)


def check_listening(room, name, why):
    """The page says so; nothing is sent; the talker is heard."""
    browser = room.browsers[name]
    text = browser.evaluate('$("listening").textContent')
    if why not in text or browser.evaluate('$("mute").checkVisibility()'):
        raise Failed(f'{name} is told {text!r}')
    room.wait_to_hear(name, *TALKER.values())
    sent = browser.evaluate('sound.sender.getStats().then(stats => [...stats.values()]'
                            '.find(s => s.type === "outbound-rtp")?.packetsSent ?? 0)')
    if sent:
        raise Failed(f'{name} sends {sent} packets')


def run(room):
    room.add_talkers(TALKER)
    room.browsers['Ada'] = ada = Poor()
    room.add_browser('Ben', BEN_HZ, kind=Asked)
    ben = room.browsers['Ben']
    ben.wait_for(lambda: ben.attach(), 'no page')
    ben.answer('denied')
    for name, why in (('Ada', 'no microphone'), ('Ben', 'not allowed')):
        room.sit_down(name, TONES)
        check_listening(room, name, why)
    shows(ada, '$("listeners").textContent === "Ben only listens."', 'Ben is not seen')
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
        ada.picture(PICTURES / 'listen.png')
    ben.answer('granted')
    ben.evaluate('$("talk").click()')
    room.wait_to_hear('Ada', BEN_HZ)
    shows(ada, '$("listeners").textContent === ""', 'Ben talks, and is said to listen')
    shows(ben, '$("mute").checkVisibility() && !$("listening").checkVisibility()',
          'Ben cannot mute')
    shows(ben, '$("microphone").length > 3', 'Ben cannot choose a microphone')
    ben.evaluate('$("microphone").selectedIndex = $("microphone").length - 2;'
                 '$("mute").click(); $("leave").click()')
    room.wait_for(lambda: room.said('left', name='Ben'), 'Ben is still there')
    ben.evaluate('picture = undefined; $("join").requestSubmit(); $("join").requestSubmit()')
    shows(ben, 'picture && $("mute").textContent === "Muted"', 'Ben does not come back muted')
    if ben.evaluate('picture.n_seats') != 2:
        raise Failed('who is impatient has two seats')
    if ben.evaluate('sound.microphone.getTracks()[0].enabled'):
        raise Failed('Ben is muted, and heard')
    if not ben.evaluate('$("microphone").value && $("microphone").value === '
                        'sound.microphone.getTracks()[0].getSettings().deviceId'):
        raise Failed('Ben does not have the microphone that he chose')


def main():
    room = Room(ROOT, BUILD, '--slots', '4', '--absent-s', '1')
    wrong = None
    try:
        run(room)
    except Failed as error:
        wrong = str(error)
    returned = room.close()
    if wrong or returned != 0 or room.errors:
        print(*room.events, room.errors, sep='\n')
        sys.exit(wrong or f'the server ended with {returned}: {room.errors}')


main()
