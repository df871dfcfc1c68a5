# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of docs/results.md about the circuit breaker in all runs."""
from lab import measures, results, scenario

TITLE = 'The circuit breaker in all runs'
TEXT = ('RFC 8083: whoever adapts never trips it, whoever does not listen '
        'always does. All runs with senders that adapt, or have to. Of those '
        'that adapt dpm-218 alone trips it, whose breaker has the small packets '
        'of its equation for a segment ([why](#one-tcp-flow-joins)).')


def trips(found):
    """How often it tripped in each run that has one."""
    values = [measures.sender_events(r, scenario.BREAKER) for r in found]
    return [v for v in values if v is not None]


def line(s, found, runners):
    """A scenario's row; '' where nothing was run."""
    counts = [trips([r for r in found if r.runner == name])
              for name in runners]
    values = [v for count in counts for v in count]
    if not values:
        return ''
    claim = s.claims[-1]
    good = all(measures.verdict(v, claim, 'show') for v in values)
    always = claim['show'][0] > 0
    return ('| ' + ' | '.join([
        s.title, *(str(len(count) or '–') for count in counts),
        f'{sum(v > 0 for v in values)} of {len(values)}',
        'all' if always else 'none', 'met' if good else 'not met']) + ' |')


def page(root, short, runners):
    """The section, from all results that are here; runners: {name: label}."""
    lines = [line(s, results.load(root, [s], short), runners)
             for s in scenario.load_all()]
    if not any(lines):
        return []
    heads = ['scenario', *(f'runs ({label})' for label in runners.values()),
             'runs in which it trips', 'target', 'verdict']
    return [f'### {TITLE}', '', TEXT, '',
            '| ' + ' | '.join(heads) + ' |', '|---' * len(heads) + '|',
            *(x for x in lines if x), '', '```sh',
            'tests/experiments/run.py --runner ns3,kernel,uml all',
            'tests/experiments/write_results.py breaker', '```', '']
