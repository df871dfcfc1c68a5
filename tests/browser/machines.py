#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two people on two machines, by examples/web.sh, its link and HTTPS.

usage: machines.py SOURCE-ROOT BUILD-ROOT; exit status 77 where one may not make
network namespaces

A machine is a namespace: the server's, where Ada sits, and Ben's, with a router
between them.  They hear each other; the link that --open opens is the one that is
printed.  Then Ben's way up narrows to less than his voice needs, and his encoder
follows; so does that of Firefox, where it is installed.  At last the router becomes a
firewall, and Ben comes again.
"""
import os
import pathlib
import shutil
import sys
import time

import firefox
from devtools import Failed
from network import Network, own_network
from room import Room

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
# In Hz; Opus takes all of 32 kbit/s for those of Ben and Gil however it codes them: for 1400
# and 800 Hz only 18, when it takes them for speech
TONES = {'Ada': 600, 'Ben': 2200, 'Gil': 2800}
SERVER, ROUTER, AWAY = '10.77.1.1', ('10.77.1.2', '10.77.2.2'), '10.77.2.1'
TURN_PORT, USER, PASSWORD = 3478, 'ben', 'sesame'
FLAGS = ['--ignore-certificate-errors']         # as people do, once
NARROW = 'rate 44kbit burst 1600 latency 300ms'         # 24 of them for headers
FREE_BPS, NARROW_BPS = 26000, 20000             # of Opus; it begins with 32000
LOSSY_BPS = 25000               # of Firefox, where less than a tenth is lost
MEASURE_S = 2


def say(text):
    print(f'{time.monotonic() - BEGAN:5.1f} s  {text}', flush=True)


class Away(Network):
    """The server's machine, which is this one; a router; one away."""

    def __init__(self):
        super().__init__()
        self.between, self.away = self.router(), self.machine()
        self.cable(((), 'there', SERVER), (self.between, 'back', ROUTER[0]))
        self.cable((self.between, 'away', ROUTER[1]), (self.away, 'back', AWAY))
        self.route((), ROUTER[0])
        self.route(self.away, ROUTER[1])


class Party(Room):
    """A room of examples/web.sh"""

    def command(self, root):
        fake = self.folder / 'bin'
        fake.mkdir()
        (fake / 'xdg-open').write_text(f'#!/bin/sh\necho "$1" >{self.folder}/opened\n',
                                       encoding='ascii')
        (fake / 'xdg-open').chmod(0o755)
        self.environment.update(
            PATH=f'{fake}:{os.environ["PATH"]}', FMX_BUILD=str(BUILD),
            PORT=str(self.port))
        return [str(root / 'examples/web.sh'), '--open']

    def on_line(self, line):
        if 'Send this link: ' in line:
            self.link = line.split()[-1]

    def opened(self):
        try:
            return (self.folder / 'opened').read_text(encoding='ascii').strip()
        except FileNotFoundError:
            return None


def sent_bps(browser):
    """What the browser's encoder makes, for MEASURE_S."""
    def total():
        return browser.evaluate('sound.connection.getSenders()[0].getStats().then(s => '
                                '[...s.values()].filter(s => s.type === "outbound-rtp")'
                                '.map(s => [s.bytesSent, s.timestamp])[0])')
    first = total()
    time.sleep(MEASURE_S)
    last = total()
    return 8000 * (last[0] - first[0]) / (last[1] - first[1])


def run(room, network):
    for name, machine in (('Ada', ()), ('Ben', network.away)):
        room.add_browser(name, TONES[name], machine=machine, more_flags=FLAGS)
    for name in ('Ada', 'Ben'):
        room.sit_down(name, list(TONES.values()))
    room.wait_to_hear('Ada', 'Ben')
    room.wait_to_hear('Ben', 'Ada')
    ben = room.browsers['Ben']
    pair = ben.wait_for(lambda: ben.evaluate('ear.pair()'), 'no way is in use')
    say(f'{room.link.partition("#")[0]}: both hear each other; {pair}')
    room.wait_for(lambda: room.opened() == room.link, '--open opens another link')

    narrow_and_widen(room, network, 'Ben', NARROW_BPS)
    if firefox.PROGRAM:
        room.add_firefox('Gil', TONES['Gil'], network.away)
        room.sit_down('Gil', list(TONES.values()))
        room.wait_to_hear('Ada', 'Gil')
        narrow_and_widen(room, network, 'Gil', LOSSY_BPS)
        room.browsers['Gil'].kill()

    behind_a_firewall(room, network)


def narrow_and_widen(room, network, name, most_bps):
    """The way up of @name"""
    browser = room.browsers[name]
    room.wait_for(lambda: sent_bps(browser) > FREE_BPS, f'the encoder of {name} makes little')
    network.run(network.between, 'tc qdisc add dev back root tbf', *NARROW.split())
    room.wait_for(lambda: sent_bps(browser) < most_bps,
                  f'the encoder of {name} does not follow')
    say(f'a way up of 44 kbit/s: the encoder of {name} makes {sent_bps(browser):.0f} bit/s')
    room.wait_to_hear('Ada', name)
    network.run(network.between, 'tc qdisc del dev back root')
    room.wait_for(lambda: sent_bps(browser) > FREE_BPS,
                  f'the encoder of {name} does not come back')
    say('and on a wide one as before')


def behind_a_firewall(room, network):
    """Nothing passes the router but the page, where a TURN server can be had on it;
    else, no UDP: then ICE finds a way by TCP."""
    has_relay = shutil.which('turnserver')
    if has_relay:
        network.serve(network.between, f'turnserver -n --no-cli --no-tls --no-dtls '
                      f'--lt-cred-mech --realm=room --user={USER}:{PASSWORD} '
                      f'--listening-ip={ROUTER[0]} --relay-ip={ROUTER[0]} '
                      f'--listening-port={TURN_PORT} --log-file=stdout '
                      f'--userdb={room.folder}/users --pidfile={room.folder}/turn.pid', TURN_PORT)
    for cable, port in (('back', 'sport'), ('away', 'dport')):
        network.run(network.between, f'ip rule add pref 9 iif {cable} ipproto tcp '
                    f'{port} {room.port} lookup main')
        network.run(network.between, f'ip rule add pref 10 iif {cable} '
                    + ('prohibit' if has_relay else 'ipproto udp prohibit'))
    room.browsers['Ben'].kill()
    room.wait_for(lambda: room.said('left', name='Ben'), 'Ben is still there')
    room.add_browser('Ben', TONES['Ben'], machine=network.away, more_flags=FLAGS)
    ben = room.browsers['Ben']
    room.sit_down('Ben', list(TONES.values()))
    room.wait_to_hear('Ada', 'Ben')
    room.wait_to_hear('Ben', 'Ada')
    found = ben.wait_for(lambda: ben.evaluate('ear.pair()'), 'no way is in use')
    if ('relay' if has_relay else 'tcp') not in found:
        raise Failed(f'they hear each other by {found}')
    say(f'behind a firewall they hear each other by {found}')


def main():
    own_network(f'ip link add xa type veth peer name xb; '
                f'tc qdisc add dev xa root tbf {NARROW}', 'command -v openssl')
    network = Away()
    try:
        with Party(ROOT, BUILD, '--slots', '2', '--absent-s', '3', '--turn-server',
                   f'turn://{USER}:{PASSWORD}@{ROUTER[0]}:{TURN_PORT}') as room:
            run(room, network)
    finally:
        network.close()


BEGAN = time.monotonic()
main()
