# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fills in the tables of examples/web/README.md."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / 'examples/web/README.md'


def table(head, rows):
    """Markdown, of texts"""
    line = '| ' + ' | '.join(head) + ' |\n'
    return line + '|---' * len(head) + '|\n' \
        + ''.join('| ' + ' | '.join(row) + ' |\n' for row in rows)


def span(numbers, form='{:.0f}'):
    """From the least to the greatest of them"""
    ends = [form.format(f(numbers)) for f in (min, max)] if numbers else ['-']
    return ' to '.join(dict.fromkeys(ends))


def fill(name, text):
    """@text in the place of that @name, up to the next <!-- end -->"""
    page = PAGE.read_text(encoding='utf-8')
    found = re.search(rf'(<!-- {name}: filled in by [^>]*-->\n).*?(<!-- end -->)', page, re.S)
    PAGE.write_text(page[:found.end(1)] + text + page[found.start(2):], encoding='utf-8')
