#!/usr/bin/env python3
"""What belongs together is there together.

usage: check-pairs.py --self-test | SOURCE-ROOT

    fairmix/<module>/fmx-<x>.c    tests/<module>/test-<x>.c
    a module of the library       docs/algorithms/<module>.md, docs/map.md
    a GStreamer element           tests/check/elements/<element>.c,
                                  docs/elements/<element>.md
    a page under docs/            a link from another page
    tests/fuzz/fuzz-<x>.c         tests/fuzz/corpus/<x>/ with a file in it
    a test in C                   a call of it
    tests/examples/smoke.py: smoke_<x>    '<x>' in its meson.build
    a source                      one of the five folders at the top

An element is what a source under gst/ registers.
"""
import re

from rules import files, read, run

TOP = {'gst', 'tests', 'examples', 'docs', 'subprojects'}
LIB = 'subprojects/fairmix/fairmix'
LIB_TESTS = 'subprojects/fairmix/tests'

# Kernels for one processor are tested side by side, with the reference, by
# the test of the table that chooses among them.
KERNEL = re.compile(r'(.+)-(?:c|sse2|avx2|neon)$')

# Sources whose test has another name, and why.  Keep it empty.
EXCEPTIONS = {}

# Modules that are no algorithm: their headers say it all.
NO_ALGORITHM = {'base'}

ELEMENT = re.compile(
    r'GST_ELEMENT_REGISTER_DEFINE(?:_WITH_CODE)?\s*\(\s*(\w+)\s*,\s*"([^"]+)"'
    r'|gst_element_register\s*\(\s*\w+\s*,\s*"([^"]+)"')
C_TEST = re.compile(r'^(?:GST_START_TEST \(|static void )?(test_\w+)(?: \(void|\))', re.M)
LINK = re.compile(r'\]\(([^)\s#]+)')


def test_name(source):
    name = source.stem.removeprefix('fmx-')
    kernel = KERNEL.match(name)
    if kernel and (source.parent / f'fmx-{kernel[1]}-kernels.c').exists():
        name = f'{kernel[1]}-kernels'
    return EXCEPTIONS.get(source.name, f'test-{name}.c')


def check_library(root):
    for source in files(root / LIB, '.c'):
        module = source.parent.name
        name = test_name(source)
        if not (root / LIB_TESTS / module / name).exists():
            yield f'{LIB}/{module}/{source.name}: no {LIB_TESTS}/{module}/{name}'
    pages = root / 'docs/map.md'
    text = read(pages) if pages.exists() else ''
    modules = {source.parent.name for source in files(root / LIB, '.c')}
    for module in sorted(modules):
        if f'fairmix/{module})' not in text:
            yield f'docs/map.md does not lead to module {module}'
        if module not in NO_ALGORITHM and not (
                root / f'docs/algorithms/{module}.md').exists():
            yield f'module {module}: no docs/algorithms/{module}.md'


def check_elements(root):
    for source in files(root / 'gst', '.c'):
        for match in ELEMENT.finditer(read(source)):
            name = match[2] or match[3]
            for pair in (f'tests/check/elements/{name}.c',
                         f'docs/elements/{name}.md'):
                if not (root / pair).exists():
                    yield f'{source.relative_to(root)}: {name}: no {pair}'


def check_docs(root):
    linked = set()
    for page in files(root, '.md'):
        for target in LINK.findall(read(page)):
            linked.add((page.parent / target).resolve())
    for page in files(root / 'docs', '.md'):
        folder = page.parent.resolve()
        if page.resolve() not in linked and folder not in linked:
            yield f'{page.relative_to(root)}: no page leads to it'


def check_fuzzers(root):
    for source in files(root / 'tests/fuzz', '.c'):
        corpus = source.parent / 'corpus' / source.stem.removeprefix('fuzz-')
        if source.stem.startswith('fuzz-') and not (
                corpus.is_dir() and any(corpus.iterdir())):
            yield f'{source.relative_to(root)}: nothing in {corpus.name}'


