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
        r'(\d+ runs \((.*?)(?:, all times[^),]*)?(?:, (?:at|before) [^)]*)?\))', line)}


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


def _split(line):
    return [cell.strip() for cell in line.strip('|').split('|')]


def claim_rows(lines):
    """{(claim, choice...): {head: cell}} of a section's table of claims; a choice is what
    stands between the claim and what the paper has, or we."""
    table = claims(lines)[:-1]
    if not table:
        return {}
    heads = _split(table[0])
    axes = next((i for i, h in enumerate(heads) if h == 'paper' or h.startswith('ours (')),
                len(heads))
    found = {}
    for line in table[2:]:
        row = dict(zip(heads, _split(line)))
        found[tuple(row.get(h, '') for h in heads[:axes])] = row
    return found


def verdict_of(row, label):
    """What a row of a table of claims says of one runner: a word for all, or one each."""
    words = row.get('verdict', '')
    each = dict(part.split(': ', 1) for part in words.split('; ') if ': ' in part)
    return each.get(label, '–') if each else words or '–'


def figure(lines, name):
    """The lines of a section that show a figure, with its commands."""
    first = next((i for i, x in enumerate(lines)
                  if x.startswith('![') and f'(results/{name}.svg)' in x), None)
    if first is None:
        return []
    fences = [i for i in range(first, len(lines)) if lines[i].startswith('```')][:2]
    return lines[first:fences[1] + 1] + [''] if len(fences) == 2 else []


def cells(lines, head):
    """{(row, column): text} of the table over two axes below a line."""
    first = next((i for i, x in enumerate(lines) if x.startswith(head)), None)
    if first is None:
        return {}
    rows = [_split(line) for line in _table(lines, first + 2)]
    return {(row[0], column): cell for row in rows[2:]
            for column, cell in zip(rows[0][1:], row[1:])}
