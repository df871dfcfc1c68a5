#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make figures and docs/results.md of what run.py left.

  tests/experiments/report.py [--build build] [--short] [SCENARIO...]

Every number comes from a table of a run.  What has no results here stays on the
page as it is.
"""
import argparse
import math
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
from lab import figures, measures, results, scenario  # noqa: E402

RUNNERS = {'uml': 'real pipelines', 'kernel': 'library, Linux TCP',
           'ns3': 'ns-3', 'netns': 'real time'}
SUITES = {
    'paper': ('The paper', 'Section 6 of *Distributed Partial Mixing with TCP '
              'fairness* (2002), figure by figure.'),
    'beyond': ('Beyond the paper', 'The same bench for our controllers and for '
               'the peers that people would otherwise use.'),
    'listener': ('What a listener gets', 'Measured in the audio that arrives.'),
}


def number(value, unit=''):
    if value is None:
        return '–'
    if math.isinf(value):
        return 'never'
    text = f'{value:.0f}' if abs(value) >= 100 else \
        f'{value:.1f}' if abs(value) >= 10 else f'{value:.2f}'
    return text + (f' {unit}' if unit else '')


def span(values, unit=''):
    """The mean, and the extremes where there are several."""
    values = [v for v in values if v is not None]
    if not values:
        return '–'
    finite = [v for v in values if not math.isinf(v)]
    mean = measures.mean(finite) if len(finite) == len(values) else math.inf
    text = number(mean, unit)
    if len(values) > 1 and number(min(values)) != number(max(values)):
        text += f' ({number(min(values))} … {number(max(values))})'
    return text


def ask(limits, unit=''):
    """A range, in words."""
    low, high = limits
    tail = f' {unit}' if unit else ''
    if low == 0 or low == -1:
        return f'≤ {high:g}{tail}'
    if high == 1 and low > 0.5 or high >= 100:
        return f'≥ {low:g}{tail}'
    return f'{low:g} … {high:g}{tail}'


def verdict(values, claim):
    values = [v for v in values if v is not None]
    if not values or 'show' not in claim:
        return '–'
    n = len(values)
    for key, word in (('aim', '**beyond**'), ('show', 'met')):
        good = sum(measures.verdict(v, claim, key) is True for v in values)
        if good == n:
            return word
    good = sum(measures.verdict(v, claim, 'show') is True for v in values)
    return f'met in {good} of {n} runs' if good else 'not met'


def values_of(claim, found, runner, **choice):
    return [measures.MEASURES[claim['measure']](r, claim) for r in found
            if r.runner == runner and measures.applies(claim, r)
            and all(r.run.choice[a] == v for a, v in choice.items())]


def target(claim):
    if 'show' not in claim:
        return ''
    text = ask(claim['show'], claim.get('unit', ''))
    if 'aim' in claim:
        text += f'; beyond: {ask(claim["aim"], claim.get("unit", ""))}'
    return text


def verdict_of_all(cells, runners, claim):
    """One word if the runners agree, else one for each."""
    words = {r: verdict(v, claim) for r, v in zip(runners, cells)}
    words = {r: w for r, w in words.items() if w != '–'}
    if len(set(words.values())) <= 1:
        return next(iter(words.values()), '–')
    return '; '.join(f'{RUNNERS[r]}: {w}' for r, w in words.items())


def choices(claim, found):
    """What a claim over one axis is asked of; [{}] for one over none."""
    axes = claim.get('table', [])
    seen = dict.fromkeys(tuple(r.run.choice[a] for a in axes)
                         for r in found if measures.applies(claim, r))
    return [dict(zip(axes, values)) for values in seen]


def claims_table(s, found, runners):
    """A row for each claim and choice: paper | ours by runner | target |
    verdict."""
    claims = [c for c in s.claims if len(c.get('table', [])) < 2]
    if not claims:
        return []
    axes = list(dict.fromkeys(a for c in claims for a in c.get('table', [])))
    paper = any(c.get('paper') for c in claims)
    heads = ['claim', *axes, *['paper'] * paper,
             *(f'ours ({RUNNERS[r]})' for r in runners), 'target', 'verdict']
    out = ['| ' + ' | '.join(heads) + ' |', '|---' * len(heads) + '|']
    for claim in claims:
        for choice in choices(claim, found):
            cells = [values_of(claim, found, r, **choice) for r in runners]
            if all(v is None for values in cells for v in values):
                continue
            row = [claim['text'], *(choice.get(a, '') for a in axes),
                   *[claim.get('paper', '')] * paper,
                   *(span(v, claim.get('unit', '')) for v in cells),
                   target(claim), verdict_of_all(cells, runners, claim)]
            out.append('| ' + ' | '.join(row) + ' |')
    return out + ['']


def mark(values, claim):
    return {'met': ' ✓', '**beyond**': ' ✓', '–': ''}.get(
        verdict(values, claim), ' ✗')


def matrix(claim, found, runner):
    """A claim over two axes, one table for a runner."""
    rows_axis, columns_axis = claim['table']
    mine = [r for r in found if r.runner == runner and measures.applies(claim, r)]
    rows = list(dict.fromkeys(r.run.choice[rows_axis] for r in mine))
    columns = list(dict.fromkeys(r.run.choice[columns_axis] for r in mine))
    if not rows:
        return []
    out = [f'**{claim["text"]}** – {RUNNERS[runner]}; target '
           f'{target(claim)}', '',
           f'| {rows_axis} | ' + ' | '.join(columns) + ' |',
           '|---' * (1 + len(columns)) + '|']
    for row in rows:
        cells = []
        for column in columns:
            values = values_of(claim, found, runner,
                               **{rows_axis: row, columns_axis: column})
            cells.append(span(values, claim.get('unit', ''))
                         + mark(values, claim))
        out.append(f'| {row} | ' + ' | '.join(cells) + ' |')
    for row in claim.get('quoted', []):
        cells = [str(row.get(c, '–')) for c in columns]
        out.append(f'| *{row["name"]}* (quoted) | ' + ' | '.join(cells) + ' |')
    return out + ['']


def draw(s, figure, found, runners, folder):
    """Returns the figure's Markdown."""
    by_runner = {}
    for runner in runners:
        mine = [r for r in found if r.runner == runner and measures.applies(figure, r)]
        if mine:
            by_runner[runner] = mine
    if not by_runner:
        return []
    path = folder / figure['name']
    if figure['kind'] == 'bars':
        claim = next(c for c in s.claims if c.get('name') == figure['claim'])
        figures.bars(by_runner, figure, path, claim)
    else:
        drawn = figures.KINDS[figure['kind']](by_runner, figure, path)
        if drawn is False:
            return []
    caption = figure.get('caption', '')
    paper = f' The paper\'s {figure["paper"]}.' if figure.get('paper') else ''
    commands = '\n'.join(f'tests/experiments/run.py --runner {r} {s.name}'
                         for r in by_runner)
    return [f'![{figure["title"]}](results/{figure["name"]}.svg)', '',
            f'*{figure["title"]}.{paper} {caption}*'.replace(' *', '*'), '',
            '```sh', commands,
            f'tests/experiments/report.py {s.name}', '```', '']


