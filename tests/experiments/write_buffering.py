#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Table 4.1 and figures 4.2 to 4.7 of the minimal-buffering paper.

  tests/experiments/write_buffering.py [--build build]

Runs build/tests/bench/buffering (half a minute) and fills in what stands between
the markers of docs/results.md, and docs/results/buffering-*.svg.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys

import matplotlib
matplotlib.use('Agg')
import numpy  # noqa: E402
from matplotlib import pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'docs/figures'))
import small_svg  # noqa: E402

RESULTS = ROOT / 'docs/results.md'
PAPER = {'aggressive': ('0', '92 %', 105), 'conservative': ('0', '58 %', 5),
         'lazy': ('> 300 kB', '92 %', 0), 'ideal': ('7.8 kB', '92 %', 5)}
NAMES = {'average': 'average (ours: ideal without foresight)'}
PAIRS = {'1.0000': '(1, 1/2)', '0.3333': '(1/3, 4/5)', '0.2000': '(1/5, 7/8)'}
COLOURS = ['#0072B2', '#D55E00', '#009E73']

plt.rcParams.update({
    'font.family': 'DejaVu Sans', 'font.size': 9, 'axes.spines.top': False,
    'axes.spines.right': False, 'legend.frameon': False, 'legend.fontsize': 8,
    'svg.hashsalt': 'buffering', 'figure.constrained_layout.use': True})


def rows(build, what):
    program = pathlib.Path(build).resolve() / 'tests/bench/buffering'
    text = subprocess.run([program, what], check=True, capture_output=True,
                          text=True).stdout
    return list(csv.DictReader(text.splitlines()))


def within(value, paper, points):
    return '✓' if abs(value - paper) <= points else '✗'


def policies_table(found):
    out = ['| policy | paper: buffer | efficiency | changes | here: buffer '
           '| efficiency | changes |', '|---|---|---|---|---|---|---|']
    for row in found:
        name = row['policy']
        buffer, efficiency, changes = PAPER.get(name, ('', '', ''))
        mark = ' ' + within(100 * float(row['efficiency']),
                            float(efficiency[:-2]), 3) if efficiency else ''
        out.append(
            f'| {NAMES.get(name, name)} | {buffer} | {efficiency} | {changes} '
            f'| {float(row["buffer_bytes"]) / 1e3:.1f} kB '
            f'| {100 * float(row["efficiency"]):.1f} %{mark} '
            f'| {float(row["n_changes"]):.1f} |')
    changes = {row['policy']: float(row['n_changes']) for row in found}
    same = (changes['aggressive'] > max(changes['conservative'], changes['ideal'])
            and min(changes['conservative'], changes['ideal']) > changes['lazy'])
    out += ['', 'Changes: most for aggressive, none for lazy, the other two between them, as '
            f'in the paper {"✓" if same else "✗"}.']
    row = found[0]
    tooth, formula = float(row['tooth_bytes']), float(row['formula_bytes'])
    out += ['', f'One saw-tooth takes {tooth / 1e3:.1f} kB in the mean; (3.4) says '
            f'{formula / 1e3:.1f} kB for its mean rate of '
            f'{float(row["rate_bps"]) / 1e3:.0f} kbit/s and round-trip time of '
            f'{float(row["rtt_ms"]):.0f} ms: {tooth / formula:.2f} times as much '
            f'{within(tooth / formula, 1, 0.3)}.', '', deepest(row)]
    return out


def deepest(row):
    """Why ideal takes more than a saw-tooth in the mean"""
    even, even_formula, bytes_, formula = (float(row[f'{name}_bytes']) / 1e3 for name in (
        'even', 'even_formula', 'deepest', 'deepest_formula'))
    return (f'What ideal takes its deepest saw-tooth takes, less what whole layers are below '
            f'the mean. Of those that begin at about half of the rate that comes back, as (3.4) '
            f'has it, that is {even:.1f} kB, where (3.4) says {even_formula:.1f} kB: '
            f'{even / even_formula:.2f} times {within(even / even_formula, 1, 0.3)}. Of all it '
            f'is {bytes_:.1f} kB: the one in which the burst ends begins at a third, or two '
            f'back-offs come in a row. With that in the place of β (3.4) says {formula:.1f} kB: '
            f'{bytes_ / formula:.2f} times {within(bytes_ / formula, 1, 0.3)}.')


