#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The population's networks as scenarios, and what is made of their results.

usage: test-population.py DRAWS, the program of libfairmix's tests
"""
import functools
import pathlib
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import write_population as population  # noqa: E402
import write_tfrc_sp as tfrc_sp  # noqa: E402
from lab import guest, merge, network, results, scenario  # noqa: E402

ARGS = types.SimpleNamespace(program=sys.argv.pop(), draws=1, most_kbps=1000)
SEVERAL, MANY, BBR = 13, 14, 15     # as in fmx-sim-draw.h
LOOKS = (50, 70, 160)           # s; the first is before anything counts


@functools.cache
def draw_of(family):
    """Its first: the model takes a second for some."""
    return population.draws_of(family, ARGS)[0]


def scenario_of(draw, family, sender=population.OURS):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'test.toml'
        path.write_text(population.scenario_text(draw, family, sender), encoding='utf-8')
        return scenario.Scenario(path)


def result_of(run, rates, lost, queue_ms, sent=None):
    """A result in which all is as it is told from 60 s on, and nothing before; @sent: so
    many packets of each flow at each look, 100 if it does not say."""
    sent = {f: 100 for f in rates} | (sent or {})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        flows = [','.join(results.COLUMNS['flows.csv'])]
        links = [','.join(results.COLUMNS['links.csv'])]
        senders = [','.join(results.COLUMNS['senders.csv'])]
        for t in LOOKS:
            on = t > population.FROM_S
            flows += [f'{t},{f},{bps * on},{bps * on},{sent[f]},{sent[f] - lost[f]},'
                      f'{lost[f]},1.0,0' for f, bps in rates.items()]
            links.append(f'{t},wan,0,{queue_ms if on else 9999},0')
            senders += [f'{t},{f},,1,1,0,0,1,{4 if t == LOOKS[-1] else 2},1'
                        for f in rates if f.startswith('own')]
        for file, lines in (('flows', flows), ('links', links), ('senders', senders)):
            (folder / f'{file}.csv').write_text('\n'.join(lines) + '\n', encoding='ascii')
        result = results.Result(run, 'test', folder, {})
        _ = result.flows, result.links, result.senders
        return result


class NetworkTest(unittest.TestCase):
    def test_each_family_is_a_scenario_that_linux_can_make(self):
        for family in population.FAMILIES:
            draw = draw_of(family)
            run = scenario_of(draw, family).runs()[0]
            own = [f for f in run.flows if f.startswith('own')]
            with self.subTest(family=draw['family']):
                self.assertEqual(len(own), len(draw['access_ms'].split()))
                self.assertEqual(len(run.flows) - len(own), int(draw['tcps']))
                self.assertEqual(run.links['wan']['queue'], draw['queue'])
                job = guest.job(network.Network(run), '/tools')
                self.assertIn(f'tbf rate {run.links["wan"]["rate_bps"][0][1]} burst', job)

    def test_steps_of_the_rate_are_those_of_the_model(self):
        draw = draw_of(5)
        steps = scenario_of(draw, 5).runs()[0].links['wan']['rate_bps']
        self.assertGreater(len(steps), 4)
        self.assertEqual([f'{t:g}:{bps}' for t, bps in steps],
                         [f'{float(w.split(":")[0]):g}:{w.split(":")[1]}'
                          for w in draw['rates'].split()])

    def test_several_bundles_are_so_far_away_and_begin_one_after_the_other(self):
        for family in (6, SEVERAL, MANY):
            draw = draw_of(family)
            run = scenario_of(draw, family).runs()[0]
            access = [f'{float(ms):g}ms' for ms in draw['access_ms'].split()]
            with self.subTest(family=draw['family']):
                self.assertGreater(len(run.bundles), 1)
                self.assertEqual([f['start_s'] for f in run.bundles.values()],
                                 [2 + 3 * i for i in range(len(access))])
                job = guest.job(network.Network(run), '/tools')
                for name, ms in zip(run.bundles, access):
                    for end in 'sd':    # there and back
                        self.assertEqual(
                            f'tc -n {name}-{end} qdisc add dev e0 root netem delay {ms} '
                            in job, ms != '0ms')

    def test_many_are_five_to_eight_and_nobody_else(self):
        run = scenario_of(draw_of(MANY), MANY).runs()[0]
        self.assertIn(len(run.bundles), range(5, 9))
        self.assertEqual(list(run.flows), list(run.bundles))

    def test_beside_bbr_is_linux_own(self):
        run = scenario_of(draw_of(BBR), BBR).runs()[0]
        job = guest.job(network.Network(run), '/tools')
        tcps = [line for line in job.splitlines() if '/tcpflow send ' in line]
        self.assertEqual(len(tcps), len(run.flows) - len(run.bundles))
        for line in tcps:
            self.assertRegex(line, r' \d+\.000 bbr >>')

    def test_a_bucket_a_queue_and_marks_are_told_to_the_kernel(self):
        draw = {**draw_of(2), 'queue': 'codel', 'ecn': '1',
                'burst_bytes': '5000'}
        job = guest.job(network.Network(scenario_of(draw, 2).runs()[0]), '/tools')
        self.assertIn('parent 1:1 handle 10: codel ecn', job)
        self.assertIn(' burst 5000 ', job)
        self.assertIn('net.ipv4.tcp_ecn=1', job)


class PeerTest(unittest.TestCase):
    def test_it_sends_in_a_bundle_s_place_as_much_as_a_bundle_may(self):
        for family in (0, 6):
            draw = draw_of(family)
            ours, theirs = (scenario_of(draw, family, name).runs()[0]
                            for name in (population.OURS, 'rtpgccbwe'))
            self.assertEqual(list(ours.flows), list(theirs.flows))
            self.assertEqual(list(ours.bundles), list(theirs.peers))
            for name, flow in theirs.peers.items():
                flow['path'] = '/x'
                for key in ('start_s', 'access_delay_ms', 'streams', 'stream_bps'):
                    self.assertEqual(flow[key], ours.flows[name][key])
            job = guest.job(network.Network(theirs), '/tools')
            self.assertEqual(job.count('/tools/gccflow /x send '), len(theirs.peers))
            flow = theirs.flows['own0']
            most = int(flow['streams'] * flow['stream_bps'] * 1.1)
            self.assertIn(f'.000 {population.MIX_BPS[0]} {most} >>', job)

    def test_it_is_run_from_its_own_file_where_there_is_its_program(self):
        draw = draw_of(0)
        with tempfile.TemporaryDirectory() as folder:
            args = types.SimpleNamespace(out=folder, again=False, short=False, todo=[],
                                         peer=['them=/x'])
            for name in (population.OURS, 'them'):
                population.prepare(0, draw, args, name)
        self.assertEqual([r.scenario for r, _ in args.todo],
                         [f'family-0-{draw["seed"]}', f'family-0-{draw["seed"]}-them'])
        self.assertEqual(args.todo[1][0].flows['own0']['path'], '/x')

    def test_the_table_has_a_column_for_each_who_sent(self):
        one = {'family': 'alone', 'tcps': '0', 'transfer_bytes': '0', 'access_ms': '1'}
        rows = [({**one, 'ok': '1', 'used': '0.90'}, {'used': 0.5}, False),
                ({**one, 'ok': '1', 'used': '0.94'}, {'used': 0.95}, True)]
        theirs = [(d, {'used': 0.25}, False) for d, _, _ in rows]
        self.assertEqual(population.peers_table({'shortq': [rows], 'them': [theirs]}), [
            '| family | networks | model | shortq | them |', '|---|---|---|---|---|',
            '| alone | 2 | 2 (0.92) | 1 (0.72) | 0 (0.25) |',
            '| all | 2 | 2 (100 %) | 1 (50 %) | 0 (0 %) |'])

    def test_its_commit_and_its_version_are_said(self):
        def of(commit, told):
            return types.SimpleNamespace(manifest={'commit': commit, **told})
        runs = {'shortq': [of('aa', {}), of('aa', {})],
                'them': [of('bb', {'peers': {'them': 'them 1.2'}}),
                         of('cc', {'peers': {'them': 'them 1.2'}})]}
        self.assertIn('Run: shortq at aa, them (them 1.2) at bb and cc; ',
                      population.peers_dated(runs)[1])


class KeepTest(unittest.TestCase):
    OLD = ['| family | networks | model | shortq | them |', '|---|---|---|---|---|',
           '| alone | 2 | 2 (0.92) | 1 (0.72) | 0 (0.25) |',
           '| beside | 3 | 1 (0.50) | 2 (0.60) | 3 (1.00) |',
           '| all | 5 | 3 (60 %) | 3 (60 %) | 3 (60 %) |']

    def test_a_column_goes_beside_those_that_stay(self):
        new = ['| family | networks | model | them | others |', '|---|---|---|---|---|',
               '| alone | 2 | 1 (0.80) | 2 (0.90) | 0 (0.10) |',
               '| beside | 3 | 1 (0.50) | 0 (0.00) | 1 (0.70) |',
               '| all | 5 | 2 (40 %) | 2 (40 %) | 1 (20 %) |']
        self.assertEqual(merge.beside(self.OLD, new, 'networks'), [
            '| family | networks | model | shortq | them | others |',
            '|---|---|---|---|---|---|',
            '| alone | 2 | 1 (0.80) | 1 (0.72) | 2 (0.90) | 0 (0.10) |',
            '| beside | 3 | 1 (0.50) | 2 (0.60) | 0 (0.00) | 1 (0.70) |',
            '| all | 5 | 2 (40 %) | 3 (60 %) | 2 (40 %) | 1 (20 %) |'])

    def test_other_networks_are_another_table(self):
        for new in ([line.replace('| 2 |', '| 4 |', 1) for line in self.OLD], self.OLD[:-1]):
            with self.assertRaises(ValueError):
                merge.beside(self.OLD, new, 'networks')

    def test_each_column_is_of_its_own_commit(self):
        self.assertEqual(merge.dated(
            'Run: shortq at aa, them (them 1.2) at bb and cc; the model is of aa.',
            'Run: others at dd, them (them 1.3) at dd; the model is of dd.'),
            'Run: shortq at aa, them (them 1.3) at dd, others at dd; the model is of dd.')


class Ns2Test(unittest.TestCase):
    def test_it_has_drop_tail_queues_and_tcps_that_never_pause(self):
        with tempfile.TemporaryDirectory() as folder:
            args = types.SimpleNamespace(out=pathlib.Path(folder))
            for family, told in ((0, True), (1, True), (2, False), (6, False),
                                 (population.REVERSE, False), (9, False)):
                draw = population.draws_of(family, ARGS)[0]
                s = tfrc_sp.prepare(family, draw, args)
                self.assertEqual(s is not None, told, draw['family'])
                if s:
                    run = s.runs(runner='ns2')[0]
                    self.assertEqual(run.bundles['own0']['controller'], 'tfrc')
                    self.assertEqual(run.seed, int(draw['seed']))

    def test_its_table_has_both_sides(self):
        one = {'family': 'alone', 'tcps': '0', 'transfer_bytes': '0', 'access_ms': '1'}
        rows = [({**one, 'ok': '1', 'used': '0.90'}, {'used': 0.5}, False),
                ({**one, 'ok': '0', 'used': '0.94'}, {'used': 0.95}, True)]
        self.assertEqual(tfrc_sp.table({4: rows, 5: rows})[2:5], [
            '| alone | 2 | 1 (0.72) | 1 (0.92) |', '| alone | 2 | 1 (0.72) | 1 (0.92) |',
            '| all | 4 | 2 | 2 |'])


class OutcomeTest(unittest.TestCase):
    def setUp(self):
        self.draw = draw_of(0)
        self.run_ = scenario_of(self.draw, 0).runs()[0]
        self.link = self.run_.links['wan']['rate_bps'][0][1]
        self.assertEqual(self.draw['tcps'], '1')

    def outcome(self, own, tcp, lost=0):
        return population.outcome(result_of(
            self.run_, {'own0': own * self.link, 'tcp0': tcp * self.link},
            {'own0': lost, 'tcp0': 2}, 40), self.draw, 0)

    def test_it_is_measured_after_the_warm_up(self):
        found = self.outcome(0.3, 0.6, 3)
        for key, value in (('ratio', 0.5), ('used', 0.9), ('share', 0.6), ('jain', 1),
                           ('queue_s', 0.04), ('own_loss', 0.03), ('tcp_loss', 0.02),
                           ('apart', 3)):
            self.assertAlmostEqual(found[key], value, msg=key)
        self.assertAlmostEqual(found['changes'], 60 / 100)

    def test_a_peer_has_a_rate_and_no_voices(self):
        run = scenario_of(self.draw, 0, 'them').runs()[0]
        found = population.outcome(result_of(
            run, {'own0': 0.3 * self.link, 'tcp0': 0.6 * self.link},
            {'own0': 3, 'tcp0': 2}, 40), self.draw, 0)
        ours = self.outcome(0.3, 0.6, 3)
        self.assertEqual(set(ours) - set(found), {'changes', 'apart'})
        self.assertEqual(found, {key: ours[key] for key in found})

    def test_a_loss_is_the_mean_of_the_bundles_whoever_sends_more(self):
        draw = draw_of(6)
        run = scenario_of(draw, 6).runs()[0]
        own = list(run.bundles)
        found = population.outcome(result_of(
            run, {f: 1e5 for f in own}, {f: 10 * (f == own[0]) for f in own}, 40,
            {own[0]: 50}), draw, 6)
        self.assertAlmostEqual(found['own_loss'], 0.2 / len(own))

    def test_the_table_is_about_what_the_model_s_is(self):
        found = {'ratio': 1.0, 'share': 2.0, 'used': 3.0, 'jain': 4.0}
        for family, name in ((0, 'ratio'), (4, 'used'), (6, 'jain'),
                             (population.REVERSE, 'used'), (9, 'share'),
                             (SEVERAL, 'ratio'), (MANY, 'jain'), (BBR, 'ratio')):
            draw = draw_of(family)
            self.assertEqual(population.figure(draw, found), found[name], draw['family'])

    def test_several_and_many_are_judged_as_in_the_model(self):
        good = {'ratio': 1, 'share': 1, 'used': 0.95, 'jain': 0.95, 'queue_s': 0.05,
                'packet_s': 0.004, 'own_loss': 0.005, 'tcp_loss': 0.0}
        rows = [(f, {**good, **other}) for f in (SEVERAL, MANY, BBR) for other in (
            {}, {'ratio': 2.1}, {'jain': 0.8}, {'queue_s': 0.1}, {'own_loss': 0.02},
            {'used': 0.5})]
        self.assertEqual(population.judged(ARGS.program, rows),
                         [True, False, True, True, False, True,
                          True, True, False, False, False, False,
                          True, False, True, True, False, True])

    def test_the_model_s_rule_judges(self):
        rows = [(0, self.outcome(0.4, 0.5)), (0, self.outcome(0.2, 0.5)),
                (0, self.outcome(0.4, 0.5, 9)), (4, self.outcome(0.5, 0.42))]
        self.assertEqual(population.judged(ARGS.program, rows),
                         [True, False, False, True])


if __name__ == '__main__':
    unittest.main()
