#!/usr/bin/env python3
"""Tests bring a controller where they want it by what it hears, not by hand.

usage: check-state.py --self-test | SOURCE-ROOT

What a test writes into a state need not be a state that ever comes about, and
keeps the fields from being changed.  Nothing under a folder `tests` assigns to a
member of `.state`.
"""
import re

from rules import files, read, run

WRITE = re.compile(r'(?:\.|->)state(?:(?:\.|->)\w+(?:\[[^\]]*\])?)+\s*'
                   r'(?:[-+*/|&^%]|<<|>>)?=(?!=)|'
                   r'(?:\.|->)state(?:(?:\.|->)\w+)+\s*(?:\+\+|--)')

# How many there still are.  No number may grow; a file that has none goes.
LEFT = {
    'subprojects/fairmix/tests/rate/fmx-test-rate-shortq.h': 1,
    'subprojects/fairmix/tests/rate/test-rate-shortq-compete.c': 8,
    'subprojects/fairmix/tests/rate/test-rate-shortq-drain.c': 4,
    'subprojects/fairmix/tests/rate/test-rate-shortq-steps.c': 4,
    'subprojects/fairmix/tests/rate/test-rate-shortq.c': 6,
}


def check(root, left=LEFT):
    for path in files(root, '.c', '.h', '.cc'):
        name = path.relative_to(root).as_posix()
        if 'tests' not in path.relative_to(root).parts[:-1]:
            continue
        lines = [n for n, line in enumerate(read(path).splitlines(), 1)
                 if WRITE.search(line)]
        allowed = left.get(name, 0)
        if len(lines) > allowed:
            yield (f'{name}: writes a state in lines {", ".join(map(str, lines))}'
                   f' ({allowed} allowed)')


CASES = [
    ('what is heard and what is read is no write',
     {'tests/a.c': 'x (&rc.state.dpm);\nif (rc.state.dpm.mode == 1 || a <= rc.state.x.y)\n',
      'fairmix/b.c': 'rc->state.dpm.mode = 1;\n'}, []),
    ('an assignment is found, and each kind of it',
     {'tests/a.c': 't.rc.state.dpm.mode = 1;\n',
      'lib/tests/b.h': 'rc->state.tfrc.n += 2;\nrc->state.tfrc.n++;\n'},
     ['tests/a.c: writes a state in lines 1 ', 'lib/tests/b.h: writes a state in lines 1, 2 ']),
]

if __name__ == '__main__':
    run(lambda root: check(root) if (root / 'subprojects').exists()
        else check(root, {}), CASES)
