#!/usr/bin/python3
"""Draws how the loss event rate follows the share of lost packets.

usage: build/tests/bench/rate loss | docs/figures/loss.py > docs/figures/loss.svg
"""
import csv
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

COLOURS = ['#3465a4', '#75507b', '#ce5c00']

rows = list(csv.DictReader(sys.stdin))
kinds = list(dict.fromkeys(row['kind'] for row in rows))
plt.rcParams.update({'svg.hashsalt': 'loss', 'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, axis = plt.subplots(figsize=(8.4, 3.2))
for kind, colour in zip(kinds, COLOURS):
    chosen = [row for row in rows if row['kind'] == kind]
    t = [float(row['t_s']) for row in chosen]
    if kind == kinds[0]:
        axis.plot(t, [float(row['share_lost']) for row in chosen], '--',
                  color='#888a85', label='share of lost packets')
    axis.plot(t, [float(row['p']) or None for row in chosen], color=colour,
              linewidth=1.2, label='p, ' + kind)
axis.set_yscale('log')
axis.set_xlabel('time [s]')
axis.legend(frameon=False, fontsize=8, loc='upper right')
figure.tight_layout()
save(figure, sys.stdout)
