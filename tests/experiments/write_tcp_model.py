#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The simulator's TCP beside Linux' TCP, cell by cell.

  tests/experiments/write_tcp_model.py [--seeds N...] [--again] [--print]
      [--model PROGRAM]

Each cell is a drop-tail queue with one to four TCPs and, once, a voice of 64 kbit/s
and, once, the library's controller shortq.  Linux' are those of the private kernel
(runner `kernel`; what has a result is not run again), the model's those of
BUILD/subprojects/fairmix/tests/sim/tcp-cells.  Writes the table between the markers
of docs/algorithms/rate.md.
"""
import argparse
import csv
import math
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
import run  # noqa: E402
from lab import results, scenario  # noqa: E402

PAGE = ROOT / 'docs/algorithms/rate.md'
FROM_S, END_S = 30, 120
# kbit/s, round trip in ms, queue (p: packets, else kB), TCP, how many
CELLS = [
    (500, 100, '15p', 'reno', 1), (500, 40, '25p', 'cubic', 1),
    (500, 100, '18.75', 'reno', 1), (500, 20, '15', 'cubic', 1),
    (500, 150, '60', 'cubic', 2), (1000, 10, '20p', 'reno', 2),
    (1000, 60, '15', 'cubic', 1), (1000, 150, '50p', 'cubic', 1),
    (1000, 30, '60', 'reno', 4), (2000, 40, '30p', 'cubic', 1),
    (2000, 40, '30p', 'reno', 1), (2000, 100, '15', 'reno', 1),
    (2000, 100, '100p', 'cubic', 4), (2000, 10, '25', 'cubic', 2),
    (3000, 150, '20p', 'reno', 2), (3000, 20, '110', 'reno', 1),
    (5000, 60, '60p', 'cubic', 1), (5000, 60, '60p', 'reno', 4),
    (5000, 100, '15', 'cubic', 2), (5000, 20, '125', 'cubic', 4),
    (5000, 150, '100p', 'reno', 1), (1000, 40, '15', 'reno', 1),
    (500, 100, '30', 'bbr', 1), (2000, 80, '50', 'bbr', 4),
    (2000, 80, '25p', 'bbr', 1), (2000, 20, '100', 'bbr', 2),
    (5000, 60, '40', 'bbr', 2), (1000, 150, '150', 'bbr', 1),
]
COLUMNS = ('voice_loss', 'tcp_loss', 'queue_ms', 'ratio', 'ratio_tcp_loss')


def link_of(cell):
    rate, rtt, queue, _, _ = cell
    size = f'queue_packets = {queue[:-1]}' if queue.endswith('p') \
        else f'queue_bytes = {round(float(queue) * 1000)}'
    return (f'rate_bps = {rate}_000\ndelay_ms = {rtt / 2}\n{size}\n'
            'back_rate_bps = 100_000_000\n')


def scenario_text(cell):
    out = ['title = "TCP model"', f'duration_s = {END_S}',
           'runners = ["kernel"]', '[link.wan]', link_of(cell)]
    for i in range(cell[4]):
        out += [f'[flow.tcp{i}]', 'kind = "tcp"', f'cc = "{cell[3]}"',
                f'start_s = {i}']
    out += ['[vary.beside.voice.flow.other]', 'kind = "cbr"',
            'rate_bps = 64_000', 'packet_bytes = 200', 'start_s = 5',
            '[vary.beside.shortq.flow.other]', 'kind = "bundle"',
            'strategy = "paced"', 'controller = "shortq"', 'streams = 1',
            'jitter_ms = 2', 'start_s = 5']
    return '\n'.join(out) + '\n'


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def of_linux(result, cell):
    def total(flow, column):
        table = result.flows[flow]
        return sum(v for t, v in zip(table['t_s'], table[column])
                   if t > FROM_S and v is not None)
    tcps = [f'tcp{i}' for i in range(cell[4])]
    wan = result.links['wan']
    return {
        'tcp_bps': sum(mean(v for t, v in zip(
            result.flows[f]['t_s'], result.flows[f]['received_bps'])
            if t > FROM_S) for f in tcps),
        'tcp_loss': sum(total(f, 'lost_packets') for f in tcps)
        / sum(total(f, 'sent_packets') for f in tcps),
        'queue_ms': mean(q for t, q in zip(wan['t_s'], wan['queue_ms'])
                         if t > FROM_S and q is not None),
        'own_bps': mean(v for t, v in zip(
            result.flows['other']['t_s'], result.flows['other']['received_bps'])
            if t > FROM_S),
        'own_loss': total('other', 'lost_packets')
        / max(1, total('other', 'sent_packets'))}


def linux(cell, name, args):
    """The scenario of a cell; what is to be run of it is added to args.todo."""
    path = pathlib.Path(args.out) / f'{name}.toml'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(scenario_text(cell), encoding='utf-8')
    s = scenario.Scenario(path)
    have = {r.run.name for r in results.load(args.out, [s], False, ['kernel'])}
    args.todo += [(r, 'kernel') for r in s.runs(False, args.seeds, {}, 'kernel')
                  if args.again or r.name not in have]
    return s


def model(cell, beside, seed, args):
    rate, rtt, queue, kind, n = cell
    packets = queue[:-1] if queue.endswith('p') else '0'
    size = '0' if queue.endswith('p') else str(round(float(queue) * 1000))
    text = subprocess.run(
        [args.model, str(rate * 1000), str(rtt / 2), size, packets, kind, str(n), beside,
         str(seed)], check=True, capture_output=True, text=True).stdout
    return {k: float(v) for k, v in next(csv.DictReader(text.splitlines())).items()}


def combine(rows, cell):
    """{column: mean over the seeds} of [(beside, measures)]."""
    voice = [r for beside, r in rows if beside == 'voice']
    own = [r for beside, r in rows if beside == 'shortq']
    return {
        'voice_loss': mean(r['own_loss'] for r in voice),
        'tcp_loss': mean(r['tcp_loss'] for r in voice),
        'queue_ms': mean(r['queue_ms'] for r in voice),
        'ratio': mean(r['own_bps'] / (r['tcp_bps'] / cell[4]) for r in own),
        'ratio_tcp_loss': mean(r['tcp_loss'] for r in own)}


def table(found):
    out = ['| link | round trip | queue | TCPs | voice lost, % | TCP lost, % '
           '| queue, ms | shortq / TCP | TCP lost beside it, % |',
           '|---|---|---|---|---|---|---|---|---|']
    scale = (100, 100, 1, 1, 100)
    digits = (2, 2, 0, 2, 2)
    for cell, here, there in found:
        rate, rtt, queue, kind, n = cell
        size = f'{queue[:-1]} packets' if queue.endswith('p') else f'{queue} kB'
        values = [f'{here[c] * f:.{d}f} : {there[c] * f:.{d}f}'
                  for c, f, d in zip(COLUMNS, scale, digits)]
        out.append(f'| {rate} kbit/s | {rtt} ms | {size} | {n} {kind} | '
                   + ' | '.join(values) + ' |')
    return out


def apart(found):
    """How far the model is from Linux: the mean of |ln| of what is not nothing."""
    lines = []
    least = {'voice_loss': 1e-3, 'tcp_loss': 1e-3, 'queue_ms': 3, 'ratio': 0.02,
             'ratio_tcp_loss': 1e-3}
    for c in COLUMNS:
        logs = [math.log((a[c] + least[c]) / (b[c] + least[c]))
                for _, a, b in found]
        lines.append(f'{c:16} mean ln {mean(logs):+.2f}, mean |ln| '
                     f'{mean(map(abs, logs)):.2f}')
    return lines


def fill_in(lines):
    text = PAGE.read_text(encoding='utf-8')
    pattern = re.compile(r'(<!-- cells: .*?-->\n).*?(<!-- end -->)', re.S)
    PAGE.write_text(pattern.sub(lambda m: m[1] + '\n'.join(lines) + '\n' + m[2],
                                text), encoding='utf-8')


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('--build', default=ROOT / 'build')
    p.add_argument('--model', help='another build of tcp-cells')
    p.add_argument('--seeds', type=int, nargs='+', default=[1])
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('--again', action='store_true')
    p.add_argument('--only', type=int, nargs='+')
    p.add_argument('--print', action='store_true')
    args = p.parse_args()
    args.model = args.model or pathlib.Path(args.build) \
        / 'subprojects/fairmix/tests/sim/tcp-cells'
    args.short, args.todo = False, []
    args.out = pathlib.Path(args.build) / 'experiments' / 'tcp-model'
    cells = [(f'cell-{"-".join(map(str, c))}', c) for i, c in enumerate(CELLS)
             if not args.only or i + 1 in args.only]
    scenarios = {name: linux(c, name, args) for name, c in cells}
    if args.todo and run.run_all(args.todo, args):
        return 1
    found = []
    for name, cell in cells:
        rows = [(r.run.choice['beside'], of_linux(r, cell)) for r in
                results.load(args.out, [scenarios[name]], False, ['kernel'])
                if r.run.seed in args.seeds]
        mine = [(b, model(cell, b, seed, args)) for b in ('voice', 'shortq')
                for seed in args.seeds]
        found.append((cell, combine(mine, cell), combine(rows, cell)))
    lines = table(found)
    if args.print:
        print('\n'.join(lines + apart(found)))
    else:
        fill_in(lines)
    return 0


if __name__ == '__main__':
    sys.exit(main())
