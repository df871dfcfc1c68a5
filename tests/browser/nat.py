#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A browser and the server of examples/web, each behind a NAT of its own, meet by
what a STUN server tells them.

usage: nat.py SOURCE-ROOT BUILD-ROOT; exit status 77 where one may not make network
namespaces with NAT, and says so

Both routers masquerade, and take nothing from outside but what was asked for; the
server's lets the page through, no media.  The STUN server between them is coturn
where it is installed, else the few lines here.  Who talks sends 256 kbit/s: he is to
be heard separate although nobody sends less.
"""
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import time

from devtools import Failed
from network import Network, own_network
from room import Room

SERVER, BEN, STUN, STUN_PORT = '10.77.1.1', '10.77.2.1', '192.0.2.1', 3478
HOME = '192.0.2.2'              # what the world knows the server by
TALKERS = {4001: 1400, 4002: 2600, 4003: 3000}          # SSRC: Hz
TALKER_BPS = 256000
TRIES = 3                       # on a machine that stands still
SUCCESS, MAPPED_ADDRESS = 0x0101, 0x0001
MASQUERADE = ('iptables -t nat -A POSTROUTING -o out -j MASQUERADE',
              'iptables -A INPUT -i out -j DROP')


def serve_stun():
    """Answers each binding request with its MAPPED-ADDRESS, which clients of any age
    understand [RFC8489 12], until it is killed."""
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.bind((STUN, STUN_PORT))
        while True:
            request, (host, port) = s.recvfrom(2048)
            s.sendto(struct.pack('!HH16sHHBBH4s', SUCCESS, 12, request[4:20],
                                 MAPPED_ADDRESS, 8, 0, 1, port,
                                 socket.inet_aton(host)), (host, port))


class Homes(Network):
    """The server's machine, which is this one; its router; the world, where the STUN
    server is; Ben's router; Ben's machine."""

    def __init__(self):
        super().__init__()
        self.door, self.world, self.other = (self.router() for _ in range(3))
        self.ben = self.machine()
        self.cable(((), 'there', SERVER), (self.door, 'home', '10.77.1.2'))
        self.cable((self.door, 'out', HOME), (self.world, 'one', STUN))
        self.cable((self.other, 'out', '198.51.100.2'),
                   (self.world, 'two', '198.51.100.1'))
        self.cable((self.other, 'home', '10.77.2.2'), (self.ben, 'there', BEN))
        for machine, gateway in (((), '10.77.1.2'), (self.door, STUN),
                                 (self.other, '198.51.100.1'), (self.ben, '10.77.2.2')):
            self.route(machine, gateway)
        for router in (self.door, self.other):
            for line in MASQUERADE:
                self.run(router, line)
        if shutil.which('turnserver'):
            stun = (f'turnserver -n --stun-only --no-cli --no-tls --no-dtls '
                    f'--listening-ip={STUN} --listening-port={STUN_PORT} '
                    '--log-file=stdout --pidfile=/dev/null')
        else:
            stun = f'{sys.executable} {__file__} --stun'
        self.serve(self.world, stun, STUN_PORT)

    def forward(self, port):
        self.run(self.door, 'iptables -t nat -A PREROUTING -i out -p tcp --dport '
                 f'{port} -j DNAT --to-destination {SERVER}')


class Home(Room):
    """A room of examples/web with a certificate of its own."""

    def command(self, root):
        files = ['--key', f'{self.folder}/key.pem', '--cert', f'{self.folder}/cert.pem']
        subprocess.run(
            'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes '
            f'-subj /CN=room -keyout {files[1]} -out {files[3]}'.split(),
            check=True, capture_output=True)
        self.link = f'https://{HOME}:{self.port}/'
        return [sys.executable, str(root / 'examples/web/server.py'), *files,
                '--port', str(self.port), '--stun-server', f'stun://{STUN}:{STUN_PORT}']


def sit_down(room):
    """A browser waits 2 s for a STUN server.  Whom that did not answer in time finds no way,
    loses his seat, and sits down again."""
    for n in range(TRIES):
        room.sit_down('Ben', list(TALKERS.values()))
        room.wait_for(lambda n=n: room.said('joined') or len(room.said('left')) > n,
                      'Ben is neither in nor out')
        if room.said('joined'):
            return
    raise Failed('Ben finds no way')


def run(room, network):
    network.forward(room.port)
    room.add_talkers(TALKERS, TALKER_BPS)
    room.add_browser('Ben', 600, machine=network.ben,
                     more_flags=['--ignore-certificate-errors'])
    sit_down(room)
    room.wait_to_hear('Ben', *TALKERS.values())
    ben = room.browsers['Ben']
    found = ben.wait_for(lambda: ben.evaluate('ear.pair()'), 'no way is in use')
    if found[1:] != ['srflx', 'udp']:
        raise Failed(f'they meet by {found}')
    say(f'Ben hears all; they meet by {found}')
    apart = set()                   # of them, who ever was: on a busy machine not all at once

    def all_were():
        apart.update(ben.evaluate('picture.you.separate'))
        return apart == set(TALKERS)

    ben.wait_for(all_were, 'not all become separate')
    say(f'talkers of {TALKER_BPS // 1000} kbit/s are separate')


def say(text):
    print(f'{time.monotonic() - BEGAN:5.1f} s  {text}', flush=True)


def main():
    root, build = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    own_network(*MASQUERADE,
                'iptables -t nat -A PREROUTING -i out -p tcp --dport 1 -j DNAT '
                f'--to-destination {SERVER}', 'command -v openssl')
    network = Homes()
    try:
        with Home(root, build, '--slots', '6') as room:
            run(room, network)
    finally:
        network.close()


BEGAN = time.monotonic()
if sys.argv[1:] == ['--stun']:
    serve_stun()
else:
    main()
