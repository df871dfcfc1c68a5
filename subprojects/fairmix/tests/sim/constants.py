#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a constant of shortq is worth: halved and doubled, in the population.

  subprojects/fairmix/tests/sim/constants.py [--draws N] [--held-out] NAME...

For each constant, and for today's values: the percentage of draws that are inside
their targets, family by family (population.c), on the tuned seeds, for a sender
of packets at its rate.  The library is
built in a scratch folder, where the line `#define NAME ...` is another: nothing of
the tree is touched.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FAIRMIX = pathlib.Path(__file__).resolve().parents[2]
RATE = FAIRMIX / 'fairmix' / 'rate'
MODULES = ('base', 'wire', 'rtt', 'loss', 'rate', 'select', 'adapt')
FLAGS = ['-std=c11', '-O2', '-ffp-contract=off']
COMPILER = shlex.split(os.environ.get('CC', 'cc'))


def sources():
    out = [f for m in MODULES for f in sorted((FAIRMIX / 'fairmix' / m).glob('*.c'))]
    out.append(FAIRMIX / 'fairmix' / 'topology' / 'fmx-delay-shape.c')
    sim = FAIRMIX / 'tests' / 'sim'
    return out + sorted(sim.glob('fmx-sim-*.c')) + [sim / 'population.c']


def define_of(name):
    """The file of that constant, and its value as C has it."""
    for path in sorted(RATE.glob('fmx-*')):
        found = re.search(rf'^#define {name}[ \t]+(.*?)[ \t]*(/\*|$)',
                          path.read_text(encoding='utf-8'), re.MULTILINE)
        if found:
            return path, found[1]
    sys.exit(f'constants.py: there is no constant {name} in {RATE}')


class Scratch:
    """A build of the library of its own, file by file."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for path in sources():
            self.compile(path, self.object_of(path))

    def object_of(self, path):
        return self.folder / (path.stem + '.o')

    def compile(self, path, out, first=()):
        subprocess.run([*COMPILER, *FLAGS, *(f'-I{f}' for f in first),
                        f'-I{FAIRMIX}', f'-I{FAIRMIX}/tests', '-c', path, '-o', out],
                       check=True)

    def population(self, name=None, value=None):
        """The program, where the constant `name` is `value`."""
        objects = [self.object_of(p) for p in sources()]
        program = self.folder / 'population'
        if name is not None:
            objects = self.changed(objects, name, value)
        subprocess.run([*COMPILER, '-o', program, *objects, '-lm'], check=True)
        return program

    def changed(self, objects, name, value):
        path, _ = define_of(name)
        text = re.sub(rf'^#define {name}[ \t].*?(?=/\*|$)', f'#define {name} ({value}) ',
                      path.read_text(encoding='utf-8'), flags=re.MULTILINE)
        copy = self.folder / 'changed' / 'fairmix' / 'rate' / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding='utf-8')
        users = [path] if path.suffix == '.c' else \
            [p for p in sources() if path.name in p.read_text(encoding='utf-8')]
        for user in users:
            out = self.folder / (user.stem + '-changed.o')
            self.compile(copy if user == path else user, out, [self.folder / 'changed'])
            objects[objects.index(self.object_of(user))] = out
        copy.unlink()
        return objects


def inside(program, args):
    """{family: percentage of draws inside}"""
    command = [program, '--paced', '--draws', str(args.draws),
               '--held-out' if args.held_out else '--tuned']
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [[c.strip() for c in line.split('|')] for line in table.splitlines()
            if re.match(r'\| .*%', line) and 'draws' not in line]
    return {row[1]: int(row[3].split()[0]) for row in rows}


def line(name, value, got, base):
    mean = sum(got.values()) / len(got)
    off = mean - sum(base.values()) / len(base)
    print(f'| `{name}` | {value} | ' + ' | '.join(map(str, got.values()))
          + f' | {mean:.1f} ({off:+.1f}) |', flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('names', nargs='*', metavar='NAME')
    p.add_argument('--draws', type=int, default=24, help='of each family')
    p.add_argument('--held-out', action='store_true', help='odd seeds, not even ones')
    p.add_argument('--factors', type=float, nargs='+', default=[0.5, 2.0])
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder)
        base = inside(scratch.population(), args)
        print('| constant | value | ' + ' | '.join(base) + ' | mean |\n|'
              + '---|' * (len(base) + 3))
        line('none', 'as it is', base, base)
        for name in args.names:
            _, value = define_of(name)
            for factor in args.factors:
                changed = f'({value}) * {factor:g}'
                line(name, f'{value} x {factor:g}'.replace('FMX_', ''), inside(
                    scratch.population(name, changed), args), base)


if __name__ == '__main__':
    main()
