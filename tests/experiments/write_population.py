#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The population's networks with real pipelines and Linux' TCP.

  tests/experiments/write_population.py [--draws N] [--family N...] [--again] [--print]
      [--peer NAME=PATH]... [--keep]

Of each family that Linux can make, the first N held-out networks in which no more than
--most-kbps is to be had: the launch lines of the examples, in virtual time (runner
`uml`; what has a result is not run again), beside what the model makes of the same
networks (BUILD/subprojects/fairmix/tests/sim/draws).  The same rule judges both.  Writes
the table between the markers of README.md here; --print also says each network.  With
--peer also the table of peers: a program of others in each bundle's place (README.md);
with --keep only they run, and the table's other columns stay.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
import run  # noqa: E402
from lab import ages, measures, merge, results, scenario  # noqa: E402

PAGE = HERE / 'README.md'
FROM_S, END_S = 60, 160         # as in the model
BUNDLE_S, NEXT_BUNDLE_S, NEXT_TCP_S = 2, 3, 5
REVERSE = 7
# Linux lacks: delays that wander and keep the order, talkers who come one by one, a
# computer that stands still
FAMILIES = (0, 1, 2, 3, 4, 5, 6, REVERSE, 9, 12, 13, 14, 15)
FREE_BPS = 100_000_000
LOSSY_VOICES = 16               # of those of 20 Mbit/s, which nobody gets there
MIX_BPS = (12_000, 32_000)      # of a mix's payload; a peer has the same floor
OURS = 'shortq'
COMMANDS = {                    # of peers that a program of ours drives
    'rtpgccbwe': '{tools}/gccflow {path}',
    'rtpgccbwe-linear': '{tools}/gccflow {path}:linear-regression',
}


def staircase(text):
    steps = [step.split(':') for step in text.split()]
    return '[' + ', '.join(f'[{t}, {bps}]' for t, bps in steps) + ']'


def link_of(draw, family):
    size = f'queue_packets = {draw["queue_packets"]}' \
        if int(draw['queue_packets']) else f'queue_bytes = {draw["queue_bytes"]}'
    limit = int(draw['queue_bytes'])
    out = [f'rate_bps = {staircase(draw["rates"])}', f'delay_ms = {draw["delay_ms"]}',
           f'loss = {draw["loss"]}', 'back_loss = 0', size,
           f'queue = "{draw["queue"]}"', f'ecn = {"true" if draw["ecn"] == "1" else "false"}',
           f'burst_bytes = {max(1600, int(draw["burst_bytes"]))}']
    if draw['queue'] == 'red':
        out += [f'red_min_bytes = {limit // 6}', f'red_max_bytes = {limit // 2}']
    if family != REVERSE:
        out.append(f'back_rate_bps = {FREE_BPS}')
    return out


def sender_of(name):
    """Who sends: a bundle of ours, or a peer"""
    if name == OURS:
        return ['kind = "bundle"', f'controller = "{OURS}"']
    return ['kind = "peer"', f'program = "{name}"',
            f'command = "{COMMANDS.get(name, "{path}")}"', f'least_bps = {MIX_BPS[0]}']


def bundle_of(draw, number, access_ms, sender):
    voices = int(draw['voices'])
    if float(draw['loss']):
        voices = min(voices, LOSSY_VOICES)
    return [f'[flow.own{number}]', *sender_of(sender),
            'codec = "opus"', f'streams = {voices}',
            f'stream_bps = {int(draw["wire_bytes"]) * 8 * 50}', 'headroom = 0.05',
            f'mix_bitrate_bps = [{MIX_BPS[0]}, {MIX_BPS[1]}]', 'jitter_ms = 2',
            f'access_delay_ms = {access_ms}',
            f'start_s = {BUNDLE_S + NEXT_BUNDLE_S * number}']


