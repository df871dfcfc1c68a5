#!/usr/bin/env python3
"""The figures of the pages are small, and the pages show them.

usage: check-figures.py --self-test | SOURCE-ROOT

A figure has less than 40,000 bytes, all of them less than 520,000:
docs/figures/small_svg.py writes them so.  A page shows every picture, and
pictures drawn by us are SVG.
"""
import re

from rules import files, read, run

MOST_BYTES, MOST_BYTES_IN_ALL = 40_000, 520_000
PICTURES = ('.svg', '.png', '.jpg')
SHOWN = re.compile(r'\]\(([^)\s#]+\.(?:svg|png|jpg))\)')


def check(root):
    docs = root / 'docs'
    if not docs.exists():
        return
    total = sum(p.stat().st_size for p in files(docs, *PICTURES))
    if total >= MOST_BYTES_IN_ALL:
        yield f'docs: {total} bytes of pictures, not less than {MOST_BYTES_IN_ALL}'
    shown = {(page.parent / target).resolve() for page in files(root, '.md')
             for target in SHOWN.findall(read(page))}
    for figure in files(docs, *PICTURES):
        where, size = figure.relative_to(root), figure.stat().st_size
        if figure.resolve() not in shown:
            yield f'{where}: no page shows it'
        if figure.suffix != '.svg':
            yield f'{where}: not an SVG'
        elif size >= MOST_BYTES:
            yield (f'{where}: {size} bytes, not less than {MOST_BYTES}; '
                   f'docs/figures/small_svg.py {where} makes it smaller')


PAGE = '![a\nfigure](figures/a.svg)'

CASES = [
    ('a figure that a page shows',
     {'docs/a.md': PAGE, 'docs/figures/a.svg': 'x' * 39_999}, []),
    ('a large one', {'docs/a.md': PAGE, 'docs/figures/a.svg': 'x' * 40_000},
     ['a.svg: 40000 bytes']),
    ('one that no page shows', {'docs/a.md': '', 'docs/figures/a.svg': ''},
     ['a.svg: no page shows it']),
    ('pixels', {'docs/a.md': PAGE.replace('svg', 'png'),
                'docs/figures/a.png': ''}, ['a.png: not an SVG']),
    ('many figures', {'docs/a.md': ''.join(PAGE.replace('a.svg', f'{i}.svg')
                                           for i in range(20)),
                      **{f'docs/figures/{i}.svg': 'x' * 26_000
                         for i in range(20)}},
     ['docs: 520000 bytes of pictures']),
    ('much text', {'docs/a.md': 'x' * 1_000_000}, []),
]

if __name__ == '__main__':
    run(check, CASES)
