#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints what ninja has to build for the tests of some suites.

    targets.py BUILD [--default] SUITE...

A build directory holds more: two thirds of a sanitizer's build are enough for the
suites that run there.  With --default also what is built without being asked for;
Meson before 1.7 counts every test as that.
"""
import argparse
import json
import pathlib
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.check_output(
        ['meson', 'introspect', build, f'--{what}']))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('build')
    parser.add_argument('--default', action='store_true')
    parser.add_argument('suites', nargs='+')
    args = parser.parse_args()
    targets = introspect(args.build, 'targets')
    files = {target['id']: target['filename'] for target in targets}
    needed = {file for target in targets if args.default
              and target['build_by_default'] for file in target['filename']}
    needed |= {file for test in introspect(args.build, 'tests')
               if {name.split(':')[-1] for name in test['suite']} & set(args.suites)
               for target in test['depends'] for file in files[target]}
    root = pathlib.Path(args.build).resolve()
    for file in sorted(needed):
        print(pathlib.Path(file).relative_to(root))


if __name__ == '__main__':
    sys.exit(main())
