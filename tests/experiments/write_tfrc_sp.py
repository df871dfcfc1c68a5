#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ns-2's TFRC-SP on those of the population's networks that ns-2 can express.

  tests/experiments/write_tfrc_sp.py [--build build] [--draws N] [--print]

Of the families with nothing but a drop-tail queue and TCPs, or nobody, the first N held-out
networks in which no more than 1 Mbit/s is to be had: each in ns-2 (runner `ns2`; Debian:
apt-get install ns2), judged by the rule of the population, beside what the model makes of
`shortq` there.  Writes the table between the markers of README.md here; --print says each
network instead.
"""
import argparse
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import run  # noqa: E402
import write_population as population  # noqa: E402
from lab import measures, ns2, scenario  # noqa: E402

FAMILIES = (0, 1, 4)            # beside TCP; beside TCP, packets; alone
MORE = 4                        # so many times as many draws have enough of them
SENDER = 'tfrc'                 # as runner `ns2` has it


def prepare(family, draw, args):
    """The scenario of a draw, or None if ns-2 has nothing like it."""
    path = args.out / f'family-{family}-{draw["seed"]}-{SENDER}.toml'
    path.parent.mkdir(parents=True, exist_ok=True)
    text = population.scenario_text(draw, family, runner='ns2')
    path.write_text(text.replace(f'controller = "{population.OURS}"',
                                 f'controller = "{SENDER}"'), encoding='utf-8')
    s = scenario.Scenario(path)
    return None if ns2.refuses(s.runs(runner='ns2')[0]) else s


def possible(family, args):
    """[(draw, scenario)]: the first that ns-2 can express"""
    more = argparse.Namespace(**{**vars(args), 'draws': MORE * args.draws})
    found = ((d, prepare(family, d, args)) for d in population.draws_of(family, more))
    return [(d, s) for d, s in found if s][:args.draws]


def rows_of(networks, args):
    """{family: [(draw, outcome, ok)]}"""
    found = [(f, d, population.outcome(population.made(s, args, 'ns2'), d, f))
             for f, pairs in networks.items() for d, s in pairs]
    good = population.judged(args.program, [(f, o) for f, _, o in found])
    return {family: [(d, o, ok) for (f, d, o), ok in zip(found, good) if f == family]
            for family in networks}


def table(families):
    out = ['| family | networks | TFRC-SP in ns-2 | shortq in the model |', '|---|---|---|---|']

    def cell(rows, side):
        ok = sum(good if side else d['ok'] == '1' for d, _, good in rows)
        median = measures.quantile([population.figure(d, (d, o)[side])
                                    for d, o, _ in rows], 0.5)
        return f'{ok} ({median:.2f})'
    for rows in families.values():
        out.append(f'| {rows[0][0]["family"]} | {len(rows)} | {cell(rows, 1)} | '
                   f'{cell(rows, 0)} |')
    every = [row for rows in families.values() for row in rows]
    return out + [f'| all | {len(every)} | {sum(ok for _, _, ok in every)} | '
                  f'{sum(d["ok"] == "1" for d, _, _ in every)} |', '',
                  f'ns-2 {ns2.versions()["ns2"]}; the model is of {run.commit()}.']


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('--build', default=population.ROOT / 'build', type=pathlib.Path)
    p.add_argument('--draws', type=int, default=12, metavar='N')
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('--print', action='store_true')
    args = p.parse_args()
    args.program = args.build / 'subprojects/fairmix/tests/sim/draws'
    args.out = args.build / 'experiments' / 'tfrc-sp'
    args.short, args.most_kbps = False, 1000
    return args


def main():
    args = arguments()
    networks = {f: possible(f, args) for f in FAMILIES}
    todo = [(s.runs(runner='ns2')[0], 'ns2') for pairs in networks.values()
            for _, s in pairs if population.made(s, args, 'ns2') is None]
    if todo and run.run_all(todo, args):
        return 1
    families = rows_of(networks, args)
    if args.print:
        print('\n'.join([population.describe(SENDER, *row) for rows in families.values()
                         for row in rows] + table(families)))
    else:
        population.fill_in('tfrc-sp', table(families))
    return 0


if __name__ == '__main__':
    sys.exit(main())
