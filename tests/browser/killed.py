#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A test of several machines that is killed leaves no processes, and no folders after
the next one has begun.

usage: killed.py; exit status 77 where one may not make namespaces of networks and of
process numbers
"""
import os
import pathlib
import subprocess
import sys
import time

from leftovers import make_folder, remove_abandoned
from network import ALONE, OWN, Network, own_network, works

PATIENCE_S = 60


def victim(token):
    """A process of its own session, as servers that scripts start, and one that a
    machine started, until it is killed."""
    own_network()
    network, folder = Network(), make_folder('room')
    with subprocess.Popen(['sh', '-c', f'setsid sleep 86400.{token} & wait']):
        network.start(network.machine(), f'sleep 86401.{token}')
        print(folder, flush=True)
        time.sleep(86400)


def living(token):
    """Their command lines"""
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
        try:
            words = path.read_bytes().decode(errors='replace').split('\0')
        except OSError:
            continue
        found += [words] if words[0] == 'sleep' and words[1].endswith(f'.{token}') else []
    return found


def wait_for(is_so, otherwise):
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            sys.exit(otherwise())
        time.sleep(0.01)


def main():
    if sys.argv[1:]:
        victim(sys.argv[1])
    if not works(OWN + ALONE):
        print('no process numbers of its own here')
        sys.exit(77)
    token = os.getpid()
    with subprocess.Popen([sys.executable, __file__, str(token)], text=True,
                          stdout=subprocess.PIPE) as process:
        said = process.stdout.readline().strip()
        if process.poll() == 77 or not said.startswith('/'):
            print(said)
            sys.exit(process.wait())
        wait_for(lambda: len(living(token)) == 2, lambda: f'only {living(token)} started')
        process.kill()
    wait_for(lambda: not living(token), lambda: f'it left {living(token)}')
    # another test may be about to remove it
    wait_for(lambda: remove_abandoned() or not os.path.exists(said),
             lambda: f'{said} is still there')
    print('nothing is left')


main()
