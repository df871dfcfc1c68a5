# SPDX-License-Identifier: LGPL-2.1-or-later
"""Firefox without a window, driven by WebDriver BiDi: JSON over a WebSocket on
loopback, at a port that Firefox chooses and says.  Its microphone is a tone that it
makes itself.  As devtools.Chromium, but for pictures.
"""
import base64
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

from devtools import Failed
from leftovers import UNTIL_WE_END, make_folder
from patience import Patience

PROGRAM = shutil.which('firefox-esr') or shutil.which('firefox')
TEXT, PING, PONG = 1, 9, 10
PREFERENCES = {
    'media.navigator.streams.fake': True,
    'media.navigator.permission.disabled': True,
    'media.peerconnection.ice.loopback': True,
    'media.peerconnection.ice.obfuscate_host_addresses': False,
    'media.autoplay.default': 0,
    'media.autoplay.blocking_policy': 0,
    'app.update.enabled': False,
    'browser.shell.checkDefaultBrowser': False,
    'datareporting.policy.dataSubmissionEnabled': False,
    'network.captive-portal-service.enabled': False,
    'network.connectivity-service.enabled': False,
    'services.settings.server': 'http://127.0.0.1:9',
    'toolkit.telemetry.enabled': False}


CLONE_NEWNET = 0x40000000       # linux/sched.h


def connect(port, machine):
    """A connection to loopback on @machine, whose command is nsenter --net=FILE"""
    def there():                        # in a thread that ends with that
        with open(machine[1].partition('=')[2], 'rb') as namespace:
            if ctypes.CDLL(None).setns(namespace.fileno(), CLONE_NEWNET):
                raise Failed('no way to that machine')
        return socket.create_connection(('127.0.0.1', port))

    if not machine:
        return socket.create_connection(('127.0.0.1', port))
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        return threads.submit(there).result()


class WebSocket:
    """A client: whole text messages, one at a time."""

    def __init__(self, port, path, machine):
        self.socket = connect(port, machine)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n'
            'Upgrade: websocket\r\nConnection: Upgrade\r\n'
            f'Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n').encode())
        self.file = self.socket.makefile('rb')
        if b' 101 ' not in self.file.readline():
            raise Failed('no WebSocket')
        while self.file.readline().strip():
            pass

    def send(self, data, kind=TEXT):
        mask = os.urandom(4)
        n = len(data)
        size = bytes([0x80 | n]) if n < 126 else struct.pack('!BH', 0x80 | 126, n) \
            if n < 65536 else struct.pack('!BQ', 0x80 | 127, n)
        self.socket.sendall(bytes([0x80 | kind]) + size + mask + bytes(
            byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self, patience_s):
        self.socket.settimeout(patience_s)
        message = b''
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                raise Failed('the browser is gone')
            size = head[1] & 127
            if size > 125:
                size = int.from_bytes(self.file.read(2 if size == 126 else 8), 'big')
            data = self.file.read(size)
            if head[0] & 15 == PING:
                self.send(data, PONG)
            elif head[0] & 15 <= TEXT:
                message += data
                if head[0] & 0x80:
                    return message


class Firefox:
    """A browser with one page, a profile of its own, and a microphone that says
    @frequency_hz.  It starts by itself; open() waits: it takes 5 s of a processor to
    start, which was two minutes at a load of 40."""

    def __init__(self, frequency_hz, patience_s=500, machine=()):
        self.patience_s, self.last_id, self.context = patience_s, 0, None
        self.machine = machine
        self.folder = make_folder('browser')
        if PROGRAM is None:
            raise Failed('there is no Firefox here')
        (self.folder / 'profile').mkdir()
        wanted = {**PREFERENCES, 'media.navigator.audio.fake_frequency': frequency_hz}
        (self.folder / 'profile/user.js').write_text(''.join(
            f'user_pref("{name}", {json.dumps(value)});\n'
            for name, value in wanted.items()), encoding='utf-8')
        with open(self.folder / 'log', 'wb') as log:
            self.process = subprocess.Popen(
                [*machine, *UNTIL_WE_END, PROGRAM, '--headless', '--no-remote', '--remote-debugging-port=0',
                 '--profile', self.folder / 'profile', 'about:blank'],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, env={**os.environ, 'HOME': str(self.folder)})

    def listens(self):
        said = re.search(r'BiDi listening on ws://127.0.0.1:(\d+)',
                         (self.folder / 'log').read_text(errors='replace'))
        return int(said[1]) if said else None

    def connect(self):
        port = self.wait_for(self.listens, 'no Firefox')
        self.socket = WebSocket(port, '/session', self.machine)
        self.ask('session.new', capabilities={'alwaysMatch': {'acceptInsecureCerts': True}})
        self.context = self.ask('browsingContext.getTree')['contexts'][0]['context']

    def ask(self, method, **params):
        self.last_id += 1
        self.socket.send(json.dumps({'id': self.last_id, 'method': method,
                                     'params': params}).encode())
        while True:
            try:
                message = json.loads(self.socket.receive(self.patience_s))
            except OSError as error:
                raise Failed('the browser does not answer') from error
            if message.get('id') == self.last_id:
                if message['type'] == 'error':
                    raise Failed(f'{method}: {message["message"]}')
                return message['result']

    def run(self, script):
        """Statements; what they declare stays."""
        reply = self.ask('script.evaluate', expression=script, awaitPromise=True,
                         target={'context': self.context}, userActivation=True)
        if reply['type'] == 'exception':
            raise Failed(reply['exceptionDetails']['text'])
        return reply['result'].get('value')

    def evaluate(self, script):
        """The value of an expression in the page; a promise is waited for."""
        text = self.run(f'Promise.resolve({script}).then(v => JSON.stringify(v))')
        return json.loads(text) if text is not None else None

    def open(self, link):
        if self.context is None:
            self.connect()
        self.ask('browsingContext.navigate', context=self.context, url=link,
                 wait='complete')

    def wait_for(self, look, otherwise):
        """Returns what look() finds, as soon as it finds something."""
        patience = Patience(self.patience_s)
        while True:
            found = look()
            if found:
                return found
            if patience.is_over() or self.process.poll() is not None:
                raise Failed(otherwise)
            time.sleep(0.1)

    def kill(self):
        """At once, with all of its processes, as if the machine had gone."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
