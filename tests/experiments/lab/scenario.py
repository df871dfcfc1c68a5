# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenario files: what they may say, and the runs that come of them.

A scenario is a TOML file (README.md shows one).  It describes links, flows,
figures and claims once; `vary` axes and seeds multiply it into runs, each of
which any runner can take.
"""
import copy
import dataclasses
import itertools
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / 'scenarios'
TRACES = FOLDER.parent / 'traces'

TOP = {'title', 'source', 'text', 'duration_s', 'seeds', 'short', 'link',
       'flow', 'vary', 'figure', 'claim', 'runners', 'suite', 'held_out',
       'time_scale',            # {runner = factor} for those that are slow
       'note',                  # what is not as the source has it, and why
       'breaker'}               # "trips" where RFC 8083's is to, always
SHORT = {'time_scale', 'seeds'}
LINK = {
    'from': 'near', 'to': 'far',
    'rate_bps': None,           # a staircase: number or [[t_s, number], ...]
    'back_rate_bps': None,      # the other direction; None = rate_bps
    'delay_ms': 0.0,            # one way; staircase
    'loss': 0.0,                # random, in [0, 1]; staircase
    'back_loss': None,          # the other direction; None = loss
    'queue': 'droptail',        # or red, codel, fq_codel, pie, cake (the kernel's), or
                                # class: libfairmix's (net/linkqueue.c)
    'queue_bytes': None, 'queue_packets': None, 'queue_ms': None,
    'red_min_bytes': None, 'red_max_bytes': None, 'red_probability': 0.1,
    'burst_bytes': 1600,        # what a link that was not used passes at once
    'ecn': False,               # red, codel, fq_codel or pie marks, and all flows
                                # take marks
    'wander': None,             # what the way there adds to delay_ms, packet by packet, in
                                # order: "even:30" (an evenly random part of 30 ms),
                                # "bursts:40" (held until a multiple of 40 ms), a trace
                                # of traces/, or a made-up one ("syn_wifi")
    'class': None,              # of queue = "class": {discipline = fifo, red or
                                # cbt; red_min, red_max, marked, other in
                                # packets; red_p, weight, threshold_weight}
}
MARKING = ('red', 'codel', 'fq_codel', 'pie')
QUEUES = ('droptail', *MARKING, 'cake', 'class')
CLASS_QUEUE = {
    'discipline': 'cbt', 'red_min': 5, 'red_max': 15, 'red_p': 0.1,
    'weight': 0.002, 'marked': 8, 'other': 2, 'threshold_weight': 0.0625,
}
FLOW = {
    'kind': None,               # bundle, peer, tcp, cbr
    'from': 'near', 'to': 'far',
    'start_s': 0.0, 'stop_s': None,
    'access_delay_ms': 0.0,     # one way, before the first link
    'label': None,
}
KINDS = {
    'bundle': {
        'strategy': 'dpm',      # dpm, forward-all, mix-all, top-3; runner kernel:
                                # paced, small packets at the target's rate
        'controller': 'dpm',    # the class's name in libfairmix, or a peer
        'segment_bytes': 1460,  # of the TCP equation; 0: the true packet's
        'policy': 'aggressive', # tfrcrate's, and its max-pacing-delay, in ms
        'pacing_ms': 0,
        'streams': 8,
        'codec': 'pcmu',        # pcmu, opus
        'stream_bps': 78400,    # of one stream, on the wire; opus: the most
        'mix_bitrate_bps': None,    # of a mix's payload: [least, most];
                                # None: 64000 (pcmu), [12000, 48000] (opus)
        'mix_packet_s': None,   # None: 0.04 (pcmu: a mix of eight then costs
                                # a stream's 78.4 kbit/s), 0.02 (opus)
        'headroom': 0.0,        # partialmix's property
        'ear': None,            # tones, speech: the listener's audio is kept
                                # and measured (lab/listen.py)
        'ear_latency_ms': 20,   # how late a packet may be for the listener
                                # before the playout delay grows
        'never_mix': 0,         # so many, the first, stay separate at any target
        'repair': False,        # what was lost arrives with the next packet, after feedback
        'pause_s': None,        # [[from_s, to_s], ...]: nobody speaks
        'jitter_ms': 0.0,       # a talker's packet reaches the mixer late by
                                # an evenly random part of it
        'ignore_feedback': False,
    },
    'tcp': {
        'cc': 'reno',           # reno, cubic, bbr
        'mss': None,            # as in ip-route(8): advmss
        'on_off': None,         # {bytes = [least, most], idle_s = mean}
        'web': None,            # {users, bytes = [least, most], shape, idle_s,
                                # initcwnd, rto_min}: Pareto sizes, a connection
                                # each; the last two as in ip-route(8)
    },
    'cbr': {
        'rate_bps': None,       # staircase, on the wire
        'packet_bytes': 218,    # on the wire
        'burst': 1,             # so many packets at a time, as a frame of video
        'marked': False,        # for queue = "class"
        'jitter_intervals': 1.0,    # a packet is late by an evenly random
                                # part of so many intervals (at most 1)
    },
}
# A sender to a multicast group, and those that listen to it.  The tree is what the
# links are; `to` of the sender is nobody.  flows.csv has a flow NAME of what it
# sends and NAME-rtcp of the group's RTCP; senders.csv tells in `separate` how many
# receivers it knows, in `mixes` how many rates came.
KINDS['multicast'] = {
    'algorithm': 'asmp-fair',   # asmp
    'smooth': True,             # asmp: False: without (14), as in figure 4
    'initial_bps': 64_000, 'max_bps': 10_000_000,
    'packet_bytes': 1500,       # on the wire; 0: one each packet_ms, as voice
    'packet_ms': 20,
    'min_interval_s': 5,        # of RTCP
    'early': False,             # reports when something is lost (RFC 4585)
    'rounds': False,            # asmp-fair: a turn for each receiver every 5 s
}
# A sender with alsrtcp; alsrouter stands in front of the links in its way (lab/als.py)
KINDS['als'] = {
    'rule': 'ours',             # paper, ours
    'max_bps': 10_000_000,
    'packet_bytes': 1000,       # on the wire
    'memory_s': None,           # of reports; None: the rule's
    'layers': 1,
    'branches': {},             # to a group: {router = when its listener joins}
}
KINDS['listener'] = {
    'of': None,                 # the multicast flow
    'count': 1,                 # so many of them at one place
    'loss': 0.0,                # each one's own, random
}
# A program of others in a bundle's place, and so with a bundle's keys
KINDS['peer'] = {
    **KINDS['bundle'],
    'program': None,            # its name for `run.py --peer NAME=PATH`
    'command': '{path}',        # how to call it; {tools}: our net/ (README.md)
    'path': None,               # of the program; run.py fills it in
    'least_bps': 10_000,        # its floor: none of its own choosing
}
STAIRCASES = {('link', 'rate_bps'), ('link', 'back_rate_bps'),
              ('link', 'delay_ms'), ('link', 'loss'), ('link', 'back_loss'),
              ('flow', 'rate_bps')}
CLAIM = {'text', 'measure', 'flow', 'against', 'from_s', 'to_s', 'bin_s',
         'paper', 'show', 'aim', 'when', 'test', 'unit', 'note', 'link',
         'column', 'stage_s', 'settle', 'of', 'of_bps', 'event', 'name',
         'table', 'quoted',
         'label',               # in a figure
         'before', 'with',      # another window, other flows that count
         'asked'}               # of which choices the target is asked
BREAKER = {'text': 'trips of the circuit breaker (RFC 8083)',
           'measure': 'sender_events', 'event': 'breaker'}
FIGURE = {'name', 'kind', 'title', 'caption', 'paper', 'flows', 'bin_s', 'y',
          'when', 'axis', 'from_s', 'to_s', 'y_max', 'y_span', 'stage_s', 'guides',
          'claim', 'claims', 'panels', 'peers'}


class ScenarioError(Exception):
    """Something in a scenario file that makes no sense; says where."""


def staircase(value, what='value'):
    """A number or [[t_s, number], ...] as a list of (t_s, number)."""
    if isinstance(value, bool):
        raise ScenarioError(f'{what}: {value!r} is no number')
    if isinstance(value, (int, float)):
        return [(0.0, value)]
    try:
        steps = [(float(t), v) for t, v in value]
    except (TypeError, ValueError) as e:
        raise ScenarioError(f'{what}: {value!r} is neither a number nor '
                            '[[t_s, number], ...]') from e
    if not steps or steps[0][0] != 0.0 or steps != sorted(steps):
        raise ScenarioError(f'{what}: steps must start at 0 s and be in order')
    return steps


def at(steps, t_s):
    """The value of a staircase at a time."""
    value = steps[0][1]
    for when, v in steps:
        if when <= t_s:
            value = v
    return value


def mix_wire_bps(flow, bitrate_bps):
    """What a mix of all streams takes on the wire, contributors named."""
    n = min(flow['streams'], 15)
    levels = 0 if flow['codec'] == 'pcmu' else 4 + (n + 1 + 3) // 4 * 4
    header = 20 + 8 + 12 + 4 * n + levels
    return bitrate_bps + header * 8 / flow['mix_packet_s']


def series(wander):
    """What net/delay-series.h is to open; a trace's name may be a path without its ending."""
    if re.fullmatch(r'(even|bursts):\d+(\.\d+)?|syn_\w+', wander):
        return wander
    return str(TRACES / f'{wander}.csv.gz')


