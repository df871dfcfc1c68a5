"""Runs the scripts of examples/launch and listens to what they say."""
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

LAUNCH = pathlib.Path(__file__).resolve().parents[1] / 'launch'
# gst-launch-1.0 -m: 'Got message #9 from element "x" (element): name, a=b;'
MESSAGE = re.compile(r'Got message #\d+ from [^"]*"(?P<source>[^"]*)" '
                     r'\((?P<kind>[a-z-]+)\): (?P<body>.*)')
FIELD = re.compile(r'([\w-]+)=\((?:\w+)\)("(?:[^"\\]|\\.)*"|[^,;]*)')


def parse_message(line):
    """(source, kind, structure name, {field: text}) or None."""
    found = MESSAGE.match(line)
    if not found:
        return None
    body = found['body']
    fields = {name: value.strip('"') for name, value in FIELD.findall(body)}
    return found['source'], found['kind'], re.split('[,;]', body)[0], fields


class Pipeline:
    """One script of examples/launch as a process.

    on_message(pipeline, source, structure name, fields) is called, from
    another thread, for each element message and each error and warning, and
    the line is written to the file log.  within is a command that runs another
    one, as `ip netns exec NAME`.
    """

    def __init__(self, name, script, *arguments, on_message=None, log=None,
                 within=(), **environment):
        self.name = name
        self.on_message, self.log = on_message, log
        self.began = time.monotonic()
        self.tail = []                  # the last lines that it printed
        self.process = subprocess.Popen(
            [*within, str(LAUNCH / script), *map(str, arguments)],
            env={**os.environ, 'FLAGS': '-m', **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors='replace')
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            message = parse_message(line)
            if message and message[1] in ('element', 'error', 'warning'):
                source, _, structure, fields = message
                if self.log:
                    self.log.write(f'{time.monotonic() - self.began:8.3f} '
                                   f'{self.name}: {line}')
                if self.on_message:
                    self.on_message(self, source, structure, fields)
            elif not message:
                self.tail = (self.tail + [line.rstrip()])[-12:]

    @property
    def alive(self):
        return self.process.poll() is None

    def stop(self, patience_s=3.0):
        """As control-C does: an orderly end; harder if it takes too long."""
        for signum in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if not self.alive:
                break
            self.process.send_signal(signum)
            try:
                self.process.wait(patience_s)
            except subprocess.TimeoutExpired:
                continue
        self.process.wait()
        self.thread.join(1)
