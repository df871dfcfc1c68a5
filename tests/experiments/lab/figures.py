# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of results: one panel for each runner, the same colours everywhere."""
import itertools
import math
import pathlib
import sys

import matplotlib

matplotlib.use('Agg')

# pylint: disable=wrong-import-position
from matplotlib import pyplot as plt  # noqa: E402

from lab import measures, scenario  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / 'docs/figures'))
import small_svg  # noqa: E402

RUNNER = {'uml': 'real pipelines, Linux TCP',
          'kernel': 'libfairmix, Linux TCP',
          'ns3': 'libfairmix in ns-3', 'ns2': 'ns-2',
          'netns': 'real pipelines, real time'}
# Okabe and Ito's colours, which most people can tell apart; two of Tol's
BUNDLES = ['#0072B2', '#56B4E9', '#009E73', '#332288', '#999933']
OTHERS = ['#D55E00', '#E69F00', '#CC79A7', '#999999']
CHOICES = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9',
           '#000000', '#999999']
MARKS = ['o', 's', '^', 'D', 'v', 'P', 'X', '*']
KNOWN = ['dpm', 'forward-all', 'mix-all', 'top-3', 'shortq', 'tfrc', 'gaimd']

plt.rcParams.update({
    'font.family': 'DejaVu Sans', 'font.size': 9, 'axes.spines.top': False,
    'axes.spines.right': False, 'axes.grid': True, 'grid.alpha': 0.25,
    'grid.linewidth': 0.6, 'axes.titlesize': 9, 'axes.titleweight': 'bold',
    'legend.frameon': False, 'legend.fontsize': 8, 'svg.hashsalt': 'fairmix',
    'svg.fonttype': 'none', 'figure.constrained_layout.use': True})


def colours(run):
    """{flow: colour}; the audio blue to green, the rest warm."""
    bundles = list(run.bundles) + list(run.peers)
    others = [n for n in run.flows if n not in bundles]
    out = dict(zip(bundles, BUNDLES * 9))
    out.update(zip(others, OTHERS * 9))
    return out


def style(choices):
    """{choice: (colour, mark)}; those that are known look the same in every
    figure, and with another codec."""
    kin = {c: c.removesuffix('-opus') for c in choices}
    places = {k: KNOWN.index(k) for k in kin.values() if k in KNOWN}
    free = itertools.cycle([n for n in range(len(CHOICES))
                            if n not in places.values()])
    for k in kin.values():
        if k not in places:
            places[k] = next(free)
    return {c: (CHOICES[places[k]], MARKS[places[k]]) for c, k in kin.items()}


def label(run, name):
    flow = run.flows[name]
    if flow.get('label'):
        return flow['label']
    return {'bundle': name, 'peer': flow.get('program'), 'tcp': f'{name} ({flow.get("cc")})',
            'cbr': f'{name} (CBR)'}[flow['kind']]


def _save(fig, path):
    small_svg.save(fig, path.with_name(path.name + '.svg'))
    plt.close(fig)


LEGEND_CHARACTERS = 48          # beside a panel's title


def _legend(axis):
    """Above the panel, where no curve is; below its title if both are too long."""
    labels = axis.get_legend_handles_labels()[1]
    if sum(map(len, labels)) > LEGEND_CHARACTERS:
        axis.set_title(axis.get_title(loc='left'), loc='left',
                       fontweight='normal', pad=20)
    axis.legend(loc='lower right', bbox_to_anchor=(1, 1), ncol=6,
                borderaxespad=0, columnspacing=1.2, handlelength=1.5)


def _panels(by_runner, figure, height=2.7):
    runners = list(by_runner)
    fig, axes = plt.subplots(len(runners), 1, squeeze=False,
                             figsize=(7.4, height * len(runners) + 0.3))
    fig.suptitle(figure['title'], x=0.01, ha='left', fontsize=10.5,
                 fontweight='bold')
    for axis, runner in zip(axes[:, 0], runners):
        axis.set_title(RUNNER[runner], loc='left', fontweight='normal')
    return fig, dict(zip(runners, axes[:, 0]))


def _steps(steps, end):
    xs, ys = [], []
    for i, (t, v) in enumerate(steps):
        xs += [t, steps[i + 1][0] if i + 1 < len(steps) else end]
        ys += [v, v]
    return xs, ys


