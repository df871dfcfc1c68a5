#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/service: the ping tells a mixer from none, a mixer that is stopped as the
container is says goodbye, a node's figures are what Prometheus reads, and the files say
what exists.

  service.py SOURCE
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

FOLDER = pathlib.Path(sys.argv[1]) / 'examples/service'
PATIENCE_S = 60


def free_port():
    """None that the system may give to somebody else meanwhile; neither UDP nor TCP has it."""
    while True:
        port = random.randrange(20000, 30000)
        with contextlib.suppress(OSError), socket.socket(type=socket.SOCK_DGRAM) as udp, \
                socket.socket(type=socket.SOCK_STREAM) as tcp:
            udp.bind(('127.0.0.1', port))
            tcp.bind(('127.0.0.1', port))
            return str(port)


def ping(port):
    return subprocess.run([sys.executable, FOLDER / 'ping.py', '127.0.0.1', port],
                          capture_output=True, text=True, timeout=PATIENCE_S)


def wait_for_answer(port):
    """A ping asks for a second; a mixer that gets no turn answers to a later one."""
    end = time.monotonic() + PATIENCE_S
    while (found := ping(port)).returncode != 0:
        assert time.monotonic() < end, found
    assert ' ms' in found.stdout, found


def launch(*elements):
    return subprocess.Popen(['gst-launch-1.0', '-m', *elements], text=True,
                            stdout=subprocess.PIPE)


def wait_for(process, text):
    for line in process.stdout:
        if text in line:
            return
    sys.exit(f'{process.args}: no {text}')


def check_goodbye():
    """As the container is stopped"""
    port = free_port()
    stop = re.search(r'^STOPSIGNAL (\w+)$', (FOLDER / 'Containerfile').read_text(),
                     re.MULTILINE).group(1)
    assert ping(port).returncode == 1
    mixer = launch('dpmmixer', 'address=127.0.0.1', f'port={port}')
    client = launch('dpmclient', f'server=127.0.0.1:{port}', '!', 'fakesink',
                    'async=false')
    try:
        wait_for(client, 'event=(string)joined')
        wait_for_answer(port)
        mixer.send_signal(getattr(signal, stop))
        wait_for(client, 'reason=(string)leave')
        mixer.wait(PATIENCE_S)
        assert ping(port).returncode == 1
    finally:
        for process in mixer, client:
            process.kill()
            process.wait()


def read_figures(port, wanted):
    """Asks until the value @wanted is there, and is not 0.  Returns all, by name."""
    from prometheus_client.parser import text_string_to_metric_families
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics') as page:
                text = page.read().decode()
        except urllib.error.URLError:
            text = ''
        samples = [s for family in text_string_to_metric_families(text)
                   for s in family.samples]
        values = {(s.name, s.labels.get('name'), s.labels.get('what')): s.value
                  for s in samples}
        if values.get(wanted):
            return values
        time.sleep(0.05)
    sys.exit(f'no {wanted}')


def check_figures():
    port, web = free_port(), free_port()
    node = subprocess.Popen(
        [sys.executable, FOLDER / 'node.py', '--metrics', web, 'address=127.0.0.1',
         f'port={port}'], text=True, stdout=subprocess.PIPE,
        env={**os.environ, 'DPM_SECRET': 'open sesame'})
    client = launch('audiotestsrc', 'is-live=true', '!', 'dpmclient',
                    'display-name=a"b', 'secret=open sesame', f'server=127.0.0.1:{port}',
                    '!', 'fakesink', 'async=false')
    try:
        wait_for(node, 'event=(string)joined')
        values = read_figures(web, ('dpm_neighbour_packets_total', 'a"b', 'received'))
        assert values['dpm_neighbours', None, None] == 1
        # who got no turn for 10 s was taken for gone, and came again
        assert values['dpm_joined_total', None, None] \
            == 1 + values['dpm_left_total', None, None], values
        read_figures(web, ('dpm_neighbour_target_bps', 'a"b', None))
        node.send_signal(signal.SIGTERM)
        wait_for(client, 'reason=(string)leave')
        assert node.wait(PATIENCE_S) == 0
    finally:
        for process in node, client:
            process.kill()
            process.wait()


