#!/usr/bin/python3
"""Draws how the rate of a multicast group follows its slowest listener.

usage: examples/multicast.sh --out FOLDER
       docs/figures/multicast.py FOLDER/multicast.csv > docs/figures/multicast.svg
"""
import csv
import statistics
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

TARGET, SENT, NARROW = '#204a87', '#babdb6', '#f57900'


def main():
    with open(sys.argv[1], encoding='ascii') as file:
        rows = list(csv.DictReader(file))
    seconds = [float(r['t_s']) for r in rows]
    figure, axis = plt.subplots(figsize=(7, 2.8), layout='constrained')
    for column, color, label in (
            ('sent_bps', SENT, 'sent (with Ethernet, and RTCP)'),
            ('target_bps', TARGET, 'target')):
        axis.plot(seconds, [float(r[column]) / 1000 for r in rows], color=color,
                  linewidth=1.4, label=label)
    narrow = statistics.median(float(r['narrow_bps']) for r in rows) / 1000
    axis.fill_between([seconds[-1] / 3, seconds[-1] * 2 / 3], narrow,
                      color=NARROW, alpha=0.3, linewidth=0,
                      label='a sixth listener, and what its link carries')
    axis.set_xlabel('time [s]')
    axis.set_ylabel('kbit/s')
    axis.set_ylim(0, 240)
    axis.set_xlim(min(seconds), max(seconds))
    axis.legend(frameon=False, fontsize=8, loc='upper center')
    for side in ('top', 'right'):
        axis.spines[side].set_visible(False)
    save(figure, sys.stdout)


if __name__ == '__main__':
    main()
