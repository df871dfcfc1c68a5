#!/usr/bin/python3
"""A hand feels a surface that is measured far away.

usage: telehaptic.py [--seconds S] [--delay MS] [--jitter MS]        both ends
       telehaptic.py scene  PORT DEVICE-HOST:PORT [--delay MS] [--jitter MS]
       telehaptic.py device PORT SCENE-HOST:PORT  [--seconds S]

The device reads where the hand is a thousand times a second and sends it as RTP.
The scene measures the surface there; that takes it 16 to 100 ms, so it takes the
newest position whenever it is ready (updatequeue) and answers with the height.
Until the next answer the device shows a plane through the last two: at the pace
at which the scene measures, which it works out itself (qmjitterbuffer
timing=arrival).  --delay and --jitter are a network's, on the answers' way.

You will see one line a second: positions sent, planes shown, how old what is felt
is, and by how much the force is wrong: with the planes as they come, and with
planes that are warped, which means moved along with the hand by as much as it
moved while the answer was on its way.  The hand and the surface are simulated.
"""
import argparse
import collections
import math
import random
import signal
import struct
import subprocess
import sys
import threading
import time

import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
from gi.repository import Gst, GstApp  # noqa: E402, F401

RTP = struct.Struct('!BBHII')           # RFC 3550, section 5.1
POSITION = struct.Struct('!Qd')         # the device's clock [ns], x [mm]
ANSWER = struct.Struct('!Qdd')          # the same, and the height there [mm]
CAPS = ('application/x-rtp,media=application,payload=96,clock-rate=90000,'
        'encoding-name=X-HAPTIC')
STIFFNESS = 0.5                         # N for each mm inside the surface
MAX_SLOPE = 2.0                         # nothing steeper is felt
PRESSED = 2.0                           # the hand, in mm
ENDS = {signal.SIGINT, signal.SIGTERM}
POSITIONS, ANSWERS = 5100, 5102         # ports, when both ends are here


def surface(x):
    """Three rods, 8 mm high."""
    return sum(8 * math.exp(-((x - rod) / 6) ** 4) for rod in (-25, 2, 30))


def hand(t_s):
    """To and fro, 9 cm in two seconds."""
    return 45 * math.sin(2 * math.pi * t_s / 4)


class RtpSource:
    """Pushes payloads as RTP into an appsrc."""

    def __init__(self, appsrc, ssrc):
        self.appsrc, self.ssrc, self.seq = appsrc, ssrc, 0

    def push(self, payload, ns):
        header = RTP.pack(0x80, 96, self.seq & 0xffff,
                          ns * 9 // 100000 & 0xffffffff, self.ssrc)
        self.seq += 1
        self.appsrc.emit('push-buffer', Gst.Buffer.new_wrapped(header + payload))


def payload_of(sample):
    buffer = sample.get_buffer()
    return buffer.extract_dup(RTP.size, buffer.get_size() - RTP.size)


def parse(text):
    try:
        return Gst.parse_launch(text)
    except gi.repository.GLib.Error as error:
        sys.exit(f'telehaptic.py: {error.message}\nIs GStreamer told where '
                 'gst-fairmix is?  meson devenv -C build')


def play(pipeline, sink, on_sample):
    """Only who listens before it plays hears of the first sample."""
    pipeline.get_by_name(sink).connect('new-sample', on_sample)
    if pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
        why = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR).parse_error()
        sys.exit(f'telehaptic.py: {why[0].message}\n{why[1]}')


# ---- the scene ----

class Network(threading.Thread):
    """Keeps what is sent for a while, in order."""

    def __init__(self, delay_ms, jitter_ms):
        super().__init__(daemon=True)
        self.delay_s, self.jitter_s = delay_ms / 1e3, jitter_ms / 1e3
        self.waiting, self.changed = collections.deque(), threading.Condition()
        self.last_s = 0.0

    def send(self, deliver):
        delay_s = self.delay_s + random.random() * self.jitter_s
        with self.changed:
            self.last_s = max(self.last_s, time.monotonic() + delay_s)
            self.waiting.append((self.last_s, deliver))
            self.changed.notify()

    def run(self):
        while True:
            with self.changed:
                while not self.waiting:
                    self.changed.wait()
                due_s = self.waiting[0][0]
                if due_s > time.monotonic():
                    self.changed.wait(due_s - time.monotonic())
                    continue
                deliver = self.waiting.popleft()[1]
            deliver()


def scene(port, host, host_port, delay_ms, jitter_ms):
    """Measures wherever it is told to, until it is ended."""
    pipeline = parse(
        f'udpsrc port={port} caps="{CAPS}" ! updatequeue key-size=0 name=newest '
        '! appsink name=positions emit-signals=true sync=false max-buffers=1 '
        f'appsrc name=answers caps="{CAPS}" format=time is-live=true '
        f'! udpsink host={host} port={host_port} sync=false async=false')
    answers = RtpSource(pipeline.get_by_name('answers'), 2)
    network = Network(delay_ms, jitter_ms)
    network.start()

    def measure(appsink):
        """In the queue's thread: meanwhile newer positions replace older."""
        ns, x = POSITION.unpack(payload_of(appsink.emit('pull-sample')))
        time.sleep(random.uniform(0.016, 0.1))
        answer = ANSWER.pack(ns, x, surface(x))
        network.send(lambda: answers.push(answer, time.monotonic_ns()))
        return Gst.FlowReturn.OK

    play(pipeline, 'positions', measure)
    print(f'scene: measures what comes to port {port}', flush=True)
    threading.Event().wait()


