# SPDX-License-Identifier: LGPL-2.1-or-later
"""A bundle through a queue that marks: what has to hold in every laboratory."""

SCENARIO = """
title = "three talkers and a queue that marks"
duration_s = 12
[link.wan]
rate_bps = 150_000
delay_ms = 10
queue = "red"
ecn = true
queue_bytes = 30_000
red_min_bytes = 1_000
red_max_bytes = 6_000
red_probability = 0.5
[flow.audio]
kind = "bundle"
controller = "gaimd"
streams = 3
stop_s = 10
"""


def rows(table):
    return [line.split(',') for line in table.splitlines()[1:]]


def without_ecn():
    return SCENARIO.replace('ecn = true\n', '')


def n_dropped(tables):
    """Packets that never came; the queue is empty at the end."""
    return sum(int(r[4]) - int(r[5]) for r in rows(tables['flows.csv']))


def loss_event_rate(tables):
    """The highest that the sender heard of"""
    return max(float(r[5]) for r in rows(tables['senders.csv']))
