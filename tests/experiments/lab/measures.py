# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is measured in a result: the numbers that claims are about.

Every measure takes a Result and a claim's table and returns one number, or
None where nothing was to be measured.  Rates are those of whole IP packets as
they arrive (or, for the bundle's own smoothness, as they are sent).
"""
import math

from lab import scenario


def window(result, claim):
    """(from_s, to_s) of a claim, in this run's (perhaps shortened) time."""
    scale = result.run.time_scale
    end = claim.get('to_s')
    return (claim.get('from_s', 0) * scale,
            result.run.duration_s if end is None else end * scale)


def bins(table, column, from_s, to_s, bin_s):
    """Means of a column over bins of bin_s; the last, partial bin is left."""
    times, values = table['t_s'], table[column]
    if not times:
        return []
    out, total, count, edge = [], 0.0, 0, from_s + bin_s
    for t, v in zip(times, values):
        if t <= from_s + 1e-9 or v is None:
            continue
        if t > to_s + 1e-9:
            break
        while t > edge + 1e-9:
            if count:
                out.append(total / count)
            total, count, edge = 0.0, 0, edge + bin_s
        total += v
        count += 1
    if count and edge <= to_s + 1e-9:
        out.append(total / count)
    return out


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def deviation(values):
    m = mean(values)
    return math.sqrt(mean((v - m) ** 2 for v in values)) if values else None


def quantile(values, q):
    values = sorted(values)
    if not values:
        return None
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def rate_bps(result, flow, from_s, to_s, column='received_bps'):
    table = result.flows.get(flow)
    if table is None:
        return None
    return mean(v for t, v in zip(table['t_s'], table[column])
                if from_s + 1e-9 < t <= to_s + 1e-9)


def total(result, flow, column, from_s, to_s):
    table = result.flows.get(flow)
    if table is None:
        return None
    return sum(v for t, v in zip(table['t_s'], table[column])
               if from_s + 1e-9 < t <= to_s + 1e-9)


# ---- the measures ----

def rate(result, claim):
    """Mean rate of the flow, in kbit/s."""
    value = rate_bps(result, claim['flow'], *window(result, claim))
    return None if value is None else value / 1e3


def _sum_bps(result, claim, from_s, to_s):
    """The rate of the flow and of those `with` it."""
    rates = [rate_bps(result, f, from_s, to_s)
             for f in [claim['flow'], *claim.get('with', [])]]
    return None if None in rates else sum(rates)


def kept(result, claim):
    """The flows' rate, in % of what it was in the window `before`."""
    scale = result.run.time_scale
    after = _sum_bps(result, claim, *window(result, claim))
    before = _sum_bps(result, claim, *(t * scale for t in claim['before']))
    return 100 * after / before if after is not None and before else None


def filled(result, claim):
    """The flows' rate, in % of the link's (100 at most, as utilisation)."""
    start, end = window(result, claim)
    rate_now = _sum_bps(result, claim, start, end)
    link = result.run.links[claim.get('link') or next(iter(result.run.links))]
    return None if rate_now is None else \
        min(100.0, 100 * rate_now / scenario.at(link['rate_bps'], start))


def rate_of(result, claim):
    """The flows' rate, in % of of_bps."""
    value = _sum_bps(result, claim, *window(result, claim))
    return None if value is None else 100 * value / claim['of_bps']


def rate_mean(result, claim):
    """Mean rate of those it is `against`, in kbit/s."""
    rates = [rate_bps(result, f, *window(result, claim)) for f in claim['against']]
    return None if None in rates else mean(rates) / 1e3


def rate_least(result, claim):
    """The least rate of any bin_s, in kbit/s."""
    table = result.flows.get(claim['flow'])
    if table is None:
        return None
    return min(bins(table, claim.get('column', 'sent_bps'), *window(result, claim),
                    claim['bin_s']), default=0) / 1e3


def rates_told(result, claim):
    """The most rates that a group's sender was told in any bin_s."""
    start, end = window(result, claim)
    table = result.senders.get(claim['flow'])
    if table is None:
        return None
    told = {}
    for t, n in zip(table['t_s'], table['mixes']):
        if start < t <= end:
            step = int((t - start) / claim['bin_s'])
            told[step] = told.get(step, 0) + n
    return max(told.values(), default=None)


def rtcp_share(result, claim):
    """RTCP of a group, in % of what its sender sends."""
    span = window(result, claim)
    media = rate_bps(result, claim['flow'], *span)
    rtcp = rate_bps(result, claim['flow'] + '-rtcp', *span)
    return 100 * rtcp / media if media and rtcp is not None else None


def delay(result, claim):
    """Mean one-way delay of the flow's packets, in ms."""
    start, end = window(result, claim)
    table = result.flows.get(claim['flow'])
    if table is None:
        return None
    rows = [(d, n) for t, d, n in zip(table['t_s'], table['delay_ms'],
                                      table['received_packets'])
            if start < t <= end and d is not None and n]
    packets = sum(n for _, n in rows)
    return sum(d * n for d, n in rows) / packets if packets else None


def share(result, claim):
    """The flow's part of what it and the others got."""
    span = window(result, claim)
    own = rate_bps(result, claim['flow'], *span)
    others = [rate_bps(result, f, *span) for f in claim['against']]
    if own is None or None in others or own + sum(others) == 0:
        return None
    return own / (own + sum(others))


def share_error(result, claim):
    """How far the flow is from an equal share, in % of that share."""
    s = share(result, claim)
    n = 1 + len(claim['against'])
    return None if s is None else 100 * abs(s * n - 1)


def ratio(result, claim):
    """The flow's rate over the mean of the others'."""
    span = window(result, claim)
    own = rate_bps(result, claim['flow'], *span)
    others = [rate_bps(result, f, *span) for f in claim['against']]
    if own is None or None in others or not sum(others):
        return None
    return own / mean(others)


def _ratios(result, claim):
    start, end = window(result, claim)
    bin_s = claim.get('bin_s', 20)
    out = []
    t = start
    while t + bin_s <= end + 1e-9:
        own = rate_bps(result, claim['flow'], t, t + bin_s)
        others = mean(rate_bps(result, f, t, t + bin_s) or 0
                      for f in claim['against'])
        if own is not None and others:
            out.append(own / others)
        elif own:
            out.append(math.inf)
        t += bin_s
    return out


def ratio_least(result, claim):
    """The least ratio of any window of bin_s (20 s)."""
    return min(_ratios(result, claim), default=None)


def ratio_most(result, claim):
    """The greatest ratio of any window of bin_s (20 s)."""
    return max(_ratios(result, claim), default=None)


def jain(result, claim):
    """Jain's index over the flow and the others."""
    span = window(result, claim)
    rates = [rate_bps(result, f, *span)
             for f in [claim['flow']] + list(claim['against'])]
    if None in rates or not any(rates):
        return None
    return sum(rates) ** 2 / (len(rates) * sum(r * r for r in rates))


def cov(result, claim, flow=None):
    """Coefficient of variation of the wire rate in bins (1 s)."""
    table = result.flows.get(flow or claim['flow'])
    if table is None:
        return None
    values = bins(table, claim.get('column', 'sent_bps'),
                  *window(result, claim), claim.get('bin_s', 1))
    m = mean(values)
    return deviation(values) / m if m else None


def cov_ratio(result, claim):
    """The flow's coefficient of variation over the mean of the others'."""
    own = cov(result, claim)
    others = [cov(result, claim, f) for f in claim['against']]
    if own is None or None in others or not sum(others):
        return None
    return own / mean(others)


def loss(result, claim):
    """Lost packets of the flow, in %."""
    span = window(result, claim)
    sent = total(result, claim['flow'], 'sent_packets', *span)
    lost = total(result, claim['flow'], 'lost_packets', *span)
    return 100 * lost / sent if sent else None


def loss_in_all(result, claim):
    """Lost packets of the flow and of those it is `against`, in %."""
    sent, lost = (sum(total(result, f, column, *window(result, claim))
                      for f in [claim['flow'], *claim['against']])
                  for column in ('sent_packets', 'lost_packets'))
    return 100 * lost / sent if sent else None


def _stages(result, claim):
    """(from, to, middle of nothing) of every stage but its first part."""
    start, end = window(result, claim)
    length = claim['stage_s'] * result.run.time_scale
    settle = claim.get('settle', 0.0) * length
    n = round((end - start) / length)
    return [(start + i * length + settle, start + (i + 1) * length)
            for i in range(n)]


def worst_loss(result, claim):
    """The highest loss of all stages, in %."""
    values = []
    for span in _stages(result, claim):
        sent = total(result, claim['flow'], 'sent_packets', *span)
        lost = total(result, claim['flow'], 'lost_packets', *span)
        if sent:
            values.append(100 * lost / sent)
    return max(values, default=None)


def _stream_bps(result, flow):
    return result.run.flows[flow]['stream_bps']


def fits(result, claim, t_s):
    """Streams that fit beside what does not listen, at a time."""
    run = result.run
    link = run.links[claim.get('link') or next(iter(run.links))]
    room = scenario.at(link['rate_bps'], t_s)
    for flow in run.flows.values():
        if flow['kind'] == 'cbr':
            room -= scenario.at(flow['rate_bps'], t_s)
    flow = run.flows[claim['flow']]
    return max(0, min(flow['streams'], int(room / flow['stream_bps'])))


def worst_stream_error(result, claim):
    """The most by which the mean number of streams of a stage misses what
    fits; where nothing fits, nothing is asked."""
    values = []
    for span in _stages(result, claim):
        room = fits(result, claim, span[0])
        got = rate_bps(result, claim['flow'], *span, column='sent_bps')
        if room and got is not None:
            values.append(abs(got / _stream_bps(result, claim['flow']) - room))
    return max(values, default=None)


def worst_spread(result, claim):
    """The widest stage: two standard deviations of the number of streams (1 s
    bins), where at least one stream fits."""
    values = []
    for span in _stages(result, claim):
        if not fits(result, claim, span[0]):
            continue
        rates = bins(result.flows[claim['flow']], 'sent_bps', *span, 1)
        if rates:
            values.append(2 * deviation(rates)
                          / _stream_bps(result, claim['flow']))
    return max(values, default=None)


def utilisation(result, claim):
    """What passed the link, of what it carries: 1 at most, although a window may
    end with one packet more than its time carries."""
    start, end = window(result, claim)
    name = claim.get('link') or next(iter(result.run.links))
    table = result.links.get(name)
    steps = result.run.links[name]['rate_bps']
    if table is None:
        return None
    pairs = [(v, scenario.at(steps, t - 1e-6)) for t, v in
             zip(table['t_s'], table['passed_bps']) if start < t <= end]
    room = sum(r for _, r in pairs)
    return min(1.0, sum(v for v, _ in pairs) / room) if room else None


def utilisation_least(result, claim):
    """The least of any bin_s."""
    start, end = window(result, claim)
    each = claim['bin_s'] * result.run.time_scale
    n = int((end - start) / each + 1e-9)
    scale = result.run.time_scale
    found = [utilisation(result, {**claim, 'from_s': (start + i * each) / scale,
                                  'to_s': (start + (i + 1) * each) / scale})
             for i in range(n)]
    return min((v for v in found if v is not None), default=None)


def _queue(result, claim):
    start, end = window(result, claim)
    name = claim.get('link') or next(iter(result.run.links))
    table = result.links.get(name)
    if table is None:
        return []
    return [v for t, v in zip(table['t_s'], table['queue_ms'])
            if start < t <= end and v is not None]


def queue_median(result, claim):
    """Median wait in front of the link, in ms (of 100 ms means)."""
    return quantile(_queue(result, claim), 0.5)


def queue_95(result, claim):
    """95 % of the waits are below this, in ms (of 100 ms means)."""
    return quantile(_queue(result, claim), 0.95)


def reach(result, claim):
    """Seconds from the flow's start (or from_s) until its 1 s mean first
    stands at `of` (80 %) of its equal share."""
    run = result.run
    flow = run.flows[claim['flow']]
    start = max(flow['start_s'], window(result, claim)[0])
    link = run.links[claim.get('link') or next(iter(run.links))]
    n = 1 + len(claim.get('against', []))
    goal = claim.get('of', 0.8) * scenario.at(link['rate_bps'], start) / n
    if claim.get('of_bps'):
        goal = claim['of_bps'] * claim.get('of', 0.8)
    table = result.flows.get(claim['flow'])
    if table is None:
        return None
    recent = []
    for t, v in zip(table['t_s'], table['received_bps']):
        if t <= start:
            continue
        recent = (recent + [v])[-10:]
        if len(recent) == 10 and mean(recent) >= goal:
            return t - start
    return math.inf


def settle_down(result, claim):
    """Seconds from from_s until the flow's mean over bin_s, 1 s unless said, first
    stands at or below 110 % of of_bps."""
    start, end = window(result, claim)
    bin_s = claim.get('bin_s', 1)
    table = result.flows.get(claim['flow'])
    recent = []
    if table is None:
        return None
    for t, v in zip(table['t_s'], table['sent_bps']):
        if t <= start:
            continue
        recent = (recent + [v])[-round(bin_s * 10):]
        if t - start > bin_s and mean(recent) <= 1.1 * claim['of_bps']:
            return t - start
        if t > end:
            break
    return math.inf


def regain(result, claim):
    """Seconds from from_s until the flow's 1 s mean is 90 % of that in the window
    `before`."""
    start, end = window(result, claim)
    scale = result.run.time_scale
    table = result.flows.get(claim['flow'])
    if table is None:
        return None
    goal = 0.9 * rate_bps(result, claim['flow'],
                          *(t * scale for t in claim['before']), 'sent_bps')
    recent = []
    for t, v in zip(table['t_s'], table['sent_bps']):
        if start < t <= end:
            recent = (recent + [v])[-10:]
            if len(recent) == 10 and mean(recent) >= goal:
                return t - start
    return math.inf


def changes_per_minute(result, claim):
    """How often the number of separate streams changes."""
    start, end = window(result, claim)
    table = result.senders.get(claim['flow'])
    if table is None:
        return None
    seen = [v for t, v in zip(table['t_s'], table['separate'])
            if start < t <= end and v is not None]
    n = sum(1 for a, b in zip(seen, seen[1:]) if a != b)
    return 60 * n / (end - start)


def separate(result, claim):
    """How many streams are separate, over the time."""
    start, end = window(result, claim)
    table = result.senders.get(claim['flow'])
    if table is None:
        return None
    rows = [(t, n) for t, n in zip(table['t_s'], table['separate'])
            if start < t <= end and n is not None]
    if not rows:
        return None
    spans = zip(rows, [t for t, _ in rows[1:]] + [end])
    return sum(n * (until - t) for (t, n), until in spans) / (end - rows[0][0])


def reaction(result, claim):
    """Seconds from the beginning of the 100 ms in which the first packet was
    lost, after from_s, until the sender lowers its target."""
    start, end = window(result, claim)
    flow = result.flows.get(claim['flow'])
    table = result.senders.get(claim['flow'])
    if flow is None or table is None:
        return None
    lost = next((t for t, n in zip(flow['t_s'], flow['lost_packets'])
                 if start < t <= end and n), None)
    if lost is None:
        return None
    before = None
    for t, target in zip(table['t_s'], table['target_bps']):
        if t >= lost - 0.1 and before is not None and target < before:
            return t - lost + 0.1
        before = target
    return math.inf


def halving_wait(result, claim):
    """The longest wait, after from_s and the time that a feedback is under
    way, from one halving of the target to the next, down to of_bps, in
    max(4R, 2s/X), where RFC 5348 has a halving after each of them.  Senders
    do not tell of changes below 5 %."""
    start, end = window(result, claim)
    table = result.senders.get(claim['flow'])
    run = result.run
    if table is None:
        return None
    link = run.links[claim.get('link') or next(iter(run.links))]
    start += scenario.at(link['delay_ms'], start) / 1e3
    segment_bits = 8 * (run.flows[claim['flow']]['segment_bytes'] + 40)
    rows = list(zip(table['t_s'], table['target_bps'], table['rtt_ms']))
    x, rtt_ms = next(((x, r) for t, x, r in reversed(rows) if t <= start),
                     (None, None))
    if not x:
        return None
    longest, since = 0.0, start
    for t, target, _ in rows:
        if not start < t <= end or target > 1.05 * x / 2:
            continue
        longest = max(longest, (t - since)
                      / max(4 * rtt_ms / 1e3, 2 * segment_bits / x))
        if target <= claim['of_bps']:
            return longest
        x, since = target, t
    return math.inf


def sender_events(result, claim):
    """How often the flow's sender (all senders that adapt) told of an event
    (circuit breaker, ...)."""
    start, end = window(result, claim)
    names = [claim['flow']] if 'flow' in claim else [
        n for n, f in result.run.bundles.items() if f['strategy'] == 'dpm']
    tables = [result.senders[n] for n in names if n in result.senders]
    if not tables:
        return None
    return sum(1 for table in tables
               for t, e in zip(table['t_s'], table['event'])
               if start < t <= end and e == claim['event'])


def event_time(result, claim):
    """Seconds from from_s until the flow's sender tells of an event."""
    start, end = window(result, claim)
    table = result.senders.get(claim['flow'])
    if table is None:
        return None
    return next((t - start for t, e in zip(table['t_s'], table['event'])
                 if start < t <= end and e == claim['event']), math.inf)


def _heard(result, claim, column):
    start, end = window(result, claim)
    table = result.listener.get(claim['flow'])
    if table is None:
        return []
    return [v for t, v in zip(table['t_s'], table[column])
            if start < t <= end and v is not None]


def talkers_apart(result, claim):
    """Talkers whom the listener hears from their own places, in the mean."""
    return mean(_heard(result, claim, 'separate'))


def talkers_missing(result, claim):
    """Talkers whom the listener does not hear at all, in the mean."""
    heard = mean(_heard(result, claim, 'heard'))
    streams = result.run.flows[claim['flow']]['streams']
    return None if heard is None else streams - heard


def gaps_per_minute(result, claim):
    """Gaps of 20 ms to 2 s in what is heard of one talker, per minute."""
    heard = sum(_heard(result, claim, 'heard'))
    gaps = sum(_heard(result, claim, 'gaps'))
    return 60 * gaps / heard if heard else None


def pesq(result, claim):
    """Speech quality of the first talker (PESQ, MOS-LQO), in the mean."""
    return mean(_heard(result, claim, 'pesq'))


def ear_delay(result, claim):
    """Mouth-to-ear delay, median, in ms."""
    return quantile(_heard(result, claim, 'delay_ms'), 0.5)


MEASURES = {f.__name__: f for f in (
    rate, rate_of, rate_mean, rate_least, rates_told, rtcp_share, regain, kept, filled, delay, share, share_error, ratio, ratio_least, ratio_most, jain, cov,
    cov_ratio, loss, loss_in_all, worst_loss, worst_stream_error, worst_spread,
    utilisation, utilisation_least, queue_median, queue_95, reach, settle_down,
    changes_per_minute, separate, reaction, halving_wait, event_time, sender_events,
    talkers_apart, talkers_missing, gaps_per_minute, pesq, ear_delay)}


def applies(table, result):
    """Whether a claim or figure is about this result: `when` says."""
    return all(result.run.choice.get(a) in (v if isinstance(v, list) else [v])
               for a, v in table.get('when', {}).items())


def for_choice(claim, choice):
    """The claim as it is about one choice of its table's axis: the paper's
    number may be one of each, and the target one of those that are `asked`."""
    here = dict(claim)
    values = list(choice.values())
    if isinstance(claim.get('paper'), dict):
        here['paper'] = next((claim['paper'][v] for v in values
                              if v in claim['paper']), '')
    if 'asked' in claim and not set(claim['asked']) & set(values):
        here.pop('show', None)
        here.pop('aim', None)
    return here


def verdict(value, claim, key):
    """Whether a value is inside a claim's range `key` (show or aim)."""
    if value is None or key not in claim:
        return None
    low, high = claim[key]
    return low - 1e-9 <= value <= high + 1e-9
