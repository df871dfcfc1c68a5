# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runner `ns2`: ns-2's own TFRC-SP and TCP (tests/peers/tfrc-sp.tcl).

A model to compare ours with: choices of `controller = "tfrc"` alone, on one
drop-tail link, alone or beside Renos or CUBICs.
"""
import os
import pathlib
import shutil

from lab.runner import Unavailable

MODEL = pathlib.Path(__file__).resolve().parents[2] / 'peers' / 'tfrc-sp.tcl'


def check(_build):
    if not shutil.which('ns'):
        raise Unavailable('ns is missing: apt-get install ns2')


def refuses(run):
    """Why it cannot run this; None if it can."""
    bundles = list(run.bundles.values())
    tcps = [f for f in run.flows.values() if f['kind'] == 'tcp']
    links = list(run.links.values())
    kinds = {f['cc'] for f in tcps}
    simple = (len(bundles) == 1 and len(links) == 1 and len(kinds) <= 1
              and len(run.flows) == 1 + len(tcps)
              and kinds <= {'reno', 'cubic'}
              and not any(f['on_off'] or f['from'] != 'near' for f in tcps)
              and links[0]['queue'] == 'droptail'
              and not run.wanders
              and not any(v for _, v in links[0]['loss'])
              and len(links[0]['rate_bps']) == len(links[0]['delay_ms']) == 1)
    if not simple or bundles[0]['controller'] != 'tfrc':
        return 'ns-2 has TFRC-SP on one drop-tail link, beside Renos or CUBICs'
    return None


def prepare(run, folder, _build):
    name, flow = next(iter(run.bundles.items()))
    tcps = {n: f for n, f in run.flows.items() if f['kind'] == 'tcp'}
    link_name, link = next(iter(run.links.items()))
    words = {
        'seconds': run.duration_s, 'seed': run.seed,
        'rate_bps': link['rate_bps'][0][1],
        'delay_s': link['delay_ms'][0][1] / 1e3,
        'queue_bytes': link['queue_bytes'] or 0,
        'queue_packets': link['queue_packets'] or 0, 'link': link_name,
        'flow': name, 'tcp': ','.join(tcps) or 'tcp',
        'tcp_start_s': ','.join(str(f['start_s']) for f in tcps.values()) or '0',
        'cc': next((f['cc'] for f in tcps.values()), 'none'),
        'start_s': flow['start_s'],
        'packet_bytes': round(flow['stream_bps'] * 0.02 / 8),
        'app_bps': flow['streams'] * flow['stream_bps']}
    (folder / 'words').write_text('\n'.join(
        f'{k}={v}' for k, v in words.items()) + '\n', encoding='ascii')
    return ([shutil.which('ns'), str(MODEL), 'run',
             *(f'{k}={v}' for k, v in words.items())], dict(os.environ))


def finish(folder):
    log = (folder / 'runner.log').read_text(encoding='utf-8', errors='replace')
    if not (folder / 'flows.csv').exists():
        return log.strip()[-400:] or 'no flows.csv'
    return None


def versions():
    return {'ns2': '2.35'}