def column(found, pair, name):
    return numpy.array([float(r[name]) for r in found if r['alpha'] == pair])


def fit(x, y):
    """R squared of the best parabola"""
    p = numpy.polyfit(x, y, 2)
    return 1 - ((y - numpy.polyval(p, x)) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def sweep_table(found, x_name):
    out = ['| (α, β) | here over (3.4) | over the discrete form | R² of a parabola '
           '| (A.5) over the rate |', '|---|---|---|---|---|']
    for pair, name in PAIRS.items():
        x = column(found, pair, x_name)
        y = column(found, pair, 'buffer_bytes')
        line = y / column(found, pair, 'formula_bytes')
        steps = y / column(found, pair, 'discrete_bytes')
        a5 = column(found, pair, 'a5_bps') / column(found, pair, 'rate_bps')
        r2 = fit(x, y)
        out.append(
            f'| {name} | {line.mean():.2f} ({line.min():.2f}…{line.max():.2f}) '
            f'| {steps.mean():.2f} ({steps.min():.2f}…{steps.max():.2f}) '
            f'| {r2:.4f} {"✓" if r2 >= 0.98 else "✗"} '
            f'| {a5.min():.2f} … {a5.max():.2f} |')
    return out


def draw_trace(found, path):
    figure, panels = plt.subplots(2, 2, figsize=(8, 4.4), sharex=True, sharey=True)
    found = found[::8]          # 40 ms: a saw-tooth has 25 of them or more
    t = [float(r['t_s']) for r in found]
    rate = [float(r['rate_bps']) / 1e3 for r in found]
    for panel, name in zip(panels.flat, ('aggressive', 'lazy', 'conservative',
                                         'ideal')):
        panel.plot(t, rate, color='#bbbbbb', lw=0.8)
        panel.plot(t, [float(r[f'{name}_bps']) / 1e3 for r in found],
                   color=COLOURS[0], lw=1.1)
        panel.set_title(name, fontsize=9)
        panel.set_ylim(bottom=0)
    for panel in panels[:, 0]:
        panel.set_ylabel('kbit/s')
    for panel in panels[1]:
        panel.set_xlabel('t [s]')
    small_svg.save(figure, path)
    plt.close(figure)


def draw_sweeps(rate, delay, path):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    for (pair, name), colour in zip(PAIRS.items(), COLOURS):
        for panel, found, x_name, by in ((left, rate, 'rate_bps', 1e3),
                                         (right, delay, 'x', 1)):
            x = column(found, pair, x_name) / by
            panel.plot(x, column(found, pair, 'buffer_bytes') / 1e3, 'o', ms=3,
                       color=colour, label=f'AIMD{name}')
            panel.plot(x, column(found, pair, 'formula_bytes') / 1e3,
                       color=colour, lw=0.9)
    left.set_xlabel('rate of the flow [kbit/s]')
    left.set_ylabel('buffer for a saw-tooth [kB]')
    right.set_xlabel('propagation delay, one way [ms]')
    left.legend()
    for panel in (left, right):
        panel.set_ylim(bottom=0)
        panel.set_xlim(left=0)
    small_svg.save(figure, path)
    plt.close(figure)


def fill_in(name, lines):
    text = RESULTS.read_text(encoding='utf-8')
    pattern = re.compile(rf'(<!-- {name}: .*?-->\n).*?(<!-- end -->)', re.S)
    if not pattern.search(text):
        sys.exit(f'{RESULTS}: no marker "{name}"')
    RESULTS.write_text(pattern.sub(lambda m: m[1] + '\n'.join(lines) + '\n'
                                   + m[2], text), encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default=ROOT / 'build')
    build = parser.parse_args().build
    rate, delay = rows(build, 'rate'), rows(build, 'delay')
    fill_in('table 4.1', policies_table(rows(build, 'policies')))
    fill_in('figure 4.6', sweep_table(rate, 'rate_bps'))
    fill_in('figure 4.7', sweep_table(delay, 'x'))
    draw_trace(rows(build, 'trace'), ROOT / 'docs/results/buffering-policies.svg')
    draw_sweeps(rate, delay, ROOT / 'docs/results/buffering-sweeps.svg')


if __name__ == '__main__':
    main()
