# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chromium without a window, driven through its DevTools protocol.

One JSON object a message, ended by a zero byte, through two pipes: file
descriptors 3 and 4 of the browser (--remote-debugging-pipe).  So there is no
port that others could find, and no WebSocket.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

from leftovers import make_folder
from patience import Patience

FLAGS = '''--headless=new --no-sandbox --disable-gpu --no-first-run
 --use-fake-ui-for-media-stream --use-fake-device-for-media-stream
 --autoplay-policy=no-user-gesture-required --disable-background-networking
 --disable-component-update --disable-default-apps --disable-extensions
 --disable-sync --disable-dev-shm-usage --metrics-recording-only
 --disable-renderer-backgrounding --disable-background-timer-throttling
 --mute-audio --remote-debugging-pipe'''.split()

EXEC = ('import ctypes, os, sys; '                      # SIGKILL when its parent ends
        'ctypes.CDLL(None).prctl(1, 9); os.dup2(int(sys.argv[1]), 3); '
        'os.dup2(int(sys.argv[2]), 4); os.execvp(sys.argv[3], sys.argv[3:])')


class Failed(Exception):
    """The browser, or the page in it, does not do what it was told."""


def pipes():
    """Two ends to keep, then those that the browser hears by and speaks into:
    none is 3 or 4, which is what it shall know them as."""
    hear, out = os.pipe()
    into, say = os.pipe()
    kept = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
            for end in (into, out, hear, say)]
    for end in (hear, out, into, say):
        os.close(end)
    return kept


class Chromium:
    """A browser with one page, a profile of its own, and a microphone that plays
    the WAV file @microphone again and again.  It starts by itself; open() waits.
    @machine: a command that runs another one elsewhere."""
    flags, environment = FLAGS, {}

    def __init__(self, microphone=None, size=(900, 1100), patience_s=200,
                 machine=(), more_flags=()):
        self.patience_s = patience_s
        self.folder = make_folder('browser')
        self.last_id, self.left = 0, b''
        self.errors = []                # what the browser's log has: what did not load
        program = shutil.which('chromium') or shutil.which('chromium-browser') \
            or shutil.which('google-chrome')
        if program is None:
            raise Failed('there is no Chromium here')
        self.into, self.out, hear, say = pipes()
        flags = [*self.flags, f'--user-data-dir={self.folder}/profile',
                 f'--window-size={size[0]},{size[1]}']
        if microphone:
            flags.append(f'--use-file-for-fake-audio-capture={microphone}')
        with open(f'{self.folder}/log', 'wb') as log:
            self.process = subprocess.Popen(
                [*machine, sys.executable, '-c', EXEC, str(hear), str(say), program,
                 *flags, *more_flags, 'about:blank'],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=(hear, say), start_new_session=True,
                env={**os.environ, 'HOME': str(self.folder), **self.environment})
        os.close(hear)
        os.close(say)
        self.session = None

    def attach(self):
        pages = [t for t in self.ask('Target.getTargets')['targetInfos']
                 if t['type'] == 'page']
        return pages and self.ask('Target.attachToTarget', flatten=True,
                                  targetId=pages[0]['targetId'])['sessionId']

    def messages(self, deadline):
        """What the browser says, until @deadline."""
        while True:
            message, zero, rest = self.left.partition(b'\0')
            if zero:
                self.left = rest
                yield json.loads(message)
                continue
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([self.into], [], [], left_s)[0]:
                raise Failed('the browser does not answer')
            data = os.read(self.into, 1 << 20)
            if not data:
                raise Failed('the browser is gone')
            self.left += data

    def ask(self, method, **params):
        self.last_id += 1
        request = {'id': self.last_id, 'method': method, 'params': params}
        if self.session:
            request['sessionId'] = self.session
        try:
            os.write(self.out, json.dumps(request).encode() + b'\0')
        except BrokenPipeError as error:
            raise Failed('the browser is gone') from error
        for message in self.messages(time.monotonic() + self.patience_s):
            if message.get('id') == self.last_id:
                if 'error' in message:
                    raise Failed(f'{method}: {message["error"]["message"]}')
                return message['result']
            if message.get('method') == 'Log.entryAdded':
                self.note(message['params']['entry'])
        return None

    def note(self, entry):
        if entry['level'] == 'error':
            self.errors.append(f'{entry.get("url")}: {entry["text"]}')

    def evaluate(self, script):
        """The value of an expression in the page; a promise is waited for."""
        reply = self.ask('Runtime.evaluate', expression=script, awaitPromise=True,
                         returnByValue=True, userGesture=True)
        if 'exceptionDetails' in reply:
            details = reply['exceptionDetails']
            raise Failed('\n'.join([details.get('exception', {}).get(
                'description', details['text']), *self.errors]))
        return reply['result'].get('value')

    run = evaluate                      # statements; what they declare stays

    def open(self, link):
        if not self.session:
            self.session = self.wait_for(self.attach, 'no page')
            self.ask('Log.enable')
        self.ask('Page.navigate', url=link)
        self.wait_for(lambda: self.evaluate(
            f'location.href === {json.dumps(link)} && document.readyState === '
            '"complete"'), f'{link} does not load')

    def wait_for(self, look, otherwise):
        """Returns what look() finds, as soon as it finds something."""
        patience = Patience(self.patience_s)
        while True:
            found = look()
            if found:
                return found
            if patience.is_over():
                raise Failed(otherwise)
            time.sleep(0.1)

    def picture(self, path):
        data = self.ask('Page.captureScreenshot', format='png')['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))

    def kill(self):
        """At once, with all of its processes, as if the machine had gone."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for end in (self.out, self.into):
            if end is not None:
                os.close(end)
        self.out = self.into = None
        shutil.rmtree(self.folder, ignore_errors=True)
