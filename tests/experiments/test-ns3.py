#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Short runs in ns-3: the claims that hold, and that a seed is a run.

usage: test-ns3.py BUILD; exit status 77 where the runner was not built
"""
import argparse
import csv
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import marks  # noqa: E402
import run  # noqa: E402
from lab import ns3, results, runner, scenario  # noqa: E402

BUILD = None


def tables(name, choice, seed, folder):
    """Runs one choice; returns its tables."""
    args = argparse.Namespace(build=BUILD, out=folder, short=True,
                              jobs=1)
    chosen = scenario.Scenario(name).runs(True, [seed], choice)
    if run.run_all([(r, 'ns3') for r in chosen], args):
        raise AssertionError(f'{name} did not come to its end')
    where = results.folder_of(folder, chosen[0], 'ns3', True)
    return {t: (where / t).read_text('ascii') for t in
            ('flows.csv', 'links.csv', 'senders.csv')}


WANDERS = """
title = "held until a multiple of 40 ms, there and not back"
duration_s = 4
[link.wan]
rate_bps = 10_000_000
delay_ms = 10
queue_ms = 200
wander = "bursts:40"
[flow.there]
kind = "cbr"
rate_bps = 400_000
[flow.back]
kind = "cbr"
from = "far"
to = "near"
rate_bps = 400_000
"""


class Ns3Test(unittest.TestCase):
    def test_a_seed_is_a_run(self):
        with tempfile.TemporaryDirectory() as a, \
                tempfile.TemporaryDirectory() as b:
            choice = {'controller': 'shortq'}
            first = tables('fig7-one-tcp', choice, 1, a)
            self.assertEqual(first, tables('fig7-one-tcp', choice, 1, b))
            self.assertNotEqual(first, tables('fig7-one-tcp', choice, 2, b))

    def test_marks_are_heard_where_the_queue_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'marked.toml'
            path.write_text(marks.SCENARIO, encoding='utf-8')
            with_ecn = tables(path, None, 1, folder)
            path.write_text(marks.without_ecn(), encoding='utf-8')
            self.assertGreater(marks.n_dropped(tables(path, None, 2, folder)), 10)
        self.assertEqual(marks.n_dropped(with_ecn), 0)
        self.assertGreater(marks.loss_event_rate(with_ecn), 0)

    def test_a_delay_wanders_there_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'wanders.toml'
            path.write_text(WANDERS, encoding='utf-8')
            rows = csv.DictReader(tables(path, None, 1, folder)['flows.csv'].splitlines())
            late = {'there': [], 'back': []}
            for row in rows:
                if row['delay_ms']:
                    late[row['flow']].append(float(row['delay_ms']))
        mean = {flow: sum(ms) / len(ms) for flow, ms in late.items()}
        self.assertGreater(len(late['there']), 30)
        self.assertAlmostEqual(mean['there'], 10 + 20, delta=2)
        self.assertAlmostEqual(mean['back'], 10, delta=1)

    def check(self, name, *only):
        """What the scenario says must hold, of the choices named."""
        with tempfile.TemporaryDirectory() as folder:
            sys.argv = ['run.py', name, '--runner', 'ns3', '--short',
                        '--check', '--build', BUILD, '--out', folder,
                        '--jobs', '2', '--only', *only]
            self.assertEqual(run.main(), 0)

    def test_beside_tcp_it_is_smooth_and_loses_little(self):
        self.check('fig7-one-tcp', 'controller=dpm|shortq')

    def test_as_many_streams_as_fit_beside_udp(self):
        self.check('fig4-6-udp-levels', 'strategy=dpm|forward-all',
                   'ear=tones')

    def test_a_group_shares_with_a_tcp_beside_its_slowest_receiver(self):
        self.check('asmp-halves', 'algorithm=asmp-fair', 'beside=reno')

    def test_the_circuit_breaker_stops_who_does_not_listen(self):
        self.check('deaf-sender', 'path=too-narrow|no-feedback')


if __name__ == '__main__':
    BUILD = runner.build_to_test(ns3.check)
    unittest.main()
