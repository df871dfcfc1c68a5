#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory's own arithmetic, on tables whose answers are known."""
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

try:
    import numpy
except ImportError:
    numpy = None

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import run  # noqa: E402
from lab import (ages, breaker, group, guest, kept, listen, measures, netns, network, ns2,  # noqa: E402
                 ns3, plan, results, rfc4828, scenario, watch)

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


GROUP = """
    title = "a group of one"
    duration_s = 10
    [link.wan]
    rate_bps = 1000
    queue_bytes = 1000
    [flow.a]
    kind = "multicast"
    from = "near"
    [flow.b]
    kind = "listener"
    of = "a"
    to = "far"
    start_s = 4
    stop_s = 7
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
                if set(s.runners) & {'uml', 'kernel', 'netns'}:
                    net = network.Network(run)
                    self.assertIn('netns add', guest.job(net, '/tools'))
                self.assertIn('run name=', plan.plan(run))
            for claim in s.claims:
                self.assertIn(claim['measure'], measures.MEASURES, s.name)
                self.assertTrue('show' in claim or s.name.startswith(
                    ('asmp', 'fig4', 'listener'))
                    or claim['measure'] == 'separate',   # a finding
                    f'{s.name}: no target')

    def test_an_unknown_word_is_refused_by_name(self):
        with self.assertRaisesRegex(scenario.ScenarioError, 'rat_bps'):
            scenario_of(TWO.replace('queue_bytes', 'rat_bps = 1\nqueue_bytes'))

    def test_a_claim_about_a_choice_that_there_is_not_is_refused(self):
        claim = '[[claim]]\nmeasure = "loss"\nwhen = { cc = "bbr" }\n'
        with self.assertRaisesRegex(scenario.ScenarioError, 'when cc'):
            scenario_of(f'{TWO}\n[vary.cc.reno]\n{claim}')
        scenario_of(f'{TWO}\n[vary.cc.bbr]\n{claim}')

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

    def test_a_choice_may_last_longer(self):
        s = scenario_of(TWO + '\n'.join([
            '[vary.each.soon]', '[vary.each.late]', 'duration_s = 30']))
        self.assertEqual([r.duration_s for r in s.runs()], [10, 30])

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

    def test_the_listener_waits_as_long_as_the_scenario_says(self):
        ear = TWO.replace('"bundle"', '"bundle"\near = "speech"')
        self.assertIn('latency=20000000', self.job(ear))
        self.assertIn('latency=80000000', self.job(ear.replace(
            'stream_bps', 'ear_latency_ms = 80\nstream_bps')))

    def test_a_cause_is_taken_away_where_the_scenario_says_so(self):
        job = self.job()
        self.assertNotIn('FMX_SENT', job)
        self.assertNotIn('database-location', job)
        job = self.job(TWO.replace('stream_bps', 'repair = true\nstream_bps')).replace('"', '')
        self.assertEqual(job.count('FMX_SENT=/run/sent-a'), 3)
        self.assertIn('udpsink name=wire', job)
        self.assertLess(job.index('name=feedback'), job.index('identity name=repair'))
        here = scenario_of(TWO.replace('stream_bps', 'never_mix = 1\nstream_bps')).runs()[0]
        self.assertEqual(guest.databases(network.Network(here)),
                         {'near-a.ini': '[ssrc:1001]\nnever-mix=true\n'})
        self.assertIn('database-location=$OUT/near-a.ini', guest.job(
            network.Network(here), '/tools'))

    def test_packets_wait_at_the_sender_where_the_scenario_says_so(self):
        self.assertIn('"policy=aggressive" "max-pacing-delay=0"', self.job())
        self.assertIn('"policy=lazy" "max-pacing-delay=500"', self.job(TWO.replace(
            'stream_bps', 'policy = "lazy"\npacing_ms = 500\nstream_bps')))

    def test_our_queue_stands_in_front_of_the_delay(self):
        queue = 'queue_packets = 60\nqueue = "class"\nclass.other = 3'
        job = self.job(TWO.replace('queue_bytes = 1000', queue))
        self.assertIn('X w-wan /tools/linkqueue x0 x1 discipline=cbt', job)
        self.assertIn('other=3', job)
        self.assertNotIn('tc -n r-near -batch', job)
        self.assertIn('tc -n r-far -batch', job)
        with self.assertRaisesRegex(scenario.ScenarioError, 'go together'):
            scenario_of(TWO.replace('queue_bytes', 'queue = "class"\nqueue_bytes'))

    def test_a_delay_that_wanders_is_ours_there_and_the_kernel_s_back(self):
        for name, what in (('even:30', 'even:30'), ('syn_wifi', 'syn_wifi'),
                           ('5g_w2s_n8', scenario.TRACES / '5g_w2s_n8.csv.gz')):
            text = TWO.replace('queue_bytes', f'wander = "{name}"\nqueue_bytes')
            job = self.job(text)
            self.assertIn(f'X w-wan /tools/linkdelay x0 x1 {what} 7 >>', job)
            self.assertNotIn('add dev x0 ingress', job)
            self.assertIn('add dev x1 ingress', job)
            self.assertIn('tc -n r-near -batch', job)   # its rate and its queue
        self.assertIn('add dev x0 ingress', self.job(TWO))
        with self.assertRaisesRegex(scenario.ScenarioError, 'neither'):
            scenario_of(text.replace('5g_w2s_n8', '5g_nobody'))
        with self.assertRaisesRegex(scenario.ScenarioError, 'together'):
            scenario_of(text.replace('queue_bytes', 'queue = "class"\nclass.other = 3\n'
                                     'queue_bytes'))
        for runner in (ns2, netns):
            self.assertIsNotNone(runner.refuses(scenario_of(text).runs()[0]))
        self.assertIsNone(netns.refuses(scenario_of(TWO).runs()[0]))
        self.assertIn(f' wander={what} ', plan.plan(scenario_of(text).runs()[0]))
        self.assertIn(' wander=none ', plan.plan(scenario_of(TWO).runs()[0]))

    def test_a_red_that_marks_has_flows_that_take_marks(self):
        red = ('red_min_bytes = 100\nred_max_bytes = 300\n'
               'queue = "red"\nqueue_bytes')
        self.assertNotIn('ecn\n', self.job(TWO.replace('queue_bytes', red)))
        ecn = TWO.replace('queue_bytes', f'ecn = true\n{red}')
        job = self.job(ecn)
        self.assertEqual(job.count(' ecn\n'), 2)
        self.assertIn('net.ipv4.tcp_ecn=1', job)
        self.assertLess(job.index('export FMX_ECN=1'), job.index('/launch'))
        self.assertIn(' ecn=1 ', plan.plan(scenario_of(ecn).runs()[0]))
        with self.assertRaisesRegex(scenario.ScenarioError, 'ecn goes with'):
            scenario_of(TWO.replace('queue_bytes', 'ecn = true\nqueue_bytes'))

    def test_an_als_asks_a_router_that_sees_its_link(self):
        als = TWO.replace('kind = "bundle"\n    stream_bps = 100',
                          'kind = "als"\n    rule = "paper"')
        job = self.job(als).replace('"', '')
        self.assertIn('env FMX_SET=5.0,router,bandwidth,500 /tools/withtap l0f '
                      '/tools/launch', job)
        self.assertIn('rule=equal utilisation=0.9 fdsrc fd=3 ! router.tap_63', job)
        self.assertIn('X r-near', job)
        self.assertIn('flow:a:rtp:5000-5000', job)
        self.assertIn('increase=5000', job)

    def test_layers_go_to_groups_and_each_branch_has_a_router(self):
        als = TWO.replace('kind = "bundle"\n    stream_bps = 100',
                          'kind = "als"\n    layers = 2\n    branches = { far = 4 }')
        job = self.job(als).replace('"', '')
        self.assertEqual(job.count('/tools/withtap l0f'), 1)
        self.assertIn('relay=true address=239.1.0.0 port=5000 sources=layer1', job)
        self.assertIn('host=239.1.0.1 port=5002', job)
        self.assertLess(job.index('sleep 4'), job.index('senders-a-far.csv'))

    def test_a_group_is_forwarded_where_somebody_has_joined(self):
        job = self.job(GROUP)
        self.assertIn('X r-near /tools/igmprelay - h0 l0f ', job)
        self.assertIn('X r-far /tools/igmprelay l0b h3 ', job)
        self.assertLess(job.index('X r-far'), job.index('export FMX_EPOCH_NS'))
        self.assertIn('host=239.2.0.1 port=5000', job)
        self.assertLess(job.index('sleep 4'), job.index('X b-d timeout -s INT 3.000'))
        self.assertIn('group:a:5000-5000 group:a-rtcp:5001-5001 '
                      'member:b:5000:b-d:4.0-7.0 sent:b-d:e0', job)

    def test_a_crowd_is_for_the_simulator(self):
        crowd = scenario_of(GROUP + '    count = 2').runs()[0]
        self.assertIsNone(group.refuses(scenario_of(GROUP).runs()[0]))
        self.assertIn('real', group.refuses(crowd))

    def test_who_reads_the_web_has_a_program_of_his_own(self):
        web = ('[flow.c]\nkind = "tcp"\nweb = { users = 3, bytes = [4, 9], '
               'shape = 1.2, idle_s = 1, initcwnd = 2 }')
        job = self.job(textwrap.dedent(TWO) + web)
        self.assertIn('/tools/webflow recv 5020', job)
        self.assertIn('reno 3 4 9 1.2 1 702', job)
        self.assertEqual(job.count(' initcwnd 2'), 2)


PEER = TWO + """
    [vary.who.ours]
    [vary.who.theirs]
    flow.a = { kind = "peer", program = "them", command = "{tools}/run {path}" }
    """


class PeerTest(unittest.TestCase):
    def runs(self):
        return scenario_of(PEER).runs()

    def test_without_its_program_a_run_is_left_out(self):
        self.assertEqual([r.choice['who'] for r in
                          run.able(self.runs(), object(), [])], ['ours'])
        self.assertEqual(len(run.able(self.runs(), object(), ['them=/x'])), 2)

    def test_it_is_told_whom_to_send_to_and_how_much(self):
        theirs = run.able(self.runs(), object(), ['them=/x'])[1]
        job = guest.job(network.Network(theirs), '/tools')
        self.assertIn('/tools/run /x recv 10.1.0.2 5000', job)
        self.assertIn('/tools/run /x send 10.1.1.2 5000 10.000 10000 880', job)
        theirs.flows['a']['least_bps'] = 12_000
        job = guest.job(network.Network(theirs), '/tools')
        self.assertIn('send 10.1.1.2 5000 10.000 12000 880', job)

    def test_it_says_which_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / 'them'
            program.write_text('#!/bin/sh\n[ $1 = version ] && echo them 1.2\n',
                               encoding='ascii')
            program.chmod(0o755)
            ours, theirs = self.runs()
            theirs.flows['a'].update(command='{path}', path=str(program))
            self.assertEqual(run.versions_of(theirs, folder), {'peers': {'them': 'them 1.2'}})
            self.assertEqual(run.versions_of(ours, folder), {})
            program.write_text('#!/bin/sh\necho no; exit 2\n', encoding='ascii')
            self.assertEqual(run.versions_of(theirs, folder), {'peers': {'them': ''}})
            theirs.flows['a']['path'] = '/nowhere'
            self.assertEqual(run.versions_of(theirs, folder), {'peers': {'them': ''}})

    def test_a_simulator_refuses_it(self):
        ours, theirs = self.runs()
        self.assertIsNone(ns3.refuses(ours))
        self.assertIsNotNone(ns3.refuses(theirs))
        self.assertIsNotNone(ns2.refuses(theirs))

    def test_ns2_takes_tfrc_alone(self):
        self.assertIsNotNone(ns2.refuses(scenario_of(TWO).runs()[0]))
        tfrc = scenario_of(TWO.replace('kind = "bundle"', 'kind = "bundle"\n'
                                       'controller = "tfrc"')
                           .replace('[[0, 1000], [5, 500]]', '1000')).runs()[0]
        self.assertIsNone(ns2.refuses(tfrc))

    def test_ns2_takes_tfrc_beside_tcps_of_one_kind_through_a_queue_of_packets(self):
        def of(*tcps):
            flows = ''.join(f'[flow.t{i}]\nkind = "tcp"\ncc = "{cc}"\n'
                            f'start_s = {5 * i}\n{more}\n'
                            for i, (cc, more) in enumerate(tcps))
            return scenario_of(f"""
                title = "x"
                duration_s = 10
                [link.wan]
                rate_bps = 1000
                delay_ms = 10
                queue_packets = 20
                [flow.a]
                kind = "bundle"
                controller = "tfrc"
                {flows}""").runs()[0]
        two = of(('reno', ''), ('reno', ''))
        self.assertIsNone(ns2.refuses(two))
        self.assertIsNotNone(ns2.refuses(of(('reno', ''), ('cubic', ''))))
        self.assertIsNotNone(ns2.refuses(of(('reno', 'from = "far"\nto = "near"'))))
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(ns2.shutil, 'which', lambda _: '/bin/ns'):
            command, _ = ns2.prepare(two, pathlib.Path(folder), folder)
        for word in ('queue_bytes=0', 'queue_packets=20', 'tcp=t0,t1', 'cc=reno'):
            self.assertIn(word, command)
        self.assertIn('tcp_start_s=0,5', [w.replace('.0', '') for w in command])


@unittest.skipUnless(numpy and shutil.which('gst-launch-1.0'),
                     'needs python3-numpy and gst-launch-1.0')
class EarTest(unittest.TestCase):
    RATE_HZ = 16000
    SECONDS = 3

    def mixed(self, samples):
        """What a mix of few bits makes of them: CELT at 12 kbit/s."""
        with tempfile.TemporaryDirectory() as folder:
            said, heard = (pathlib.Path(folder) / n for n in ('said', 'heard'))
            said.write_bytes(samples.astype('<i2').tobytes())
            raw = f'audio/x-raw,format=S16LE,rate={self.RATE_HZ},channels=1'
            done = subprocess.run(
                ['gst-launch-1.0', '-q', 'filesrc', f'location={said}',
                 '!', 'rawaudioparse', f'sample-rate={self.RATE_HZ}',
                 'num-channels=1', '!', 'audioconvert', '!', 'audioresample',
                 '!', 'audio/x-raw,rate=48000', '!', 'opusenc',
                 'audio-type=restricted-lowdelay', 'bitrate=12000',
                 '!', 'opusdec', '!', 'audioconvert', '!', 'audioresample',
                 '!', raw, '!', 'filesink', f'location={heard}'],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return numpy.fromfile(heard, '<i2').astype(float)

    def judged(self, samples):
        """What PESQ gets of it, without beginning and end."""
        return listen.speech_of(numpy, samples,
                                self.RATE_HZ)[self.RATE_HZ:-self.RATE_HZ]

    def level_db(self, samples):
        return 10 * numpy.log10(
            (self.judged(samples) ** 2).mean() / 32768 ** 2 + 1e-12)

    def time_s(self):
        return numpy.arange(self.SECONDS * self.RATE_HZ) / self.RATE_HZ

    def hums(self, volume):
        return sum(32768 * volume * numpy.sin(
            2 * numpy.pi * listen.other_hz(i, self.RATE_HZ) * self.time_s())
            for i in range(1, 12))

    def snr_db(self, said, others):
        """Of what is judged of a mix."""
        heard = self.judged(self.mixed(said + others))
        said = self.judged(said)
        late = listen.delay_of(numpy, said[:-1000], heard)
        said = said[:len(heard) - late]
        heard = heard[late:]
        heard *= (said @ heard) / (heard @ heard)
        return 10 * numpy.log10((said @ said) / ((said - heard) ** 2).sum())

    def test_silence_is_the_worst_there_is(self):
        """PESQ itself ends with an exception."""
        asked = []
        fake = types.SimpleNamespace(
            NoUtterancesError=ArithmeticError,
            pesq=lambda *args: asked.append(args) or 3.0)
        said = 2000 * numpy.sin(2 * numpy.pi * 300 * numpy.arange(
            28 * self.RATE_HZ) / self.RATE_HZ)
        heard = numpy.stack([said, said], axis=1) / 2
        heard[:12 * self.RATE_HZ] = 0.0
        with mock.patch.dict(sys.modules, pesq=fake):
            rows = listen.measure_speech(heard, self.RATE_HZ, said, 0.0, 28.0)
        self.assertEqual([row[1] for row in rows][0], listen.WORST_PESQ)
        self.assertEqual([row[1] for row in rows][2], 3.0)
        self.assertLess(len(asked), len(rows))

    def test_who_hums_beside_speech_is_not_judged(self):
        self.assertLess(self.level_db(self.mixed(self.hums(0.003))), -85)

    def test_who_hums_takes_no_bits_of_the_speech(self):
        said = 2000 * (0.55 + 0.45 * numpy.sin(8 * numpy.pi * self.time_s())) \
            * sum(numpy.sin(300 * numpy.pi * k * self.time_s() + k * k) / k
                  for k in range(1, 36))
        alone = self.snr_db(said, 0)
        self.assertGreater(alone, 10)
        self.assertGreater(self.snr_db(said, self.hums(
            listen.OTHERS_VOLUME[self.RATE_HZ])), alone - 1.5)

    def test_everybody_who_hums_is_heard_in_a_mix_of_few_bits(self):
        for n in (8, 12):
            hums = sum(32768 * listen.VOLUME / 2 * numpy.sin(
                2 * numpy.pi * listen.tone_hz(i, n) * self.time_s() + i * i)
                for i in range(n))
            heard = 2 * self.mixed(hums)[self.RATE_HZ // 2:]
            rows = listen.measure_tones(
                numpy.stack([heard, heard], axis=1) / 2 ** 0.5, self.RATE_HZ,
                {'streams': n}, 0, self.SECONDS - 1)
            self.assertEqual([row[1] for row in rows], [n] * len(rows))
            self.assertEqual(sum(row[3] for row in rows), 0)

    def test_speech_is_judged(self):
        for hz in (300, 1000, 3000, 5000):
            tone = 3276.8 * numpy.sin(2 * numpy.pi * hz * self.time_s())
            self.assertAlmostEqual(self.level_db(tone), -23, delta=0.1)


class KeptTest(unittest.TestCase):
    LINES = ['### title', '', '3 runs (library, Linux TCP, all times × 0.5), '
             '12 runs (ns-3); mean (least … most).', '',
             '| claim | target |', '|---|---|', '| loss | 5 % |', '',
             '**ratio** – ns-3; target 1', '',
             '| controller | reno | bbr |', '|---|---|---|',
             '| dpm | 2.0 ✗ | – |', '| *them* (quoted) | 3 | 4 |', '']

    def test_cells(self):
        cells = kept.cells(self.LINES, '**ratio** – ns-3; ')
        self.assertEqual(cells['dpm', 'reno'], '2.0 ✗')
        self.assertEqual(cells['*them* (quoted)', 'bbr'], '4')
        self.assertEqual(len(cells), 4)
        self.assertEqual(kept.cells(self.LINES, '**ratio** – ns-2; '), {})

    def test_claims_and_counts(self):
        self.assertEqual(kept.claims(self.LINES), self.LINES[4:8])
        self.assertEqual(kept.counts(self.LINES), {
            'library, Linux TCP': '3 runs (library, Linux TCP, all times × 0.5)',
            'ns-3': '12 runs (ns-3)'})
        dated = '3 runs (ns-3, all times × 0.5, at 1234abcd, older)'
        self.assertEqual(kept.counts([dated + kept.COUNTS_END]), {'ns-3': dated})

    def test_a_row_is_found_by_its_claim_and_choice(self):
        row = kept.claim_rows(['| claim | controller | paper | ours (ns-3) | verdict |',
                               '|---|---|---|---|---|', '| loss | dpm || 5 % | met |', ''])
        self.assertEqual(list(row), [('loss', 'dpm')])
        self.assertEqual(row['loss', 'dpm']['ours (ns-3)'], '5 %')

    def test_a_verdict_is_one_word_or_one_each(self):
        self.assertEqual(kept.verdict_of({'verdict': 'met'}, 'ns-3'), 'met')
        both = {'verdict': 'real pipelines: not met; ns-3: met in 2 of 5 runs'}
        self.assertEqual(kept.verdict_of(both, 'ns-3'), 'met in 2 of 5 runs')
        self.assertEqual(kept.verdict_of(both, 'ns-2'), '–')

    def test_a_figure_ends_with_its_commands(self):
        lines = ['![a](results/a.svg)', '', '```sh', 'run', '```', '',
                 '![b](results/b.svg)', '', '```sh', 'run', '```', '']
        self.assertEqual(kept.figure(lines, 'b'), lines[6:])
        self.assertEqual(kept.figure(lines, 'a'), lines[:6])
        self.assertEqual(kept.figure(lines, 'c'), [])


class AgesTest(unittest.TestCase):
    """A controller in a repository of its own: born, described, changed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git('init', '-q')
        self.code = self.root / 'subprojects/fairmix/fairmix/rate/a.c'
        self.code.parent.mkdir(parents=True)
        self.born = self.commit(self.code, 'one')
        self.page = self.root / 'page.md'
        self.described = self.commit(self.page, '### a title\n| 5 % |\n')

    def git(self, *arguments):
        return subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b',
                               '-C', self.root, *arguments], check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(self, path, text):
        path.write_text(text, encoding='utf-8')
        self.git('add', '.')
        self.git('commit', '-q', '-m', 'x')
        return self.git('rev-parse', '--short=8', 'HEAD')

    def dated(self, words, suite='paper', since=None):
        return ages.dated(self.root, words, suite, since)

    def test_runs_are_older_than_the_controller_that_came_later(self):
        words = f'3 runs (ns-3, at {self.born})'
        self.assertEqual(self.dated(words), words)
        self.assertEqual(self.dated(words[:-1] + ', older)'), words)
        self.commit(self.code, 'two')
        self.assertEqual(self.dated(words), words[:-1] + ', older)')
        self.assertEqual(self.dated(words, 'multicast'), words)
        self.assertEqual(self.dated(words, 'queues'), words)

    def test_one_of_two_commits_suffices(self):
        self.commit(self.code, 'two')
        new = self.git('rev-parse', '--short=8', 'HEAD')
        self.assertIn(', older)', self.dated(f'3 runs (ns-3, at {new} and {self.born})'))
        self.assertNotIn('older', self.dated(f'3 runs (ns-3, at {new})'))

    def test_a_commit_that_nobody_knows_is_older(self):
        self.assertIn('older', self.dated('3 runs (ns-3, at 0123abcd)'))

    def test_rows_without_a_commit_are_before_the_one_that_wrote_them(self):
        since = ages.wrote(self.root, self.page)
        self.assertEqual(since, {'a title': self.described})
        self.assertEqual(self.dated('3 runs (ns-3)', since=since['a title']),
                         f'3 runs (ns-3, before {self.described})')
        self.assertEqual(self.dated('3 runs (ns-3)'), '3 runs (ns-3)')


