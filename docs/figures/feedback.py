#!/usr/bin/python3
"""Draws how often feedback comes and how soon a loss is told.

usage: build/tests/bench/feedback --csv |
       docs/figures/feedback.py > docs/figures/feedback.svg
"""
import csv
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

COLOURS = ['#3465a4', '#ce5c00', '#4e9a06', '#75507b']

rows = list(csv.DictReader(sys.stdin))
codecs = list(dict.fromkeys(row['codec'] for row in rows))
plt.rcParams.update({'svg.hashsalt': 'feedback', 'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
for codec, colour in zip(codecs, COLOURS):
    chosen = [row for row in rows if row['codec'] == codec]
    streams = [int(row['streams']) for row in chosen]
    for axis, mean, longest in (
            (left, 'interval_ms', 'longest_interval_ms'),
            (right, 'loss_told_ms', 'loss_told_longest_ms')):
        axis.plot(streams, [float(row[mean]) for row in chosen], 'o-',
                  color=colour, label=f'{codec}, mean')
        axis.plot(streams, [float(row[longest]) for row in chosen], '--',
                  color=colour, linewidth=1, label='longest')
left.set_ylabel('between two reports [ms]')
right.set_ylabel('from the packet that shows a loss\nto the report of it [ms]')
for axis in (left, right):
    axis.set_xscale('log', base=2)
    axis.set_xticks(streams, streams)
    axis.set_xlabel('streams')
    axis.set_ylim(bottom=0)
left.legend(frameon=False, fontsize=8)
figure.tight_layout()
save(figure, sys.stdout)
