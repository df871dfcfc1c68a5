#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the jitter buffers side by side; figures and tables for the docs.

  tests/experiments/jitter/write_playout.py [--build build] [--csv DIR]
      [--only compare,table1,sweep,timeline,day]

Fills in what stands between the markers of docs/algorithms/playout.md and
docs/results.md and draws docs/figures/playout-*.svg.  day, 24 simulated
hours (five minutes), is done only if asked for.  --csv keeps the CSV files, or
takes them from there if they are there.
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
RESULTS = ROOT / 'docs/results.md'
# What nothing was tuned on: these, and the made-up ones of another seed.
HELD_OUT = ('5g_n78_10ms', '5g_n8_urban20', 'dualpi2_l4s')
HELD_OUT_SEED = 8
TABLE1_SEEDS = (1, 2, 3, 4, 5)
TIMELINE = {'5g_w2s_n8': 100, 'syn_route': 300}        # how long, in s
OURS = 'qmjitterbuffer'
COLOURS = {OURS: '#0072B2', 'none 60 ms': '#009E73',
           'slave 60 ms': '#D55E00'}

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


def real_traces():
    return sorted(p.name[:-7] for p in TRACES.glob('*.csv.gz'))


def made_traces(build):
    """All but the one of table 1."""
    tool = pathlib.Path(build) / 'tests/experiments/jitter/jitter-trace'
    names = [line.split()[0] for line in subprocess.run(
        [tool], check=True, capture_output=True, text=True).stdout.splitlines()]
    return [n for n in names if n != 'syn_table1']


def argument(name):
    """How jitter-bench is told of a trace."""
    return name if name.startswith('syn_') else TRACES / f'{name}.csv.gz'


def is_held_out(trace):
    return trace in HELD_OUT or trace.endswith(f':{HELD_OUT_SEED}')


def label(trace):
    return trace + (' *' if is_held_out(trace) else '')


def is_fixed(policy):
    return policy.startswith(('none ', 'slave '))


def best_fixed(table, trace, policies, key='r'):
    return max((p for p in policies if is_fixed(p)),
               key=lambda p: float(table[trace, p][key]))


def save(figure, name):
    FIGURES.mkdir(parents=True, exist_ok=True)
    small_svg.save(figure, FIGURES / f'{name}.svg')
    plt.close(figure)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


# --- the heat map ---

def draw_ratings(table, traces, policies):
    figure, axis = plt.subplots(figsize=(9.6, 0.3 * len(traces) + 1.6))
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
                    [p.replace('qmjitter', 'qmjitter-\n').replace(' ', '\n', 1)
                     .replace('clairvoyant', 'clairvoyant\nbound')
                     for p in policies], fontsize=7.5)
    axis.set_yticks(range(len(traces)), map(label, traces), fontsize=8)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    n_real = sum(not t.startswith('syn_') for t in traces)
    axis.axhline(n_real - 0.5, color='white', linewidth=3)
    axis.set_xlabel('E-model rating R; none, slave: modes of rtpjitterbuffer; '
                    'bold: best that can be had; *: not used for tuning',
                    fontsize=8)
    save(figure, 'playout-ratings')


# --- delay and gaps over time ---

def draw_timeline(rows):
    figure, axes = plt.subplots(2, len(TIMELINE), figsize=(8.5, 4.2),
                                sharex='col', height_ratios=[3, 1.2])
    for column, (trace, length_s) in enumerate(TIMELINE.items()):
        for policy, colour in COLOURS.items():
            own = [r for r in rows if r['trace'] == trace
                   and r['policy'] == policy
                   and int(r['second']) < length_s]
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
    lines = ['| trace | gaps/s | skips/s | delay, p95 [ms] | changes/min | R '
             '(p5) | best fixed setting: R | R gained |',
             '|---|---|---|---|---|---|---|---|']
    for trace in traces:
        own = table[trace, OURS]
        best = best_fixed(table, trace, policies)
        r = float(own['r'])
        best_r = float(table[trace, best]['r'])
        lines.append(
            f'| {label(trace)} '
            f'| {float(own["gaps_per_s"]):.2f} '
            f'| {float(own["skips_per_s"]):.2f} '
            f'| {float(own["delay_ms"]):.0f}, {float(own["delay_p95_ms"]):.0f} '
            f'| {float(own["adaptations_per_min"]):.1f} '
            f'| {r:.2f} ({float(own["r_p5"]):.1f}) '
            f'| {best}: {best_r:.2f} | {r - best_r:+.2f} |')
    return lines


def groups(traces):
    """[(name, traces)]: real and made up, tuned on and not."""
    names = {(False, False): 'real', (False, True): 'real, held out',
             (True, False): 'made up', (True, True): 'made up, held out'}
    return [(name, [t for t in traces if
                    (t.startswith('syn_'), is_held_out(t)) == kind])
            for kind, name in names.items()]


def means_table(table, traces, policies):
    parts = groups(traces)
    lines = ['| | ' + ' | '.join(f'{name}: R (old score) | delay [ms]'
                                 for name, _ in parts) + ' |',
             '|---' * (1 + 2 * len(parts)) + '|']
    chosen = {p: {t: p for t in traces} for p in policies}
    chosen['best fixed setting of each trace, in hindsight'] = {
        t: best_fixed(table, t, policies) for t in traces}
    for name, choice in chosen.items():
        cells = []
        for _, group in parts:
            rows = [table[t, choice[t]] for t in group]
            cells.append(f'{mean(float(r["r"]) for r in rows):.2f} '
                         f'({mean(float(r["r_larger"]) for r in rows):.2f}) '
                         f'| {mean(float(r["delay_ms"]) for r in rows):.0f}')
        lines.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    return lines


