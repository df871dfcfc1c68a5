#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws what a controller makes of each family of networks that it was not tuned to.

usage: build/subprojects/fairmix/tests/sim/population --draws 48 --held-out --each |
       docs/figures/population.py > docs/figures/population.svg
"""
import re
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt
import numpy

from small_svg import save

# what is drawn: name in the table, title, limits, logarithmic, the target's range
PANELS = (('ratio', "rate over a TCP's", (0.08, 6), True, (0.5, 2)),
          ('used', 'of the link used', (0, 1.02), False, (0.9, 1.02)),
          ('queue95', 'queue, 95 % [ms]', (4, 2500), True, None),
          ('changes', 'changes of the set a minute', (0, 10), False, (0, 2)))
GOOD, DARK, BAND = '#3465a4', '#204a87', '#d3e4c8'


def families(lines):
    """[(name, percent inside, {what: [of each draw]})]"""
    found, draws = [], []
    for line in lines:
        if re.match(r' *\d+ (ok |BAD)', line):
            draws.append(dict(re.findall(r'([a-z]+\d*) +(-?[\d.]+|inf|nan)', line)))
        elif re.match(r'\| [a-z]', line) and draws:
            cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
            found.append((cells[0], cells[2], {
                what: [float(d[what]) for d in draws] for what, *_ in PANELS}))
            draws = []
    return found


def draw(axis, rows, panel):
    what, title, limits, is_log, target = panel
    if target:
        axis.axvspan(*target, color=BAND, linewidth=0)
    for y, (_, _, values) in enumerate(rows):
        if what == 'ratio' and max(values[what]) == 0:
            continue            # no TCP is there, or none in the same direction
        low, first, middle, third, high = numpy.clip(numpy.quantile(
            values[what], (0.05, 0.25, 0.5, 0.75, 0.95)), *limits)
        axis.plot((low, high), (y, y), color=GOOD, linewidth=1)
        axis.plot((first, third), (y, y), color=GOOD, linewidth=4)
        axis.plot((middle, middle), (y - 0.3, y + 0.3), color=DARK, linewidth=2)
    if is_log:
        axis.set_xscale('log')
        axis.xaxis.set_major_formatter('{x:g}')
        axis.minorticks_off()
    axis.set_xlim(limits)
    axis.set_title(title, fontsize=8, loc='left')
    axis.tick_params(labelsize=7, left=False)


def main():
    rows = families(sys.stdin)
    plt.rcParams.update({'svg.hashsalt': 'population', 'font.family': 'sans-serif',
                         'axes.spines.top': False, 'axes.spines.right': False,
                         'axes.spines.left': False})
    figure, axes = plt.subplots(1, len(PANELS), sharey=True, figsize=(9.4, 4.2))
    for axis, panel in zip(axes, PANELS):
        draw(axis, rows, panel)
    axes[0].set_yticks(range(len(rows)), [f'{name}, {inside}' for name, inside, _ in rows],
                       fontsize=8)
    axes[0].invert_yaxis()
    figure.tight_layout()
    save(figure, sys.stdout)


if __name__ == '__main__':
    main()