# ---- the device ----

class Plane:
    """A height, and a slope around a place.  libfairmix has it in C, along both
    axes, with its force: fmx-warped-plane."""

    def __init__(self, x=0.0, height=0.0, slope=0.0):
        self.x, self.height, self.slope = x, height, slope

    @classmethod
    def through(cls, before, x, height):
        slope = (height - before.height) / (x - before.x) if x != before.x else 0
        return cls(x, height, max(-MAX_SLOPE, min(MAX_SLOPE, slope)))

    def warped(self, displacement):
        return Plane(self.x + displacement, self.height, self.slope)

    def force(self, x, z):
        return STIFFNESS * max(0, self.height + self.slope * (x - self.x) - z)


class Device:
    """What the hand feels, and what it should."""

    def __init__(self):
        self.lock = threading.Lock()
        self.start_ns = time.monotonic_ns()
        self.plain = self.warped = Plane()
        self.planes, self.age_s = 0, 0.0
        self.ticks = self.sent = 0
        self.errors = [0.0, 0.0]

    def x(self):
        return hand((time.monotonic_ns() - self.start_ns) / 1e9)

    def on_answer(self, appsink):
        ns, x, height = ANSWER.unpack(payload_of(appsink.emit('pull-sample')))
        with self.lock:
            self.plain = Plane.through(self.plain, x, height)
            self.warped = self.plain.warped(self.x() - x)
            self.planes += 1
            self.age_s += (time.monotonic_ns() - ns) / 1e9
        return Gst.FlowReturn.OK

    def tick(self):
        """Each millisecond; returns the position that is to be sent"""
        ns = time.monotonic_ns()
        with self.lock:
            x = self.x()
            z = surface(x) - PRESSED
            for i, plane in enumerate((self.plain, self.warped)):
                self.errors[i] += abs(plane.force(x, z) - STIFFNESS * PRESSED)
            self.ticks += 1
        return POSITION.pack(ns, x), ns

    def line(self):
        """Of the time since the last one"""
        with self.lock:
            planes, ticks = max(1, self.planes), max(1, self.ticks)
            text = (f'device: {self.ticks} positions sent, {self.planes} planes '
                    f'shown, {1e3 * self.age_s / planes:.0f} ms old; the force '
                    f'is wrong by {self.errors[0] / ticks:.2f} N, warped by '
                    f'{self.errors[1] / ticks:.2f} N')
            self.planes = self.ticks = 0
            self.age_s, self.errors = 0.0, [0.0, 0.0]
        return text


def device(port, host, host_port, seconds, far=None):
    """@far: the process of the scene, if it is ours"""
    pipeline = parse(
        f'appsrc name=positions caps="{CAPS}" format=time is-live=true '
        f'! udpsink host={host} port={host_port} sync=false async=false '
        f'udpsrc port={port} caps="{CAPS}" ! qmjitterbuffer name=playout '
        'timing=arrival ! appsink name=answers emit-signals=true')
    positions = RtpSource(pipeline.get_by_name('positions'), 1)
    it = Device()
    play(pipeline, 'answers', it.on_answer)
    next_s = time.monotonic()
    end_s, line_s = next_s + seconds, next_s + 1
    while next_s < end_s:
        positions.push(*it.tick())
        next_s = max(next_s + 0.001, time.monotonic() - 0.05)
        if next_s >= line_s:
            if far is not None and far.poll() is not None:
                sys.exit('telehaptic.py: the scene has ended')
            print(it.line(), flush=True)
            line_s += 1
        time.sleep(max(0, next_s - time.monotonic()))
    stats = pipeline.get_by_name('playout').get_property('stats')
    print(f'device: {stats.get_value("qm-played")} answers played, '
          f'{stats.get_value("qm-dropped")} dropped by the queue monitor, one '
          f'each {stats.get_value("qm-mean-interarrival") / 1e6:.0f} ms')
    pipeline.set_state(Gst.State.NULL)


def port(text):
    if not 0 < int(text) < 65536:
        raise ValueError
    return int(text)


def peer(text):
    host, _, number = text.rpartition(':')
    if not host:
        raise ValueError
    return host.strip('[]'), port(number)


def amount(text):
    if not 0 <= float(text) <= 1e6:
        raise ValueError
    return float(text)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter,
        usage=argparse.SUPPRESS)
    p.add_argument('role', nargs='?', choices=['scene', 'device'])
    p.add_argument('port', nargs='?', type=port, metavar='PORT')
    p.add_argument('peer', nargs='?', type=peer, metavar='HOST:PORT')
    p.add_argument('--seconds', type=amount, default=10)
    p.add_argument('--delay', type=amount, default=80)
    p.add_argument('--jitter', type=amount, default=40)
    args = p.parse_args()
    Gst.init(None)
    if args.role is not None:
        if args.peer is None:
            p.error('PORT and HOST:PORT are missing')
        if args.role == 'scene':
            scene(args.port, *args.peer, args.delay, args.jitter)
        device(args.port, *args.peer, args.seconds)
        return
    # who is told to end while it begins has to know of it
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    with subprocess.Popen(
            [sys.executable, __file__, 'scene', str(POSITIONS),
             f'127.0.0.1:{ANSWERS}', '--delay', str(args.delay), '--jitter',
             str(args.jitter)],
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)) as far:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
            device(ANSWERS, '127.0.0.1', POSITIONS, args.seconds, far)
        finally:
            far.terminate()


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.default_int_handler)   # ends in order, too
    try:
        main()
    except KeyboardInterrupt:
        pass
