# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run as plain statements, for the programs that are not in Python
(ns3/plan.h, net/linkemu.c, net/bundle.c)."""
from lab import scenario

PACKET_S = {'pcmu': 178 / 8000, 'opus': 0.02}


def _steps(steps):
    return ','.join(f'{t:g}:{float(v):.10g}' for t, v in steps)


def _speaking(flow):
    steps = [(0, 1)]
    for start, end in flow['pause_s'] or []:
        steps += [(start, 0), (end, 1)]
    return _steps(steps)


def least_bps(flow):
    """Below this no media makes sense: neither a stream nor a mix fits."""
    return min(flow['stream_bps'],
               scenario.mix_wire_bps(flow, flow['mix_bitrate_bps'][0]))


def plan(run):
    """The run as statements for fairmix-ns3 (ns3/plan.h)."""
    out = [f'run name={run.name} duration_s={run.duration_s} seed={run.seed}']
    for name, link in run.links.items():
        out.append(' '.join(
            [f'link name={name} from={link["from"]} to={link["to"]}',
             f'queue={link["queue"]}',
             f'queue_bytes={link["queue_bytes"] or 0}',
             f'queue_packets={link["queue_packets"] or 0}',
             f'red_min_bytes={link["red_min_bytes"] or 0}',
             f'red_max_bytes={link["red_max_bytes"] or 0}',
             f'red_probability={link["red_probability"]}',
             f'ecn={int(link["ecn"])}',
             f'wander={scenario.series(link["wander"]) if link["wander"] else "none"}']
            + [f'{k}={_steps(link[k])}' for k in
               ('rate_bps', 'back_rate_bps', 'delay_ms', 'loss', 'back_loss')]))
    for name in run.flows:
        out.append(flow_statement(run, name))
    return '\n'.join(out) + '\n'


def flow_statement(run, name):
    """A flow's line of the plan."""
    flow = run.flows[name]
    line = (f'{flow["kind"]} name={name} from={flow["from"]} '
            f'to={flow["to"]} start_s={flow["start_s"]} '
            f'stop_s={flow["stop_s"] or run.duration_s} '
            f'access_delay_ms={flow["access_delay_ms"]} ')
    if flow['kind'] == 'tcp':
        files = flow['on_off'] or {'bytes': [0, 0], 'idle_s': 0}
        line += (f'cc={flow["cc"]} least_bytes={files["bytes"][0]} '
                 f'most_bytes={files["bytes"][1]} '
                 f'idle_s={files["idle_s"]}')
    elif flow['kind'] == 'multicast':
        line += (f'algorithm={flow["algorithm"]} '
                 f'smooth={int(flow["smooth"])} '
                 f'initial_bps={flow["initial_bps"]} '
                 f'max_bps={flow["max_bps"]} '
                 f'packet_bytes={flow["packet_bytes"]} '
                 f'packet_s={flow["packet_ms"] / 1e3:g} '
                 f'min_interval_s={flow["min_interval_s"]} '
                 f'early={int(flow["early"])} '
                 f'rounds={int(flow["rounds"])}')
    elif flow['kind'] == 'als':
        line += f'rule={flow["rule"]} layers={flow["layers"]}'
    elif flow['kind'] == 'listener':
        line += (f'of={flow["of"]} count={flow["count"]} '
                 f'loss={flow["loss"]}')
    elif flow['kind'] == 'cbr':
        line += (f'packet_bytes={flow["packet_bytes"]} '
                 f'jitter_intervals={flow["jitter_intervals"]} '
                 f'rate_bps={_steps(flow["rate_bps"])}')
    else:
        least, most = flow['mix_bitrate_bps']
        line += (f'strategy={flow["strategy"]} '
                 f'controller={flow["controller"]} '
                 f'segment_bytes={flow["segment_bytes"]} '
                 f'streams={flow["streams"]} '
                 f'stream_bps={flow["stream_bps"]} '
                 f'packet_s={PACKET_S[flow["codec"]]:.9f} '
                 f'jitter_s={flow["jitter_ms"] / 1e3:g} '
                 f'mix_min_bitrate_bps={least} '
                 f'mix_max_bitrate_bps={most} '
                 f'mix_packet_s={flow["mix_packet_s"]} '
                 f'mix_levels={int(flow["codec"] != "pcmu")} '
                 f'min_bps={int(least_bps(flow))} '
                 f'headroom={flow["headroom"]} '
                 f'speaking={_speaking(flow)} '
                 f'ignore_feedback={int(flow["ignore_feedback"])}')
    return line