class TablesTest(unittest.TestCase):
    def test_fifteen_percent_around_the_table(self):
        row = {'payload_bytes': 14, 'drop': 0.3, 'rfc4828_kbps': 10,
               'ours_kbps': 11.4, 'ns2_kbps': 9, 'ns2_interval': 2.6,
               'ns2_whole_interval': 2.2}
        self.assertIn('| +14.0 % | met |', rfc4828.line(row))
        worse = {**row, 'ours_kbps': 8.4}
        self.assertIn('| -16.0 % | not met |', rfc4828.line(worse))
        self.assertIn('2.60 in the mean there, and it takes 2.20',
                      ' '.join(rfc4828.page([row, worse], 'x')))


class SenderTest(unittest.TestCase):
    """What a sender did when the path got worse at 5 s; R = 0.1 s."""

    def result(self, *events):
        rows = [(t, 'a', 300, 300, int(t == 5.2)) for t in
                (4.9, 5.0, 5.1, 5.2, 5.3)]
        result = result_of(TWO, rows)
        table = results.Table()
        for t, event, target in ((4, '', 1000), *events):
            table.add({'t_s': t, 'event': event, 'target_bps': target,
                       'rtt_ms': 100})
        result._cache['senders.csv'] = {'a': table}
        return result

    def ask(self, name, *events, **more):
        return measures.MEASURES[name](self.result(*events), {
            'flow': 'a', 'from_s': 5, **more})

    def test_reaction_is_from_the_loss_to_a_lower_target(self):
        self.assertAlmostEqual(self.ask(
            'reaction', (5.15, 'up', 1100), (5.35, 'down-loss', 900)), 0.25)
        self.assertEqual(self.ask('reaction', (5.35, 'up', 1100)), float('inf'))

    def test_halvings_are_counted_in_the_timer(self):
        # 2s/X: 1.2 s at 20 kbit/s, 2.4 s at 10 kbit/s
        steps = (5, '', 20000), (6.2, '', 10000), (9.2, '', 4900)
        self.assertAlmostEqual(self.ask('halving_wait', *steps, of_bps=5000),
                               3 / 2.4)
        self.assertEqual(self.ask('halving_wait', *steps[:2], of_bps=5000),
                         float('inf'))

    def test_events_of_all_senders_that_adapt(self):
        self.assertEqual(self.ask('sender_events', (6, 'breaker', 0),
                                  (7, 'breaker-closed', 0), event='breaker'), 1)

    def test_one_trip_is_one_too_many(self):
        s = scenario_of(TWO)
        good, bad = self.result(), self.result((6, 'breaker', 0))
        self.assertIn('| 2 | 0 of 2 | none | met |',
                      breaker.line(s, [good, good], {'test': ''}))
        self.assertIn('| 2 | 1 of 2 | none | not met |',
                      breaker.line(s, [good, bad], {'test': ''}))
        self.assertEqual(breaker.line(s, [], {'test': ''}), '')

    def test_separate_streams_count_for_as_long_as_they_are(self):
        result = self.result()
        table = results.Table()
        for t, n in (4, 8), (6, 2), (7, None), (9, 5):
            table.add({'t_s': t, 'separate': n})
        result._cache['senders.csv'] = {'a': table}
        self.assertEqual(measures.separate(
            result, {'flow': 'a', 'from_s': 5, 'to_s': 10}), (3 * 2 + 5) / 4)

    def test_the_time_of_an_event(self):
        events = (4.5, 'breaker', 0), (6, 'up', 900), (7, 'breaker', 0)
        self.assertEqual(self.ask('event_time', *events, event='breaker'), 2)
        self.assertEqual(self.ask('event_time', event='breaker'), float('inf'))


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

    def test_what_is_kept_of_before_and_filled_of_the_link(self):
        self.assertAlmostEqual(self.ask('kept', before=[0, 5], from_s=5),
                               100 * self.ask('rate', from_s=5)
                               / self.ask('rate', to_s=5))
        both = self.ask('rate', to_s=5) + self.ask('rate', flow='b', to_s=5)
        self.assertAlmostEqual(self.ask('filled', to_s=5, **{'with': ['b']}),
                               100 * both)
        self.assertAlmostEqual(self.ask('delay'), 1.0)

    def test_a_claim_may_ask_some_choices_and_quote_each(self):
        claim = {'paper': {'x': '1 %'}, 'asked': ['x'], 'show': [0, 1]}
        x = measures.for_choice(claim, {'axis': 'x'})
        y = measures.for_choice(claim, {'axis': 'y'})
        self.assertEqual((x['paper'], x['show']), ('1 %', [0, 1]))
        self.assertEqual(y['paper'], '')
        self.assertNotIn('show', y)

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
        self.assertAlmostEqual(self.ask('loss_in_all', against=['b']), 5)
        self.assertAlmostEqual(self.ask('worst_loss', stage_s=5), 10)

    def test_link(self):
        self.assertAlmostEqual(self.ask('utilisation'), 7000 / 7500)
        self.assertAlmostEqual(self.ask('queue_median'), 5.5)
        self.assertAlmostEqual(self.ask('queue_95', from_s=5), 9.8)

    def test_the_worst_while_of_a_link_is_not_its_mean(self):
        self.assertAlmostEqual(self.ask('utilisation_least', bin_s=10), 7000 / 7500)
        self.assertAlmostEqual(self.ask('utilisation_least', bin_s=5), 0.9)
        self.assertAlmostEqual(self.ask('utilisation_least', bin_s=5, from_s=5), 1)
        self.result.links['wan']['passed_bps'][8] = 100     # the ninth second
        self.assertAlmostEqual(self.ask('utilisation_least', bin_s=2), 0.6)
        # what is left at the end is no while
        self.assertAlmostEqual(self.ask('utilisation_least', bin_s=4), 0.9)

    def test_a_link_that_is_full_is_not_more_than_full(self):
        links = ''.join(f'{t},wan,{1001 if t <= 5 else 501},0,0\n'
                        for t in range(1, 11))
        full = result_of(TWO, [(1, 'a', 1, 1, 0)], links)
        self.assertEqual(measures.utilisation(full, {}), 1)

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


