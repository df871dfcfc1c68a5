#!/usr/bin/python3
"""Draws DPM beside traffic that does not respond (its figures 4 and 5).

usage: build/tests/bench/rate levels |
       docs/figures/rate-levels.py > docs/figures/rate-levels.svg
"""
import csv
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

rows = [{key: float(value) for key, value in row.items()}
        for row in csv.DictReader(sys.stdin)]
levels = sorted({row['other_kbps'] for row in rows})


def column(level, name):
    return [row[name] for row in rows if row['other_kbps'] == level]


def draw(axis, name, scale):
    values = [[scale * v for v in column(level, name)] for level in levels]
    means = [sum(v) / len(v) for v in values]
    axis.errorbar(levels, means,
                  [[max(0, m - min(v)) for m, v in zip(means, values)],
                   [max(0, max(v) - m) for m, v in zip(means, values)]],
                  fmt='o-', color='#3465a4', capsize=3,
                  label='dpm, ten runs: mean, least, most')
    axis.set_xlabel('other traffic [kbit/s]')


plt.rcParams.update({'svg.hashsalt': 'rate-levels',
                     'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
left.step(levels, [column(level, 'fit')[0] for level in levels],
          where='mid', color='#888a85', linestyle='--', label='fit')
draw(left, 'streams', 1)
left.set_ylabel('streams, mean of 300 s')
left.legend(frameon=False, fontsize=8)
draw(right, 'loss', 100)
right.axhline(10, color='#cc0000', linestyle='--', linewidth=1)
right.set_ylabel('packets lost [%]')
right.set_ylim(bottom=0)
figure.tight_layout()
save(figure, sys.stdout)
