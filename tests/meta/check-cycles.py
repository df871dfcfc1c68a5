#!/usr/bin/env python3
"""Inside a plugin no file needs, by way of others, itself.

usage: check-cycles.py --self-test | SOURCE-ROOT BUILD-ROOT

A file is x.c together with x.h.  It needs another one of the same plugin if it
includes its header from its own header, or if its object file uses a symbol
that the other's defines.  Files that need each other in a circle can only be
understood, and changed, all at once.

What is wrong today stands in WAIVED, with a reason.  The list may only get
shorter: a circle that is gone must leave it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from rules import files, read, run

# plugin: ({files that may stand in a circle}, why)
WAIVED = {}
INCLUDE = re.compile(r'^\s*#\s*include\s+"(?:.*/)?([\w-]+)\.h"', re.M)


def includes(folder):
    """{header: headers of the same folder that it includes}"""
    names = {p.stem for p in files(folder, '.h')}
    return {p.stem: set(INCLUDE.findall(read(p))) & names - {p.stem}
            for p in files(folder, '.h')}


def symbols(path):
    """(what an object file defines, what it takes from others)"""
    text = subprocess.run(['nm', str(path)], capture_output=True, text=True,
                          check=True).stdout
    defined, taken = set(), set()
    for line in text.splitlines():
        kind, name = line.split()[-2:]
        if kind == 'U':
            taken.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, taken


def calls(objects):
    """{file: files whose symbols it uses}"""
    known = {p.name.removesuffix('.c.o'): symbols(p) for p in objects}
    home = {name: stem for stem, (defined, _) in known.items()
            for name in defined}
    return {stem: {home[name] for name in taken if name in home} - {stem}
            for stem, (_, taken) in known.items()}


def circles(needs):
    """The sets of files that reach each other."""
    reach = {}
    for begin in needs:
        seen, todo = set(), [begin]
        while todo:
            for other in needs.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        reach[begin] = seen
    found = []
    for name in sorted(needs):
        circle = {other for other in reach[name] if name in reach.get(other, ())}
        if name in circle and circle not in found:
            found.append(circle)
    return found


def check_plugin(name, needs, waived):
    standing = set()
    for circle in circles(needs):
        standing |= circle
        if circle - waived:
            yield f'gst/{name}: in a circle: {", ".join(sorted(circle))}'
    for stem in sorted(waived - standing):
        yield f'gst/{name}: {stem} is in no circle any more: strike it from WAIVED'


def check(root, build=None, waived=None):
    waived = WAIVED if waived is None else waived
    build = pathlib.Path(build or root / 'build')
    for folder in sorted(p for p in (root / 'gst').iterdir() if p.is_dir()):
        needs = includes(folder)
        for object_folder in (build / 'gst' / folder.name).glob('*.p'):
            objects = [p for p in sorted(object_folder.glob('*.o'))
                       if (folder / p.name.removesuffix('.o')).exists()]
            for stem, others in calls(objects).items():
                needs.setdefault(stem, set()).update(others)
        yield from check_plugin(folder.name, needs,
                                waived.get(folder.name, (set(), ''))[0])


CASES = [
    ('headers that build upon each other',
     {'gst/p/a.h': '#include "b.h"\n', 'gst/p/b.h': '#include <b.h>\n'}, []),
    ('headers that include each other',
     {'gst/p/a.h': '#include "b.h"\n', 'gst/p/b.h': '#include "gst/p/c.h"\n',
      'gst/p/c.h': '#include "a.h"\n', 'gst/p/d.h': '#include "a.h"\n'},
     ['gst/p: in a circle: a, b, c']),
    ('headers of another plugin are another matter',
     {'gst/p/a.h': '#include "b.h"\n', 'gst/q/b.h': '#include "a.h"\n'}, []),
]


def compiled(folder, sources):
    """What is found in a plugin of these sources."""
    root = pathlib.Path(folder)
    (root / 'gst/p').mkdir(parents=True)
    objects = root / 'build/gst/p/libp.so.p'
    objects.mkdir(parents=True)
    for name, text in sources.items():
        path = root / f'gst/p/{name}.c'
        path.write_text(text, encoding='utf-8')
        subprocess.run([*os.environ.get('CC', 'cc').split(), '-c', str(path),
                        '-o', str(objects / f'{name}.c.o')], check=True)
    return root


def self_test_of_calls():
    chain = {'a': 'int b (void); int a (void) { return b (); }\n',
             'b': 'int b (void) { return 1; }\n'}
    circle = {**chain, 'b': 'int a (void); int b (void) { return a (); }\n'}
    waived = {'p': ({'a', 'b'}, 'a reason')}
    for sources, excuse, expected in (
            (chain, {}, []), (circle, {}, ['gst/p: in a circle: a, b']),
            (circle, waived, []),
            (circle, {'p': ({'a'}, 'a reason')}, ['gst/p: in a circle: a, b']),
            (chain, waived, ['a is in no circle', 'b is in no circle'])):
        with tempfile.TemporaryDirectory() as folder:
            found = list(check(compiled(folder, sources), waived=excuse))
        assert len(found) == len(expected) and all(
            e in f for e, f in zip(expected, found)), (found, expected)
    print('ok: calls in a circle, waived and mended')


if __name__ == '__main__':
    if sys.argv[1] == '--self-test':
        self_test_of_calls()
        run(lambda root: check(root, waived={}), CASES)
    run(lambda root: check(root, sys.argv[2]), CASES)