def tcp_of(draw, number, family):
    out = [f'[flow.tcp{number}]', 'kind = "tcp"', f'cc = "{draw["cc"]}"']
    if family == REVERSE:
        return out + ['from = "far"', 'to = "near"', 'start_s = 20']
    if int(draw['transfer_bytes']):
        out.append(f'on_off = {{ bytes = [{draw["transfer_bytes"]}, '
                   f'{draw["transfer_bytes"]}], idle_s = {draw["pause_s"]} }}')
    return out + [f'start_s = {NEXT_TCP_S * number}']


def scenario_text(draw, family, sender=OURS, runner='uml'):
    out = [f'title = "{draw["family"]} {draw["seed"]}"', f'duration_s = {END_S}',
           f'runners = ["{runner}"]', f'seeds = [{draw["seed"]}]', '[link.wan]',
           *link_of(draw, family)]
    for i, access_ms in enumerate(draw['access_ms'].split()):
        out += bundle_of(draw, i, access_ms, sender)
    for i in range(int(draw['tcps'])):
        out += tcp_of(draw, i, family)
    return '\n'.join(out) + '\n'


def lost(result, flows):
    sent = sum(measures.total(result, f, 'sent_packets', FROM_S, END_S) for f in flows)
    gone = sum(measures.total(result, f, 'lost_packets', FROM_S, END_S) for f in flows)
    return gone / sent if sent else 0.0


def outcome(result, draw, family):
    """What came of it, as the model has it (fmx-sim-draw.h)."""
    own = [f for f in result.flows if f.startswith('own')]
    tcps = [f for f in result.flows if f.startswith('tcp')]
    rates = [measures.rate_bps(result, f, FROM_S, END_S) for f in own]
    others = [] if family == REVERSE else \
        [measures.rate_bps(result, f, FROM_S, END_S) for f in tcps]
    wan = result.links['wan']
    steps = result.run.links['wan']['rate_bps']
    looks = [t for t in wan['t_s'] if t > FROM_S]
    capacity = measures.mean(scenario.at(steps, t - 1e-6) for t in looks)
    out = {
        'ratio': measures.mean(rates) / measures.mean(others) if others else 0.0,
        'share': measures.mean(rates) * (1 + len(tcps)) / capacity,
        'used': (sum(rates) + sum(others)) / capacity,
        'jain': sum(rates) ** 2 / (len(rates) * sum(r * r for r in rates)),
        'queue_s': measures.quantile([q / 1e3 for t, q in zip(
            wan['t_s'], wan['queue_ms']) if t > FROM_S and q is not None], 0.95),
        'packet_s': float(draw['packet_s']),
        'own_loss': measures.mean(lost(result, [f]) for f in own),
        'tcp_loss': lost(result, tcps)}
    return out if result.run.peers or not result.senders else {**out, **voices(result, own)}


def voices(result, own):
    """What only bundles have"""
    claims = [{'flow': f, 'from_s': FROM_S} for f in own]
    return {
        'changes': measures.mean(measures.changes_per_minute(result, c) for c in claims),
        'apart': measures.mean(measures.mean(
            n for t, n in zip(result.senders[f]['t_s'], result.senders[f]['separate'])
            if t > FROM_S and n is not None) for f in own)}


def judged(program, rows):
    """Whether each (family, outcome) is inside its family's targets."""
    keys = ('ratio', 'share', 'used', 'jain', 'queue_s', 'packet_s', 'own_loss',
            'tcp_loss')
    lines = ''.join(','.join([str(f), *(repr(float(o[k])) for k in keys)]) + '\n'
                    for f, o in rows)
    text = subprocess.run([program, '--judge'], input=lines, check=True,
                          capture_output=True, text=True).stdout
    return [word == '1' for word in text.split()]


def figure(draw, found):
    """What the family's targets are about."""
    name = 'share' if int(draw['transfer_bytes']) else 'ratio' \
        if int(draw['tcps']) and float(draw['ratio']) else 'jain' \
        if ' ' in draw['access_ms'] else 'used'
    return float(found[name])


