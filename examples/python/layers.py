#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers on one machine; started by examples/layers.sh, in namespaces of its
own."""
import argparse
import os
import pathlib
import subprocess
import sys
import time
import wave

import numpy

import heard
from pipelines import Pipeline

BUILD = pathlib.Path(os.environ.get('FMX_BUILD', pathlib.Path(__file__)
                                    .resolve().parents[2] / 'build'))
GROUP = '239.1.2.0:5004'
WIDE_BPS = 2_000_000
BURST_BYTES = 3000
FRAME_BPS = 8000                # what Ethernet's headers are of a voice, about
QUEUE_S = 0.3                   # what may wait at the narrow link
N_TALKERS = 3
LAST_S = 6                      # of the recordings, that are looked at
# who is at which switch
HOSTS = {'sender': 'a', 'wide': 'b', 'narrow': 'c',
         'router-wide': 'ab', 'router-narrow': 'ac'}


def ip(*arguments):
    subprocess.run(['ip', *map(str, arguments)], check=True)


def make_networks(narrow_bps):
    subprocess.run(['mount', '-t', 'tmpfs', 'none', '/run'], check=True)
    os.makedirs('/run/netns')
    for switch in 'abc':
        ip('link', 'add', f'switch-{switch}', 'type', 'bridge', 'mcast_snooping',
           '0')
        ip('link', 'set', f'switch-{switch}', 'up')
    for number, (name, switches) in enumerate(HOSTS.items(), 1):
        ip('netns', 'add', name)
        ip('-n', name, 'link', 'set', 'lo', 'up')
        for n, switch in enumerate(switches):
            cable = f'to-{switch}{number}'
            ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', f'eth{n}',
               'netns', name)
            ip('link', 'set', cable, 'master', f'switch-{switch}',
               'up')
            ip('-n', name, 'link', 'set', f'eth{n}', 'up')
            ip('-n', name, 'address', 'add',
               f'10.{ord(switch)}.0.{number}/24', 'dev', f'eth{n}')
        ip('-n', name, 'route', 'add', '224.0.0.0/4', 'dev', 'eth0')
    subprocess.run(
        ['ip', 'netns', 'exec', 'router-narrow', 'tc', 'qdisc', 'add', 'dev',
         'eth1', 'root', 'tbf', 'rate', str(narrow_bps + FRAME_BPS), 'burst',
         str(BURST_BYTES), 'limit', str(int(narrow_bps / 8 * QUEUE_S))],
        check=True)


class Show:
    """All the programs, and what the listeners say of their layers."""

    def __init__(self, folder):
        self.folder, self.programs = folder, []
        self.layers = {'wide': 1, 'narrow': 1}
        self.held = {}          # the same before the end
        self.log = open(folder / 'messages.log', 'w', encoding='utf-8')

    def start(self, host, script, *arguments, **environment):
        program = Pipeline(f'{host} {script}', script, *arguments,
                           on_message=self.listen, log=self.log,
                           within=('ip', 'netns', 'exec', host),
                           INTERFACE='eth0', **environment)
        self.programs.append(program)
        return program

    def listen(self, program, _source, structure, fields):
        host = program.name.split()[0]
        if structure == 'fairmix-layers' and host in self.layers:
            self.layers[host] = int(fields.get('n-layers', 1))

    def wait_for(self, wanted, patience_s):
        """Until the listeners hold so many layers; says whether they do."""
        end = time.monotonic() + patience_s
        while self.layers != wanted and time.monotonic() < end:
            self.check()
            time.sleep(0.2)
        return self.layers == wanted

    def check(self):
        for program in self.programs:
            if not program.alive:
                sys.exit(f'{program.name} ended:\n' + '\n'.join(program.tail))

    def stop(self):
        for program in reversed(self.programs):
            program.stop()
        self.log.close()


def start_listeners(show, narrow_bps, kind, n_layers):
    for host in ('wide', 'narrow'):
        show.start(host, 'layered-receiver.sh', GROUP,
                   show.folder / f'{host}.wav', kind)
    show.start('router-wide', 'layered-router.sh', 'eth0', 'eth1', WIDE_BPS,
               GROUP, n_layers)
    show.start('router-narrow', 'layered-router.sh', 'eth0', 'eth1', narrow_bps,
               GROUP, n_layers)


def samples_of(path):
    """(rate, samples by channel) of 16 bits"""
    with wave.open(str(path)) as file:
        raw = file.readframes(1 << 30)
        channels = file.getnchannels()
        raw = raw[:len(raw) // (2 * channels) * 2 * channels]
        return file.getframerate(), numpy.frombuffer(raw, '<i2').reshape(
            -1, channels).T.astype(float)


def write_stereo(path, left, right):
    (rate, one), (other_rate, two) = samples_of(left), samples_of(right)
    if rate != other_rate:
        sys.exit(f'{left} and {right} have different rates')
    length = min(one.shape[1], two.shape[1])
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(numpy.stack((one[0, :length], two[0, :length]), 1)
                         .astype('<i2').tobytes())


def peaks(voice, side):
    """The strongest match of a voice, and the strongest at another moment, 15 to
    300 ms away: an echo."""
    size = 1 << (len(side) + len(voice)).bit_length()
    cross = numpy.fft.rfft(side - side.mean(), size) \
        * numpy.fft.rfft(voice, size).conj()
    hertz = numpy.fft.rfftfreq(size, 1 / 48000)
    cross[(hertz < 300) | (hertz > 3500)] = 0
    cross /= numpy.abs(cross) ** 0.7 + 1e-9     # as in heard.py
    found = numpy.abs(numpy.fft.irfft(cross, size))
    at = int(numpy.argmax(found))
    lags = numpy.arange(at - 14400, at + 14400) % size
    near = numpy.abs(numpy.arange(-14400, 14400)) < 720
    return found[at], found[lags[~near]].max()


def describe(show, host, paths):
    """Where a listener heard each voice in the end, in decibels: left is positive;
    and how much of it came twice."""
    rate, sides = samples_of(show.folder / f'{host}.wav')
    if rate != 48000:
        sys.exit(f'{host}.wav has {rate} Hz')
    sides = sides[:, -int(LAST_S * rate):]
    print(f'{host} listener, {show.held[host]} layer{"s" * (show.held[host] != 1)}:')
    power = numpy.abs(numpy.fft.rfft(sides.sum(axis=0))) ** 2
    hertz = numpy.fft.rfftfreq(sides.shape[1], 1 / rate)
    air = power[(hertz > 8500) & (hertz < 12000)].sum() / power.sum()
    print(f'  above 8.5 kHz: {10 * numpy.log10(air + 1e-9):.1f} dB')
    sound = heard.load(show.folder / f'{host}.wav')
    for path in paths:
        voice = samples_of(path)[1][0]
        (left, left_echo), (right, right_echo) = (peaks(voice, s) for s in sides)
        echo = max(left_echo, right_echo) / max(left, right)
        share = heard.share_heard(
            heard.load(path), sound, heard.place(
                heard.load(path), sound, (-1, len(sound) / heard.RATE_HZ)))
        print(f'  {path.stem}: {share:.0%} heard, left over right '
              f'{20 * numpy.log10(left / right):+.1f} dB, a second time '
              f'{20 * numpy.log10(echo):.1f} dB')


def play(show, kind, paths, seconds, narrow_bps):
    n_layers = 3 if kind == 'sound' else 2
    start_listeners(show, narrow_bps, kind, n_layers)
    if kind == 'sound':
        write_stereo(show.folder / 'stereo.wav', *paths[:2])
        show.start('sender', 'layered-sender.sh', show.folder / 'stereo.wav',
                   GROUP)
    else:
        show.start('sender', 'layered-sender.sh', 'mix:7000', GROUP,
                   ','.join(f'127.0.0.1:{10000 + 10 * n}'
                            for n in range(N_TALKERS)))
        time.sleep(1)
        for n, path in enumerate(paths[:N_TALKERS]):
            show.start('sender', 'sender.sh', path, '127.0.0.1:7000',
                       10000 + 10 * n, SSRC=str(1001 + n))
    begin = time.monotonic()
    found = show.wait_for({'wide': n_layers, 'narrow': 1}, seconds)
    print(f'after {time.monotonic() - begin:.0f} s the wide listener holds '
          f'{show.layers["wide"]} layers, the narrow one '
          f'{show.layers["narrow"]}' + ('' if found else ': not as expected'))
    while time.monotonic() < begin + seconds:
        show.check()
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('kind', nargs='?', default='sound',
                        choices=['sound', 'talkers'])
    parser.add_argument('--seconds', type=int, default=30)
    parser.add_argument('--narrow', type=int, default=60000)
    parser.add_argument('--voices', type=pathlib.Path,
                        default=BUILD / 'voices')
    parser.add_argument('--out', type=pathlib.Path,
                        default=pathlib.Path('/tmp/fairmix-layers'))
    arguments = parser.parse_args()
    if os.getpid() != 1:
        sys.exit('examples/layers.sh starts this, in namespaces')
    paths = sorted(arguments.voices.glob('*.wav'))[:N_TALKERS]
    if len(paths) < N_TALKERS:
        sys.exit(f'no {N_TALKERS} voices in {arguments.voices}: '
                 'run examples/voices.sh')
    arguments.out.mkdir(parents=True, exist_ok=True)
    make_networks(arguments.narrow)
    show = Show(arguments.out)
    try:
        play(show, arguments.kind, paths, arguments.seconds, arguments.narrow)
        show.held = dict(show.layers)
    finally:
        show.stop()
    of = paths[:2] if arguments.kind == 'sound' else paths
    for host in ('wide', 'narrow'):
        describe(show, host, of)
    print(f'in {arguments.out}: wide.wav, narrow.wav, messages.log')


if __name__ == '__main__':
    main()
