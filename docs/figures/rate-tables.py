#!/usr/bin/python3
"""Draws TFRC-SP's send rate against the tables of RFC 4828.

usage: build/tests/bench/rate tables |
       docs/figures/rate-tables.py > docs/figures/rate-tables.svg
"""
import csv
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

rows = list(csv.DictReader(sys.stdin))
plt.rcParams.update({'svg.hashsalt': 'rate-tables',
                     'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
for axis, payload, table in zip(axes, ('200', '14'), ('9', '8')):
    chosen = [row for row in rows if row['payload_bytes'] == payload]
    drop = [100 * float(row['drop']) for row in chosen]
    rfc = [float(row['rfc4828_kbps']) for row in chosen]
    axis.fill_between(drop, [0.85 * r for r in rfc], [1.15 * r for r in rfc],
                      color='#d3d7cf', label='±15 %')
    axis.plot(drop, rfc, 'o', color='#555753',
              label=f'RFC 4828, table {table}')
    axis.plot(drop, [float(row['kbps']) for row in chosen], 'x-',
              color='#3465a4', label='tfrc')
    axis.set_xscale('log')
    axis.set_xticks([0.5, 1, 2, 5, 10, 20, 30],
                    ['0.5', '1', '2', '5', '10', '20', '30'])
    axis.minorticks_off()
    axis.set_ylim(bottom=0)
    axis.set_title(f'{payload}-byte packets', fontsize=10)
    axis.set_xlabel('packets dropped [%]')
    axis.legend(frameon=False, fontsize=8, loc='lower left')
axes[0].set_ylabel('send rate [kbit/s]')
figure.tight_layout()
save(figure, sys.stdout)
