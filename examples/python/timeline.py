#!/usr/bin/env python3
"""Draws the timeline of a party.

usage: timeline.py party.csv party.png

You will see three strips over time: what the link could carry, what the
mixer was allowed to send and what it sent; loss and the link's queue; and how
many talkers came through on their own, how many in the mix.
"""
import csv
import sys

import matplotlib
matplotlib.use('Agg')
from matplotlib import pyplot        # noqa: E402  after choosing the backend

BLUE, ORANGE, GREY, GREEN, RED = (
    '#3465a4', '#e08214', '#d3d7cf', '#4e9a06', '#a40000')


def column(rows, name):
    return [float(row[name]) for row in rows]


def smooth(values, width=4):
    return [sum(values[max(0, i - width + 1):i + 1])
            / len(values[max(0, i - width + 1):i + 1])
            for i in range(len(values))]


def draw(csv_path, picture_path):
    with open(csv_path, newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    time = column(rows, 'time_s')
    figure, (rates, trouble, streams) = pyplot.subplots(
        3, 1, sharex=True, figsize=(9, 6.6),
        gridspec_kw={'height_ratios': [3, 1.6, 1.6]})

    rates.fill_between(time, column(rows, 'link_kbps'), step='pre',
                       color=GREY, label='the link carries')
    rates.step(time, column(rows, 'target_kbps'), where='post', color=ORANGE,
               label='target')
    rates.plot(time, smooth(column(rows, 'sent_kbps')), color=BLUE,
               label='sent (1 s mean)')
    top = 1.25 * max(column(rows, 'link_kbps'))
    rates.set_ylim(0, top)
    rates.set_ylabel('kbit/s on the wire')
    rates.legend(loc='upper center', ncol=3, frameon=False)

    packets = smooth(column(rows, 'packets'))
    lost = smooth(column(rows, 'lost_packets'))
    trouble.bar(time, [100 * a / b if b else 0 for a, b in zip(lost, packets)],
                width=time[0], color=RED, label='loss, % (1 s mean)')
    trouble.set_ylabel('loss, %', color=RED)
    trouble.set_ylim(0, max(10.0, trouble.get_ylim()[1]))
    queue = trouble.twinx()
    queue.plot(time, column(rows, 'queue_ms'), color=GREEN, linewidth=1)
    queue.set_ylabel('queue, ms', color=GREEN)
    queue.set_ylim(bottom=0)

    separate, mixed = column(rows, 'separate'), column(rows, 'mixed')
    streams.stackplot(time, separate, mixed, step='post', colors=[BLUE, GREY],
                      labels=['on their own', 'in the mix'])
    streams.set_ylim(0, max(map(sum, zip(separate, mixed))) * 1.3 + 0.1)
    streams.set_ylabel('talkers')
    streams.set_xlabel('time, s')
    streams.legend(loc='upper center', ncol=2, frameon=False)

    for axes in (rates, trouble, queue, streams):
        axes.spines['top'].set_visible(False)
        axes.margins(x=0)
    figure.suptitle('As many separate voices as the path has room for',
                    fontsize=12)
    figure.tight_layout()
    figure.savefig(picture_path, dpi=110)
    pyplot.close(figure)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(*sys.argv[1:])
