#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fills in the tables of docs/algorithms/topology.md and docs/elements/dpmmixer.md.

    write_topology.py [--build build] [--keep FOLDER] [TABLE...]

groups, organise, couple: the library in virtual time, held-out seeds: 20 (some minutes
each), of couple 10 (half an hour); organise in ns-3, too (ten minutes).  tree, hops, moves:
real pipelines, bench-tree, bench-chain and bench-organise (some minutes each); they need
`meson devenv -C build`.
--keep: keeps their CSV there, and takes what is there already instead of running them.
What is not asked for stays as it is; without a name all are run.
"""
import argparse
import csv
import io
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPOLOGY, MIXER = ROOT / 'docs/algorithms/topology.md', ROOT / 'docs/elements/dpmmixer.md'
SEEDS = {'groups': 20, 'organise': 20, 'couple': 10}
NS3_SEEDS = range(2, 42, 2)
PROGRAMS = {'tree': 'bench-tree', 'hops': 'bench-chain', 'moves': 'bench-organise'}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def rows(options, name):
    """{scene: {measure: value}}, as the benchmark tells them, in its order"""
    kept = options.keep / f'{name}.csv' if options.keep else None
    if kept and kept.exists():
        text = kept.read_text(encoding='utf-8')
    else:
        text = run(options.build.resolve() / 'tests/bench' / PROGRAMS[name], '--csv')
        if kept:
            kept.write_text(text, encoding='utf-8')
    scenes = {}
    for row in csv.DictReader(io.StringIO(text)):
        scenes.setdefault(row['scene'], {})[row['measure']] = float(row['value'])
    return scenes


def side_by_side(scenes, lines):
    """A column for each scene; @lines: {name: what it has in a scene}"""
    return ''.join(['| ' + ''.join(f'| {name} ' for name in scenes) + '|\n',
                    '|---' + '|--:' * len(scenes) + '|\n',
                    *(f'| {name} ' + ''.join(f'| {cell(scene)} ' for scene in scenes.values())
                      + '|\n' for name, cell in lines.items())])


def delays(scene):
    """Mouth to ear, by mixers on the way"""
    found = {re.search(r'\d+', name)[0]: value for name, value in scene.items()
             if name.startswith('mouth')}
    return ', '.join(f'{value:.0f} ({n})' for n, value in found.items())


def tree(options):
    lines = {'voices due, and heard once': lambda s: f'{s["voices that are due"]:.0f}, '
                                                     f'{s["... heard once"]:.0f}',
             "largest error of a voice's level": lambda s:
                 f'{abs(s["the worst is off by"]):.1f} dB',
             'all are heard after': lambda s: f'{s["all are heard after"] / 1000:.1f} s',
             'mouth to ear, ms (mixers)': delays,
             'not heard within 1.5 s': lambda s: f'{s["... not heard in time"]:.0f}'}
    return side_by_side(rows(options, 'tree'), lines)


def hops(options):
    table = '| | allowed, kbit/s | sent, kbit/s | TCP, kbit/s | sent / TCP |\n' \
        '|---|--:|--:|--:|--:|\n'
    for name, scene in rows(options, 'hops').items():
        table += f'| {name} | {scene["allowed"]:.0f} | {scene["meeting"]:.0f} | ' \
            f'{scene["TCP"]:.0f} | {scene["meeting / TCP"]:.2f} |\n'
    return table


def missed(scene, when):
    """The longest gap, and of how many who missed more than 20 ms"""
    if f'the longest that one missed, {when}' not in scene:
        return ''
    return f'{scene[f"the longest that one missed, {when}"]:.0f} ' \
        f'({scene[f"... who missed over 20 ms, {when}"]:.0f})'


def jains(scene):
    """Of what each may have, and of what came"""
    if '... of what came' not in scene:
        return ''
    return f'{scene["Jain by 1:2:3:4, of what they may"]:.2f}, {scene["... of what came"]:.2f}'


def moves(options):
    lines = {'voices apart, of 11': lambda s: f'{s["voices apart"]:.1f}',
             'down each link, kbit/s': lambda s: f'{s["down each link"]:.0f}',
             'Jain by 1:2:3:4: allowed, received': jains,
             'missed at most, ms (pairs beyond 20)': lambda s: missed(s, 'before'),
             '... while some move': lambda s: missed(s, 'while some move'),
             '... after that': lambda s: missed(s, 'after'),
             'moved, of 9; wrongly; after': lambda s: '' if 'moved' not in s else
                 f'{s["moved"]:.0f}; {s["... behind another link"]:.0f}; '
                 f'{s["the last one moved after"]:.0f} s'}
    return side_by_side(rows(options, 'moves'), lines)


def organise_in_ns3(options):
    """Rows as those of the library's organise"""
    kept = options.keep / 'organise-ns3.csv' if options.keep else None
    if kept and kept.exists():
        text = kept.read_text(encoding='utf-8')
    else:
        program = options.build.resolve() / 'tests/experiments/ns3/organise-ns3'
        text = ''.join(run(program, scene, str(seed), *how) for scene in ('alone', 'tcp')
                       for how in ([], ['organised']) for seed in NS3_SEEDS)
        if kept:
            kept.write_text(text, encoding='utf-8')
    runs = {}
    for scene, how, *values in csv.reader(io.StringIO(text)):
        runs.setdefault((scene, how), []).append([float(value) for value in values])
    lines = ''
    for (scene, how), values in sorted(runs.items()):
        voices, kbps, moved, wrong, after = (sum(column) / len(values) for column in zip(*values))
        lines += f'| {"alone" if scene == "alone" else "a TCP on each"}, ns-3 ' \
            f'| {"one of each four mixes" if how == "1" else "all from outside"} ' \
            f'| {voices:.1f} | {kbps:.0f} | {moved:.1f} | {wrong * len(values):.0f} ' \
            f'| {after:.0f} s |\n'
    return lines


def measure(options, name):
    """The table"""
    if name in PROGRAMS:
        return {'tree': tree, 'hops': hops, 'moves': moves}[name](options)
    program = options.build.resolve() / 'subprojects/fairmix/tests/topology' / name
    table = run(program, '--held-out', '--seeds', str(SEEDS[name]))
    return table + organise_in_ns3(options) if name == 'organise' else table


def fill(path, name, table):
    pattern = re.compile(rf'(<!-- {name}: filled in .*?-->\n).*?(<!-- end -->)', re.S)
    page = path.read_text(encoding='utf-8')
    if not pattern.search(page):
        sys.exit(f'{path}: no marker "{name}"')
    path.write_text(pattern.sub(lambda found: found[1] + table + found[2], page),
                    encoding='utf-8')


def main():
    names = [*SEEDS, *PROGRAMS]
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build')
    parser.add_argument('--keep', type=pathlib.Path)
    parser.add_argument('tables', nargs='*', metavar='TABLE', help=', '.join(names))
    options = parser.parse_args()
    if set(options.tables) - set(names):
        parser.error(f'the tables are {", ".join(names)}')
    for name in options.tables or names:
        fill(MIXER if name in ('tree', 'hops') else TOPOLOGY, name, measure(options, name))


if __name__ == '__main__':
    main()
