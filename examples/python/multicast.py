#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A multicast group on one machine; started by examples/multicast.sh, in
namespaces of its own."""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

LAUNCH = pathlib.Path(__file__).resolve().parents[1] / 'launch'
GROUP = '239.1.2.3:5004'
N_LISTENERS = 6
NARROW = f'listener{N_LISTENERS}'
BURST_BYTES = 2000
QUEUE_S = 0.3                   # what may wait at the narrow link
BITRATE = 160000
DECISION = re.compile(r'fairmix-rate-decision.*?reason=\(string\)([\w-]+).*?'
                      r'target-bps=\(double\)([\d.e+]+)')


def ip(*arguments):
    subprocess.run(['ip', *map(str, arguments)], check=True)


def make_host(name, number):
    """A network with one cable, which ends at the switch."""
    ip('netns', 'add', name)
    ip('link', 'add', f'to-{name}', 'type', 'veth', 'peer', 'name', 'eth0',
       'netns', name)
    ip('link', 'set', f'to-{name}', 'master', 'switch', 'up')
    ip('-n', name, 'link', 'set', 'lo', 'up')
    ip('-n', name, 'link', 'set', 'eth0', 'up')
    ip('-n', name, 'address', 'add', f'10.77.0.{number}/24', 'dev', 'eth0')
    ip('-n', name, 'route', 'add', '224.0.0.0/4', 'dev', 'eth0')


def make_networks(narrow_bps):
    subprocess.run(['mount', '-t', 'tmpfs', 'none', '/run'], check=True)
    os.makedirs('/run/netns')
    ip('link', 'add', 'switch', 'type', 'bridge', 'mcast_snooping', '0')
    ip('link', 'set', 'switch', 'up')
    make_host('sender', 1)
    for n in range(1, N_LISTENERS + 1):
        make_host(f'listener{n}', n + 1)
    subprocess.run(['tc', 'qdisc', 'add', 'dev', f'to-{NARROW}', 'root', 'tbf',
                    'rate', str(narrow_bps), 'burst', str(BURST_BYTES), 'limit',
                    str(int(narrow_bps / 8 * QUEUE_S))], check=True)


def carried_bytes(name, way):
    """What the switch got from a host (rx) or sent to it (tx)."""
    text = subprocess.run(['ip', '-json', '-stats', 'link', 'show',
                           f'to-{name}'], capture_output=True, text=True,
                          check=True).stdout
    return json.loads(text)[0]['stats64'][way]['bytes']


class Group:
    def __init__(self, folder):
        self.folder, self.programs, self.readers = folder, {}, {}
        self.target_bps, self.begin = 0.0, time.monotonic()
        self.decisions = []

    def start(self, name, script, *arguments, **environment):
        """A script in its network; what it says goes into its log."""
        program = subprocess.Popen(
            ['ip', 'netns', 'exec', name, str(LAUNCH / script), *arguments],
            env={**os.environ, 'INTERFACE': 'eth0', 'BITRATE': str(BITRATE),
                 **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.programs[name] = program
        self.readers[name] = threading.Thread(
            target=self.listen, args=(name, program), daemon=True)
        self.readers[name].start()

    def listen(self, name, program):
        with open(self.folder / f'{name}.log', 'w', encoding='utf-8') as log:
            for line in program.stdout:
                log.write(line)
                log.flush()
                found = DECISION.search(line)
                if found:
                    self.target_bps = float(found[2])
                    self.decisions.append((self.seconds(), found[1],
                                           self.target_bps))

    def seconds(self):
        return time.monotonic() - self.begin

    def check(self):
        """Nothing is worth a look that was made without one of them."""
        for name, program in self.programs.items():
            if program.poll() is not None:
                self.readers[name].join()
                sys.exit(f'\n{name} ended; {self.folder}/{name}.log says:\n'
                         + (self.folder / f'{name}.log').read_text('utf-8'))

    def stop(self, name):
        """Control-C, as a person would."""
        program = self.programs.pop(name)
        if program.poll() is None:
            program.send_signal(signal.SIGINT)
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()

    def watch(self, what, seconds, table):
        """Notes the rates of each second."""
        print(f'== {what}')
        before = None
        end = self.seconds() + seconds
        while self.seconds() < end:
            time.sleep(1 - self.seconds() % 1)
            self.check()
            now = (self.seconds(), carried_bytes('sender', 'rx'),
                   carried_bytes(NARROW, 'tx'))
            if before is not None:
                span = now[0] - before[0]
                table.write(f'{now[0]:.1f},{self.target_bps:.0f},'
                            f'{(now[1] - before[1]) * 8 / span:.0f},'
                            f'{(now[2] - before[2]) * 8 / span:.0f}\n')
                table.flush()
                print(f'\r{now[0]:5.0f} s  target {self.target_bps / 1000:6.1f}'
                      ' kbit/s ', end='', flush=True)
            before = now
        print()


def mean_target(path, from_s, until_s):
    rows = [line.split(',') for line in path.read_text().splitlines()[1:]]
    values = [float(r[1]) for r in rows if from_s <= float(r[0]) < until_s]
    return sum(values) / len(values) / 1000 if values else 0.0


def play(folder, seconds, narrow_bps):
    group = Group(folder)
    path = folder / 'multicast.csv'
    with open(path, 'w', encoding='ascii') as table:
        table.write('t_s,target_bps,sent_bps,narrow_bps\n')
        for n in range(1, N_LISTENERS):
            group.start(f'listener{n}', 'multicast-receiver.sh', GROUP, 'fake')
        group.start('sender', 'multicast-sender.sh', 'noise', GROUP, FLAGS='-m')
        group.watch('five listeners', seconds, table)
        group.start(NARROW, 'multicast-receiver.sh', GROUP, 'fake')
        group.watch(f'a sixth one, behind {narrow_bps / 1000:g} kbit/s', seconds,
                    table)
        group.stop(NARROW)
        group.watch('five again', seconds, table)
    for name in list(group.programs):
        group.stop(name)
    print(f'mean target: {mean_target(path, seconds / 2, seconds):.1f} kbit/s, '
          f'{mean_target(path, seconds * 1.5, seconds * 2):.1f} with the sixth, '
          f'{mean_target(path, seconds * 2.5, seconds * 3):.1f} after it '
          f'({len(group.decisions)} decisions)')
    print(f'in {folder}: multicast.csv, logs')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=int, default=40)
    parser.add_argument('--narrow', type=int, default=60000)
    parser.add_argument('--out', type=pathlib.Path,
                        default=pathlib.Path('/tmp/fairmix-multicast'))
    arguments = parser.parse_args()
    if os.getpid() != 1:
        sys.exit('examples/multicast.sh starts this, in namespaces')
    arguments.out.mkdir(parents=True, exist_ok=True)
    make_networks(arguments.narrow)
    play(arguments.out, arguments.seconds, arguments.narrow)


if __name__ == '__main__':
    main()