class WatchTest(unittest.TestCase):
    """When a run is taken for one that has died."""

    @staticmethod
    def stalls(still_s, starved_s, other_s=0.0):
        waits = [{'1': 5.0, '2': 0.0}, {'1': 5.0 + starved_s, '2': other_s}]
        with mock.patch.object(watch, 'waited', side_effect=waits), \
                mock.patch.object(watch.time, 'monotonic',
                                  side_effect=[0.0, still_s]):
            return watch.Watch(1).stalled()

    def test_who_stands_still_has_died(self):
        self.assertFalse(self.stalls(100, 0))
        self.assertTrue(self.stalls(130, 0))

    def test_who_waits_for_a_processor_has_not(self):
        self.assertFalse(self.stalls(1000, 950))
        self.assertTrue(self.stalls(1000, 800))

    def test_threads_that_wait_in_turns_have_all_waited(self):
        self.assertFalse(self.stalls(1000, 500, 450))
        self.assertTrue(self.stalls(1000, 500, 300))

    def test_a_session_is_its_own_processes(self):
        with subprocess.Popen(['sleep', '60'], start_new_session=True) as process:
            self.assertEqual(list(watch.waited(process.pid)), [str(process.pid)])
            process.kill()


class NetnsTest(unittest.TestCase):
    def test_an_end_waits_until_a_new_process_is_known(self):
        before = signal.signal(signal.SIGTERM, netns.ended)
        processes = []
        try:
            with self.assertRaises(KeyboardInterrupt):
                with netns.undisturbed():
                    os.kill(os.getpid(), signal.SIGTERM)
                    processes.append('one')
                processes.append('another')
        finally:
            signal.signal(signal.SIGTERM, before)
            netns.Ending.asked = False
        self.assertEqual(processes, ['one'])

    def test_whoever_starts_while_the_run_is_ended_is_stopped(self):
        stopped = set()

        class Process:
            stdout = io.StringIO('ready\n')

            def __init__(self, command, **_):
                self.name = command[0]
                if self.name == 'ip':
                    os.kill(os.getpid(), signal.SIGTERM)

            def poll(self):
                return None

            def send_signal(self, _):
                stopped.add(self.name)

            def wait(self, *_):
                pass

        what = {'hosts': ['a'], 'tools': 'tools', 'duration_s': 1,
                'commands': [[0, 'a', 'tcpflow send'], [0, 'a', 'nothing more']]}
        before, here = signal.signal(signal.SIGTERM, netns.ended), os.getcwd()
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch('subprocess.Popen', Process), \
                mock.patch('subprocess.run'):
            try:
                os.chdir(folder)
                pathlib.Path('flows.json').write_text(json.dumps(what), 'ascii')
                with self.assertRaises(KeyboardInterrupt):
                    netns.one_run()
            finally:
                os.chdir(here)
                signal.signal(signal.SIGTERM, before)
                netns.Ending.asked = netns.Ending.held = False
        self.assertEqual(stopped, {'tools/linkemu', 'ip'})

    def test_a_run_that_is_started_while_all_end_is_stopped(self):
        stopped = []

        class Job:
            def __init__(self, *_):
                os.kill(os.getpid(), signal.SIGTERM)

            def stop(self):
                stopped.append(self)

        before = signal.signal(signal.SIGTERM, netns.ended)
        todo = [(types.SimpleNamespace(duration_s=1), 'netns')]
        try:
            with mock.patch.object(run, 'Job', Job), self.assertRaises(KeyboardInterrupt):
                run.run_all(todo, types.SimpleNamespace(jobs=1))
        finally:
            signal.signal(signal.SIGTERM, before)
            netns.Ending.asked = False
        self.assertEqual(len(stopped), 1)


if __name__ == '__main__':
    unittest.main()