def describe(sender, draw, found, ok):
    pairs = ', '.join(f'{k} {float(draw[k]):.3g} : {found[k]:.3g}' for k in
                      ('ratio', 'share', 'used', 'jain', 'queue_s', 'own_loss', 'tcp_loss',
                       'changes', 'apart') if k in found)
    return (f'{sender}, {draw["family"]} {draw["seed"]}: {"in" if draw["ok"] == "1" else "OUT"} : '
            f'{"in" if ok else "OUT"}; {draw["rates"].split()[0][2:]} bit/s '
            f'{draw["delay_ms"]} ms {draw["queue"]} {draw["tcps"]} {draw["cc"]}; {pairs}')


def table(families):
    out = ['| family | networks | inside | median | changes/min | apart |',
           '|---|---|---|---|---|---|']
    totals = [0, 0, 0]
    for rows in families:
        n, mine = len(rows), sum(d['ok'] == '1' for d, _, _ in rows)
        real = sum(ok for _, _, ok in rows)
        totals = [a + b for a, b in zip(totals, (n, mine, real))]

        def both(key, q=None, rows=rows):
            pairs = [(figure(d, d), figure(d, f)) if q else (float(d[key]), f[key])
                     for d, f, _ in rows]
            value = (lambda v: measures.quantile(v, q)) if q else measures.mean
            return ' : '.join(f'{value(list(side)):.2f}' for side in zip(*pairs))
        out.append(f'| {rows[0][0]["family"]} | {n} | {mine} : {real} | '
                   f'{both(None, 0.5)} | {both("changes")} | {both("apart")} |')
    return out + ['| all | {} | {} : {} | | | |'.format(*totals)]


def peers_table(senders):
    """@senders: {name: families, as table() has them}, in the order of the columns"""
    ours = next(iter(senders.values()))

    def cell(rows, side):
        ok = sum(d['ok'] == '1' if side == 0 else good for d, _, good in rows)
        return ok, measures.quantile([figure(d, (d, o)[side]) for d, o, _ in rows], 0.5)
    columns = [[cell(rows, 0) for rows in ours],
               *([cell(rows, 1) for rows in families] for families in senders.values())]
    out = ['| ' + ' | '.join(['family', 'networks', 'model', *senders]) + ' |',
           '|' + '---|' * (len(columns) + 2)]
    for i, rows in enumerate(ours):
        cells = [f'{ok} ({median:.2f})' for ok, median in (c[i] for c in columns)]
        out.append('| ' + ' | '.join([rows[0][0]['family'], str(len(rows)), *cells]) + ' |')
    n = sum(len(rows) for rows in ours)
    sums = (sum(ok for ok, _ in c) for c in columns)
    return out + [f'| all | {n} | ' +
                  ' | '.join(f'{ok} ({100 * ok / n:.0f} %)' for ok in sums) + ' |']


def dated(runs):
    """Which commits these runs of real pipelines are of, and the model beside them."""
    commits = ages.commits_of(r.manifest for r in runs)
    return ['', f'The model is of {run.commit()}, the pipelines are of {commits}.']


def peers_dated(runs):
    """@runs: {name: [result]}: of which commit each is, and what peers say of themselves"""
    out = []
    for name, made_ in runs.items():
        told = ages.versions_of((r.manifest for r in made_), name)
        out.append(f'{name}{f" ({told})" if told else ""} at '
                   f'{ages.commits_of(r.manifest for r in made_)}')
    return ['', f'Run: {", ".join(out)}; the model is of {run.commit()}.']


def fill_in(name, lines):
    text = PAGE.read_text(encoding='utf-8')
    pattern = re.compile(rf'(<!-- {name}: .*?-->\n).*?(<!-- end -->)', re.S)
    PAGE.write_text(pattern.sub(lambda m: m[1] + '\n'.join(lines) + '\n' + m[2],
                                text), encoding='utf-8')