def check_refusal(why, *arguments):
    """A node that cannot be what it was told to be ends at once, and says why."""
    run = subprocess.run([sys.executable, FOLDER / 'node.py', 'address=127.0.0.1', *arguments],
                         capture_output=True, text=True, timeout=PATIENCE_S,
                         env={**os.environ, 'G_DEBUG': ''})
    assert run.returncode == 1 and why in run.stderr, (arguments, run)
    assert 'Traceback' not in run.stderr, run.stderr


def check_refusals():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
        udp.bind(('127.0.0.1', 0))
        tcp.bind(('127.0.0.1', 0))
        tcp.listen()
        taken, web = udp.getsockname()[1], str(tcp.getsockname()[1])
        check_refusal('in use', '--metrics', free_port(), f'port={taken}')
        check_refusal('in use', '--metrics', web, 'port=0')
    check_refusal('50o4', '--metrics', free_port(), 'port=50o4')
    check_refusal('out of range', '--metrics', free_port(), 'port=70000')
    check_refusal('ports', '--metrics', free_port(), 'ports=5004')


def properties():
    text = subprocess.run(['gst-inspect-1.0', 'dpmmixer'], capture_output=True,
                          text=True, timeout=PATIENCE_S, check=True).stdout
    return set(re.findall(r'^  (\S+) +: ', text, re.MULTILINE))


def check_arguments(arguments, known):
    for argument in arguments:
        assert argument.split('=')[0] in known, argument


def check_compose(yaml, known):
    services = yaml.safe_load((FOLDER / 'compose.yaml').read_text())['services']
    for service in services.values():
        check_arguments(service['command'], known)
        assert set(service.get('depends_on', [])) <= set(services)


def check_kubernetes(yaml, known):
    items = list(yaml.safe_load_all((FOLDER / 'kubernetes.yaml').read_text()))
    services = {i['metadata']['name']: i['spec'] for i in items if i['kind'] == 'Service'}
    for item in items:
        if item['kind'] != 'StatefulSet':
            continue
        spec = item['spec']
        labels = spec['template']['metadata']['labels']
        container = spec['template']['spec']['containers'][0]
        check_arguments(container['args'], known)
        assert spec['selector']['matchLabels'] == labels
        assert services[spec['serviceName']]['selector'] == labels
        # what makes the SRV records `_dpm._udp`
        port = services[spec['serviceName']]['ports'][0]
        assert (port['name'], port['protocol']) == ('dpm', 'UDP')
        assert container['ports'][0]['containerPort'] == port['port'] == 5004
        for argument in container['args']:
            if argument.startswith('parent='):
                assert argument.split('=')[1] in services


def lost(said, understood, path=''):
    """What of a manifest its own tool has not understood"""
    if isinstance(said, dict):
        return [m for key in said for m in (
            lost(said[key], understood[key], f'{path}.{key}')
            if key in understood else [f'{path}.{key}'])]
    if isinstance(said, list):
        return [m for i, (a, b) in enumerate(zip(said, understood))
                for m in lost(a, b, f'{path}[{i}]')]
    return [] if said == understood else [path]


def check_by_kubectl(yaml):
    """Without a cluster: it drops fields that there are not, and fails at others' types."""
    if shutil.which('kubectl') is None:
        print('no kubectl: it is not asked')
        return
    for item in yaml.safe_load_all((FOLDER / 'kubernetes.yaml').read_text()):
        if item['kind'] != 'StatefulSet':
            continue
        told = subprocess.run(
            ['kubectl', 'set', 'image', '--local', '-f', '-', '-o', 'json',
             'mixer=another'], input=json.dumps(item), check=True, text=True,
            stdout=subprocess.PIPE).stdout
        item['spec']['template']['spec']['containers'][0]['image'] = 'another'
        assert not lost(item, json.loads(told)), lost(item, json.loads(told))


def main():
    check_goodbye()
    try:
        import prometheus_client        # noqa: F401  is it there?
        check_figures()
        check_refusals()
    except ImportError:
        print('no prometheus_client: figures are not read')
    try:
        import yaml
    except ImportError:
        print('no PyYAML: the manifests are not read')
        return
    known = properties()
    check_compose(yaml, known)
    check_kubernetes(yaml, known)
    check_by_kubectl(yaml)


main()
