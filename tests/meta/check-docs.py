#!/usr/bin/env python3
"""What the pages name is there.

usage: check-docs.py --self-test | SOURCE-ROOT

Test functions and tests that a page names exist, and each row of a table whose
last column is `test` has one; programs of the tree that it tells to run are there
and may be run.  No two decisions share a number.
"""
import os
import re

from rules import files, read, run

# name of a test in meson -> its source
TESTS = {
    r'lib-([a-z0-9]+)-([a-z0-9-]+)': 'subprojects/fairmix/tests/{}/test-{}.c',
    r'element-([a-z0-9-]+)': 'tests/check/elements/{}.c',
    r'pipeline-([a-z0-9-]+)': 'tests/check/pipelines/{}.c',
    r'fuzz-([a-z0-9-]+)': 'tests/fuzz/fuzz-{}.c',
}
TEST = {re.compile(rf'(?<![\w/.-]){name}(?![\w.-]*[\w/])'): source
        for name, source in TESTS.items()}
FUNCTION = re.compile(r'\btest_\w+(?!\w*\.py)')
FILE = re.compile(r'`(test-[a-z0-9-]+)`')
CODE = re.compile(r'^```sh\n(.*?)^```|`([^`]+)`', re.M | re.S)
PROGRAM = re.compile(r'(?:^|&&|[|;]|devenv -C build|[A-Z]+=\S+)\s*(?:\./)?'
                     r'((?:build/)?(?:docs|examples|tests)/[\w./-]+)',
                     re.M)
TABLE = re.compile(r'^\|.*\| test \|\n\|[-|: ]+\|\n((?:\|.*\n)+)', re.M)
DEVENV = 'devenv -C build '     # begins in the build


def programs(text):
    for block, span in CODE.findall(text):
        code = (block or span).replace('\\\n', ' ').replace(
            DEVENV, f'{DEVENV}build/').replace('build/../', '')
        yield from PROGRAM.findall(code)


def trouble_with(root, program):
    """What is wrong with it, '' if nothing is."""
    if program.startswith('build/'):
        folder, name = os.path.split(program[len('build/'):])
        name = name.removeprefix('bench-').removeprefix('replay-')
        found = any((root / folder / f'{kind}{name}.c').exists()
                    for kind in ('', 'fuzz-', 'c/'))
        return '' if found else 'has no source'
    path = root / program
    if not path.exists():
        return 'is not there'
    if path.is_file() and path.suffix in ('.py', '.sh') \
            and not os.access(path, os.X_OK):
        return 'may not be run'
    return ''


def check_decisions(root):
    pages = {}
    for page in files(root, '.md'):
        if page.parent.name == 'decisions':
            number = re.match(r'[a-z0-9]+-[0-9]{4}-|', page.name)[0]
            pages.setdefault(number, []).append(page.name)
    for number, names in pages.items():
        if not number:
            yield f'no component and number: {", ".join(names)}'
        elif len(names) > 1:
            yield f'the same number: {", ".join(sorted(names))}'


def untested(text):
    """The rows that say no test."""
    for rows in TABLE.findall(text):
        for row in rows.splitlines():
            last = row.rstrip().rstrip('|').rsplit('|', 1)[1]
            if not last.strip():
                yield row


def check(root):
    yield from check_decisions(root)
    sources = [p for p in files(root, '.c', '.h', '.py') if 'tests' in p.parts]
    functions = {f for p in sources for f in re.findall(r'\btest_\w+', read(p))}
    stems = {p.stem for p in sources}
    for page in files(root, '.md'):
        where, text = page.relative_to(root), read(page)
        for name in sorted(set(FUNCTION.findall(text)) - functions):
            yield f'{where}: no test function {name}'
        for name in sorted(set(FILE.findall(text)) - stems):
            yield f'{where}: no file {name}'
        for name, source in TEST.items():
            for match in name.finditer(text):
                if not (root / source.format(*match.groups())).exists():
                    yield f'{where}: no test {match[0]}'
        for row in untested(text):
            yield f'{where}: no test: {row}'
        for program in sorted(set(programs(text))):
            trouble = trouble_with(root, program)
            if trouble:
                yield f'{where}: {program} {trouble}'


CASES = [
    ('tests that are there', {
        'a.md': 'See `test_it_works` in `test-it`, `lib-mix-it`.\n',
        'subprojects/fairmix/tests/mix/test-it.c': 'test_it_works'}, []),
    ('test functions', {'a.md': 'See `test_it_works`.\n'},
     ['no test function test_it_works']),
    ('tables of tests', {
        'a.md': '| who | test |\n|---|---|\n| a | x |\n| b | |\n\n'
        '| test | who |\n|---|---|\n| c | |\n'},
     ['no test: | b | |']),
    ('tests of other names', {
        'a.md': '`meson test -C build element-it fuzz-it`, `test-it`\n'},
     ['no test element-it', 'no test fuzz-it', 'no file test-it']),
    ('programs', {
        'a.md': '`tests/a.py | docs/b.py > c`, `meson devenv -C build '
        '../tests/d.py`\n```sh\nFLAGS=-m examples/e.sh x\n```\n',
        'docs/b.py': ''},
     ['tests/a.py is not there', 'docs/b.py may not be run',
      'tests/d.py is not there', 'examples/e.sh is not there']),
    ('programs that are built', {
        'a.md': '`build/tests/bench/a`, `build/tests/bench/b --csv`, '
        '`meson devenv -C build examples/a`, `meson devenv -C build tests/a.py`\n',
        'tests/bench/a.c': '', 'examples/c/a.c': '', 'tests/a.py': ''},
     ['build/tests/bench/b has no source', 'build/tests/a.py has no source']),
    ('decisions', {
        'docs/decisions/mix-0001-a.md': '', 'docs/decisions/mix-0001-b.md': '',
        'docs/decisions/mix-0002-c.md': '', 'docs/decisions/mix-c.md': ''},
     ['no component and number: mix-c.md',
      'the same number: mix-0001-a.md, mix-0001-b.md']),
]

if __name__ == '__main__':
    run(check, CASES)
