#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the jitter buffers side by side; figures and tables for the docs.

  tests/experiments/jitter/write_playout.py [--build build] [--day] [--csv DIR]

Fills in what stands between the markers of docs/algorithms/playout.md and
draws docs/figures/playout-*.svg.  --day adds the run of 24 simulated
hours (five minutes).  --csv keeps the CSV files, or takes them from there if
they are there.
"""
import argparse
import csv
import io
import math
import os
import pathlib
import re
import subprocess
import sys

import matplotlib
matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRACES = ROOT / 'tests/experiments/traces'
PAGE = ROOT / 'docs/algorithms/playout.md'
FIGURES = ROOT / 'docs/figures'
sys.path.append(str(FIGURES))
import small_svg  # noqa: E402
HELD_OUT = ('5g_n78_10ms', 'syn_spikes')
TIMELINE = ('5g_w2s_n8', 'syn_spikes', 'syn_route')
TIMELINE_S = 240
DEFAULTS = ('threshold_time = 1600 ms', 'reserve = 20 ms',
            'growth_step = 10 ms', 'decay = 2.0', 'length = 2',
            'after_drop = shift')
OURS = 'qmjitterbuffer'
COLOURS = {OURS: '#0072B2', 'rtpjitterbuffer 60 ms': '#D55E00',
           'rtpjitterbuffer 200 ms': '#E69F00'}

plt.rcParams.update({
    'font.family': 'DejaVu Sans', 'font.size': 9, 'axes.spines.top': False,
    'axes.spines.right': False, 'legend.frameon': False, 'legend.fontsize': 8,
    'svg.hashsalt': 'playout', 'figure.constrained_layout.use': True})


class Bench:
    """Runs jitter-bench, or reads what it printed before."""

    def __init__(self, build, keep):
        self.build = pathlib.Path(build).resolve()
        self.keep = pathlib.Path(keep) if keep else None

    def rows(self, name, *args):
        kept = self.keep / f'{name}.csv' if self.keep else None
        if kept and kept.exists():
            text = kept.read_text(encoding='utf-8')
        else:
            text = self.run(args)
            if kept:
                self.keep.mkdir(parents=True, exist_ok=True)
                kept.write_text(text, encoding='utf-8')
        return list(csv.DictReader(io.StringIO(text)))

    def run(self, args):
        env = dict(os.environ)
        env['GST_PLUGIN_PATH_1_0'] = str(self.build / 'gst/fairqueue')
        env['GST_REGISTRY_1_0'] = str(self.build / 'jitter-report.registry')
        bench = self.build / 'tests/experiments/jitter/jitter-bench'
        print('running', bench.name, *args[:1], file=sys.stderr)
        return subprocess.run([bench, *map(str, args)], env=env, check=True,
                              capture_output=True, text=True).stdout


def all_traces():
    names = sorted(p.name[:-7] for p in TRACES.glob('*.csv.gz'))
    return ([n for n in names if not n.startswith('syn_')]
            + [n for n in names if n.startswith('syn_')])


def is_fixed(policy):
    return policy.startswith('rtpjitterbuffer')


def save(figure, name):
    FIGURES.mkdir(parents=True, exist_ok=True)
    small_svg.save(figure, FIGURES / f'{name}.svg')
    plt.close(figure)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


# --- the heat map ---

def draw_ratings(table, traces, policies):
    figure, axis = plt.subplots(figsize=(8.6, 0.34 * len(traces) + 1.6))
    grid = [[float(table[t, p]['r']) for p in policies] for t in traces]
    image = axis.imshow(grid, cmap='RdYlGn', vmin=60, vmax=93.2, aspect='auto')
    for y, row in enumerate(grid):
        best = max(r for p, r in zip(policies, row) if p != 'clairvoyant')
        for x, r in enumerate(row):
            red, green, blue, _ = image.cmap(image.norm(r))
            dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.45
            axis.text(x, y, f'{r:.1f}', ha='center', va='center', fontsize=8,
                      color='white' if dark else 'black',
                      fontweight='bold' if r > best - 0.005
                      and policies[x] != 'clairvoyant' else 'normal')
    axis.set_xticks(range(len(policies)),
                    [p.replace('rtpjitterbuffer', 'rtpjitter-\nbuffer')
                     .replace('clairvoyant', 'clairvoyant\nbound')
                     for p in policies], fontsize=8)
    axis.set_yticks(range(len(traces)),
                    [t + (' *' if t in HELD_OUT else '') for t in traces],
                    fontsize=8)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    n_real = sum(not t.startswith('syn_') for t in traces)
    axis.axhline(n_real - 0.5, color='white', linewidth=3)
    axis.set_xlabel('E-model rating R; bold: best that can be had; '
                    '*: not used for tuning', fontsize=8)
    save(figure, 'playout-ratings')


# --- delay and gaps over time ---

def draw_timeline(rows):
    figure, axes = plt.subplots(2, len(TIMELINE), figsize=(10.5, 4.2),
                                sharex=True, height_ratios=[3, 1.2])
    for column, trace in enumerate(TIMELINE):
        for policy, colour in COLOURS.items():
            own = [r for r in rows if r['trace'] == trace
                   and r['policy'] == policy
                   and int(r['second']) < TIMELINE_S]
            t = [int(r['second']) for r in own]
            delay = [float(r['delay_ms']) if r['delay_ms'] not in
                     ('nan', '-nan') else math.nan for r in own]
            gaps = [float(r['gaps']) for r in own]
            total, sums = 0.0, []
            for g in gaps:
                total += g
                sums.append(total)
            axes[0][column].plot(t, delay, color=colour, linewidth=1,
                                 label=policy)
            axes[1][column].plot(t, sums, color=colour, linewidth=1.2)
        axes[0][column].set_title(trace, fontsize=9, fontweight='bold')
        axes[0][column].set_ylim(0, 420)
        axes[1][column].set_xlabel('time [s]')
        axes[1][column].set_ylim(bottom=0)
    axes[0][0].set_ylabel('delay beyond the\nfastest packet [ms]')
    axes[1][0].set_ylabel('gaps so far\n[packets]')
    axes[0][-1].legend(loc='upper right')
    save(figure, 'playout-timeline')


# --- tables ---

def ratings_table(table, traces, policies):
    fixed = [p for p in policies if is_fixed(p)]
    lines = ['| trace | gaps/s | skips/s | delay, p95 [ms] | changes/min | R '
             '(p5) | best fixed latency: R | R gained |',
             '|---|---|---|---|---|---|---|---|']
    for trace in traces:
        own = table[trace, OURS]
        best = max(fixed, key=lambda p, t=trace: float(table[t, p]['r']))
        r = float(own['r'])
        best_r = float(table[trace, best]['r'])
        lines.append(
            f'| {trace}{" *" if trace in HELD_OUT else ""} '
            f'| {float(own["gaps_per_s"]):.2f} '
            f'| {float(own["skips_per_s"]):.2f} '
            f'| {float(own["delay_ms"]):.0f}, {float(own["delay_p95_ms"]):.0f} '
            f'| {float(own["adaptations_per_min"]):.1f} '
            f'| {r:.2f} ({float(own["r_p5"]):.1f}) '
            f'| {best.split(" ", 1)[1]}: {best_r:.2f} | {r - best_r:+.2f} |')
    return lines


def means_table(table, traces, policies):
    real = [t for t in traces if not t.startswith('syn_')]
    made = [t for t in traces if t.startswith('syn_')]
    lines = ['| | real: R | delay [ms] | gaps/s | made up: R | delay [ms] '
             '| gaps/s |', '|---|---|---|---|---|---|---|']
    for policy in policies:
        cells = []
        for group in (real, made):
            for key, form in (('r', '.2f'), ('delay_ms', '.0f'),
                              ('gaps_per_s', '.2f')):
                cells.append(format(mean(float(table[t, policy][key])
                                         for t in group), form))
        lines.append(f'| {policy} | ' + ' | '.join(cells) + ' |')
    cells = []
    for group in (real, made):
        best = [max((p for p in policies if is_fixed(p)),
                    key=lambda p, t=t: float(table[t, p]['r'])) for t in group]
        for key, form in (('r', '.2f'), ('delay_ms', '.0f'),
                          ('gaps_per_s', '.2f')):
            cells.append(format(mean(float(table[t, p][key])
                                     for t, p in zip(group, best)), form))
    lines.append('| best fixed latency of each trace, in hindsight | '
                 + ' | '.join(cells) + ' |')
    return lines


def table1(rows):
    paper = {'no buffering': ('3.4', '6.2', '89'), '(30, 2)': ('0.18', '3.0', '94'),
             '(150, 2)': ('0.06', '2.8', '96'), '(3600, 2)': ('.003', '2.8', '91')}
    lines = ['| | paper: drops/s | gaps/s | latency [ms] | ours: skips/s '
             '| gaps/s | delay [ms] |', '|---|---|---|---|---|---|---|']
    for row in rows:
        drops, gaps, latency = paper.get(row['policy'], ('', '', ''))
        lines.append(f'| {row["policy"]} | {drops} | {gaps} | {latency} '
                     f'| {float(row["skips_per_s"]):.3f} '
                     f'| {float(row["gaps_per_s"]):.2f} '
                     f'| {float(row["delay_ms"]):.0f} |')
    return lines


def sweep_table(rows, defaults):
    """Means over the traces that the parameters were chosen on, and the others."""
    table = {(r['trace'], r['policy']): r for r in rows}
    traces = sorted({t for t, _ in table})
    lines = ['| parameter | chosen on: R | delay [ms] | gaps/s '
             '| not used: R | delay [ms] | gaps/s |',
             '|---|---|---|---|---|---|---|']
    for variant in dict.fromkeys(r['policy'] for r in rows):
        cells = []
        for group in ([t for t in traces if t not in HELD_OUT], HELD_OUT):
            for key, form in (('r', '.2f'), ('delay_ms', '.0f'),
                              ('gaps_per_s', '.2f')):
                cells.append(format(mean(float(table[t, variant][key])
                                         for t in group), form))
        name = f'**{variant}**' if variant in defaults else variant
        lines.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    return lines


def day_table(rows):
    lines = ['| sender\'s clock | changes/min | gaps/s | skips/s '
             '| delay, p95 [ms] | R |', '|---|---|---|---|---|---|']
    for row in rows:
        ppm = re.search(r'[-+]\d+', row['trace']).group()
        word = 'slow' if ppm.startswith('+') else 'fast'
        lines.append(f'| {ppm[1:]} ppm {word} '
                     f'| {float(row["adaptations_per_min"]):.2f} '
                     f'| {float(row["gaps_per_s"]):.3f} '
                     f'| {float(row["skips_per_s"]):.3f} '
                     f'| {float(row["delay_ms"]):.0f}, '
                     f'{float(row["delay_p95_ms"]):.0f} '
                     f'| {float(row["r"]):.2f} |')
    return lines


def fill_in(name, lines):
    text = PAGE.read_text(encoding='utf-8')
    pattern = re.compile(rf'(<!-- {name}: .*?-->\n).*?(<!-- end -->)', re.S)
    if not pattern.search(text):
        sys.exit(f'{PAGE}: no marker "{name}"')
    body = '\n'.join(lines) + '\n'
    PAGE.write_text(pattern.sub(lambda m: m[1] + body + m[2], text),
                    encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default=ROOT / 'build')
    parser.add_argument('--day', action='store_true')
    parser.add_argument('--csv')
    args = parser.parse_args()
    bench = Bench(args.build, args.csv)
    traces = all_traces()

    def path(name):
        return TRACES / f'{name}.csv.gz'

    rows = bench.rows('compare', *map(path, traces))
    table = {(r['trace'], r['policy']): r for r in rows}
    policies = list(dict.fromkeys(r['policy'] for r in rows))
    draw_ratings(table, traces, policies)
    fill_in('ratings', ratings_table(table, traces, policies))
    fill_in('means', means_table(table, traces, policies))
    fill_in('table1', table1(bench.rows('table1', '--table1',
                                        path('syn_seed28'))))
    fill_in('sweep', sweep_table(
        bench.rows('sweep', '--sweep', *map(path, traces)), DEFAULTS))
    draw_timeline(bench.rows('seconds', '--seconds', *map(path, TIMELINE)))
    if args.day:
        fill_in('day', day_table(bench.rows('day', '--day')))


if __name__ == '__main__':
    main()
