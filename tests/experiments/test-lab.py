#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory's own arithmetic, on tables whose answers are known."""
import pathlib
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
from lab import guest, measures, network, plan, results, scenario  # noqa: E402

TWO = """
    title = "two flows"
    duration_s = 10
    [link.wan]
    rate_bps = [[0, 1000], [5, 500]]
    queue_bytes = 1000
    [flow.a]
    kind = "bundle"
    stream_bps = 100
    [flow.b]
    kind = "tcp"
    """


def scenario_of(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'test.toml'
        path.write_text(textwrap.dedent(text), encoding='utf-8')
        return scenario.Scenario(path)


def result_of(text, rows, links=''):
    """A result whose flows.csv has rows (t_s, flow, sent, received, lost)."""
    s = scenario_of(text)
    folder = pathlib.Path(tempfile.mkdtemp())
    lines = [','.join(results.COLUMNS['flows.csv'])]
    lines += [f'{t},{flow},{sent},{got},10,{10 - lost},{lost},1.0,0'
              for t, flow, sent, got, lost in rows]
    (folder / 'flows.csv').write_text('\n'.join(lines) + '\n',
                                      encoding='ascii')
    head = ','.join(results.COLUMNS['links.csv'])
    (folder / 'links.csv').write_text(f'{head}\n{links}', encoding='ascii')
    result = results.Result(s.runs()[0], 'test', folder, {})
    _ = result.flows, result.links
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return result


class ScenarioTest(unittest.TestCase):
    def test_every_scenario_of_the_tree_makes_sense(self):
        for s in scenario.load_all():
            for run in s.runs() + s.runs(short=True):
                net = network.Network(run)
                self.assertIn('netns add', guest.job(net, '/tools'))
                self.assertIn('run name=', plan.plan(run))
            for claim in s.claims:
                self.assertIn(claim['measure'], measures.MEASURES, s.name)
                self.assertTrue('show' in claim or s.name.startswith(
                    ('fig4', 'listener')), f'{s.name}: no target')

    def test_an_unknown_word_is_refused_by_name(self):
        with self.assertRaisesRegex(scenario.ScenarioError, 'rat_bps'):
            scenario_of(TWO.replace('queue_bytes', 'rat_bps = 1\nqueue_bytes'))

    def test_steps_out_of_order_are_refused(self):
        with self.assertRaisesRegex(scenario.ScenarioError, 'in order'):
            scenario_of(TWO.replace('[[0, 1000], [5, 500]]',
                                    '[[0, 1000], [5, 500], [3, 1]]'))

    def test_axes_multiply(self):
        s = scenario_of(TWO + '\n'.join([
            '[vary.cc.reno]', '[vary.cc.bbr]', 'flow.b.cc = "bbr"',
            '[vary.n.one]', '[vary.n.two]', 'flow.a.streams = 2']))
        runs = s.runs(seeds=[7, 8])
        self.assertEqual(len(runs), 8)
        self.assertEqual({(r.flows['b']['cc'], r.flows['a']['streams'])
                          for r in runs}, {('reno', 8), ('reno', 2),
                                           ('bbr', 8), ('bbr', 2)})
        self.assertEqual(len(s.runs(only={'cc': 'bbr'})), 2)
        self.assertEqual(len(s.runs(only={'cc': 'reno|bbr', 'n': 'two'})), 2)
        self.assertEqual(len(s.runs(only={'absent': 'a|b'})), 4)

    def test_short_runs_shrink_every_time(self):
        s = scenario_of(TWO.replace('duration_s = 10', 'duration_s = 10\n'
                                    'short = { time_scale = 0.5 }')
                        + 'start_s = 4\n')
        run = s.runs(short=True)[0]
        self.assertEqual(run.duration_s, 5)
        self.assertEqual(run.flows['b']['start_s'], 2)
        self.assertEqual(run.links['wan']['rate_bps'], [(0, 1000), (2.5, 500)])

    def test_a_route_goes_the_shortest_way(self):
        s = scenario_of("""
            title = "a chain"
            duration_s = 1
            [link.one]
            from = "a"
            to = "b"
            rate_bps = 1
            queue_ms = 1
            [link.two]
            from = "b"
            to = "c"
            rate_bps = 1
            queue_ms = 1
            [flow.f]
            kind = "tcp"
            from = "a"
            to = "c"
            """)
        net = network.Network(s.runs()[0])
        link, end = net.hops('a')['c']
        self.assertEqual((link.name, end), ('one', 0))
        link, end = net.hops('c')['a']
        self.assertEqual((link.name, end), ('two', 1))


class GuestTest(unittest.TestCase):
    def job(self, text=TWO):
        run = scenario_of(text).runs(seeds=[7])[0]
        return guest.job(network.Network(run), '/tools')

    def test_everybody_knows_when_time_begins(self):
        job = self.job()
        self.assertLess(job.index('export FMX_EPOCH_NS'), job.index('/launch'))

    def test_neighbours_know_each_other_before_anything_is_sent(self):
        job = self.job()
        self.assertLess(job.index('/dev/udp'), job.index('/launch'))
        self.assertEqual(job.count('/dev/udp'), 2)

    def test_udp_does_not_come_evenly(self):
        cbr = TWO.replace('"tcp"', '"cbr"\nrate_bps = 100')
        self.assertIn('218 1.0 701 0.000:100', self.job(cbr))

    def test_talkers_are_late_where_the_scenario_says_so(self):
        self.assertNotIn('dev lo', self.job())
        self.assertIn('-n a-s qdisc add dev lo root netem delay 2.5ms 2.5ms',
                      self.job(TWO.replace('stream_bps', 'jitter_ms = 5\n'
                                           'stream_bps')))


class MeasureTest(unittest.TestCase):
    def setUp(self):
        rows = []
        for t in range(1, 11):
            rows.append((t, 'a', 300, 300, 1))
            rows.append((t, 'b', 600, 100 if t % 2 else 500, 0))
        links = ''.join(f'{t},wan,{900 if t <= 5 else 500},{t},{2 * t}\n'
                        for t in range(1, 11))
        self.result = result_of(TWO, rows, links)
        self.claim = {'flow': 'a', 'against': ['b']}

    def ask(self, name, **more):
        return measures.MEASURES[name](self.result, {**self.claim, **more})

    def test_shares_and_ratios(self):
        self.assertAlmostEqual(self.ask('share'), 0.5)
        self.assertAlmostEqual(self.ask('ratio'), 1.0)
        self.assertAlmostEqual(self.ask('share_error'), 0)
        self.assertAlmostEqual(self.ask('ratio_most', bin_s=1), 3)
        self.assertAlmostEqual(self.ask('ratio_least', bin_s=1), 0.6)
        self.assertAlmostEqual(self.ask('rate'), 0.3)

    def test_jain_is_one_for_equals_and_less_otherwise(self):
        self.assertAlmostEqual(self.ask('jain'), 1)
        self.assertAlmostEqual(self.ask('jain', from_s=9), 0.64 / 0.68)

    def test_variation(self):
        self.assertAlmostEqual(self.ask('cov', column='received_bps'), 0)
        self.assertAlmostEqual(self.ask('cov', flow='b',
                                        column='received_bps'), 2 / 3)
        self.assertAlmostEqual(self.ask('cov', flow='b', bin_s=2,
                                        column='received_bps'), 0)

    def test_loss_counts_packets_of_the_window(self):
        self.assertAlmostEqual(self.ask('loss'), 10)
        self.assertAlmostEqual(self.ask('loss', flow='b'), 0)
        self.assertAlmostEqual(self.ask('worst_loss', stage_s=5), 10)

    def test_link(self):
        self.assertAlmostEqual(self.ask('utilisation'), 7000 / 7500)
        self.assertAlmostEqual(self.ask('queue_median'), 5.5)
        self.assertAlmostEqual(self.ask('queue_95', from_s=5), 9.8)

    def test_what_fits_follows_the_link(self):
        self.assertEqual(measures.fits(self.result, self.claim, 0), 8)
        self.assertEqual(measures.fits(self.result, self.claim, 6), 5)
        self.assertAlmostEqual(
            self.ask('worst_stream_error', stage_s=5), 5)

    def test_nothing_measured_is_no_number(self):
        self.assertIsNone(self.ask('share', flow='nobody'))
        self.assertIsNone(measures.verdict(None, {'show': [0, 1]}, 'show'))
        self.assertIs(measures.verdict(0.5, {'show': [0, 1]}, 'show'), True)
        self.assertIs(measures.verdict(1.5, {'show': [0, 1]}, 'show'), False)


if __name__ == '__main__':
    unittest.main()
