#!/usr/bin/env python3
"""Runs the benchmarks of mixing and forwarding and writes docs/benchmarks.md.

usage: meson devenv -C build ../tests/bench/write_benchmarks.py BUILD-DIR [--stock N...]
           [--keep FOLDER] [--only SECTION...] > docs/benchmarks.md

Needs voices (FMX_VOICES=FOLDER; examples/voices.sh FOLDER makes some) and
valgrind.  --stock: for how many participants to build the graph of stock
elements, 8, 32 and 128 by default; 128 takes minutes.  --keep: keeps each
program's CSV there, and takes what is there already instead of running it.
--only: measures forward, instructions-forward, sockets, joins, alsrouter, latency or
memory anew and leaves the rest of the page as it is; write to another file, then move it
there.
"""
import argparse
import csv
import io
import os
import pathlib
import re
import subprocess
import sys

SECTIONS = {
    'crowd': ('A crowd: everybody talks, everybody is mixed', '''
Each of N participants sends Opus (recorded voices, hybrid, 32 kbit/s, 20 ms) and
hears one mix of all others, of complexity 5: CELT of 32 kbit/s (`mix-music`), or as speech,
as is the default, of 16 kbit/s (lean) or 32. That takes N decodes and N encodes at least. *Bare libopus* is a loop of
`opus_decode()` and `opus_encode()` over the same packets. Both run in turns of 0.2 s
of sound; the numbers are medians of 51 turns, in milliseconds of CPU time for each
participant and second, on one processor with one thread that mixes. On a busy machine
bare libopus alone may take more than the target; then only the ratio tells something.'''),
    'instructions-crowd': ('The same in instructions', '''
Thousands of instructions for each participant and frame of 20 ms. callgrind counts
them, so what else the machine does makes no difference.'''),
    'stock': ('The same with the elements that GStreamer comes with', '''
N × (`rtpopusdepay ! opusdec ! tee`), N × (`audiomixer ! opusenc ! rtpopuspay`), free
running, in the same run as partialmix.'''),
    'conversation': ('A conversation: eight talk', '''
There are N participants, and eight of them talk. Their packets tell levels (RFC 6464).
Each path carries three separate streams and the mix of the rest.'''),
    'forward': ('Forwarding, element by element', '''
64 streams arrive on one pad and go to every neighbour. CPU time for each packet and
neighbour; making packets and throwing them away is not counted. rtpfunnel has a pad
for each stream and a `tee` behind it.'''),
    'instructions-forward': ('The same in instructions', '''
Instructions for each packet and neighbour, counted by callgrind.'''),
    'sockets': ('Forwarding, from socket to socket', '''
32 streams come in on one socket and go to eight neighbours, on loopback. Each
forwarder is a process of its own. CPU time for each packet delivered, the kernel's
share included.'''),
    'joins': ('Very many join at once', '''
Streams join one after the other, without a pause, and two neighbours hear them, one all
and one a mix. CPU time of the thread that receives; medians of 11 turns in one run. The
dearest pushes plan anew, which costs some 0.5 µs for each stream and neighbour; beyond a
thousand streams they leave that to the next tick.'''),
    'alsrouter': ('A router of the Adaptive Load Service', '''
RTP from 1 to 30,000 hosts passes alsrouter. CPU time for each packet beyond that of a
pad that only hands it on; the best of 5 rounds of a million packets.'''),
    'latency': ('Added latency', '''
Mixes are measured in virtual time, over all phases between packets and ticks. They
add one frame and the playout delay that `latency` begins with. Limiter (2.5 ms) and
Opus (6.5 ms) look ahead inside the packet. Forwarding is measured in real time.'''),
    'memory': ('Memory', '''
What `malloc()` has given out. Decoder, samples and playout are made for a stream that is
mixed for the first time; they stay until it goes.'''),
    'kernels': ('The inner loops', '''
Nanoseconds of CPU time for each sample (and stream), with the fastest variant that
this machine can run. *Times faster* compares it with the scalar reference.
[mix](algorithms/mix.md) says what a limiter that limits has to do.'''),
    'clarity': ('A crowd of recorded voices stays clear', '''
Signal to distortion of the limiter, of clamping and of wrapping, in dB, at -14 dBFS for
each voice.'''),
}

KERNEL_TARGETS = {'sum of 64': 0.03, 'subtract': 0.06,
                  'limiter, nothing to do': 0.1,
                  'limiter, a crowd': 0.1, 'energy': 0.06}


# What is measured alone, by --only
PROGRAMS = {'forward': 'bench-forward', 'sockets': 'bench-sockets', 'joins': 'bench-joins',
            'alsrouter': 'bench-alsrouter', 'latency': 'bench-state',
            'memory': 'bench-state'}
PAGE = pathlib.Path(__file__).resolve().parents[2] / 'docs/benchmarks.md'


class Runner:
    def __init__(self, build, keep):
        self.build, self.keep = build, keep

    def rows(self, name, *command):
        """The CSV of a program, as dictionaries."""
        kept = self.keep / f'{name}.csv' if self.keep else None
        if kept and kept.exists():
            text = kept.read_text(encoding='utf-8')
        else:
            print(f'running {name}', file=sys.stderr)
            run = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                                 check=False)
            if run.returncode == 77:
                sys.exit(f'{name} lacks something, see above')
            run.check_returncode()
            text = run.stdout
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(text, encoding='utf-8')
        return list(csv.DictReader(io.StringIO(text)))

    def bench(self, name, program, *args):
        return self.rows(name, str(self.build / 'tests/bench' / program),
                         '--csv', *args)


def number(text):
    value = float(text)
    return f'{value:.3g}' if abs(value) < 1000 else f'{value:.0f}'


