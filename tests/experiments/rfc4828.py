#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""RFC 4828's tables 8 and 9: what they say, what we send, what ns-2 sends.

  tests/experiments/rfc4828.py [--build build]

Makes BUILD/experiments/rfc4828.csv; write_results.py reads it.  Needs ns-2 (Debian:
apt-get install ns2), where the tables come from.
"""
import argparse
import concurrent.futures
import csv
import io
import pathlib
import re
import shutil
import subprocess
import sys

MODEL = pathlib.Path(__file__).resolve().parents[1] / 'peers' / 'tfrc-sp.tcl'
SEEDS = 40
APP_BPS = {'200': '160e3', '14': '5.6e3'}
# length and losses of the newest closed interval, and whether it is a short one
RECORD = re.compile(r'sample 0: +\d+ 1: +(\d+).*\n.*losses 0: +\d+ 1: +(\d+)'
                    r'.*\n.*count\? 0: +\d+ 1: +(\d+)')


def ns2(payload, drop, seed):
    """(kbit/s, [(packets, losses) of each short interval])."""
    out = subprocess.run(
        ['ns', str(MODEL), 'table', f'payload={payload}', f'loss={drop}',
         f'app_bps={APP_BPS[payload]}', f'seed={seed}', 'intervals=1'],
        check=True, capture_output=True, text=True)
    intervals, last = [], None
    for packets, losses, short in RECORD.findall(out.stdout):
        if short == '1' and losses != '0' and (packets, losses) != last:
            intervals.append((int(packets), int(losses)))
        last = packets, losses
    return float(out.stderr), intervals


def mean(values):
    return sum(values) / len(values)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('--build', default='build', metavar='FOLDER')
    build = pathlib.Path(p.parse_args().build)
    if not shutil.which('ns'):
        print('rfc4828.py: ns is missing: apt-get install ns2', file=sys.stderr)
        return 77
    ours = subprocess.run([build / 'tests' / 'bench' / 'rate', 'tables'],
                          check=True, capture_output=True, text=True).stdout
    folder = build / 'experiments'
    folder.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor() as pool, \
            open(folder / 'rfc4828.csv', 'w', encoding='ascii') as f:
        f.write('payload_bytes,drop,rfc4828_kbps,ours_kbps,ns2_kbps,'
                'ns2_interval,ns2_whole_interval\n')
        for row in csv.DictReader(io.StringIO(ours)):
            payload, drop = row['payload_bytes'], row['drop']
            runs = list(pool.map(lambda seed, p=payload, d=drop: ns2(p, d, seed),
                                 range(1, SEEDS + 1)))
            short = [i for _, intervals in runs for i in intervals]
            f.write(','.join([
                payload, drop, row['rfc4828_kbps'], row['kbps'],
                f'{mean([rate for rate, _ in runs]):.2f}',
                f'{mean([n / k for n, k in short]):.3f}' if short else '',
                f'{mean([n // k for n, k in short]):.3f}' if short else ''])
                + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
