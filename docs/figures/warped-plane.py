#!/usr/bin/python3
"""Draws what a hand feels of a surface far away.

usage: docs/figures/warped-plane.py build/tests/bench/haptic > docs/figures/warped-plane.svg
"""
import csv
import subprocess
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save


def columns(*arguments):
    text = subprocess.run([sys.argv[1], *arguments], check=True,
                          capture_output=True, text=True).stdout
    rows = list(csv.DictReader(text.splitlines()))
    return {k: [float(row[k]) for row in rows] for k in rows[0]}


way, error = columns('profile', '100'), columns()
plt.rcParams.update({'svg.hashsalt': 'warped-plane',
                     'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False})
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
left.fill_between(way['x_mm'], way['surface_mm'], -10, color='#d3d7cf',
                  linewidth=0, label='the surface')
left.plot(way['x_mm'], way['plain_mm'], color='#a40000', linewidth=1,
          label='felt: planes as they come')
left.plot(way['x_mm'], way['warped_mm'], color='#204a87', linewidth=1.2,
          label='felt: warped planes')
left.set_ylim(-10, 34)
left.set_xlabel('hand, from left to right [mm]')
left.set_ylabel('height [mm]')
left.set_title('100 ms of network', fontsize=10)
left.legend(frameon=False, fontsize=7, loc='upper right')
right.plot(error['latency_ms'], error['plain_n'], color='#a40000',
           label='planes as they come')
right.plot(error['latency_ms'], error['warped_n'], color='#204a87',
           label='warped planes')
right.plot(error['latency_ms'], error['warped_shape_n'], color='#204a87',
           linestyle=':', label='... of a surface that is late')
right.set_xlabel('latency of the network, to and fro [ms]')
right.set_ylabel('mean error of the force [N]')
right.set_ylim(bottom=0)
right.legend(frameon=False, fontsize=7)
figure.tight_layout()
save(figure, sys.stdout)
