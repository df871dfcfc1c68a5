#!/usr/bin/env python3
"""How many instructions partialmix takes, whatever else the machine does.

usage: tests/bench/instructions.py [--csv] BUILD-DIR [N...]

Callgrind counts each program twice, with a shorter and a longer run; what lies
between is the work itself, without start-up.  N: participants of the crowd (8,
32, 128 by default; valgrind takes a minute or two for each; 0: none).  Needs
valgrind and, for the crowd, $FMX_VOICES.
"""
import csv
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

HEAD = 'benchmark,scene,measure,value,unit,aim,target'.split(',')


def count(program, *args):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ['valgrind', '--tool=callgrind',
             f'--callgrind-out-file={folder}/out', program, *args],
            capture_output=True, text=True, check=True)
    return int(re.search(r'Collected : (\d+)', run.stderr)[1])


def between(program, args, short, long):
    """Instructions for each unit of the last argument."""
    return (count(program, *args, str(long))
            - count(program, *args, str(short))) / (long - short)


def crowd(build, n):
    program = str(build / 'tests/bench/bench-partialmix')
    scene = f'N = {n}, all talk, CELT mixes'
    per = {side: between(program, ['once', side, str(n)], 60, 90) / n
           for side in ('ours', 'bare')}
    yield 'crowd', scene, 'partialmix', per['ours'] / 1e3, 'k/frame', '', ''
    yield 'crowd', scene, 'bare libopus', per['bare'] / 1e3, 'k/frame', '', ''
    yield ('crowd', scene, 'partialmix / bare libopus',
           per['ours'] / per['bare'], '', '<=', 1.15)


@functools.cache
def forward_total(program, what, how, neighbours):
    return between(program, ['once', what, how, str(neighbours)], 10, 60)


def forward(build, what, how, neighbours):
    program = str(build / 'tests/bench/bench-forward')
    streams = 64
    return (forward_total(program, what, how, neighbours)
            - forward_total(program, 'nothing', how, 1)) / streams / neighbours


def forwards(build):
    names = {'arriving': 'push-timeout=never'}
    for neighbours in (1, 8, 32):
        for what, how in (('partialmix', 'buffers'), ('partialmix', 'lists'),
                          ('arriving', 'buffers'), ('arriving', 'lists'),
                          ('rtpfunnel', 'buffers')):
            yield ('forward', f'64 streams to {neighbours}, {how}',
                   names.get(what, what),
                   forward(build, what, how, neighbours), '', '', '')


def main():
    args = [a for a in sys.argv[1:] if a != '--csv']
    as_csv = '--csv' in sys.argv
    writer = csv.writer(sys.stdout, lineterminator='\n')
    build, sizes = pathlib.Path(args[0]), args[1:] or ['8', '32', '128']
    if as_csv:
        writer.writerow(HEAD)

    def show(rows):
        for row in rows:
            if as_csv:
                writer.writerow(f'{v:.6g}' if isinstance(v, float) else v
                                for v in row)
            else:
                print(f'{row[0]:<9} {row[1]:<30} {row[2]:<38} '
                      f'{row[3]:10.4g} {row[4]} {row[5]} {row[6]}')
            sys.stdout.flush()

    show(forwards(build))
    for n in sizes:
        if int(n) > 0:
            show(crowd(build, int(n)))


if __name__ == '__main__':
    main()
