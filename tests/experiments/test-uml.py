#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The real pipelines in virtual time: nobody busy-waits, a seed is a run.

usage: test-uml.py BUILD; exit status 77 without the private kernel
"""
import argparse
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import marks  # noqa: E402
import run  # noqa: E402
from lab import results, runner, scenario, uml  # noqa: E402

BUILD = None
SCENARIO = """
title = "eight talkers, TCP and files"
duration_s = 6
[link.wan]
rate_bps = 635_000
delay_ms = 70
queue_bytes = 75_000
[flow.audio]
kind = "bundle"
[flow.tcp]
kind = "tcp"
start_s = 4
[flow.web]
kind = "tcp"
on_off = { bytes = [2_000, 3_000], idle_s = 0.5 }
"""


class UmlTest(unittest.TestCase):
    def tables(self, seed, text=SCENARIO):
        """What a run leaves.  Where somebody busy-waits virtual time stands
        still, and the runner gives up."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'eight.toml'
            path.write_text(text, encoding='utf-8')
            args = argparse.Namespace(build=BUILD, out=folder, short=False,
                                      jobs=1)
            chosen = scenario.Scenario(path).runs(seeds=[seed])
            self.assertEqual(run.run_all([(r, 'uml') for r in chosen], args), 0)
            where = results.folder_of(folder, chosen[0], 'uml', False)
            return {t: (where / t).read_text('ascii') for t in
                    ('flows.csv', 'links.csv', 'senders.csv')}

    def test_time_passes_and_a_seed_is_a_run(self):
        first = self.tables(1)
        rows = [line.split(',') for line in
                first['flows.csv'].splitlines()[1:]]
        self.assertEqual(rows[-1][0], '6.000')
        self.assertGreater(sum(int(r[5]) for r in rows if r[1] == 'audio'), 200)
        self.assertEqual(first, self.tables(1))
        self.assertNotEqual(first, self.tables(2))

    def test_marks_are_heard_where_the_queue_marks(self):
        with_ecn = self.tables(1, marks.SCENARIO)
        # one in a run of many was lost once; without ECN test-ns3 loses more than ten
        self.assertLess(marks.n_dropped(with_ecn), 3)
        self.assertGreater(marks.loss_event_rate(with_ecn), 0)


if __name__ == '__main__':
    BUILD = runner.build_to_test(uml.check)
    unittest.main()
