#!/usr/bin/env python3
"""The table of mutations is of this tree.

usage: check-mutations.py --self-test | SOURCE-ROOT

Each text that mends a defect stands exactly once in its file, differs from the one
that breaks it again, and the case that has to fail then is in its test; and each has a
number of its own.  Whether the case fails: mutate.py.
"""
import re
import tomllib
from collections import Counter

from rules import read, run

TABLE = 'tests/meta/mutations.toml'
# name of a test in meson -> its source
SOURCES = {
    r'lib-([a-z0-9]+)-([a-z0-9-]+)': 'subprojects/fairmix/tests/{}/test-{}.c',
    r'element-([a-z0-9-]+)': 'tests/check/elements/{}.c',
    r'pipeline-([a-z0-9-]+)': 'tests/check/pipelines/{}.c',
    r'(lab|population)': 'tests/experiments/test-{}.py',
    r'(check-[a-z-]+)': 'tests/meta/{}.py',
    r'smoke-.*': 'tests/examples/smoke.py',
    r'web-browsers': 'tests/browser/web.py',
    r'web-listen': 'tests/browser/listen.py',
    r'web-([a-z]+)': 'tests/examples/web_{}.py',
    r'(link|prepare|telehaptic)': 'tests/examples/test_{}.py',
    r'(arguments|service)': 'tests/examples/{}.py',
    r'(heard|link|meet|party)': 'tests/examples/test_{}.py',
}


def source_of(root, test):
    for name, source in SOURCES.items():
        match = re.fullmatch(name, test)
        if match and (root / source.format(*match.groups())).exists():
            return read(root / source.format(*match.groups()))
    return None


def trouble_with(root, entry):
    path = root / entry['file']
    n = read(path).count(entry['mend']) if path.exists() else 0
    if n != 1:
        yield f'{entry["file"]}: the mend stands {n} times'
    if entry['mend'] == entry['broken']:
        yield 'nothing is broken'
    source = source_of(root, entry['test'])
    if source is None:
        yield f'no test {entry["test"]}'
    elif not re.search(rf'\b{entry.get("case", "")}\b', source):
        yield f'{entry["test"]}: no case {entry["case"]}'


def check(root):
    table = tomllib.loads(read(root / TABLE))['mutation']
    for defect, n in Counter(entry['defect'] for entry in table).items():
        if n > 1:
            yield f'{TABLE}: defect {defect}: stands {n} times'
    for entry in table:
        for trouble in trouble_with(root, entry):
            yield f'{TABLE}: defect {entry["defect"]}: {trouble}'


def entry(**change):
    values = {'defect': '1', 'file': 'a.c', 'mend': 'x = 1;', 'broken': 'x = 2;',
              'test': 'element-a', 'case': 'test_it', **change}
    return '[[mutation]]\n' + ''.join(f"{k} = '{v}'\n" for k, v in values.items())


TREE = {'a.c': 'y = 0;\nx = 1;\n', TABLE: entry(),
        'tests/check/elements/a.c': 'GST_START_TEST (test_it)'}

CASES = [
    ('what is there is found', TREE, []),
    ('a mend that changed is found', {**TREE, 'a.c': 'x = 3;'}, ['stands 0 times']),
    ('so is one that stands twice', {**TREE, 'a.c': 'x = 1; x = 1;'},
     ['stands 2 times']),
    ('a defect has a number of its own', {**TREE, TABLE: 2 * entry()},
     ['defect 1: stands 2 times']),
    ('a break has to break something', {**TREE, TABLE: entry(broken='x = 1;')},
     ['nothing is broken']),
    ('a test has to be there', {**TREE, TABLE: entry(test='element-b')},
     ['no test element-b']),
    ('and the case in it', {**TREE, TABLE: entry(case='test_i')},
     ['no case test_i']),
]

if __name__ == '__main__':
    run(check, CASES)
