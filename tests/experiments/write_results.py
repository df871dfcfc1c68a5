#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make figures and docs/results.md of what run.py left.

  tests/experiments/write_results.py [--build build] [--short] [SCENARIO...]

Every number comes from a table of a run.  What has no results here stays on the
page as it is: a scenario, a runner's column and figure, and a row or cell of a table over
two axes.
"""
import argparse
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
from lab import (ages, bars, breaker, figures, kept, measures, results,  # noqa: E402
                 rfc4828, scenario)

RUNNERS = {'uml': 'real pipelines', 'kernel': 'library, Linux TCP',
           'ns3': 'ns-3', 'ns2': 'ns-2', 'netns': 'real time'}
BREAKER_RUNNERS = {n: RUNNERS[n] for n in ('uml', 'kernel', 'ns3')}
OTHERS = {'rfc4828', 'breaker'}         # sections that no scenario is of
SUITES = {
    'paper': ('The paper', 'Section 6 of *Distributed Partial Mixing with TCP '
              'fairness* (2002), figure by figure.'),
    'beyond': ('Beyond the paper', 'The same bench for our controllers and for '
               'the peers that people would otherwise use.'),
    'queues': ('Queues', '*Beyond Audio and Video: Multimedia Networking Support '
               'for Distributed, Immersive Virtual Environments* (2002).'),
    'multicast': ('One rate for a multicast group', 'Sections 4 and 5 of *Adaptive '
                  'smooth multicast protocol for multimedia transmission* (2009), '
                  'figure by figure; [asmp](algorithms/asmp.md) has both algorithms. CoV: '
                  'coefficient of variation. Nothing was tuned on these seeds.'),
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
        text += f' ({number(min(values))}…{number(max(values))})'
    return text


def ask(limits, unit=''):
    """A range, in words."""
    low, high = limits
    tail = f' {unit}' if unit else ''
    if low == 0 or low == -1:
        return f'≤ {high:g}{tail}'
    if high == 1 and low > 0.5 or high == 100 or high > 5 * low:
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


def verdict_of_all(words):
    """One word if the runners agree, else one for each."""
    words = {r: w for r, w in words.items() if w != '–'}
    if len(set(words.values())) <= 1:
        return next(iter(words.values()), '')
    return '; '.join(f'{RUNNERS[r]}: {w}' for r, w in words.items())


def choices(claim, found):
    """What a claim over one axis is asked of; [{}] for one over none."""
    axes = claim.get('table', [])
    seen = dict.fromkeys(tuple(r.run.choice[a] for a in axes)
                         for r in found if measures.applies(claim, r))
    return [dict(zip(axes, values)) for values in seen]


def table_row(cells):
    """A line of a table; an empty cell takes no room."""
    return re.sub(r'\| +(?=\|)', '|', '| ' + ' | '.join(cells) + ' |')


def kept_cells(runners, row):
    """{runner: (cell, verdict)} that the page has of these."""
    row = row or {}
    labels = {r: RUNNERS[r] for r in runners}
    return {r: (row.get(f'ours ({label})', '–') or '–', kept.verdict_of(row, label))
            for r, label in labels.items()}


def claims_table(s, found, runners, old):
    """A row for each claim and choice: paper | ours by runner | target |
    verdict.  Of a runner without new results the page's column stays."""
    claims = [c for c in s.claims if len(c.get('table', [])) < 2]
    if not claims:
        return []
    axes = list(dict.fromkeys(a for c in claims for a in c.get('table', [])))
    paper = any(c.get('paper') for c in claims)
    heads = ['claim', *axes, *['paper'] * paper,
             *(f'ours ({RUNNERS[r]})' for r in runners), 'target', 'verdict']
    out = ['| ' + ' | '.join(heads) + ' |', '|---' * len(heads) + '|']
    before = kept.claim_rows(old)
    new = {f.runner for f in found}
    for whole in claims:
        for choice in choices(whole, found):
            claim = measures.for_choice(whole, choice)
            key = (claim['text'], *(choice.get(a, '') for a in axes))
            cells = kept_cells(runners, before.get(key))
            for r in new.intersection(runners):
                values = values_of(claim, found, r, **choice)
                cells[r] = (span(values, claim.get('unit', '')), verdict(values, claim))
            if all(cell == '–' for cell, _ in cells.values()):
                continue
            words = {r: word for r, (cell, word) in cells.items() if cell != '–'}
            row = [*key, *[claim.get('paper', '')] * paper,
                   *(cells[r][0] for r in runners), target(claim), verdict_of_all(words)]
            out.append(table_row(row))
    return out + ['']


def mark(values, claim):
    return {'met': ' ✓', '**beyond**': ' ✓', '–': ''}.get(
        verdict(values, claim), ' ✗')


def row_name(s, axis, value):
    """A choice, and whether it is somebody else's program."""
    peers = any(r.peers for r in s.runs(only={axis: value}))
    return f'*{value}* (measured here)' if peers else value


