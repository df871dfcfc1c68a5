#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the ALS paper shows, and what it leaves open.

  tests/experiments/write_als.py [--build build] [--check]

Runs als-figures, als-ns3, als-chain-ns3, als-layers-ns3, als-alone, als-crowd and the
tests als-chain, als-layers and alsrouter-chain of the build (four minutes, most of them
ns-3's) and fills in what stands between the markers of docs/results.md.  What real
pipelines did is taken from what `tests/experiments/run.py --runner uml als` left; what it
did not run stays.  --check: only one seed of each, without ns-3, and nothing is written.
"""
import argparse
import collections
import concurrent.futures
import functools
import itertools
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/experiments'))

# pylint: disable=wrong-import-position
from lab import measures, results, scenario  # noqa: E402

RESULTS = ROOT / 'docs/results.md'
SPANS = ['paper', 'ours']   # shown with the least and the most
VARIANTS = ['paper', 'ours', 'TCP in its place']
NS3 = ['ns-3 paper', 'ns-3 ours']
UML = ['uml paper', 'uml ours']
# of the scenarios, in real pipelines: from when on shares are taken, of each choice
PIPELINES = {'als-figure3': {'3 s': 30, '8 s': 60}, 'als-figure4': {'3 s': 30, '8 s': 30}}
LAYERS = 'als-figure8'
LAYERS_S = {'before': (50, 100), 'after': (115, 150)}   # of the third one's join
SEEDS = range(11, 13)     # of ns-3
LAYERS_SEEDS = range(1, 6)
CHAIN_SEEDS = range(1, 3)   # of ns-3
N_RUNS = 5      # of the chain in real elements
# of als-figures: scene, what the paper says of the TCPs, of the loss, targets
SCENES = [
    ('figure 3, each 3 s', '1.1', '< 2 %'),
    ('figure 3, each 8 s', '1.1', '< 2 %'),
    ('figure 4, each 3 s', '', '< 2 %'),
    ('figure 4, each 8 s', '', '< 2 %'),
    ('two senders', '', ''),
    ('two senders, no TCP', '', ''),
    ('a router restarts', '', ''),
]
N_FIGURES = 4   # of them are in ns-3
MEASURES = [('a TCP over an ALS', 1, '0.9 … 1.1', (0.9, 1.1)),
            ('loss', 2, '< 2 %', (0, 2))]

PIPELINE = 'real pipelines'
KEPT = {'als pipelines': 2, 'als figure 8': 1}  # cells that name a row


@functools.cache
def lines_of(build, program, *arguments):
    path = pathlib.Path(build).resolve() / 'subprojects/fairmix/tests/als' / program
    return subprocess.run([path, *arguments], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def read(lines):
    """{(scene, variant, measure): [a value for each seed]}"""
    found = collections.defaultdict(list)
    for line in lines:
        scene, variant, _, measure, value = line.split(';')
        found[scene, variant, measure].append(float(value))
    return found


def span(values):
    """mean (least … most), if they differ"""
    least, most = f'{min(values):.3g}', f'{max(values):.3g}'
    return mean(values) + (f' ({least}…{most})' if least != most else '')


def mean(values):
    return f'{sum(values) / len(values):.3g}'


def cell(values, limits, summary):
    return f'{summary(values)} {verdict(values, limits)}' if values else ''


def verdict(values, target):
    return '✓' if all(target[0] <= v <= target[1] for v in values) else '✗'


def with_ns3(build):
    """The figures' rows, and ns-3's of two seeds"""
    lines = list(lines_of(build, 'als-figures'))
    program = pathlib.Path(build).resolve() / 'tests/experiments/ns3/als-ns3'
    for scene, *_ in SCENES[:N_FIGURES]:
        for seed in SEEDS:
            for name in NS3:
                lines += subprocess.run(
                    [program, scene, str(seed), name.split()[1]], check=True,
                    capture_output=True, text=True).stdout.splitlines()
    return lines


def in_pipelines(build):
    """The same rows of what run.py left of the real pipelines"""
    lines = []
    for name, settled in PIPELINES.items():
        runs = results.load(pathlib.Path(build) / 'experiments',
                            [scenario.Scenario(name)], runners=['uml'])
        for r in runs:
            each, rule = r.run.choice['each'], r.run.choice['rule']
            als = [n for n, f in r.run.flows.items() if f['kind'] == 'als']
            tcp = [n for n, f in r.run.flows.items() if f['kind'] == 'tcp']
            end = r.run.duration_s
            rates = {kind: measures.mean(
                measures.rate_bps(r, n, settled[each], end) for n in names)
                     for kind, names in (('als', als), ('tcp', tcp))}
            head = f'figure {name[-1]}, each {each};uml {rule};{r.run.seed}'
            lines.append(f'{head};a TCP over an ALS;{rates["tcp"] / rates["als"]}')
            sent, lost = (sum(measures.total(r, n, f'{what}_packets', 0, end)
                              for n in als) for what in ('sent', 'lost'))
            lines.append(f'{head};loss;{100 * lost / sent}')
    return lines


def beside_tcp(found):
    out = ['| experiment | measure | paper | its rule | ours | TCP in its '
           'place | its rule, ns-3 | ours, ns-3 | target |',
           '|---|---|---|---|---|---|---|---|---|']
    for scene, *paper in SCENES:
        for measure, column, target, limits in MEASURES:
            if (scene, 'paper', measure) not in found:
                continue
            cells = [cell(found.get((scene, v, measure)), limits,
                           span if v in SPANS else mean)
                     for v in VARIANTS + NS3]
            said = paper[column - 1] if column else ''
            unit = ', %' if measure == 'loss' else ''
            out.append(f'| {scene} | {measure}{unit} | {said} | '
                       + ' | '.join(cells) + f' | {target} |')
    return out


def pipelines(found):
    out = ['| experiment | measure | its rule | ours | target |', '|---|---|---|---|---|']
    for scene, *_ in SCENES:
        for measure, _, target, limits in MEASURES:
            cells = [cell(found.get((scene, v, measure)), limits, span) for v in UML]
            if any(cells):
                unit = ', %' if measure == 'loss' else ''
                out.append(f'| {scene} | {measure}{unit} | {" | ".join(cells)} | {target} |')
    return out


def told(found):
    """What any sender loses, in percent, that is told of a change so much later"""
    scenes = [name for name, *_ in SCENES if name.startswith('figure 4')]
    out = ['| loss, %: the bandwidth is known | ' + ' | '.join(scenes) + ' |',
           '|---|' + '---|' * len(scenes)]
    for name in dict.fromkeys(key[1] for key in found):
        out.append(f'| {name} | ' + ' | '.join(
            span(found[scene, name, 'loss']) for scene in scenes) + ' |')
    return out


def after_changes(found):
    """Of all packets: which were lost how long after the link changed; and of the first"""
    scene, names = 'figure 4, each 3 s', ['paper', 'ours', 'at once', '0.25 s later']
    seconds = list(dict.fromkeys(m for s, _, m in found if s == scene and 'second' in m))
    out = ['| figure 4, each 3 s | ' + ' | '.join(seconds) + ' | all | '
           'of the first 10 s | of the first 80 s |',
           '|---|' + '---|' * (len(seconds) + 3)]
    for name in names:
        out.append(f'| {name} | ' + ' | '.join(
            [mean(found[scene, name, m]) for m in seconds + ['loss']]
            + [span(found[scene, name, m]) for m in ('first 10 s', 'first 80 s')]) + ' |')
    return out


def alone(found):
    out = ['| each of seven | alone: used, % | loss, % | slowest over fastest | beside '
           'TCP: a TCP over one | loss, % | slowest over fastest |',
           '|---|---|---|---|---|---|---|']
    for name in dict.fromkeys(key[1] for key in found):
        cells = [(span if 'TCP' in measure else mean)(found[scene, name, measure])
                 for scene, measure in [
                     ('alone', 'used'), ('alone', 'loss'),
                     ('alone', 'slowest over fastest'),
                     ('beside three TCPs', 'a TCP over a flow'),
                     ('beside three TCPs', 'loss'),
                     ('beside three TCPs', 'slowest over fastest')]]
        out.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    return out


def crowd(found):
    scenes = list(dict.fromkeys(key[0] for key in found))
    out = ['| receivers | measure | the paper\'s memory, 5 s | 15 s, and growing |',
           '|---|---|---|---|']
    for scene in scenes:
        for measure in dict.fromkeys(k[2] for k in found if k[0] == scene):
            out.append(f'| {scene} | {measure} | '
                       f'{mean(found[scene, "paper", measure])} | '
                       f'{mean(found[scene, "memory 15 s", measure])} |')
    return out


def chain(lines):
    """The runs of one rule: when they settled, and the rates of the first"""
    out = ['| rule, reports | settled, s | C0 ... C6, kbit/s |', '|---|---|---|',
           '| the paper (table 1) | < 100 | 248 249 497 245 246 499 742 |']
    runs = collections.defaultdict(list)
    for line in lines:
        run = re.match(r'# (.*): settled after (\d+) s; ([\d ]+) kbit/s', line)
        if run:
            runs[run[1]].append((float(run[2]), run[3]))
    for rule, found in runs.items():
        out.append(f'| {rule} | {span([t for t, _ in found])} | {found[0][1]} |')
    return out


def of_ns3(build, name, seeds):
    """Lines as test-als-chain and test-als-layers have them"""
    program = pathlib.Path(build).resolve() / 'tests/experiments/ns3' / name

    def run(what):
        return subprocess.run([program, *what], check=True, capture_output=True,
                              text=True).stdout.splitlines()

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for lines in pool.map(run, [
            (str(seed), rule) for rule in ('paper', 'ours') for seed in seeds])
                for line in lines]


def whole(values):
    """mean (least … most) of whole numbers, if they differ by more than a fiftieth"""
    least, most = min(values), max(values)
    return f'{sum(values) / len(values):.0f}' + (
        f' ({least:.0f}…{most:.0f})' if most > 1.02 * least else '')


def layers_row(name, runs):
    """Means over runs, each (base, each other, [(has, layers, a TCP) of each receiver]);
    what a TCP has with the least and the most, too"""
    receivers = list(zip(*(r[2] for r in runs)))
    held = ', '.join(f'{sum(r[0] for r in x) / len(x):.0f} ({mean([r[1] for r in x])})'
                     for x in receivers)
    tcps = ', '.join(whole([r[2] for r in x]) for x in receivers)
    ratios = ', '.join(f'{sum(r[0] for r in x) / sum(r[2] for r in x):.2f}' if x[0][1] else '–'
                       for x in receivers)
    base, other = (f'{sum(r[k] for r in runs) / len(runs):.0f}' for k in (0, 1))
    return f'| {name} | {base} | {other} | {held} | {tcps} | {ratios} |'


def layers(lines):
    out = ['| | base | each other | receiver 0, 1, 2 has (layers) | a TCP beside it '
           '| receiver over TCP |', '|---|---|---|---|---|---|',
           '| the paper, before 100 s | 170 | | | | |',
           '| the paper, after | 90 | 70 | 90 (1), 230 (3), 160 (2) | | |']
    rows = collections.defaultdict(list)
    for line in lines:
        run = re.match(r'# (.*): base (\d+), others (\d+) kbit/s', line)
        if run:
            held = re.findall(r'(\d+) kbit/s, ([\d.]+) layers.*?a TCP (\d+)', line)
            rows[run[1]].append((float(run[2]), float(run[3]),
                                 [tuple(map(float, x)) for x in held]))
    return out + [layers_row(name, runs) for name, runs in rows.items()]


def told_of(r, name, column, span_s):
    """The mean of what senders.csv has of one; 0 where it has nothing"""
    return measures.mean(measures.bins(r.senders[name], column, *span_s, 1)
                         if name in r.senders else []) or 0


def layers_of(r, span_s):
    """What a run of real pipelines has of a row"""
    flow = r.run.flows['layers']
    base, total = (told_of(r, 'layers', column, span_s) / 1e3
                   for column in ('sent_bps', 'target_bps'))
    receivers = []
    for router in flow['branches']:
        far = f'layers-{router}'
        tcps = [measures.rate_bps(r, n, *span_s) for n, f in r.run.flows.items()
                if f['kind'] == 'tcp' and f['to'] == router]
        receivers.append((told_of(r, far, 'sent_bps', span_s) / 1e3,
                          told_of(r, far, 'separate', span_s), measures.mean(tcps) / 1e3))
    return base, (total - base) / (flow['layers'] - 1), receivers


def layers_in_pipelines(build):
    """The same rows, means over runs of real pipelines; none if there are none"""
    rules = collections.defaultdict(list)
    for r in results.load(pathlib.Path(build) / 'experiments',
                          [scenario.Scenario(LAYERS)], runners=['uml']):
        rules[r.run.choice['rule']].append(r)
    return [layers_row(f'{rule}, {PIPELINE}, {when}', [layers_of(r, span_s) for r in found])
            for rule, found in rules.items() for when, span_s in LAYERS_S.items()]


def elements(build):
    """The chain as real elements, some runs of it: reports come at random times"""
    lines = []
    for _ in range(N_RUNS):
        lines += subprocess.run(
            ['meson', 'test', '-C', build, '--no-rebuild', '-v',
             'element-alsrouter-chain'], check=True, capture_output=True,
            text=True).stdout.splitlines()
    return lines


def with_kept(lines, old, n_keys):
    """A table of real pipelines, with what the page has and nobody ran here."""
    def split(line):
        return [c.strip() for c in line.strip('|').split('|')]

    made = {tuple(split(x)[:n_keys]): split(x) for x in lines[2:]}
    there = {tuple(split(x)[:n_keys]): split(x) for x in old[2:]}
    only_pipelines = not any(PIPELINE in key[0] for key in [*made, *there])
    rows = {key: cells for key, cells in there.items()
            if key in made or only_pipelines or PIPELINE in key[0]} | {
                key: [a or b for a, b in itertools.zip_longest(
                    cells, there.get(key, []), fillvalue='')]
                for key, cells in made.items()}
    return lines[:2] + ['| ' + ' | '.join(cells) + ' |' for cells in rows.values()]


def fill_in(name, lines):
    text = RESULTS.read_text(encoding='utf-8')
    pattern = re.compile(rf'(<!-- {name}: .*?-->\n)(.*?)(<!-- end -->)', re.S)
    if not pattern.search(text):
        sys.exit(f'{RESULTS}: no marker "{name}"')
    if name in KEPT:
        lines = with_kept(lines, pattern.search(text)[2].splitlines(), KEPT[name])
    RESULTS.write_text(pattern.sub(lambda m: m[1] + '\n'.join(lines) + '\n'
                                   + m[3], text), encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default=ROOT / 'build')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--only', metavar='PART', nargs='+', help='these markers')
    arguments = parser.parse_args()
    build = arguments.build
    if arguments.check:
        rows = read(lines_of(build, 'als-figures', SCENES[0][0], '1')
                    + lines_of(build, 'als-crowd', '1'))
        for values in rows.values():
            assert all(v >= 0 for v in values)
        # of a thousand, and of those who come and go, too
        assert all(values[0] < 1 for key, values in rows.items() if key[1] == 'memory 15 s')
        return
    parts = {
        'als figures 3, 4': lambda: beside_tcp(read(with_ns3(build))),
        'als pipelines': lambda: pipelines(read(in_pipelines(build))),
        'als after changes': lambda: after_changes(read(
            lines_of(build, 'als-figures') + lines_of(build, 'als-figures', 'told'))),
        'als told': lambda: told(read(lines_of(build, 'als-figures', 'told'))),
        'als alone': lambda: alone(read(lines_of(build, 'als-alone'))),
        'als table 1': lambda: chain(lines_of(build, 'test-als-chain')
                                     + of_ns3(build, 'als-chain-ns3', CHAIN_SEEDS)
                                     + elements(build)),
        'als figure 8': lambda: layers(lines_of(build, 'test-als-layers')
                                        + of_ns3(build, 'als-layers-ns3', LAYERS_SEEDS))
        + layers_in_pipelines(build),
        'als crowd': lambda: crowd(read(lines_of(build, 'als-crowd'))),
    }
    for name, make in parts.items():
        if not arguments.only or name in arguments.only:
            lines = make()
            if len(lines) > 2:      # else nobody ran it: it stays
                fill_in(name, lines)


if __name__ == '__main__':
    main()
