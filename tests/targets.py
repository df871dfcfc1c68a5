#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints what ninja has to build for the tests of some suites.

    targets.py BUILD SUITE...

A build directory holds more: two thirds of a sanitizer's build are enough for the
suites that run there.
"""
import json
import pathlib
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.check_output(
        ['meson', 'introspect', build, f'--{what}']))


def main(build, *suites):
    files = {target['id']: target['filename']
             for target in introspect(build, 'targets')}
    needed = {file for test in introspect(build, 'tests')
              if {name.split(':')[-1] for name in test['suite']} & set(suites)
              for target in test['depends'] for file in files[target]}
    root = pathlib.Path(build).resolve()
    for file in sorted(needed):
        print(pathlib.Path(file).relative_to(root))


if __name__ == '__main__':
    main(*sys.argv[1:])
