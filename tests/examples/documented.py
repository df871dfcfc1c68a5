#!/usr/bin/env python3
"""Types what the pages say, and listens whether it sounds.

usage: documented.py SOURCE-ROOT BUILD-ROOT

Each `sh` block with pipelines (gst-launch-1.0, examples/launch) runs as it
stands, all its lines at once, with a sound server without hardware.  Whose
other end is not in the block gets one; in the room a tone sounds for
microphones.
"""
import functools
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

import smoke

PAGES = ['README.md', 'docs/elements/*.md', 'examples/launch/README.md']
BLOCK = re.compile(r'^```sh\n(.*?)^```', re.M | re.S)
COMMAND = re.compile(r'gst-launch-1\.0|examples/launch/[\w-]+\.sh')
# no page has it as a command
MORE = {'jitterbuffer.sh': ['examples/launch/jitterbuffer.sh',
                            'examples/launch/sender.sh']}

# (what a block has, what it has not): who is at the other end then
OTHERS = {
    ('udpsrc port=5004', 'udpsink host=127.0.0.1 port=5004'): [
        'gst-launch-1.0 audiotestsrc is-live=true ! opusenc ! rtpopuspay pt=96 '
        '! udpsink host=127.0.0.1 port=5004'],
    ('webrtcdsp', 'dpmmixer'): ['gst-launch-1.0 dpmmixer port=5004'],
    ('dpmclient server=127.0.0.1:5004', 'display-name=bob'): [
        'gst-launch-1.0 audiotestsrc is-live=true '
        '! dpmclient server=127.0.0.1:5004 display-name=bob'],
    ('sh 10000 127.0.0.1:5000', 'sh 5000'): [
        'examples/launch/receiver.sh 5000 127.0.0.1:10000 fake',
        'examples/launch/sender.sh test 127.0.0.1:10000 5000'],
}

PATIENCE_S = 30
LOUD = 300                      # of 32767
LATE = "Can't record audio fast enough"         # its process got no turn for long
SPEAKERS = ('gst-launch-1.0 pulsesrc device=speakers.monitor buffer-time=5000000 ! '
            'audio/x-raw,format=S16LE ! filesink buffer-mode=unbuffered location=')
ROOM = 'gst-launch-1.0 audiotestsrc is-live=true ! pulsesink device=room'


def blocks():
    """{page and number: its pipelines}"""
    found = {}
    for page in (p for glob in PAGES for p in sorted(smoke.ROOT.glob(glob))):
        for n, text in enumerate(BLOCK.findall(page.read_text(encoding='utf-8'))):
            lines = [re.sub(r'\s#.*', '', line).strip()
                     for line in text.replace('\\\n', ' ').splitlines()]
            commands = [line for line in lines if COMMAND.match(line)]
            if commands:
                found[f'{page.relative_to(smoke.ROOT)}, block {n + 1}'] = commands
    return {**found, **MORE}


class Shell:
    """Commands that run side by side."""

    def __init__(self, folder):
        self.folder, self.running = folder, []

    def start(self, command):
        log = open(self.folder / f'{len(self.running)}.log', 'w+',
                   encoding='utf-8')
        self.running.append((command, log, subprocess.Popen(
            shlex.split(command), cwd=smoke.ROOT, stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT)))

    def stop(self):
        """Control-C, the last one first; returns what they complained of."""
        bad = []
        for command, log, process in reversed(self.running):
            early = process.poll() is not None
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                bad.append(f'{command}: does not end')
            log.seek(0)
            text = log.read()
            if early or smoke.COMPLAINT.search(text):
                bad.append(f'{command}:\n{text}')
        return bad


def until(is_there):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if is_there():
            return True
        time.sleep(0.1)
    return False


def sounds(recording):
    samples = smoke.numpy.fromfile(recording, '<i2') if recording.exists() else []
    return len(samples) > 0 and abs(samples.astype(int)).max() > LOUD


def listen(shell, text):
    """Whether the loudspeakers sound at last."""
    recording = shell.folder / 'speakers.raw'
    recording.unlink(missing_ok=True)
    shell.start(SPEAKERS + str(recording))
    for (there, missing), commands in OTHERS.items():
        if there in text and missing not in text:
            for command in commands:
                shell.start(command)
    return until(lambda: sounds(recording))


def datagrams(text):
    """Whether what is sent to its source comes out of its sink."""
    here, there = (int(re.search(rf'{e} .*?port=(\d+)', text)[1])
                   for e in ('udpsrc', 'udpsink'))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(('127.0.0.1', there))
        end.settimeout(0.1)

        def passes():
            end.sendto(b'a state', ('127.0.0.1', here))
            try:
                return end.recv(100) == b'a state'
            except TimeoutError:
                return False
        return until(passes)


def try_block(folder, title, commands):
    shell, text = Shell(folder), ' '.join(commands)
    if '239.' in text and not os.environ.get('FMX_SMOKE_NETNS'):
        print(f'{title}: multicast only in a network of its own')
        return
    for command in commands:
        shell.start(command)
    audible = 'autoaudiosink' in text or 'examples/launch' in text
    works = listen(shell, text) if audible else datagrams(text)
    bad = ([] if works else ['nothing came out']) + shell.stop()
    if LATE in '\n'.join(bad):
        print('\n'.join([title, *bad]))
        raise smoke.TooBusy
    if bad:
        smoke.fail('\n'.join([title, *bad]))
    print(f'{title}: works', flush=True)


def main():
    smoke.own_network()
    os.environ.update({
        'GST_PLUGIN_PATH': ':'.join(
            str(p) for p in (smoke.BUILD / 'gst').iterdir() if p.is_dir()),
        'GST_REGISTRY': str(smoke.BUILD / 'registry.bin')})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with smoke.sound_hardware(folder):
            room = subprocess.Popen(shlex.split(ROOM),
                                    stdout=subprocess.DEVNULL)
            for title, commands in blocks().items():
                smoke.once_more_if_stalled(functools.partial(
                    try_block, folder, title, commands))
            room.send_signal(signal.SIGINT)
            room.wait(PATIENCE_S)


if __name__ == '__main__':
    main()
