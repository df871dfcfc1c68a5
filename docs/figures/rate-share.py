#!/usr/bin/python3
"""Draws two DPM bundles on one link (its figure 9, first part).

usage: build/tests/bench/rate share |
       docs/figures/rate-share.py > docs/figures/rate-share.svg
"""
import csv
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

WINDOW = 20

rows = [{key: float(value) for key, value in row.items()}
        for row in csv.DictReader(sys.stdin)]
t = [row['t_s'] for row in rows]


def smooth(name):
    values = [row[name] for row in rows]
    return [sum(values[max(0, i - WINDOW + 1):i + 1])
            / len(values[max(0, i - WINDOW + 1):i + 1])
            for i in range(len(values))]


plt.rcParams.update({'svg.hashsalt': 'rate-share',
                     'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, axis = plt.subplots(figsize=(8.4, 3.2))
for name, colour, label in (('first_kbps', '#3465a4', 'first bundle'),
                            ('second_kbps', '#ce5c00', 'second bundle')):
    axis.plot(t, [row[name] for row in rows], color=colour, linewidth=0.5,
              alpha=0.5)
    axis.plot(t, smooth(name), color=colour, linewidth=2,
              label=f'{label}, mean of 20 s')
axis.axhline(635 / 2, color='#888a85', linestyle='--', linewidth=1)
axis.set_xlabel('time [s]')
axis.set_ylabel('sent [kbit/s]')
axis.set_ylim(bottom=0)
axis.legend(frameon=False, fontsize=8)
figure.tight_layout()
save(figure, sys.stdout)
