# SPDX-License-Identifier: LGPL-2.1-or-later
"""What docs/results.md has already: it stays where there is nothing new."""
import re

COUNTS_END = '; mean (least … most).'


def sections(path):
    """{title: lines} of the page."""
    found, lines = {}, []
    text = path.read_text(encoding='utf-8') if path.exists() else ''
    for line in text.splitlines():
        if line.startswith('### '):
            lines = found.setdefault(line[4:], [])
        elif line.startswith('## '):
            lines = []
        lines.append(line)
    return found


def others(path, titles):
    """The lines below each heading that is not one of @titles: other commands'."""
    found, here = [], False
    text = path.read_text(encoding='utf-8') if path.exists() else ''
    for line in text.splitlines():
        if line.startswith('## '):
            here = line[3:] not in titles
        if here:
            found.append(line)
    return found


def counts(lines):
    """{whose: "3 runs (whose, ...)"} of a section."""
    line = next((x for x in lines if x.endswith(COUNTS_END)), '')
    return {label: text for text, label in re.findall(
        r'(\d+ runs \((.*?)(?:, all times[^)]*)?\))', line)}


def _table(lines, first):
    """The lines of the table that begins there."""
    end = next((i for i in range(first, len(lines)) if not lines[i]),
               len(lines))
    return lines[first:end]


def claims(lines):
    """A section's table of claims."""
    first = next((i for i, x in enumerate(lines) if x.startswith('| claim |')),
                 None)
    return [] if first is None else _table(lines, first) + ['']


def cells(lines, head):
    """{(row, column): text} of the table over two axes below a line."""
    first = next((i for i, x in enumerate(lines) if x.startswith(head)), None)
    if first is None:
        return {}
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in _table(lines, first + 2)]
    return {(row[0], column): cell for row in rows[2:]
            for column, cell in zip(rows[0][1:], row[1:])}
