#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws one party: what examples/python/timeline.py draws, small enough for a page.

usage: examples/party.sh && docs/figures/party.py party.csv > docs/figures/party.svg
"""
import csv
import pathlib
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt
import numpy

from small_svg import save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]
                       / 'examples/python'))
import timeline  # noqa: E402  pylint: disable=wrong-import-position

with open(sys.argv[1], newline='', encoding='utf-8') as file:
    rows = list(csv.DictReader(file))
times = timeline.column(rows, 'time_s')
lost, packets = (numpy.array(timeline.smooth(timeline.column(rows, name)))
                 for name in ('lost_packets', 'packets'))
separate = numpy.array(timeline.column(rows, 'separate'))
link = timeline.column(rows, 'link_kbps')

plt.rcParams.update({'svg.hashsalt': 'party', 'font.family': 'sans-serif',
                     'font.size': 8, 'axes.spines.top': False,
                     'axes.spines.right': False})
figure, (rate, trouble, talkers) = plt.subplots(
    3, 1, figsize=(7.6, 5.2), sharex=True, height_ratios=(5, 2.4, 2.4))
rate.fill_between(times, link, step='pre', color=timeline.GREY, linewidth=0,
                  label='the link carries')
rate.plot(times, timeline.column(rows, 'target_kbps'), drawstyle='steps-pre',
          color=timeline.ORANGE, label='target')
rate.plot(times, timeline.smooth(timeline.column(rows, 'sent_kbps')),
          color=timeline.BLUE, label='sent (1 s mean)')
rate.set_ylim(0, 1.25 * max(link))
rate.set_ylabel('kbit/s on the wire')
trouble.fill_between(times, 100 * lost / numpy.maximum(packets, 1), step='pre',
                     color=timeline.RED, linewidth=0)
trouble.set_ylim(0, None)
trouble.set_ylabel('loss, %', color=timeline.RED)
queue = trouble.twinx()
queue.spines['right'].set_visible(True)
queue.plot(times, timeline.column(rows, 'queue_ms'), color=timeline.GREEN,
           linewidth=1)
queue.set_ylabel('queue, ms', color=timeline.GREEN)
queue.set_ylim(0, None)
talkers.fill_between(times, separate, step='pre', color=timeline.BLUE, linewidth=0,
                     label='on their own')
talkers.fill_between(times, separate, separate
                     + timeline.column(rows, 'mixed'), step='pre',
                     color=timeline.GREY, linewidth=0, label='in the mix')
talkers.set_ylim(0, None)
talkers.set_ylabel('talkers')
talkers.yaxis.get_major_locator().set_params(integer=True)
talkers.set_xlabel('time, s')
rate.set_xlim(0, times[-1])
for axis in (rate, talkers):
    axis.legend(frameon=False, ncols=3, loc='lower left',
                bbox_to_anchor=(0, 0.97), borderaxespad=0)
for said in timeline.remarks(rows):
    print(said, file=sys.stderr)
    rate.set_title(said, fontsize=7, color=timeline.RED, loc='left', pad=18)
figure.align_ylabels()
figure.tight_layout()
save(figure, sys.stdout)
