# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runner `netns`: the real pipelines in real time, for what is to be heard.

Hosts are network namespaces, the links between them a program of ours
(net/linkemu.c), so neither netem nor any other module of the kernel is needed.
Needs root.  As a program (`netns.py PLAN ...`) it is one run: it makes the
namespaces, starts the flows in their time, and takes everything away again.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

if __name__ == '__main__':
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from lab import guest, listen, network, plan, uml  # noqa: E402
from lab.runner import Unavailable  # noqa: E402


def check(build):
    if os.geteuid() != 0:
        raise Unavailable('real time needs root: network namespaces and '
                              '/dev/net/tun (use --runner uml without)')
    if not shutil.which('ip'):
        raise Unavailable('ip is missing: apt-get install iproute2')
    if subprocess.run(['unshare', '--net', 'true'], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise Unavailable('this machine allows no network namespaces')
    if not os.access('/dev/net/tun', os.R_OK | os.W_OK):
        raise Unavailable('no /dev/net/tun here')
    if not (uml.tools(build) / 'linkemu').exists():
        raise Unavailable(f'{uml.tools(build)}/linkemu is missing: build '
                              'first (meson configure build -Dtests=enabled; '
                              'meson compile -C build)')


def refuses(run):
    """Why it cannot run this; None if it can."""
    return 'delays wander in virtual time alone' if run.wanders else None


def prepare(run, folder, build):
    net = network.Network(run)
    tools = uml.tools(build)
    commands = [(t_s, host.name, line) for t_s, host, line in
                guest.flow_commands(net, tools, str(folder.resolve()))]
    listen.prepare(run, folder, build)
    for name, text in guest.databases(net).items():
        (folder / name).write_text(text, encoding='utf-8')
    (folder / 'plan').write_text(plan.plan(run), encoding='ascii')
    (folder / 'flows.json').write_text(json.dumps(
        {'tools': str(tools), 'hosts': list(net.hosts), 'commands': commands,
         'duration_s': run.duration_s}, indent=1), encoding='utf-8')
    env = dict(os.environ, OUT=str(folder.resolve()),
               GST_REGISTRY=str(uml.registry(build)),
               GST_PLUGIN_PATH=uml.plugin_path(build))
    if run.ecn:
        env['FMX_ECN'] = '1'
    return [sys.executable, str(pathlib.Path(__file__).resolve())], env


def finish(folder):
    guest.join_senders(folder)
    return None if (folder / 'rc').exists() else 'did not come to its end'


def versions():
    return {'kernel': os.uname().release}


# ---- one run ----

def stop(processes):
    for number in (signal.SIGINT, signal.SIGKILL):
        for p in processes:
            if p.poll() is None:
                p.send_signal(number)
        limit = time.monotonic() + 2
        for p in processes:
            try:
                p.wait(max(0.01, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass


class Ending:
    held, asked = False, False


def ended(*_):
    Ending.asked = True
    if not Ending.held:
        raise KeyboardInterrupt


@contextlib.contextmanager
def undisturbed():
    """Who is asked to end in here does so when this is done."""
    Ending.held = True
    try:
        yield
    finally:
        Ending.held = False
    if Ending.asked:
        raise KeyboardInterrupt


def one_run():
    what = json.loads(pathlib.Path('flows.json').read_text(encoding='utf-8'))
    prefix = f'fx{os.getpid()}-'
    made, processes = [], []
    try:
        for host in what['hosts']:
            made.append(prefix + host)  # whatever comes in between
            subprocess.run(['ip', 'netns', 'add', prefix + host], check=True)
            if 'FMX_ECN' in os.environ:
                subprocess.run(['ip', 'netns', 'exec', prefix + host, 'sysctl',
                                '-qw', 'net.ipv4.tcp_ecn=1'], check=True)
        with undisturbed():     # a process that is there is in the list
            links = subprocess.Popen([f'{what["tools"]}/linkemu', 'plan', '.',
                                      prefix], stdout=subprocess.PIPE, text=True)
            processes.append(links)
        if links.stdout.readline() != 'ready\n':
            raise RuntimeError('linkemu did not start')
        start = time.monotonic()
        os.environ['FMX_EPOCH_NS'] = str(time.time_ns())
        for t_s, host, line in what['commands']:
            time.sleep(max(0, start + t_s - time.monotonic()))
            with open(f'{host}.log', 'ab') as log, undisturbed():
                processes.append(subprocess.Popen(
                    ['ip', 'netns', 'exec', prefix + host, 'sh', '-c',
                     'exec ' + line], stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log))
        links.wait(what['duration_s'] + 30)
        print(links.stdout.read(), end='')
        if links.returncode == 0:
            pathlib.Path('rc').write_text('0\n', encoding='ascii')
    finally:
        Ending.held = True      # for good
        stop(processes)
        for ns in made:
            subprocess.run(['ip', 'netns', 'del', ns], check=False)


if __name__ == '__main__':
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ended)
    try:
        one_run()
    except KeyboardInterrupt:
        sys.exit(130)