def count(s, found, runner):
    mine = [f for f in found if f.runner == runner]
    text = f'{len(mine)} runs ({RUNNERS[runner]}'
    scale = mine[0].run.time_scale
    return text + (f', all times × {scale:g})' if scale != 1 else ')')


def page(s, found, folder):
    """One scenario."""
    runners = [r for r in RUNNERS if any(f.runner == r for f in found)]
    out = [f'### {s.title}', '']
    if s.source:
        out += [f'{s.source}. {s.text}', '']
    else:
        out += [s.text, '']
    if s.held_out:
        out += ['*Kept out of all tuning.*', '']
    if not found:
        return out + ['Not run yet: '
                      f'`tests/experiments/run.py {s.name}`', '']
    counts = ', '.join(count(s, found, r) for r in runners)
    out += [f'{counts}; mean (least … most).', '']
    out += claims_table(s, found, runners)
    if s.note:
        out += [s.note, '']
    for claim in s.claims:
        if len(claim.get('table', [])) == 2:
            for runner in runners:
                out += matrix(claim, found, runner)
    for figure in s.figures:
        out += draw(s, figure, found, runners, folder)
    return out


def sections(path):
    """{title: lines} of the page as it is."""
    found, lines = {}, []
    text = path.read_text(encoding='utf-8') if path.exists() else ''
    for line in text.splitlines():
        if line.startswith('### '):
            lines = found.setdefault(line[4:], [])
        elif line.startswith('## '):
            lines = []
        lines.append(line)
    return found


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('scenarios', nargs='*', metavar='SCENARIO',
                   help='only these; the others stay as they are')
    p.add_argument('--build', default='build')
    p.add_argument('--short', action='store_true')
    p.add_argument('--docs', default=str(ROOT / 'docs'))
    args = p.parse_args()
    docs = pathlib.Path(args.docs)
    folder = docs / 'results'
    folder.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(args.build) / 'experiments'
    old = sections(docs / 'results.md')
    names = {scenario.Scenario(n).name for n in args.scenarios}
    head = (HERE / 'results-head.md').read_text(encoding='utf-8')
    out = [head.rstrip(), '']
    for suite, (title, text) in SUITES.items():
        out += [f'## {title}', '', text, '']
        for s in scenario.load_all(suite):
            found = results.load(root, [s], args.short) \
                if s.name in names or not names else []
            out += page(s, found, folder) if found \
                else old.get(s.title) or page(s, [], folder)
    (docs / 'results.md').write_text('\n'.join(out).rstrip() + '\n',
                                     encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