def time(by_runner, figure, path):
    """What every flow got, over time, of the first seed."""
    fig, panels = _panels(by_runner, figure)
    for runner, found in by_runner.items():
        axis, result = panels[runner], found[0]
        run = result.run
        scale = run.time_scale
        bin_s = max(1, figure.get('bin_s', 1) * scale)
        column = figure.get('y', 'received_bps')
        paint = colours(run)
        for name in figure.get('flows', run.flows):
            table = result.flows.get(name)
            if table is None:
                continue
            start = figure.get('from_s', 0) * scale
            end = figure.get('to_s', run.duration_s / scale) * scale
            values = measures.bins(table, column, start, end, bin_s)
            times = [start + (i + 0.5) * bin_s for i in range(len(values))]
            first = run.flows[name]['start_s']
            pairs = [(t, v) for t, v in zip(times, values) if t >= first]
            axis.plot([t for t, _ in pairs], [v / 1e3 for _, v in pairs],
                      color=paint[name], label=label(run, name),
                      linewidth=1.6 if name in run.bundles else 1.0,
                      drawstyle='steps-mid' if bin_s >= 5 else 'default')
        for steps, style in ((figure.get('guides'), ':'),):
            if steps:
                xs, ys = _steps([(t * scale, v) for t, v in steps],
                                run.duration_s)
                axis.plot(xs, [y / 1e3 for y in ys], style, color='black',
                          linewidth=0.9, label='equal shares')
        for link in run.links.values():
            xs, ys = _steps(link['rate_bps'], run.duration_s)
            axis.plot(xs, [y / 1e3 for y in ys], '-', color='black',
                      linewidth=0.7, alpha=0.5)
        if 'to_s' in figure:
            axis.set_xlim(figure.get('from_s', 0) * scale,
                          figure['to_s'] * scale)
        axis.set_ylabel('kbit/s on the wire')
        axis.set_ylim(0, figure.get('y_max'))
        _legend(axis)
    list(panels.values())[-1].set_xlabel('time, s')
    _save(fig, path)


def queue(by_runner, figure, path):
    """What packets waited in front of the first link, over time."""
    fig, panels = _panels(by_runner, figure, 2.2)
    for runner, found in by_runner.items():
        axis = panels[runner]
        firsts = list(_first_of_choices(found))
        looks = style([_choice(r, figure) for r in firsts])
        for result in firsts:
            name = next(iter(result.run.links))
            table = result.links.get(name)
            if table is not None:
                values = measures.bins(table, 'queue_ms', 0,
                                       result.run.duration_s,
                                       figure.get('bin_s', 1))
                axis.plot([(k + 0.5) * figure.get('bin_s', 1)
                           for k in range(len(values))], values,
                          color=looks[_choice(result, figure)][0], linewidth=1.2,
                          label=_choice(result, figure))
        axis.set_ylabel('queue, ms')
        axis.set_ylim(0, figure.get('y_max'))
        _legend(axis)
    list(panels.values())[-1].set_xlabel('time, s')
    _save(fig, path)


def staircase(by_runner, figure, path):
    """What a bundle may send, what it sends and in how many separate streams,
    and what the others get, over time: of the first runner's first seed."""
    runner, found = next(iter(by_runner.items()))
    run, name = found[0].run, figure['flows'][0]
    table = found[0].senders.get(name)
    if table is None:
        return False
    fig, (rates, count) = plt.subplots(
        2, 1, sharex=True, figsize=(7.4, 4.2), height_ratios=[2, 1])
    fig.suptitle(figure['title'], x=0.01, ha='left', fontsize=10.5,
                 fontweight='bold')
    rates.set_title(RUNNER[runner], loc='left', fontweight='normal')
    paint = colours(run)
    for flow in run.flows:
        column = 'sent_bps' if flow == name else 'received_bps'
        values = measures.bins(found[0].flows[flow], column, 0,
                               run.duration_s, 1)
        rates.plot([k + 0.5 for k in range(len(values))],
                   [v / 1e3 for v in values], color=paint[flow], linewidth=1.2,
                   label='sent' if flow == name else label(run, flow))
    rates.step(table['t_s'], [v / 1e3 for v in table['target_bps']],
               where='post', color='black', linewidth=0.9, label='target')
    rates.set_ylabel('kbit/s on the wire')
    rates.set_ylim(0, figure.get('y_max'))
    _legend(rates)
    count.step(table['t_s'], table['separate'], where='post',
               color=paint[name], linewidth=1.4)
    count.set_ylabel('separate streams')
    count.set_ylim(0)
    count.set_xlabel('time, s')
    _save(fig, path)
    return True


