#!/usr/bin/python3
"""Draws what the adaptation makes of a rate.

usage: docs/figures/adapt.py build/tests/bench/adapt > docs/figures/adapt.svg
"""
import csv
import subprocess
import sys

import matplotlib
matplotlib.use('svg')
import matplotlib.pyplot as plt

from small_svg import save

SEPARATE, MIX, UP, RATE = '#3465a4', '#f57900', '#204a87', '#babdb6'


def table(part):
    text = subprocess.run([sys.argv[1], '--csv', part], check=True,
                          capture_output=True, text=True).stdout
    return list(csv.DictReader(text.splitlines()))


def draw_streams(rate, count):
    rows = table('streams')
    falls = [r for r in rows if r['direction'] == 'falls']
    target = [float(r['target_kbps']) for r in falls]
    mixes = [float(r['mix_kbps']) * int(r['mixes']) for r in falls]
    forwarded = [float(r['used_kbps']) - m for r, m in zip(falls, mixes)]
    rate.stackplot(target, forwarded, mixes, colors=[SEPARATE, MIX],
                   labels=['separate streams', 'the mix of the rest'],
                   linewidth=0)
    rate.plot(target, target, color='black', linewidth=1, label='target')
    rate.set_ylabel('on the wire [kbit/s]')
    rate.legend(frameon=False, fontsize=8, loc='upper left')
    for direction, style, label in (('falls', '-', 'target falls'),
                                    ('rises', '--', 'target rises')):
        chosen = [r for r in rows if r['direction'] == direction]
        count.plot([float(r['target_kbps']) for r in chosen],
                   [int(r['separate']) for r in chosen], style, color=UP,
                   linewidth=1.2, label=label)
    count.set_ylabel('separate streams')
    count.set_xlabel('target [kbit/s]')
    count.legend(frameon=False, fontsize=8, loc='upper left')


def draw_policies(axes):
    rows = table('policies')
    for axis, name in zip(axes, dict.fromkeys(r['policy'] for r in rows)):
        chosen = [r for r in rows if r['policy'] == name
                  and 15 < float(r['t_s']) < 55]
        seconds = [float(r['t_s']) for r in chosen]
        axis.plot(seconds, [float(r['transmission_kbps']) for r in chosen],
                  color=RATE, linewidth=1)
        axis.plot(seconds, [float(r['media_kbps']) for r in chosen],
                  color=MIX, linewidth=1.4)
        axis.set_ylim(0, 700)
        axis.set_title(name, fontsize=9, loc='left', pad=2)
        axis.set_ylabel('kbit/s')
    axes[-1].set_xlabel('time [s]')


plt.rcParams.update({'svg.hashsalt': 'adapt', 'font.family': 'sans-serif',
                     'axes.spines.top': False, 'axes.spines.right': False,
                     'font.size': 9})
figure = plt.figure(figsize=(9, 5.4))
left, right = figure.subfigures(1, 2)
draw_streams(*left.subplots(2, 1, sharex=True))
draw_policies(right.subplots(4, 1, sharex=True, sharey=True))
save(figure, sys.stdout)