def matrix(s, claim, found, runner, old):
    """A claim over two axes, one table for a runner."""
    axes = claim['table']
    head = f'**{claim["text"]}** – {RUNNERS[runner]}'
    mine = [r for r in found if r.runner == runner and measures.applies(claim, r)]
    cells = kept.cells(old, head)
    names = {row: row_name(s, axes[0], row) for row in s.axes[axes[0]]}
    for row, column in {tuple(r.run.choice[a] for a in axes) for r in mine}:
        values = values_of(claim, mine, runner, **dict(zip(axes, (row, column))))
        cells[names[row], column] = (span(values, claim.get('unit', ''))
                                     + mark(values, claim))
    rows = [n for n in names.values()
            if any(k == n and cell != '–' for (k, _), cell in cells.items())]
    columns = [c for c in s.axes[axes[1]] if any(c == k for _, k in cells)]
    if not rows:
        return []
    asked = f'; target {target(claim)}' if target(claim) else ''
    out = [head + asked, '',
           f'| {axes[0]} | ' + ' | '.join(columns) + ' |',
           '|---' * (1 + len(columns)) + '|']
    for row in rows:
        out.append(f'| {row} | ' + ' | '.join(
            cells.get((row, c), '–') for c in columns) + ' |')
    for row in claim.get('quoted', []):
        texts = [str(row.get(c, '–')) for c in columns]
        out.append(f'| *{row["name"]}* (quoted) | ' + ' | '.join(texts) + ' |')
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
    if figure['kind'] == 'ratios':
        claim = next(c for c in s.claims if c.get('name') == figure['claim'])
        figures.ratios(by_runner, figure, path, claim)
    elif figure['kind'] == 'bars':
        bars.draw(found, figure, path, s.claims)
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
            f'tests/experiments/write_results.py {s.name}', '```', '']


def counts(s, found, old, since):
    """How many runs of what, at which commit; what the page has of others stays."""
    words = kept.counts(old)
    groups = {label: [f for f in found if f.runner == runner
                      and not f.run.peers]
              for runner, label in RUNNERS.items()}
    groups['peers'] = [f for f in found if f.run.peers]
    for label, mine in groups.items():
        if mine:
            scale = mine[0].run.time_scale
            times = f', all times × {scale:g}' if scale != 1 else ''
            commits = ages.commits_of(f.manifest for f in mine)
            words[label] = f'{len(mine)} runs ({label}{times}, at {commits})'
    # one of the peers of a group is ours
    dated = ages.OURS | ({'peers'} if s.suite == 'multicast' else set())
    return ', '.join(ages.dated(ROOT, words[label], s.suite, since)
                     if label in dated else words[label]
                     for label in groups if label in words) + kept.COUNTS_END


def redated(s, lines, since):
    """A section without new results: only how old they are is looked at anew."""
    return [counts(s, [], lines, since) if line.endswith(kept.COUNTS_END) else line
            for line in lines]


def page(s, found, folder, old, since=None):
    """One scenario; old: the lines that the page has of it, all before @since."""
    ours = [f for f in found if not f.run.peers and f.runner != 'ns2']
    had = kept.counts(old)
    runners = [r for r, label in RUNNERS.items() if any(f.runner == r for f in ours)
               or label in ages.OURS and label in had]
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
    out += [counts(s, found, old, since), '']
    out += claims_table(s, ours, runners, old) if ours else kept.claims(old)
    if s.note:
        out += [s.note, '']
    for claim in s.claims:
        if len(claim.get('table', [])) == 2:
            for runner in RUNNERS:
                out += matrix(s, claim, found, runner, old)
    if not ours:                # there is no figure without ours
        first = [i for i, line in enumerate(old) if line.startswith('![')]
        return out + (old[first[0]:] if first else [])
    for figure in s.figures:
        was = kept.figure(old, figure['name'])
        if any(f'--runner {r} ' in line for line in was
               for r in runners if not any(f.runner == r for f in ours)):
            out += was          # it shows a runner of which there is nothing new
        elif figure.get('peers'):
            out += draw(s, figure, found, RUNNERS, folder)
        else:
            out += draw(s, figure, ours, runners, folder)
    return out


def rfc_tables(root, folder, old, wanted):
    """RFC 4828's tables, which no scenario is of."""
    found = rfc4828.rows(root) if wanted else []
    if not found:
        return old.get(rfc4828.TITLE, [])
    figures.tables(found, folder / 'rfc4828')
    return rfc4828.page(found, 'rfc4828')


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('scenarios', nargs='*', metavar='SCENARIO',
                   help='only these (or rfc4828, breaker); the others stay\n'
                   'as they are')
    p.add_argument('--build', default='build')
    p.add_argument('--short', action='store_true')
    p.add_argument('--docs', default=str(ROOT / 'docs'))
    args = p.parse_args()
    docs = pathlib.Path(args.docs)
    folder = docs / 'results'
    folder.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(args.build) / 'experiments'
    old = kept.sections(docs / 'results.md')
    since = ages.wrote(ROOT, docs / 'results.md')
    names = {n if n in OTHERS else scenario.Scenario(n).name
             for n in args.scenarios}
    head = (HERE / 'results-head.md').read_text(encoding='utf-8')
    out = [head.rstrip(), '']
    for suite, (title, text) in SUITES.items():
        out += [f'## {title}', '', text, '']
        for s in scenario.load_all(suite):
            found = results.load(root, [s], args.short) \
                if s.name in names or not names else []
            lines = old.get(s.title, [])
            out += page(s, found, folder, lines, since.get(s.title)) if found \
                else redated(s, lines, since.get(s.title)) or page(s, [], folder, [])
        if suite == 'beyond':
            out += rfc_tables(root, folder, old,
                              not names or 'rfc4828' in names)
            new = breaker.page(root, args.short, BREAKER_RUNNERS) \
                if not names or 'breaker' in names else []
            out += new or old.get(breaker.TITLE, [])
    out += kept.others(docs / 'results.md', {t for t, _ in SUITES.values()})
    (docs / 'results.md').write_text('\n'.join(out).rstrip() + '\n',
                                     encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
