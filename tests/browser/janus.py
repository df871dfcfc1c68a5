# SPDX-License-Identifier: LGPL-2.1-or-later
"""Janus with one audiobridge room, where it is installed, for crowd.py to compare."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

PROGRAM = shutil.which('janus')  # its libraries may be unpacked beside it
LIBRARY = pathlib.Path(PROGRAM or '/usr/bin/janus').resolve().parents[1] / 'lib'
ROOM = 1
PATIENCE_S = 60
# As it comes, but for a room of our sampling rate; and as one sets it who knows it has
# many users and few processors: a thread for each processor, and wideband voices
DEFAULT = {'loops': '', 'rate': 48000}
KNOWING = {'loops': f'event_loops = {os.cpu_count()}', 'rate': 16000}
# Neither log nor other plugins nor transports
FILES = {
    'janus.jcfg': '''general: {{ interface = "127.0.0.1"  session_timeout = 0
 configs_folder = "{folder}"  plugins_folder = "{library}/plugins"
 transports_folder = "{library}/transports"  {loops}  debug_level = 2  server_name = "peer" }}
nat: {{ ice_enforce_list = "lo" ice_ignore_list = "" ignore_mdns = true }}
plugins: {{ disable = "{plugins}" }}
transports: {{ disable = "{transports}" }}
events: {{ broadcast = false }}
''',
    'janus.transport.http.jcfg': '''general: {{ json = "compact"  base_path = "/janus"
 http = true  port = {port}  ip = "127.0.0.1"  https = false }}
admin: {{ admin_http = false  admin_https = false }}
''',
    'janus.plugin.audiobridge.jcfg': '''room-{room}: {{ description = "crowd"
 sampling_rate = {rate}  record = false }}
'''}


def others(kind, kept):
    """The installed plugins or transports but @kept, as Janus names them."""
    return ','.join(sorted({
        path.name for path in LIBRARY.glob(f'*/janus/{kind}/*.so')
        if kept not in path.name}))


def call(url, body=None):
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
        return json.load(reply)


class Janus:
    """The server.  pid: of its process"""

    def __init__(self, port, settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='fairmix-janus-'))
        self.link = f'http://127.0.0.1:{port}/janus'
        for name, text in FILES.items():
            (self.folder / name).write_text(text.format(
                folder=self.folder, port=port, room=ROOM, **settings,
                library=next(LIBRARY.glob('*/janus'), LIBRARY),
                plugins=others('plugins', 'audiobridge'),
                transports=others('transports', 'http')), encoding='ascii')
        with open(self.folder / 'log', 'wb') as log:
            self.process = subprocess.Popen(
                [PROGRAM, '-F', str(self.folder), '-C', str(self.folder / 'janus.jcfg')],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.process.pid
        deadline = time.monotonic() + PATIENCE_S
        while not self.is_there():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError((self.folder / 'log').read_text(errors='replace'))
            time.sleep(0.1)

    def is_there(self):
        try:
            return call(self.link + '/info')['janus'] == 'server_info'
        except (urllib.error.URLError, OSError):
            return False

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Place:
    """One who joins the room.  Janus offers, as our server does.
    @on_closed: called with what went wrong, from a thread of its own"""

    def __init__(self, server, name):
        made = call(server, {'janus': 'create', 'transaction': 'create'})
        self.session = f'{server}/{made["data"]["id"]}'
        made = call(self.session, {'janus': 'attach', 'transaction': 'attach',
                                   'plugin': 'janus.plugin.audiobridge'})
        self.handle = f'{self.session}/{made["data"]["id"]}'
        self.say({'request': 'join', 'room': ROOM, 'display': name,
                  'generate_offer': True})
        event = {}
        while 'jsep' not in event:
            event = call(f'{self.session}?maxev=1')
            if 'error' in event or 'error' in event.get('plugindata', {}).get('data', {}):
                raise RuntimeError(f'Janus refuses: {event}')
        self.offer = event['jsep']['sdp']
        threading.Thread(target=self.listen, daemon=True).start()

    def say(self, body, **more):
        call(self.handle, {'janus': 'message', 'transaction': 'say', 'body': body, **more})

    def answer(self, sdp):
        self.say({'request': 'configure', 'muted': False},
                 jsep={'type': 'answer', 'sdp': sdp})

    def listen(self):
        """Takes what Janus tells, as pages do."""
        try:
            while True:
                call(f'{self.session}?maxev=10')
        except (urllib.error.URLError, OSError, ValueError):
            pass                        # it has ended