def check_called(root):
    """A compiler says of who is never called: nobody may silence it."""
    for folder in ('tests', LIB_TESTS):
        for source in files(root / folder, '.c'):
            text = read(source)
            for name in C_TEST.findall(text):
                if len(re.findall(rf'\b{name}\b', text)) < 2:
                    yield f'{source.relative_to(root)}: nobody calls {name}'
        for build in files(root / folder, '.build'):
            if '-Wno-unused-function' in read(build):
                yield f'{build.relative_to(root)} hides what nobody calls'
    smoke = root / 'tests/examples/smoke.py'
    if smoke.exists():
        named = read(root / 'tests/examples/meson.build')
        for name in re.findall(r'^def smoke_(\w+)', read(smoke), re.M):
            if "'" + name.replace('_', '-') + "'" not in named:
                yield f'nobody calls smoke_{name}'


def check_top(root):
    folders = {path.relative_to(root).parts[0] for path in files(
        root, '.c', '.h', '.py', '.sh', '.md') if path.parent != root}
    for folder in sorted(folders - TOP):
        yield f'{folder}: none of {", ".join(sorted(TOP))}'


def check(root):
    yield from check_top(root)
    yield from check_library(root)
    yield from check_elements(root)
    yield from check_docs(root)
    yield from check_fuzzers(root)
    yield from check_called(root)


WHOLE = {
    f'{LIB}/mix/fmx-mix-kernels.c': '',
    f'{LIB}/mix/fmx-mix-avx2.c': '',
    f'{LIB_TESTS}/mix/test-mix-kernels.c': '',
    'docs/map.md': '[mix](../subprojects/fairmix/fairmix/mix)'
                   '[m](algorithms/mix.md) [e](elements/a.md)',
    'docs/algorithms/mix.md': '[map](../map.md)',
    'gst/p/gsta.c': 'GST_ELEMENT_REGISTER_DEFINE (a, "a",\n  0, A)',
    'tests/check/elements/a.c': '',
    'docs/elements/a.md': '',
    'tests/fuzz/fuzz-x.c': '',
    'tests/fuzz/corpus/x/seed': 'x',
    'tests/c.c': 'GST_START_TEST (test_a)\n tcase_add_test (t, test_a);\n'
                 'static void\ntest_b (void **state)\n cmocka_unit_test (test_b)',
    'tests/examples/smoke.py': 'def smoke_a_b(x):\n',
    'tests/examples/meson.build': "'a-b'",
}


def without(*names):
    return {k: v for k, v in WHOLE.items() if k not in names}


CASES = [
    ('a whole tree passes', WHOLE, []),
    ('a source needs its test',
     {**WHOLE, f'{LIB}/mix/fmx-pan.c': ''}, ['no ' + LIB_TESTS + '/mix/test-pan']),
    ('a kernel needs its table\'s test',
     without(f'{LIB_TESTS}/mix/test-mix-kernels.c'),
     ['fmx-mix-avx2.c: no', 'fmx-mix-kernels.c: no']),
    ('what only looks like a kernel needs its own',
     {**WHOLE, f'{LIB}/mix/fmx-plan-c.c': ''}, ['test-plan-c.c']),
    ('a module needs its page and its place on the map',
     {**WHOLE, f'{LIB}/rtt/fmx-rtt.c': '', f'{LIB_TESTS}/rtt/test-rtt.c': ''},
     ['map.md does not lead to module rtt', 'no docs/algorithms/rtt.md']),
    ('an element needs its test', without('tests/check/elements/a.c'),
     ['a: no tests/check/elements/a.c']),
    ('an element needs its page', without('docs/elements/a.md'),
     ['a: no docs/elements/a.md']),
    ('a page needs a way to it', {**WHOLE, 'docs/lost.md': ''},
     ['docs/lost.md: no page leads to it']),
    ('a script lives where it is used', {**WHOLE, 'scripts/x.sh': ''},
     ['scripts: none of']),
    ('a fuzzer needs seeds', without('tests/fuzz/corpus/x/seed'),
     ['fuzz-x.c: nothing']),
    ('a test needs a call',
     {**WHOLE, 'tests/c.c': 'GST_START_TEST (test_a)\nstatic void\ntest_b (void **state)\n',
      'tests/examples/smoke.py': 'def smoke_c(x):\n'},
     ['c.c: nobody calls test_a', 'c.c: nobody calls test_b', 'nobody calls smoke_c']),
    ('who is never called is said to be', {**WHOLE, 'tests/meson.build': "'-Wno-unused-function'"},
     ['tests/meson.build hides']),
]

if __name__ == '__main__':
    run(check, CASES)
