#!/usr/bin/env python3
"""What a reader should not have to see.

usage: check-text.py --self-test | SOURCE-ROOT

Paths that exist on one machine only, work left undone without an issue's
number, leftovers of a merge, tabs in C, space at the end of a line, files
without a licence or without a last line, locks of elements without a rank.
"""
import re

from rules import files, read, run

CODE = {'.c', '.h', '.cc'}
TEXT = CODE | {'.md', '.py', '.sh', '.build', '.txt', '.toml', '.ini'}

EVERYWHERE = [
    (re.compile(r'(?<![\w.$}/>)])/(?:work|home|root|Users)/\w'),
     'a path of one machine'),
    (re.compile(r'\b(?:TODO|FIXME|XXX)\b(?!.*#\d)'),
     'undone, and no issue number'),
    (re.compile(r'^(?:<{7}|>{7}|={7})(?:\s|$)'), 'left by a merge'),
    (re.compile(r'[ \t]+$'), 'space at the end of the line'),
]
# common/gstfairmixlock.h: every lock has a rank
UNRANKED = re.compile(r'\bG(?:Rec)?Mutex\b|\bGRWLock\b')
LICENCE = 'SPDX-License-Identifier: '
THIS = 'tests/meta/check-text.py'


def check_file(path, where):
    text = read(path)
    lines = text.split('\n')
    for number, line in enumerate(lines, 1):
        for pattern, what in EVERYWHERE:
            if pattern.search(line):
                yield f'{where}:{number}: {what}'
        if path.suffix in CODE and '\t' in line:
            yield f'{where}:{number}: a tab'
        if where.parts[0] == 'gst' and path.stem != 'gstfairmixlock' \
                and UNRANKED.search(line):
            yield f'{where}:{number}: a lock without a rank (GstFairmixLock)'
    if text and not text.endswith('\n'):
        yield f'{where}: the last line does not end'
    if path.suffix in CODE and not any(LICENCE in x for x in lines[:5]):
        yield f'{where}: no {LICENCE.strip(": ")}'


def check(root):
    for path in files(root, *TEXT, ''):
        where = path.relative_to(root)
        if not path.stat().st_size and 'corpus' not in where.parts:
            yield f'{where}: an empty file'
    for path in files(root, *TEXT):
        where = path.relative_to(root)
        if str(where) != THIS:
            yield from check_file(path, where)


SPDX = f'/* {LICENCE}LGPL-2.1-or-later */\n'

CASES = [
    ('plain text', {'a.md': 'Rooms have work/life balance; see ./home/x.\n',
                    'a.c': SPDX + 'int x;\n'}, []),
    ('paths of one machine', {'a.md': 'see /home/me/x\n', 'b.sh': 'ls /root/x\n'},
     ['a.md:1: a path', 'b.sh:1: a path']),
    ('work left undone', {'a.c': SPDX + '/* TODO: think */\n'},
     ['a.c:2: undone']),
    ('work that is somebody\'s', {'a.c': SPDX + '/* TODO (#12): think */\n'},
     []),
    ('merges', {'a.md': '<<<<<<< HEAD\n'}, ['left by a merge']),
    ('space at the end', {'a.py': 'x = 1 \n'}, ['space at the end']),
    ('tabs in C, not elsewhere', {'a.c': SPDX + '\tint x;\n', 'a.md': '\tx\n'},
     ['a.c:2: a tab']),
    ('locks without a rank', {'gst/a/a.c': SPDX + 'GMutex lock;\n',
                              'tests/a.c': SPDX + 'GMutex lock;\n'},
     ['gst/a/a.c:2: a lock without a rank']),
    ('a last line', {'a.md': 'x'}, ['does not end']),
    ('a redirection gone wrong', {'--help': '', 'a.py': '', 'corpus/0': ''},
     ['--help: an empty file', 'a.py: an empty file']),
    ('a licence', {'a.h': 'int x;\n'}, ['no SPDX']),
    ('builds are not ours', {'build/a.md': 'x ', 'subprojects/opus/a.md': 'x '},
     []),
]

if __name__ == '__main__':
    run(check, CASES)
