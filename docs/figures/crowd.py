#!/usr/bin/python3
"""Draws how clear a crowd of recorded voices stays.

usage: examples/voices.sh build/voices &&
       build/tests/bench/crowd --csv build/voices |
       docs/figures/crowd.py > docs/figures/crowd.svg
"""
import csv
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

WAYS = [('limiter_db', 'look-ahead limiter', '#4e9a06'),
        ('clamp_db', 'clamp', '#c4a000'),
        ('wrap_db', 'wrap around', '#a40000')]

rows = list(csv.DictReader(sys.stdin))
levels = sorted({float(row['level_dbfs']) for row in rows})
plt.rcParams.update({'svg.hashsalt': 'crowd', 'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, axes = plt.subplots(1, len(levels), figsize=(8.4, 3.2), sharey=True)
for axis, level in zip(axes, levels):
    chosen = [row for row in rows if float(row['level_dbfs']) == level]
    for i, (column, name, colour) in enumerate(WAYS):
        places = [j + (i - 1) * 0.27 for j in range(len(chosen))]
        values = [float(row[column]) for row in chosen]
        bars = axis.bar(places, values, 0.25, color=colour, label=name)
        axis.bar_label(bars, fmt='%.0f', fontsize=8, padding=1)
    axis.axhline(27, color='#2e3436', linewidth=0.8, linestyle=':')
    axis.annotate('27 dB', (1, 27), xycoords=('axes fraction', 'data'),
                  ha='right', va='bottom', fontsize=7)
    axis.axhline(0, color='#2e3436', linewidth=0.8)
    axis.set_xticks(range(len(chosen)), [row['talkers'] for row in chosen])
    axis.set_xlabel(f'talkers, {level:g} dBFS each')
axes[0].set_ylabel('signal to distortion [dB]')
axes[1].legend(frameon=False, fontsize=8)
figure.tight_layout()
save(figure, sys.stdout)