def verdict(row):
    if not row['aim']:
        return ''
    value, target = float(row['value']), float(row['target'])
    met = value <= target if row['aim'] == '<=' else value >= target
    if met:
        return 'met'
    return f'**missed** by {abs(value / target - 1) * 100:.0f} %'


def section(key, rows, note=''):
    title, text = SECTIONS[key]
    print(f'\n## {title}\n{text}{note}\n')
    print('| scene | measure | value | target | |')
    print('|---|---|---|---|---|')
    scene = None
    for row in rows:
        sign = {'<=': '≤ ', '>=': '≥ ', '': ''}[row['aim']]
        print(f'| {row["scene"] if row["scene"] != scene else ""} '
              f'| {row["measure"]} | {number(row["value"])} {row["unit"]} '
              f'| {sign}{row["target"]} | {verdict(row)} |')
        scene = row['scene']


def kernel_rows(rows):
    best = {}
    for row in rows:
        # names may hold a comma: the last four columns count
        values = [row['kernel'], *list(row.values())[1:]]
        if row.get(None):
            values = [row['kernel'] + ',' + row['variant'],
                      *list(row.values())[2:-1], *row[None]]
        name, variant, ns, _, faster = values
        if name not in best or float(ns) < float(best[name][1]):
            best[name] = (variant, ns, faster)
    for name, (variant, ns, faster) in best.items():
        target = KERNEL_TARGETS.get(name, '')
        yield {'scene': name, 'measure': f'{variant}, {faster} times faster',
               'value': ns, 'unit': 'ns', 'target': str(target),
               'aim': '<=' if target else ''}


def clarity_rows(rows):
    for row in rows:
        if row['level_dbfs'] != '-14':
            continue
        for measure in ('limiter', 'clamp', 'wrap'):
            target = measure == 'limiter' and row['talkers'] == '24'
            yield {'scene': f'{row["talkers"]} talkers', 'measure': measure,
                   'value': row[f'{measure}_db'], 'unit': 'dB',
                   'aim': '>=' if target else '',
                   'target': '27' if target else ''}


def machine():
    cpu = re.search(r'model name\s*: (.+)',
                    pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8'))
    load = ', '.join(f'{x:.1f}' for x in os.getloadavg())
    versions = subprocess.run(
        ['pkg-config', '--modversion', 'gstreamer-1.0', 'opus'],
        capture_output=True, text=True, check=True).stdout.split()
    real_time = os.sched_getscheduler(0) != os.SCHED_OTHER
    return (f'{cpu[1] if cpu else "unknown processor"}, '
            f'{os.cpu_count()} processors, load average {load}'
            f'{", at real-time priority" if real_time else ""}; GStreamer '
            f'{versions[0]}, libopus {versions[1]}')


def count(run, *sizes):
    rows = run.rows('instructions', str(pathlib.Path(__file__).with_name(
        'instructions.py')), '--csv', str(run.build), *sizes)
    for row in rows:
        row['benchmark'] = 'instructions-' + row['benchmark']
    return rows


def rewrite(run, keys):
    """The page as it is, but for some sections."""
    commit = subprocess.run(
        ['git', 'rev-parse', '--short', 'HEAD'], cwd=PAGE.parent,
        capture_output=True, text=True, check=True).stdout.strip()
    head, *old = re.split(r'^(?=## )', PAGE.read_text(encoding='utf-8'), flags=re.M)
    print(head.rstrip('\n'))
    for key, (title, _) in SECTIONS.items():
        # a section may be new
        text = old.pop(0) if old and old[0].startswith(f'## {title}\n') else ''
        if key not in keys:
            if text:
                print('\n' + text.rstrip('\n'))
            continue
        rows = count(run, '0') if key not in PROGRAMS else run.bench(
            PROGRAMS[key].removeprefix('bench-'), PROGRAMS[key])
        section(key, [row for row in rows if row['benchmark'] == key],
                f'\nOf commit {commit}.')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--stock', nargs='+', default=['8', '32', '128'])
    parser.add_argument('--keep', type=pathlib.Path)
    parser.add_argument('--only', nargs='+', default=[],
                        choices=[*PROGRAMS, 'instructions-forward'])
    options = parser.parse_args()
    run = Runner(options.build.resolve(), options.keep)
    if options.only:
        rewrite(run, options.only)
        return

    mix = run.bench('partialmix', 'bench-partialmix', 'crowd', 'lean',
                    'speech', 'conversation')
    mix += run.bench('stock', 'bench-partialmix', 'stock', *options.stock)
    mix += run.bench('forward', 'bench-forward')
    mix += run.bench('sockets', 'bench-sockets')
    mix += run.bench('joins', 'bench-joins')
    mix += run.bench('alsrouter', 'bench-alsrouter')
    mix += run.bench('state', 'bench-state')
    mix += count(run)

    print(f'''# Benchmarks

What mixing and forwarding cost. Beside it stands what cannot be saved (bare libopus,
bare sockets), and what stock GStreamer costs. Made by

    examples/voices.sh build/voices
    FMX_VOICES=$PWD/build/voices meson devenv -C build \\
      ../tests/bench/write_benchmarks.py . > docs/benchmarks.md

on {machine()}.

Times are CPU time. They depend on the machine and on what else it does, so compare
numbers of one table only. Targets are the project's own; the tables say which ones are
missed.''')
    for key in SECTIONS:
        rows = [row for row in mix if row['benchmark'] == key]
        if rows:
            section(key, rows)
    section('kernels', kernel_rows(run.bench('kernels', 'kernels')))
    section('clarity', clarity_rows(run.bench(
        'crowd', 'crowd', os.environ.get('FMX_VOICES', ''))))


if __name__ == '__main__':
    main()
