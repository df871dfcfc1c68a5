#!/usr/bin/env python3
"""Functions take few parameters and few turns.

usage: check-complexity.py --self-test | SOURCE-ROOT

No function takes more than seven parameters.  Its complexity (McCabe's: one,
and one more for each if, loop, case, &&, || and ?:) is at most 15 in the
library, 20 elsewhere.  What is worse today stands in WAIVED, with a reason; the
list may only get shorter: a function that has become good must leave it.
"""
import re

from csource import definitions
from rules import files, read, run

PARAMETERS = 7
# folder: complexity; the innermost one counts
COMPLEXITY = {'gst': 20, 'subprojects/fairmix': 20, 'tests': 20, 'examples': 20,
              'subprojects/fairmix/fairmix': 15}
BRANCH = re.compile(r'\b(?:if|for|while|case)\b|&&|\|\||\?')

# (file, function): why
WAIVED = {
    ('fmx-ccfb-collector.c', 'write_stream'): 'a packet format, field by field',
    ('fmx-join-message.c', 'character_bytes'): 'the table of UTF-8, as conditions',
    ('fmx-rate-sender-blocks.c', 'fmx_rate_sender_digest_report_blocks'):
        'what may be wrong with a report block, one condition each',
    ('gstpartialmixcodec.c', 'gst_partial_mix_format_from_structure'):
        'what caps may hold, one condition each',
    ('gstdpmcrypto.c', 'crypto_derive'): 'the signature of HKDF',
    ('fuzz-join.c', 'toy_derive'): 'the signature of what it stands for',
    ('fmx-test-join.h', 'toy_derive'): 'the signature of what it stands for',
    ('fairrate.c', 'count_complaints'): 'the signature of a log function',
    ('partialmix-events.c', 'hold_activation'): 'the signature of a log function',
    ('qmjitterbuffer-modes.c', 'note_query'): 'the signature of a log function',
    ('qmjitterbuffer-threads.c', 'lose_one'): 'the signature of a log function',
    ('qmrtpbin.c', 'add_element'): 'the signature of a log function',
}


def parameters(head):
    """How many a function takes, from its text between name and body."""
    inside = head[head.index('(') + 1:head.rindex(')')]
    depth, count = 0, 1
    for character in inside:
        depth += {'(': 1, ')': -1}.get(character, 0)
        count += character == ',' and depth == 0
    return 0 if inside.strip() in ('', 'void') else count


def check(root, waived=None):
    waived = WAIVED if waived is None else waived
    needed = set()
    for path in files(root, '.c', '.h', '.cc'):
        where = path.relative_to(root)
        folder = next((str(p) for p in where.parents if str(p) in COMPLEXITY), None)
        if not folder:
            continue
        for name, line, _, head, body in definitions(read(path)):
            said = []
            if parameters(head) > PARAMETERS:
                said.append(f'{parameters(head)} parameters, more than {PARAMETERS}')
            turns = 1 + len(BRANCH.findall(body))
            if turns > COMPLEXITY[folder]:
                said.append(f'complexity {turns}, more than {COMPLEXITY[folder]}')
            if said and (path.name, name) in waived:
                needed.add((path.name, name))
            elif said:
                yield f'{where}:{line}: {name}: {" and ".join(said)}'
    for file, name in sorted(set(waived) - needed):
        yield f'{file}: {name} is good now: strike it from WAIVED'


def function(turns=0, taken='int x', name='f'):
    """A function of so many branches."""
    return f'int\n{name} ({taken})\n{{\n' + '  if (x) x++;\n' * turns + '}\n'


LIB = 'subprojects/fairmix/fairmix/mix/fmx-x.c'
EIGHT = ', '.join(f'int a{n}' for n in range(8))

CASES = [
    ('fourteen branches are 15, and allowed', {LIB: function(14)}, []),
    ('fifteen are not', {LIB: function(15)}, ['fmx-x.c:2: f: complexity 16']),
    ('elements and tests may have more',
     {'gst/a/gstx.c': function(19), 'tests/x.c': function(20)},
     ['tests/x.c:2: f: complexity 21']),
    ('every way to branch counts',
     {LIB: 'int f (int x)\n{\n' + '  for (;;) while (x) x = x ? x && x : x || x;\n'
      '  switch (x) { case 1: case 2: default: ; }\n' * 1 + '}\n'
      + function(9).replace('x++;', 'x = x ? 1 : 2;')},
     ['f: complexity 19']),
    ('words in comments and texts do not', {LIB: function(14).replace(
        'x++;', 'x++; /* if && */ g ("if ?");')}, []),
    ('seven parameters are allowed, eight are not',
     {LIB: function(0, EIGHT.rpartition(',')[0]) + function(0, EIGHT, 'g')},
     ['g: 8 parameters']),
    ('a parameter that is a function is one',
     {LIB: function(0, 'int a, int b, int c, int d, int e, int g, '
                    'void (*h) (int, int, int)')}, []),
]


def self_test_of_waivers(root_of):
    for text, expected in ((function(15), 0), (function(3), 1), ('', 1)):
        found = list(check(root_of(text), {('fmx-x.c', 'f'): 'a reason'}))
        assert len(found) == expected, found
    print('ok: waivers, until they are not needed')


if __name__ == '__main__':
    import pathlib
    import sys
    import tempfile
    if sys.argv[1] == '--self-test':
        with tempfile.TemporaryDirectory() as folder:
            def planted(text):
                path = pathlib.Path(folder, LIB)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding='utf-8')
                return pathlib.Path(folder)
            self_test_of_waivers(planted)
        run(lambda root: check(root, {}), CASES)
    run(check, CASES)