def balance(late_per_s, lost_per_s):
    """By how much a FIFO of 28 packets/s is later than none, in ms: a late packet
    makes it one longer, a lost one makes it one shorter."""
    return 1000 / 28 * late_per_s / (late_per_s + lost_per_s)


def near(value, paper, most):
    return ' ✓' if abs(value - paper) <= most else ' ✗'


def table1(rows):
    paper = {'no buffering': ('3.4', '6.2', '89'), '(30, 2)': ('0.18', '3.0', '94'),
             '(150, 2)': ('0.06', '2.8', '96'), '(3600, 2)': ('.003', '2.8', '91')}
    names = {'qmjitterbuffer': 'qmjitterbuffer, as it comes'}
    lines = ['| | paper: drops/s | gaps/s | latency [ms] | here: drops/s '
             '| gaps/s | delay [ms] | R |', '|---' * 8 + '|']
    for policy in dict.fromkeys(r['policy'] for r in rows):
        own = [r for r in rows if r['policy'] == policy]
        drops, gaps, latency = paper.get(policy, ('', '', ''))
        cells = [mean(float(r[k]) for r in own)
                 for k in ('drops_per_s', 'gaps_per_s', 'delay_ms', 'r')]
        if policy == 'no buffering':
            late, before = cells[0], cells[2]
        marks = ('', '')
        if gaps:
            marks = (near(cells[1], float(gaps), 0.1 * float(gaps)),
                     '' if policy == 'no buffering' else near(
                         cells[2] - before, float(latency) - 89, 5))
        lines.append(f'| {names.get(policy, policy)} | {drops} | {gaps} '
                     f'| {latency} | {cells[0]:.3f} | {cells[1]:.2f}{marks[0]} '
                     f'| {cells[2]:.0f}{marks[1]} | {cells[3]:.1f} |')
        if policy == '(3600, 2)':
            lost, after = cells[1], cells[2]
    lines += ['', '✓: as many gaps as the paper has, to a tenth; as much more delay than '
              'without buffering, to 5 ms. ✗: not.', '',
              'The FIFO is one longer for late / (late + lost) of the time: '
              f'{balance(3.4, 2.8):.0f} ms by the paper\'s drops without a '
              f'buffer and gaps with one, {balance(late, lost):.0f} ms by ours; '
              f'measured: {after - before:.0f}.']
    return lines


def sweep_table(rows):
    """Means over the traces that the parameters were chosen on, and the others."""
    table = {(r['trace'], r['policy']): r for r in rows}
    traces = sorted({t for t, _ in table})
    lines = ['| parameter | chosen on: R | delay [ms] | gaps/s '
             '| not used: R | delay [ms] | gaps/s |',
             '|---|---|---|---|---|---|---|']
    shown = [v for v in dict.fromkeys(r['policy'] for r in rows)
             if v.startswith('memory')]
    for variant in shown:
        cells = []
        for group in ([t for t in traces if not is_held_out(t)],
                      [t for t in traces if is_held_out(t)]):
            for key, form in (('r', '.2f'), ('delay_ms', '.0f'),
                              ('gaps_per_s', '.2f')):
                cells.append(format(mean(float(table[t, variant][key])
                                         for t in group), form))
        lines.append(f'| {variant.replace(" (default)", " **default**")} | ' + ' | '.join(cells) + ' |')
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


def fill_in(name, lines, page=PAGE):
    text = page.read_text(encoding='utf-8')
    pattern = re.compile(rf'(<!-- {name}: .*?-->\n).*?(<!-- end -->)', re.S)
    if not pattern.search(text):
        sys.exit(f'{page}: no marker "{name}"')
    body = '\n'.join(lines) + '\n'
    page.write_text(pattern.sub(lambda m: m[1] + body + m[2], text),
                    encoding='utf-8')


def compare(bench, real, made):
    held_out = [f'{n}:{HELD_OUT_SEED}' for n in made]
    traces = real + made + held_out
    rows = bench.rows('compare', *map(argument, traces))
    table = {(r['trace'], r['policy']): r for r in rows}
    policies = list(dict.fromkeys(r['policy'] for r in rows))
    draw_ratings(table, real + held_out, policies)
    fill_in('ratings', ratings_table(table, real + held_out, policies))
    fill_in('means', means_table(table, traces, policies))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default=ROOT / 'build')
    parser.add_argument('--csv')
    parser.add_argument('--only', default='compare,table1,sweep,timeline')
    args = parser.parse_args()
    parts = args.only.split(',')
    bench = Bench(args.build, args.csv)
    real, made = real_traces(), made_traces(args.build)
    if 'compare' in parts:
        compare(bench, real, made)
    if 'table1' in parts:
        fill_in('table1', table1(bench.rows('table1', '--table1', *(
            f'syn_table1:{seed}' for seed in TABLE1_SEEDS))), RESULTS)
    if 'sweep' in parts:
        fill_in('sweep', sweep_table(bench.rows(
            'sweep', '--sweep', *map(argument, real + made + [
                f'{n}:{HELD_OUT_SEED}' for n in made]))))
    if 'timeline' in parts:
        draw_timeline(bench.rows('seconds', '--seconds',
                                 *map(argument, TIMELINE)))
    if 'day' in parts:
        fill_in('day', day_table(bench.rows('day', '--day')))


if __name__ == '__main__':
    main()
