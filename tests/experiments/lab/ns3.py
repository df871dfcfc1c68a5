# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runner `ns3`: libfairmix's own objects among ns-3's TCP, in virtual time.

Seconds of simulation take milliseconds; with its seed a run is exact.
"""
import os
import pathlib

from lab import plan
from lab.runner import Unavailable

def program(build):
    return (pathlib.Path(build).resolve() / 'tests' / 'experiments' / 'ns3'
            / 'fairmix-ns3')


def check(build):
    if not program(build).exists():
        raise Unavailable(
            f'{program(build)} is missing: apt-get install libns3-dev, then '
            'build (meson setup --reconfigure -Dtests=enabled build; '
            'meson compile -C build)')


def refuses(run):
    """Why it cannot run this; None if it can."""
    return 'a program of others needs real sockets' if run.peers else None


def prepare(run, folder, build):
    (folder / 'plan').write_text(plan.plan(run), encoding='ascii')
    return [str(program(build)), 'plan', '.'], dict(os.environ)


def finish(folder):
    log = (folder / 'runner.log').read_text(encoding='utf-8', errors='replace')
    return log.strip()[-400:] or None


def versions():
    header = pathlib.Path('/usr/lib/x86_64-linux-gnu')
    names = sorted(p.name for p in header.glob('libns3-core.so.*'))
    return {'ns3': names[-1].rsplit('.so.', 1)[-1] if names else 'unknown'}
