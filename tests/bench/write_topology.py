#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs groups, organise or couple, and fills in docs/algorithms/topology.md.

    write_topology.py [--build build] [TABLE...]

Held-out seeds: 20 (some minutes each), of couple 10 (half an hour).  What is not asked
for stays as it is; without a name all are run.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs/algorithms/topology.md'
TABLES = {'groups': 20, 'organise': 20, 'couple': 10}   # and how many seeds


def measure(build, name):
    """The table, as the program prints it"""
    program = build.resolve() / 'subprojects/fairmix/tests/topology' / name
    return subprocess.run(
        [program, '--held-out', '--seeds', str(TABLES[name])],
        check=True, stdout=subprocess.PIPE, text=True).stdout


def fill(page, name, table):
    pattern = re.compile(rf'(<!-- {name}: .*?-->\n).*?(<!-- end -->)', re.S)
    if not pattern.search(page):
        sys.exit(f'{PAGE}: no marker "{name}"')
    return pattern.sub(lambda found: found[1] + table + found[2], page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build')
    parser.add_argument('tables', nargs='*', metavar='TABLE', help=', '.join(TABLES))
    options = parser.parse_args()
    if set(options.tables) - set(TABLES):
        parser.error(f'the tables are {", ".join(TABLES)}')
    for name in options.tables or TABLES:
        table = measure(options.build, name)
        PAGE.write_text(fill(PAGE.read_text(encoding='utf-8'), name, table),
                        encoding='utf-8')


if __name__ == '__main__':
    main()