def merge(base, over):
    """A copy of table base with table over laid on it."""
    out = copy.deepcopy(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        else:
            out[key] = copy.deepcopy(value)
    return out


def _known(table, allowed, where):
    unknown = set(table) - set(allowed)
    if unknown:
        raise ScenarioError(f'{where}: unknown {", ".join(sorted(unknown))}; '
                            f'known are {", ".join(sorted(allowed))}')


@dataclasses.dataclass
class Run:
    """One combination of a scenario's axes and one seed: what a runner runs."""
    scenario: str
    choice: dict                # axis -> value
    seed: int
    duration_s: float
    links: dict
    flows: dict
    time_scale: float = 1.0

    @property
    def name(self):
        axes = [f'{axis}={value}' for axis, value in self.choice.items()]
        return '/'.join([self.scenario, ','.join(axes) or 'plain',
                         f'seed={self.seed}'])

    @property
    def ecn(self):
        """Whether a queue on the way marks: then all flows take marks."""
        return any(link['ecn'] for link in self.links.values())

    @property
    def wanders(self):
        """Whether a link's delay changes with each packet."""
        return any(link['wander'] for link in self.links.values())

    @property
    def bundles(self):
        return {n: f for n, f in self.flows.items() if f['kind'] == 'bundle'}

    @property
    def peers(self):
        return {n: f for n, f in self.flows.items() if f['kind'] == 'peer'}


class Scenario:
    """A scenario file, checked."""

    def __init__(self, path):
        path = pathlib.Path(path)
        if not path.is_file() and path.suffix != '.toml':
            path = FOLDER / f'{path}.toml'
        try:
            raw = tomllib.loads(path.read_text(encoding='utf-8'))
        except FileNotFoundError as e:
            raise ScenarioError(f'no scenario {path}') from e
        except tomllib.TOMLDecodeError as e:
            raise ScenarioError(f'{path.name}: {e}') from e
        self.path = path
        self.name = path.stem
        self.raw = raw
        where = path.name
        _known(raw, TOP, where)
        for key in ('title', 'duration_s', 'link', 'flow'):
            if key not in raw:
                raise ScenarioError(f'{where}: {key} is missing')
        self.title = raw['title']
        self.source = raw.get('source', '')
        self.text = ' '.join(raw.get('text', '').split())
        self.note = ' '.join(raw.get('note', '').split())
        self.runners = raw.get('runners', ['ns3', 'ns2', 'kernel', 'uml',
                                        'netns'])
        self.suite = raw.get('suite', 'beyond')
        self.held_out = raw.get('held_out', False)
        self.short = raw.get('short', {})
        _known(self.short, SHORT, f'{where}: short')
        self.axes = {a: list(v) for a, v in raw.get('vary', {}).items()}
        self.figures = raw.get('figure', [])
        self.claims = raw.get('claim', []) + [self._breaker()]
        for n, figure in enumerate(self.figures):
            _known(figure, FIGURE, f'{where}: figure {n + 1}')
        for n, claim in enumerate(self.claims):
            _known(claim, CLAIM, f'{where}: claim {n + 1}')
        for part in (*self.figures, *self.claims):
            self._check_choice(part.get('when', {}), where)
        self.runs()             # complain now

    def _check_choice(self, when, where):
        for axis, values in when.items():
            values = values if isinstance(values, list) else [values]
            _known(values, self.axes.get(axis, ()), f'{where}: when {axis}')

    def _breaker(self):
        """A claim of all scenarios, and a test wherever they are one."""
        if self.raw.get('breaker') == 'trips':
            return {**BREAKER, 'show': [1, 100],
                    'test': [v for axis in self.axes.values() for v in axis]}
        return {**BREAKER, 'show': [0, 0], 'test': ['dpm', 'tfrc', 'shortq']}

    def scale(self, short, runner):
        """What a runner multiplies every time by."""
        if short:
            return self.short.get('time_scale', 1.0)
        return self.raw.get('time_scale', {}).get(runner, 1.0)

    def runs(self, short=False, seeds=None, only=None, runner=None):
        """All runs, or those where choice agrees with only (axis -> value)."""
        scale = self.scale(short, runner)
        if seeds is None:
            seeds = self.raw.get('seeds', [1])
            if short:
                seeds = self.short.get('seeds', seeds[:1])
        runs = []
        for values in itertools.product(*self.axes.values()):
            choice = dict(zip(self.axes, values))
            if only and any(choice[a] not in v.split('|')
                            for a, v in only.items() if a in choice):
                continue
            table = {k: self.raw[k] for k in ('link', 'flow', 'duration_s')}
            for axis, value in choice.items():
                over = self.raw['vary'][axis][value]
                _known(over, set(table),
                       f'{self.path.name}: vary.{axis}.{value}')
                table = merge(table, over)
            for seed in seeds:
                runs.append(self._run(table, choice, seed, scale))
        return runs

    def _run(self, table, choice, seed, scale):
        links = {n: self._link(n, t, scale) for n, t in table['link'].items()}
        flows = {n: self._flow(n, t, scale) for n, t in table['flow'].items()
                 if t.get('kind') != 'none'}
        nodes = {link[end] for link in links.values() for end in ('from', 'to')}
        for name, flow in flows.items():
            for end in ('from', 'to'):
                if flow[end] not in nodes:
                    raise ScenarioError(f'{self.path.name}: flow {name} ends '
                                        f'at {flow[end]}, where no link is')
        return Run(self.name, choice, seed,
                   round(table['duration_s'] * scale, 3), links, flows, scale)

    def _scaled(self, table, defaults, what, where, scale):
        _known(table, defaults, where)
        out = {**copy.deepcopy(defaults), **copy.deepcopy(table)}
        for key in defaults:
            if (what, key) in STAIRCASES and out[key] is not None:
                out[key] = [(round(t * scale, 3), v) for t, v in
                            staircase(out[key], f'{where}: {key}')]
        for key in ('start_s', 'stop_s'):
            if out.get(key) is not None:
                out[key] = round(out[key] * scale, 3)
        if out.get('pause_s'):
            out['pause_s'] = [[round(t * scale, 3) for t in span]
                              for span in out['pause_s']]
        return out

    def _link(self, name, table, scale):
        where = f'{self.path.name}: link {name}'
        link = self._scaled(table, LINK, 'link', where, scale)
        if link['rate_bps'] is None:
            raise ScenarioError(f'{where}: rate_bps is missing')
        if link['back_rate_bps'] is None:
            link['back_rate_bps'] = link['rate_bps']
        if link['back_loss'] is None:
            link['back_loss'] = link['loss']
        if link['queue'] not in QUEUES:
            raise ScenarioError(f'{where}: queue {link["queue"]!r} is none of '
                                f'{", ".join(QUEUES)}')
        if (link['queue'] == 'class') != (link['class'] is not None):
            raise ScenarioError(f'{where}: queue = "class" and class go '
                                'together')
        if link['class'] is not None:
            link['class'] = {**CLASS_QUEUE, **link['class']}
            _known(link['class'], CLASS_QUEUE, f'{where}: class')
        if link['wander']:
            self._check_wander(link, where)
        given = [k for k in ('queue_bytes', 'queue_packets', 'queue_ms')
                 if link[k] is not None]
        if len(given) != 1:
            raise ScenarioError(f'{where}: give one of queue_bytes, '
                                'queue_packets, queue_ms')
        if link['queue_ms'] is not None:
            link['queue_bytes'] = int(link['queue_ms'] / 1000
                                      * link['rate_bps'][0][1] / 8)
        if link['ecn'] and link['queue'] not in MARKING:
            raise ScenarioError(f'{where}: ecn goes with queue = '
                                f'{", ".join(MARKING)}')
        if link['queue'] == 'red' and not (link['red_min_bytes']
                                           and link['red_max_bytes']):
            raise ScenarioError(f'{where}: red needs red_min_bytes and '
                                'red_max_bytes')
        return link

    @staticmethod
    def _check_wander(link, where):
        what = series(link['wander'])
        if what.startswith('/') and not pathlib.Path(what).is_file():
            raise ScenarioError(f'{where}: wander {link["wander"]!r} is neither even:MS nor '
                                'bursts:MS nor a trace')
        if link['class'] is not None:
            raise ScenarioError(f'{where}: wander and queue = "class" do not go '
                                'together')

    def _flow(self, name, table, scale):
        where = f'{self.path.name}: flow {name}'
        kind = table.get('kind')
        if kind not in KINDS:
            raise ScenarioError(f'{where}: kind {kind!r} is not one of '
                                f'{", ".join(KINDS)}')
        flow = self._scaled(table, {**FLOW, **KINDS[kind]}, 'flow', where,
                            scale)
        if kind == 'cbr' and flow['rate_bps'] is None:
            raise ScenarioError(f'{where}: rate_bps is missing')
        if kind == 'multicast' or flow.get('branches'):
            flow['to'] = flow['from']
        if kind == 'als':
            flow['branches'] = {router: round(t * scale, 3)
                                for router, t in flow['branches'].items()}
        if kind == 'listener':
            flow['from'] = flow['to']
        if kind == 'listener' and flow['of'] is None:
            raise ScenarioError(f'{where}: of is missing')
        if kind == 'multicast' and flow['algorithm'] not in ('asmp', 'asmp-fair'):
            raise ScenarioError(f'{where}: algorithm {flow["algorithm"]!r} is '
                                'unknown')
        if kind == 'peer' and flow['program'] is None:
            raise ScenarioError(f'{where}: program is missing')
        if kind in ('bundle', 'peer'):
            if flow['strategy'] not in ('dpm', 'forward-all', 'mix-all',
                                        'top-3', 'paced'):
                raise ScenarioError(f'{where}: strategy '
                                    f'{flow["strategy"]!r} is unknown')
            if flow['ear'] not in (None, 'tones', 'speech'):
                raise ScenarioError(f'{where}: ear {flow["ear"]!r} is neither '
                                    'tones nor speech')
            fixed = flow['codec'] == 'pcmu'
            if flow['mix_bitrate_bps'] is None:
                flow['mix_bitrate_bps'] = [64000, 64000] if fixed \
                    else [12000, 48000]
            if flow['mix_packet_s'] is None:
                flow['mix_packet_s'] = 0.04 if fixed else 0.02
        return flow


def load_all(suite=None):
    """Every scenario of the folder, in the order of their names."""
    scenarios = [Scenario(p) for p in sorted(FOLDER.glob('*.toml'))]
    return [s for s in scenarios if suite is None or s.suite == suite]