def _choice(result, figure):
    axis = figure.get('axis')
    return result.run.choice.get(axis, '') if axis else \
        ', '.join(result.run.choice.values())


def _first_of_choices(found):
    seen = {}
    for result in found:
        seen.setdefault(tuple(result.run.choice.items()), result)
    return seen.values()


def _stage_values(result, figure, flow, span):
    table = result.flows[flow]
    if figure['y'] == 'loss':
        sent = measures.total(result, flow, 'sent_packets', *span)
        lost = measures.total(result, flow, 'lost_packets', *span)
        return [100 * lost / sent] if sent else []
    stream = result.run.flows[flow]['stream_bps']
    return [v / stream for v in
            measures.bins(table, 'received_bps', *span, 1)]


def levels(by_runner, figure, path):
    """A value at each level of the traffic that does not listen, a line for
    each choice of an axis; bars are two standard deviations over the seconds of
    all seeds."""
    fig, panels = _panels(by_runner, figure)
    flow = figure['flows'][0]
    for runner, found in by_runner.items():
        axis = panels[runner]
        groups = {}
        for result in found:
            groups.setdefault(result.run.choice[figure['axis']],
                              []).append(result)
        room = None
        looks = style(groups)
        for i, (choice, results) in enumerate(groups.items()):
            xs, ys, es = [], [], []
            scale = results[0].run.time_scale
            length = figure['stage_s'] * scale
            n = round(results[0].run.duration_s / length)
            for k in range(n):
                # a stage's first fifth is the way to it
                span = ((k + 0.2) * length, (k + 1) * length)
                values = [v for r in results
                          for v in _stage_values(r, figure, flow, span)]
                if not values:
                    continue
                level = sum(scenario.at(f['rate_bps'], span[0]) for f in
                            results[0].run.flows.values()
                            if f['kind'] == 'cbr')
                xs.append(level / 1e3)
                ys.append(measures.mean(values))
                es.append(2 * measures.deviation(values))
            axis.errorbar([x + 4 * (i - 1) for x in xs], ys,
                          yerr=es if figure['y'] != 'loss' else None,
                          color=looks[choice][0], marker=looks[choice][1],
                          markersize=5,
                          linewidth=1.3, capsize=2.5, label=choice)
            if figure['y'] != 'loss' and room is None:
                room = [(x, measures.fits(results[0], {'flow': flow},
                                          (k + 0.5) * length))
                        for k, x in enumerate(xs)]
                axis.step([x for x, _ in room], [y for _, y in room], ':',
                          where='mid', color='black', linewidth=1,
                          label='what fits')
        axis.set_ylabel('lost packets, %' if figure['y'] == 'loss'
                        else 'streams')
        axis.set_ylim(0, figure.get('y_max'))
        _legend(axis)
    list(panels.values())[-1].set_xlabel('UDP, kbit/s')
    _save(fig, path)


def ratios(by_runner, figure, path, claim):
    """A claim's value for every pair of two axes: groups along x, a mark for
    each choice; whiskers from the least to the most of all seeds.  Twice as
    much is as far from 1 as half as much."""
    rows, columns = claim['table']
    every = [r for found in by_runner.values() for r in found]
    looks = style(list(dict.fromkeys(r.run.choice[rows] for r in every)))
    names = list(dict.fromkeys(r.run.choice[columns] for r in every))
    fig, panels = _panels(by_runner, figure, 2.4)
    for runner, found in by_runner.items():
        axis = panels[runner]
        choices = [c for c in looks if any(r.run.choice[rows] == c
                                           for r in found)]
        for i, choice in enumerate(choices):
            at = (i + 0.5) * 0.7 / len(choices) - 0.35
            _marks(axis, [[measures.MEASURES[claim['measure']](r, claim)
                           for r in found if r.run.choice[columns] == name
                           and r.run.choice[rows] == choice]
                          for name in names], at, looks[choice], choice)
        axis.set_yscale('log')
        axis.minorticks_off()
        axis.yaxis.set_major_formatter('{x:g}')
        axis.axhspan(*claim['show'], color='#009E73', alpha=0.1, zorder=0)
        axis.axhline(1, color='#555555', linewidth=0.6, zorder=1)
        axis.set_ylim(*figure['y_span'])
        axis.set_xticks(range(len(names)), names)
        axis.set_xlim(-0.5, len(names) - 0.5)
        axis.grid(axis='x', visible=False)
        axis.set_ylabel(figure.get('y', claim['text']))
        _legend(axis)
    _save(fig, path)


