# SPDX-License-Identifier: LGPL-2.1-or-later
"""A table of a page, some of whose columns are made anew: the others stay."""
import re

RUN = re.compile(r'Run: (.*); (the model is of .*)\.')


def _cells(line):
    return [cell.strip() for cell in line.strip('|').split('|')]


def _line(cells):
    return '| ' + ' | '.join(cells) + ' |'


def _rows(table):
    """Its head, and {first cell: {column: cell}}"""
    head = _cells(table[0])
    return head, {row[0]: dict(zip(head, row)) for row in map(_cells, table[2:])}


def beside(old, new, *same):
    """The columns of @new in the table @old, where there is none yet behind its own.  Both
    have the same rows, and say the same in the columns @same."""
    (head, rows), (new_head, new_rows) = _rows(old), _rows(new)
    mine, theirs = ([(name, *(row[column] for column in same)) for name, row in x.items()]
                    for x in (rows, new_rows))
    if mine != theirs:
        raise ValueError(f'other rows: {mine} and {theirs}')
    head += [column for column in new_head if column not in head]
    return [_line(head), '|' + '---|' * len(head),
            *(_line([{**row, **new_rows[name]}[column] for column in head])
              for name, row in rows.items())]


def _whose(text):
    """{name: "name (version) at commit"}"""
    return {part.split(' ', 1)[0]: part for part in text.split(', ')}


def dated(old, new):
    """The line that says of which commits the columns are"""
    (mine, _), (theirs, model) = RUN.search(old).groups(), RUN.search(new).groups()
    return f'Run: {", ".join({**_whose(mine), **_whose(theirs)}.values())}; {model}.'
