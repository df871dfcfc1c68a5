#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two people on two machines, by examples/web.sh, its link and HTTPS.

usage: machines.py SOURCE-ROOT BUILD-ROOT; exit status 77 where one may not make
network namespaces

A machine is a namespace: the server's, where Ada sits, and Ben's, with a router
between them.  They hear each other; the link that --open opens is the one that is
printed.  Then Ben's way up narrows to less than his voice needs, and his encoder
follows.  At last the router becomes a firewall, and Ben comes again.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

from devtools import Failed
from room import Room

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
TONES = {'Ada': 600, 'Ben': 1400}
SERVER, ROUTER, AWAY = '10.77.1.1', ('10.77.1.2', '10.77.2.2'), '10.77.2.1'
TURN_PORT, USER, PASSWORD = 3478, 'ben', 'sesame'
FLAGS = ['--ignore-certificate-errors']         # as people do, once
NARROW = 'rate 44kbit burst 1600 latency 300ms'         # 24 of them for headers
FREE_BPS, NARROW_BPS = 26000, 20000             # of Opus; it begins with 32000
MEASURE_S = 2
FORWARD = 'echo 1 >/proc/sys/net/ipv4/ip_forward'


def say(text):
    print(f'{time.monotonic() - BEGAN:5.1f} s  {text}', flush=True)


def own_network():
    """Starts this program again inside a network namespace."""
    if os.environ.get('FMX_MACHINES'):
        return
    prefix = ['unshare', '--user', '--map-root-user', '--net']
    if subprocess.run(prefix + ['sh', '-ec', f'{FORWARD}; ip link add xa type veth peer '
                                f'name xb; tc qdisc add dev xa root tbf {NARROW}; '
                                'unshare --net true; command -v openssl'],
                      capture_output=True, check=False).returncode:
        print('no network of several machines here')
        sys.exit(77)
    os.environ['FMX_MACHINES'] = 'yes'
    os.execvp(prefix[0], prefix + [sys.executable] + sys.argv)