def _marks(axis, groups, at, look, name):
    """A mark for each group of values, so far beside the group's place."""
    for k, values in enumerate(groups):
        values = [v for v in values if v is not None]
        if not values:
            continue
        m = measures.mean(values)
        axis.errorbar([k + at], [m], [[m - min(values)], [max(values) - m]],
                      fmt=look[1], color=look[0], markersize=6, linewidth=1,
                      capsize=2, label=name)
        name = None


def _heard_at_levels(results, measure, figure):
    """[(level of UDP, value)] of one choice, over its stages."""
    run = results[0].run
    length = figure['stage_s']
    points = []
    for k in range(round(run.duration_s / run.time_scale / length)):
        claim = {'flow': figure['flows'][0], 'from_s': (k + 0.2) * length,
                 'to_s': (k + 1) * length}
        values = [measure(r, claim) for r in results]
        values = [v for v in values if v is not None]
        level = sum(scenario.at(f['rate_bps'], (k + 0.5) * length
                                * run.time_scale)
                    for f in run.flows.values() if f['kind'] == 'cbr')
        if values:
            points.append((level / 1e3, measures.mean(values)))
    return points


PANELS = {'talkers_apart': ('voices heard apart', -0.3),
          'talkers_missing': ('voices not heard at all', -0.3),
          'pesq': ('speech quality (PESQ, MOS-LQO)', 1),
          'ear_delay': ('mouth-to-ear delay, ms', 0)}


def listener(by_runner, figure, path):
    """What a listener gets at each level of UDP: a panel for each measure, a
    line for each choice."""
    found = [r for results in by_runner.values() for r in results
             if r.listener]
    if not found:
        return False
    names = figure['panels']
    fig, axes = plt.subplots(math.ceil(len(names) / 2), 2,
                             figsize=(7.6, 2.9 * math.ceil(len(names) / 2)))
    fig.suptitle(figure['title'], x=0.01, ha='left', fontsize=10.5,
                 fontweight='bold')
    groups = {}
    for result in found:
        groups.setdefault(result.run.choice[figure['axis']], []).append(result)
    looks = style(groups)
    for axis, name in zip(axes.flat, names):
        for choice, results in groups.items():
            points = _heard_at_levels(results, measures.MEASURES[name],
                                      figure)
            axis.plot([x for x, _ in points], [y for _, y in points],
                      color=looks[choice][0], marker=looks[choice][1],
                      markersize=5, label=choice, linewidth=2.4
                      if choice in ('dpm', 'shortq') else 1.2)
        axis.set_title(PANELS[name][0], loc='left', fontweight='normal')
        axis.set_xlabel('other traffic, kbit/s')
        axis.set_ylim(PANELS[name][1])
    axes.flat[1].legend(loc='lower left', bbox_to_anchor=(0.01, 0.1))
    _save(fig, path)
    return True


def tables(rows, path):
    """RFC 4828's tables, what we send, and what ns-2 sends."""
    sizes = sorted({r['payload_bytes'] for r in rows}, reverse=True)
    fig, axes = plt.subplots(1, len(sizes), figsize=(7.4, 3), squeeze=False)
    for axis, size in zip(axes[0], sizes):
        mine = [r for r in rows if r['payload_bytes'] == size]
        drop = [100 * r['drop'] for r in mine]
        rfc = [r['rfc4828_kbps'] for r in mine]
        axis.fill_between(drop, [0.85 * r for r in rfc],
                          [1.15 * r for r in rfc], color='#009E73', alpha=0.1)
        axis.plot(drop, rfc, 'o', color='#999999', label='RFC 4828')
        axis.plot(drop, [r['ours_kbps'] for r in mine], 'o-', markersize=4,
                  color='#009E73', label='tfrc')
        axis.plot(drop, [r['ns2_kbps'] for r in mine], 'x--', markersize=5,
                  color='#D55E00', label='ns-2')
        axis.set_xscale('log')
        axis.set_xticks(drop, [f'{d:g}' for d in drop])
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        axis.set_title(f'{size:.0f}-byte packets', loc='left')
        axis.set_xlabel('packets lost, %')
        axis.legend(loc='lower left')
    axes[0][0].set_ylabel('sent, kbit/s')
    _save(fig, path)


KINDS = {'time': time, 'levels': levels, 'queue': queue, 'listener': listener,
         'staircase': staircase}
