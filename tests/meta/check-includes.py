#!/usr/bin/env python3
"""Who may include whom.

usage: check-includes.py --self-test | SOURCE-ROOT

The edges of libfairmix are drawn in docs/map.md; there are no others, and no
cycles.  The library sees itself and a few headers of the compiler.  A plugin
sees its own folder, gst/common, and the library's public headers.  Examples
see what an application sees: GStreamer.
"""
import re

from rules import files, read, run

LIB = 'subprojects/fairmix/fairmix'

ALLOWED = {
    'base': set(),
    'wire': {'base'},
    'rtt': {'base'},
    'loss': {'base'},
    'mix': {'base'},
    'playout': {'base'},
    'queue': {'base'},
    'select': {'base'},
    'join': {'base'},
    'topology': {'base'},
    'rate': {'base', 'wire', 'rtt', 'loss', 'topology'},
    'adapt': {'base', 'select'},
    'als': {'base', 'wire'},
    'asmp': {'base', 'wire', 'loss', 'rate'},
}
SYSTEM = {'assert.h', 'float.h', 'limits.h', 'math.h', 'stdbool.h', 'stddef.h',
          'stdint.h', 'string.h',
          'immintrin.h', 'emmintrin.h', 'arm_neon.h'}

PLUGIN_SEES = ('fairmix/', 'common/', 'gst/common/')

INCLUDE = re.compile(r'^\s*#\s*include\s+(<([^>]+)>|"([^"]+)")', re.M)


def includes(path):
    """(line, header, whether in angle brackets) of each #include."""
    text = read(path)
    for match in INCLUDE.finditer(text):
        line = text.count('\n', 0, match.start(1)) + 1
        yield line, match[2] or match[3], match[2] is not None


def check_library(root):
    for path in files(root / LIB, '.c', '.h'):
        module = path.relative_to(root / LIB).parts[0]
        for line, header, angled in includes(path):
            where = f'{path.relative_to(root)}:{line}'
            own = re.fullmatch(r'fairmix/([^/]+)/.+\.h', header)
            if angled:
                if header not in SYSTEM:
                    yield f'{where}: the library must not include <{header}>'
            elif not own:
                yield f'{where}: "{header}" is no fairmix/MODULE/HEADER.h'
            elif module not in ALLOWED:
                yield f'{where}: module {module} is not in the table of edges'
            elif own[1] != module and own[1] not in ALLOWED[module]:
                yield f'{where}: {module} must not include {own[1]}'


def check_plugins(root):
    for path in files(root / 'gst', '.c', '.h'):
        folder = path.relative_to(root / 'gst').parts[0]
        for line, header, angled in includes(path):
            where = f'{path.relative_to(root)}:{line}'
            first = header.split('/')[0]
            if angled:
                continue
            if first == 'fairmix' and '-private' in header:
                yield f'{where}: {header} is private to the library'
            elif '/' in header and not header.startswith(PLUGIN_SEES):
                yield f'{where}: gst/{folder} must not include "{header}"'


def check_examples(root):
    for path in files(root / 'examples', '.c', '.h'):
        for line, header, _ in includes(path):
            if header.startswith(('fairmix/', 'common/')):
                yield (f'{path.relative_to(root)}:{line}: an example sees '
                       f'GStreamer only, not {header}')


def check_edges():
    """The table itself draws no cycle."""
    def reach(module, seen):
        for other in ALLOWED[module]:
            if other not in seen:
                reach(other, seen | {module})
            else:
                raise ValueError(f'cycle through {module} and {other}')
    for module in ALLOWED:
        reach(module, {module})


def check_map(root):
    """docs/map.md draws the table of edges."""
    page = root / 'docs/map.md'
    drawn = {'base': set()}
    for line in read(page).splitlines() if page.exists() else ():
        edge = re.fullmatch(r'([a-z, ]+?) *<- ([a-z, ]+)', line)
        for module in edge[2].split(', ') if edge else ():
            drawn[module] = set(edge[1].split(', '))
    if page.exists() and drawn != ALLOWED:
        wrong = {m for m in drawn.keys() | ALLOWED.keys()
                 if drawn.get(m) != ALLOWED.get(m)}
        yield f'docs/map.md draws other edges for {", ".join(sorted(wrong))}'


def check(root):
    check_edges()
    yield from check_map(root)
    yield from check_library(root)
    yield from check_plugins(root)
    yield from check_examples(root)


def lib(text, module='mix'):
    return {f'{LIB}/{module}/fmx-x.c': text}


def drawing(edges):
    return {'docs/map.md': ''.join(
        f'{", ".join(sorted(others))} <- {module}\n'
        for module, others in edges.items() if others)}


CASES = [
    ('own module, base and the compiler are allowed',
     lib('#include "fairmix/mix/fmx-x.h"\n#include <math.h>\n'
         '#include "fairmix/base/fmx-time.h"\n'), []),
    ('adapt may see select', lib('#include "fairmix/select/fmx-select.h"\n',
                                 'adapt'), []),
    ('select may not see adapt', lib('#include "fairmix/adapt/fmx-x.h"\n',
                                     'select'),
     ['select must not include adapt']),
    ('no clock', lib('\n# include <time.h>\n'), ['fmx-x.c:2: the library']),
    ('no allocation', lib('#include <stdlib.h>\n'), ['<stdlib.h>']),
    ('no printing', lib('#include <stdio.h>\n'), ['<stdio.h>']),
    ('no GLib', lib('#include <glib.h>\n'), ['<glib.h>']),
    ('no headers by short names', lib('#include "fmx-x.h"\n'),
     ['is no fairmix/MODULE/HEADER.h']),
    ('a new module must be drawn first',
     lib('#include "fairmix/base/fmx-time.h"\n', 'magic'),
     ['module magic is not in the table']),
    ('plugins may use common and the library',
     {'gst/a/x.c': '#include "gstx.h"\n#include "common/gstfairmixtime.h"\n'
                   '#include "fairmix/mix/fmx-level.h"\n#include <gst/gst.h>'},
     []),
    ('plugins do not include each other',
     {'gst/a/x.c': '#include "b/gstb.h"\n',
      'gst/a/y.c': '#include "../b/gstb.h"\n'}, ['"b/gstb.h"', '"../b']),
    ('plugins do not see private headers',
     {'gst/a/x.c': '#include "fairmix/mix/fmx-mix-private.h"\n'
                   '#include "gsta-private.h"\n'},
     ['fmx-mix-private.h is private']),
    ('the map shows the edges as they are', drawing(ALLOWED), []),
    ('and a map that does not is found',
     drawing({**ALLOWED, 'adapt': {'base'}}), ['edges for adapt']),
    ('examples do not see the library',
     {'examples/c/x.c': '#include <fairmix/fairmix.h>\n'}, ['GStreamer only']),
]

if __name__ == '__main__':
    run(check, CASES)
