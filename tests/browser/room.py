# SPDX-License-Identifier: LGPL-2.1-or-later
"""A room of examples/web with browsers and talkers, for tests to look at."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import wave

import numpy as np

from devtools import Chromium, Failed
from firefox import Firefox
from leftovers import UNTIL_WE_END, make_folder
from patience import Patience

LEVEL = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'
RATE_HZ = 48000
MEETING_LOUD = 30               # of 16 bits; a tone that is there has 500
EAR = pathlib.Path(__file__).with_name('ear.js').read_text(encoding='utf-8')


def free_port(kind=socket.SOCK_STREAM):
    """None that the system may give to somebody else meanwhile."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket(type=kind) as s:
            try:
                s.bind(('127.0.0.1', port))
                return port
            except OSError:
                pass


def write_tone(path, frequency_hz):
    """Two seconds that can be played again and again without a click."""
    t = np.arange(2 * RATE_HZ) / RATE_HZ
    with wave.open(str(path), 'wb') as file:
        file.setparams((1, 2, RATE_HZ, 0, 'NONE', ''))
        file.writeframes((8000 * np.sin(2 * np.pi * frequency_hz * t)
                          ).astype('<i2').tobytes())


class Room:
    """A server of examples/web, and all that the test puts into its room.  With
    @meeting_hz it joins a dpmmixer, where a dpmclient says that."""

    def __init__(self, root, build, *options, secret='', meeting_hz=None):
        self.folder = make_folder('room')
        self.port, self.rtp_port = free_port(), free_port(socket.SOCK_DGRAM)
        self.link = f'http://localhost:{self.port}/'
        self.events, self.browsers, self.talkers = [], {}, []
        self.tones = {}                 # of browsers, by name
        plugins = ':'.join(str(p) for p in (build / 'gst').iterdir() if p.is_dir())
        self.environment = {
            **os.environ, 'GST_REGISTRY_FORK': 'no', 'GST_PLUGIN_PATH': plugins,
            'GST_REGISTRY': str(build / 'tests/examples/web.registry'),
            'PYTHONDONTWRITEBYTECODE': '1', 'FMX_SECRET': secret}
        self.log = open(self.folder / 'log', 'w', encoding='utf-8')
        if meeting_hz:
            options = *options, '--parent', self.launch_meeting(meeting_hz)
        self.server = subprocess.Popen(
            [*UNTIL_WE_END, *self.command(root), '--rtp-port', str(self.rtp_port), *options],
            env=self.environment, stdout=subprocess.PIPE, stderr=self.log,
            text=True, start_new_session=True)
        threading.Thread(target=self.listen, daemon=True).start()
        self.wait_for(lambda: self.said('listening'), 'the server does not start')

    def command(self, root):
        """What starts the server"""
        return [sys.executable, str(root / 'examples/web/server.py'), '--http',
                '--port', str(self.port), '--address', '127.0.0.1']

    def listen(self):
        for line in self.server.stdout:
            if line.startswith('{'):
                self.events.append(json.loads(line))
            else:
                self.on_line(line)

    def on_line(self, line):
        """The server's script says something to people."""

    def said(self, event, **fields):
        """What the server has said of @event, with these fields."""
        return [e for e in list(self.events) if e['event'] == event
                and all(e.get(k) == v for k, v in fields.items())]

    def wait_for(self, look, otherwise, patience_s=200):
        """Returns what look() finds, as soon as it finds something."""
        patience = Patience(patience_s)
        while True:
            found = look()
            if found:
                return found
            if patience.is_over() or self.server.poll() is not None:
                raise Failed(otherwise)
            time.sleep(0.1)

    def next_link(self):
        """On to the link's next rate."""
        self.server.send_signal(signal.SIGUSR1)

    def add_talkers(self, tones, bitrate_bps=32000):
        """A gst-launch-1.0 that sends plain RTP.  @tones: {SSRC: Hz}"""
        talkers = ['audiotestsrc is-live=true samplesperbuffer=960 '
                   f'freq={frequency_hz} volume=0.25 ! audioconvert '
                   f'! opusenc bitrate={bitrate_bps} ! rtpopuspay pt=111 ssrc={ssrc} '
                   f'! udpsink host=127.0.0.1 port={self.rtp_port} sync=false'
                   for ssrc, frequency_hz in tones.items()]
        self.launch(' '.join(talkers))

    def launch(self, line):
        """A gst-launch-1.0, until the end."""
        self.talkers.append(subprocess.Popen(
            [*UNTIL_WE_END, 'gst-launch-1.0', '-q', '-e', *line.split()],
            env=self.environment, stdout=self.log, stderr=self.log))

    def launch_meeting(self, frequency_hz):
        """A dpmmixer, and a dpmclient in it who says @frequency_hz and keeps what
        he hears.  Returns: HOST:PORT"""
        parent = f'127.0.0.1:{free_port(socket.SOCK_DGRAM)}'
        self.launch(f'dpmmixer address=127.0.0.1 port={parent.partition(":")[2]}')
        self.launch(f'audiotestsrc is-live=true freq={frequency_hz} volume=0.25 ! '
                    f'dpmclient name=me server={parent} display-name=Cem '
                    'me.src ! audioconvert ! audio/x-raw,format=S16LE,rate=48000,'
                    f'channels=1 ! filesink location={self.folder}/heard.raw')
        return parent

    def heard_in_meeting(self, tones, seconds):
        """The tones in the last @seconds of what the dpmclient heard."""
        size = 2 * RATE_HZ * seconds
        with open(self.folder / 'heard.raw', 'rb') as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() // 2 * 2 - size))
            samples = np.frombuffer(file.read(size), '<i2')
        power = np.abs(np.fft.rfft(samples * np.blackman(len(samples)))) \
            / max(1, len(samples))
        bins = [round(hz * len(samples) / RATE_HZ) for hz in tones]
        return [hz for hz, n in zip(tones, bins)
                if n < len(power) and max(power[n - 2:n + 3]) > MEETING_LOUD]

    def add_browser(self, name, frequency_hz, kind=Chromium, **options):
        """A browser who says @frequency_hz.  It starts; sit_down() waits for it."""
        path = self.folder / f'{frequency_hz}.wav'
        write_tone(path, frequency_hz)
        self.tones[name] = frequency_hz
        self.browsers[name] = kind(path, **options)

    def add_firefox(self, name, frequency_hz, machine=()):
        self.tones[name] = frequency_hz
        self.browsers[name] = Firefox(frequency_hz, machine=machine)

    def sit_down(self, name, tones):
        """@name opens the page, joins, and listens for @tones."""
        browser = self.browsers[name]
        page, _, secret = self.link.partition('#')
        browser.open(f'{page}?raw=1' + (secret and f'#{secret}'))
        browser.run(f'const TONES = {json.dumps(tones)};\n{EAR}')
        browser.run(
            f'$("name").value = {json.dumps(name)}; $("join").requestSubmit()')
        browser.wait_for(lambda: browser.evaluate(
            'picture !== undefined || $("wrong").textContent'), 'no room')
        wrong = browser.evaluate('$("wrong").textContent')
        if wrong:
            raise Failed(f'{name} cannot sit down: {wrong}')
        browser.evaluate('ear.start()')

    def wait_to_hear(self, name, *tones):
        """Until @name hears them, or browsers of these names."""
        browser = self.browsers[name]
        browser.evaluate('ear.take()')
        for tone in tones:
            hz = self.tones.get(tone, tone)
            browser.wait_for(lambda hz=hz: browser.evaluate(f'ear.hears({hz})'),
                             f'{name} does not hear {tone}')

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        self.close()
        if isinstance(error, Failed):
            print(*self.events, self.errors, sep='\n')
            sys.exit(str(error))

    def close(self):
        """Ends all; returns what the server ended with."""
        for browser in self.browsers.values():
            browser.kill()
        for talker in self.talkers:
            talker.terminate()
            talker.wait()
        with contextlib.suppress(ProcessLookupError):   # it has ended, and was seen to
            os.killpg(self.server.pid, signal.SIGTERM)  # a script's child, too
        try:
            self.server.wait(120)      # on a machine that has no time
        except subprocess.TimeoutExpired:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
        self.log.close()
        self.errors = (self.folder / 'log').read_text(encoding='utf-8',
                                                      errors='replace')
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.server.returncode