class Network:
    """The server's machine, which is this one; a router; one away."""

    def __init__(self):
        self.processes = []
        self.router, self.away = self.machine(), self.machine()
        self.cable('there', SERVER, (), ROUTER[0], self.router)
        self.cable('away', ROUTER[1], self.router, AWAY, self.away)
        for machine, gateway in (((), ROUTER[0]), (self.away, ROUTER[1])):
            self.run(machine, 'ip route add default via', gateway)
        self.run(self.router, 'sh -c', FORWARD)
        for machine in ((), self.router, self.away):
            self.run(machine, 'ip link set lo up')

    def machine(self):
        """A namespace.  Returns: what runs a command there"""
        holder = self.start((), 'unshare --net sleep infinity')
        while os.readlink(f'/proc/{holder.pid}/ns/net') == \
                os.readlink('/proc/self/ns/net'):
            time.sleep(0.01)
        return 'nsenter', f'--net=/proc/{holder.pid}/ns/net'

    def cable(self, name, address, machine, peer, other):
        end = other[1].split('/')[2]
        self.run(machine, f'ip link add {name} type veth peer name back netns {end}')
        for at, device, ip in ((machine, name, address), (other, 'back', peer)):
            self.run(at, f'ip address add {ip}/24 dev {device}')
            self.run(at, f'ip link set {device} up')

    def run(self, machine, command, *more):
        subprocess.run([*machine, *command.split(), *more], check=True)

    def start(self, machine, command):
        self.processes.append(subprocess.Popen(
            [*machine, *command.split()], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return self.processes[-1]

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


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


def wait_to_hear(room, name, other):
    """Until three looks in a row find the other's tone."""
    browser, tone = room.browsers[name], list(TONES).index(other)
    browser.evaluate('ear.take()')
    browser.wait_for(lambda: browser.evaluate(
        'ear.looks.length > 2 && '
        f'ear.looks.slice(-3).every(look => look.loud[{tone}].length)'),
        f'{name} does not hear {other}')


def candidates(browser):
    """Of the pair that is in use: both ends' kinds (host, prflx, relay); protocol"""
    return browser.evaluate('''sound.connection.getStats().then(all => {
        const stats = [...all.values()], by = id => stats.find(s => s.id === id);
        const pair = stats.find(s => s.type === 'candidate-pair' && s.nominated
                                && s.state === 'succeeded');
        const [here, there] = [by(pair?.localCandidateId), by(pair?.remoteCandidateId)];
        return pair && [here.candidateType, there.candidateType, there.protocol]; })''')


def run(room, network):
    for name, machine in (('Ada', ()), ('Ben', network.away)):
        room.add_browser(name, TONES[name], machine=machine, more_flags=FLAGS)
    for name in TONES:
        room.sit_down(name, list(TONES.values()))
    wait_to_hear(room, 'Ada', 'Ben')
    wait_to_hear(room, 'Ben', 'Ada')
    ben = room.browsers['Ben']
    say(f'{room.link.partition("#")[0]}: both hear each other; {candidates(ben)}')
    room.wait_for(lambda: room.opened() == room.link, '--open opens another link')

    room.wait_for(lambda: sent_bps(ben) > FREE_BPS, 'his encoder makes little')
    network.run(network.router, 'tc qdisc add dev back root tbf', *NARROW.split())
    room.wait_for(lambda: sent_bps(ben) < NARROW_BPS, 'his encoder does not follow')
    say(f'his way up has 44 kbit/s: his encoder makes {sent_bps(ben):.0f} bit/s')
    wait_to_hear(room, 'Ada', 'Ben')
    network.run(network.router, 'tc qdisc del dev back root')
    room.wait_for(lambda: sent_bps(ben) > FREE_BPS, 'his encoder does not come back')
    say('and on a wide one as before')

    behind_a_firewall(room, network)


def behind_a_firewall(room, network):
    """Nothing passes the router but the page, where a TURN server can be had on it;
    else, no UDP: then ICE finds a way by TCP."""
    has_relay = shutil.which('turnserver')
    if has_relay:
        network.start(network.router, f'turnserver -n --no-cli --no-tls --no-dtls '
                      f'--lt-cred-mech --realm=room --user={USER}:{PASSWORD} '
                      f'--listening-ip={ROUTER[0]} --relay-ip={ROUTER[0]} '
                      f'--listening-port={TURN_PORT} --log-file=stdout '
                      f'--userdb={room.folder}/users --pidfile={room.folder}/turn.pid')
    for cable, port in (('back', 'sport'), ('away', 'dport')):
        network.run(network.router, f'ip rule add pref 9 iif {cable} ipproto tcp '
                    f'{port} {room.port} lookup main')
        network.run(network.router, f'ip rule add pref 10 iif {cable} '
                    + ('prohibit' if has_relay else 'ipproto udp prohibit'))
    room.browsers['Ben'].kill()
    room.wait_for(lambda: room.said('left', name='Ben'), 'Ben is still there')
    room.add_browser('Ben', TONES['Ben'], machine=network.away, more_flags=FLAGS)
    ben = room.browsers['Ben']
    room.sit_down('Ben', list(TONES.values()))
    wait_to_hear(room, 'Ada', 'Ben')
    wait_to_hear(room, 'Ben', 'Ada')
    found = candidates(ben)
    if ('relay' if has_relay else 'tcp') not in found:
        raise Failed(f'they hear each other by {found}')
    say(f'behind a firewall they hear each other by {found}')


def main():
    own_network()
    network = Network()
    room = Party(ROOT, BUILD, '--slots', '2', '--absent-s', '3', '--turn-server',
                 f'turn://{USER}:{PASSWORD}@{ROUTER[0]}:{TURN_PORT}')
    wrong = None
    try:
        run(room, network)
    except Failed as error:
        wrong = str(error)
    room.close()
    network.close()
    if wrong:
        print(*room.events, room.errors, sep='\n')
        sys.exit(wrong)


BEGAN = time.monotonic()
main()
