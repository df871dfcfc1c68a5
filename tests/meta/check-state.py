#!/usr/bin/env python3
"""Tests bring a controller where they want it by what it hears, not by hand.

usage: check-state.py --self-test | SOURCE-ROOT

What a test writes into a state need not be a state that ever comes about, and
keeps the fields from being changed.  Nothing under a folder `tests` assigns to a
member of `.state`, or to the rate or the parameters of a controller `rc`.
"""
import re

from rules import files, read, run

MEMBERS = r'(?:(?:\.|->)\w+(?:\[[^\]]*\])?)'
OWN = (rf'(?:(?:\.|->)state{MEMBERS}+'
       rf'|\brc(?:\.|->)(?:rate_bps|params{MEMBERS}*))')
WRITE = re.compile(rf'{OWN}\s*(?:(?:[-+*/|&^%]|<<|>>)?=(?!=)|\+\+|--)')


def check(root):
    for path in files(root, '.c', '.h', '.cc'):
        name = path.relative_to(root).as_posix()
        if 'tests' not in path.relative_to(root).parts[:-1]:
            continue
        lines = [n for n, line in enumerate(read(path).splitlines(), 1)
                 if WRITE.search(line)]
        if lines:
            yield f'{name}: writes a state in lines {", ".join(map(str, lines))}'


CASES = [
    ('what is heard and what is read is no write',
     {'tests/a.c': 'x (&rc.state.dpm);\nif (rc.state.dpm.mode == 1 || a <= rc.state.x.y)\n'
                   'FmxRateParams p = rc.params;\n',
      'fairmix/b.c': 'rc->state.dpm.mode = 1;\n'}, []),
    ('an assignment is found, and each kind of it',
     {'tests/a.c': 't.rc.state.dpm.mode = 1;\nt.rc.rate_bps = 1.0;\n',
      'lib/tests/b.h': 'rc->state.tfrc.n += 2;\nrc->state.tfrc.n++;\n'
                       'rc->params.max_bps = 5;\n'},
     ['tests/a.c: writes a state in lines 1, 2',
      'lib/tests/b.h: writes a state in lines 1, 2, 3']),
]

if __name__ == '__main__':
    run(check, CASES)
