#!/usr/bin/python3
"""Draws what the round-trip time estimator makes of stalls and of a queue.

usage: build/tests/bench/rate rtt | docs/figures/rtt.py > docs/figures/rtt.svg
"""
import csv
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

rows = [{key: float(value) for key, value in row.items()}
        for row in csv.DictReader(sys.stdin)]
t = [row['t_s'] for row in rows]
plt.rcParams.update({'svg.hashsalt': 'rtt', 'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, axis = plt.subplots(figsize=(8.4, 3.2))
axis.plot(t, [row['sample_ms'] for row in rows], '.', color='#888a85',
          markersize=3, label='sample')
axis.plot(t, [row['rto_ms'] for row in rows], color='#ce5c00', linewidth=1,
          label='RTO')
axis.plot(t, [row['srtt_ms'] for row in rows], color='#75507b', linewidth=1,
          label='SRTT')
axis.plot(t, [row['r_ms'] for row in rows], color='#3465a4', linewidth=2,
          label='R')
axis.set_xlabel('time [s]')
axis.set_ylabel('[ms]')
axis.set_ylim(bottom=0)
axis.legend(frameon=False, ncol=4, fontsize=8, loc='upper left')
figure.tight_layout()
save(figure, sys.stdout)