def beside_the_page_s(lines):
    """A table of peers and its date, with the columns that only the page has"""
    old = re.search(r'<!-- peers: .*?-->\n(.*?)\n<!-- end -->',
                    PAGE.read_text(encoding='utf-8'), re.S)[1].splitlines()
    return merge.beside(old[:-2], lines[:-2], 'networks') + \
        ['', merge.dated(old[-1], lines[-1])]


def draws_of(family, args):
    text = subprocess.run([args.program, str(family), str(args.draws),
                           str(args.most_kbps * 1000)], check=True,
                          capture_output=True, text=True).stdout
    return list(csv.DictReader(text.splitlines()))


def made(s, args, runner='uml'):
    """The result of the one run of a scenario, or None."""
    found = s.runs(runner=runner)[0]
    folder = results.folder_of(args.out, found, runner, args.short)
    manifest = folder / 'manifest.json'
    if not manifest.exists():
        return None
    told = json.loads(manifest.read_text(encoding='utf-8'))
    return results.Result(found, runner, folder, told) if told['complete'] else None


def prepare(family, draw, args, sender=OURS):
    """The scenario of a draw; what is to be run of it is added to args.todo."""
    name = f'family-{family}-{draw["seed"]}' + (f'-{sender}' if sender != OURS else '')
    path = pathlib.Path(args.out) / f'{name}.toml'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(scenario_text(draw, family, sender), encoding='utf-8')
    s = scenario.Scenario(path)
    if args.again or made(s, args) is None:
        runs = run.able([s.runs(runner='uml')[0]], run.RUNNERS['uml'], args.peer)
        args.todo += [(r, 'uml') for r in runs]
    return s


def judge_all(draws, scenarios, args):
    """[(family, draw, outcome, ok)] of these, and their results"""
    runs = [made(s, args) for s in scenarios]
    found = [(f, d, outcome(r, d, f)) for (f, d), r in zip(draws, runs)]
    good = judged(args.program, [(f, o) for f, _, o in found])
    return [(f, d, o, ok) for (f, d, o), ok in zip(found, good)], runs


def by_family(rows, args):
    return [[row[1:] for row in rows if row[0] == f] for f in args.family]


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('--build', default=ROOT / 'build')
    p.add_argument('--draws', type=int, default=4, metavar='N')
    p.add_argument('--most-kbps', type=int, default=1000)
    p.add_argument('--family', type=int, nargs='+', default=FAMILIES)
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('--again', action='store_true')
    p.add_argument('--print', action='store_true')
    p.add_argument('--peer', action='append', default=[], metavar='NAME=PATH')
    p.add_argument('--keep', action='store_true')
    args = p.parse_args()
    if args.keep and not args.peer:
        p.error('--keep needs a --peer')
    args.program = pathlib.Path(args.build) / 'subprojects/fairmix/tests/sim/draws'
    args.short, args.todo = False, []
    args.out = pathlib.Path(args.build) / 'experiments' / 'population'
    return args


def main():
    args = arguments()
    draws = [(f, d) for f in args.family for d in draws_of(f, args)]
    senders = ([] if args.keep else [OURS]) + [p.split('=', 1)[0] for p in args.peer]
    chosen = {name: [prepare(f, d, args, name) for f, d in draws] for name in senders}
    if args.todo and run.run_all(args.todo, args):
        return 1
    rows, runs = {}, {}
    for name in senders:
        rows[name], runs[name] = judge_all(draws, chosen[name], args)
    families = {name: by_family(rows[name], args) for name in senders}
    tables = {}
    if not args.keep:
        tables['pipelines'] = table(families[OURS]) + dated(runs[OURS])
    if args.peer:
        tables['peers'] = peers_table(families) + peers_dated(runs)
    if args.keep and not args.print:
        tables['peers'] = beside_the_page_s(tables['peers'])
    for name, lines in tables.items():
        if not args.print:
            fill_in(name, lines)
    if args.print:
        print('\n'.join([describe(name, *row[1:]) for name in senders
                         for row in rows[name]] + sum(tables.values(), [])))
    return 0


if __name__ == '__main__':
    sys.exit(main())
