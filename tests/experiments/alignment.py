#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A voice that moves between separate and mixed in real pipelines: what is heard.

usage: alignment.py VOICE.wav [--runs N] [--write]

Three talkers, a mixer and a listener, as the scripts of examples/launch have them, send
Opus through UDP on this computer.  One speaks (VOICE.wav, of examples/voices.sh), and is
separate and mixed in turn; the other two hum above speech, and are always mixed.  Each
table row is one run: nobody aligns, the listener aligns, everything is mixed, nothing is.
Then what sender reports would tell, against what contributor-time tells.

It needs numpy and pesq.
"""
import argparse
import math
import pathlib
import statistics
import struct
import sys
import wave

import gi
import numpy
from pesq import pesq

from lab import listen

gi.require_version('Gst', '1.0')
gi.require_version('GstRtp', '1.0')
from gi.repository import GLib, Gst, GstRtp  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / 'docs/decisions/partialmix-0001-media-time-hand-over.md'
BEGIN, END = '<!-- alignment: filled in by tests/experiments/alignment.py -->', '<!-- end -->'
LEVEL = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'
TIME = 'urn:x-fairmix:rtp-hdrext:contributor-time'
OPUS = 'application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS'
RTP = f'{OPUS},payload=96,extmap-1={LEVEL}'
RATE = 48000
PORT = 24680
VOICE = 1000
TIME_ID = 3
HUM_HZ, HUM = 7100, 0.0005     # above what is judged, and no load on the mix
PIECE_S = 8
LATEST_S = 0.5
OCTAVES_HZ = (250, 500, 1000, 2000)
WINDOW_S = 0.05
ALIKE = 0.8                     # or it is not the voice that is heard


def read_voice(path):
    with wave.open(str(path), 'rb') as f:
        if f.getframerate() != RATE:
            sys.exit(f'{path} has not {RATE} samples a second')
        return numpy.frombuffer(f.readframes(f.getnframes()), '<i2').astype(float)


class Run:
    """One mixer, one listener, and what was heard."""

    def __init__(self, voice, args, tells, ways):
        self.args, self.ways, self.tells = args, ways, tells
        self.heard, self.began = [], None
        self.reports, self.told = {}, []
        self.bytes = {'rtp': 0, 'rtcp': 0, 'told': 0}
        self.changes = []
        caps = f'{OPUS},extmap-{TIME_ID}={TIME}' if tells else OPUS
        took = f'{RTP},extmap-{TIME_ID}={TIME}' if tells else RTP
        talkers = ' '.join(self.talker(i, v) for i, v in enumerate([voice, None, None]))
        self.lines = [
            f'rtpbin name=tb rtcp-sync-send-time=false {talkers}',
            f'rtpbin name=in latency=20 max-ts-offset=1 '
            f'udpsrc port={PORT} caps="{RTP}" ! in.recv_rtp_sink_1 '
            f'rtpbin name=out rtcp-sync-send-time=false '
            f'partialmix name=mix rtpbin=in '
            f'mix.src_0 ! {caps} ! out.send_rtp_sink_0 '
            f'out.send_rtp_src_0 ! udpsink name=rtp {self.to(PORT + 10)} '
            f'out.send_rtcp_src_0 ! udpsink name=rtcp {self.to(PORT + 11)}',
            f'rtpbin name=in latency=20 max-ts-offset=1 '
            f'udpsrc name=media port={PORT + 10} caps="{took}" ! in.recv_rtp_sink_0 '
            f'udpsrc name=said port={PORT + 11} caps=application/x-rtcp '
            f'! in.recv_rtcp_sink_0 '
            f'partialmix name=mix rtpbin=in align={"true" if tells else "false"} '
            f'mix.src_1 ! audio/x-raw,rate={RATE},channels=1 '
            f'! fakesink name=ear sync=false async=false signal-handoffs=true']

    def talker(self, i, path):
        source = f'filesrc location={path} ! wavparse' if path else \
            f'audiotestsrc freq={HUM_HZ + 100 * i} volume={HUM}'
        return (f'{source} ! audioconvert ! audioresample '
                f'! audio/x-raw,rate={RATE},channels=1 ! level audio-level-meta=true '
                f'post-messages=false ! opusenc bitrate=32000 audio-type=voice dtx=true '
                f'! rtpopuspay pt=96 ssrc={VOICE + i} ! '
                f'application/x-rtp,extmap-1=(string)<"",{LEVEL},"vad=off"> ! clocksync '
                f'! tb.send_rtp_sink_{i} tb.send_rtp_src_{i} '
                f'! udpsink {self.to(PORT)} ')

    @staticmethod
    def to(port):
        return f'host=127.0.0.1 port={port} sync=false async=false'

    def on_heard(self, _sink, buffer, _pad):
        if self.began is None:
            self.began = self.now()
        data = buffer.extract_dup(0, buffer.get_size())
        self.heard.append(numpy.frombuffer(data, '<i2').astype(float))

    def now(self):
        return (self.clock.get_time() - self.base) / Gst.SECOND

    def on_sent(self, _pad, info, kind):
        buffer = info.get_buffer()
        self.bytes[kind] += buffer.get_size() + 28
        if kind == 'rtcp':
            self.read_reports(buffer.extract_dup(0, buffer.get_size()))
        else:
            self.read_told(buffer)
        return Gst.PadProbeReturn.OK

    def read_reports(self, data):
        while len(data) >= 8:
            size = 4 * (1 + struct.unpack('>H', data[2:4])[0])
            if data[1] == 200:
                ssrc, ntp, rtp = struct.unpack('>IQI', data[4:20])
                self.reports.setdefault(ssrc, []).append(
                    (self.now(), ntp / 2 ** 32, rtp))
            data = data[size:]

    def read_told(self, buffer):
        ok, rtp = GstRtp.RTPBuffer.map(buffer, Gst.MapFlags.READ)
        if not ok:
            return
        k = 0
        while True:
            ok, data = rtp.get_extension_onebyte_header(TIME_ID, k)[:2]
            if not ok:
                break
            flags, ssrc, timestamp = struct.unpack('>BII', bytes(data))
            self.bytes['told'] += 10
            if ssrc == VOICE:
                self.told.append((self.now(), rtp.get_ssrc(), rtp.get_timestamp(),
                                  timestamp, bool(flags & 0x80)))
            k += 1
        rtp.unmap()

    @staticmethod
    def fail(_bus, message):
        sys.exit(str(message.parse_error()))

    def switch(self):
        self.turn = (self.turn + 1) % len(self.ways)
        self.out.set_property('max-streams', self.ways[self.turn])
        self.changes.append((self.now(), self.ways[self.turn]))
        return True

    def play(self):
        pipelines = [Gst.parse_launch(line) for line in self.lines]
        self.clock = Gst.SystemClock.obtain()
        talk, mixer, listener = pipelines
        mix = mixer.get_by_name('mix')
        self.out = mix.get_static_pad('src_0')
        self.out.set_property('max-streams', self.ways[0])
        s = Gst.Structure.new_empty('stream')
        s.set_value('priority', 10)
        mix.emit('set-stream', VOICE, s)
        listener.get_by_name('ear').connect('handoff', self.on_heard)
        for kind in ('rtp', 'rtcp'):
            mixer.get_by_name(kind).get_static_pad('sink').add_probe(
                Gst.PadProbeType.BUFFER, self.on_sent, kind)
        self.base = self.clock.get_time()
        for pipeline in (listener, mixer, talk):
            pipeline.use_clock(self.clock)
            pipeline.set_start_time(Gst.CLOCK_TIME_NONE)
            pipeline.set_base_time(self.base)
            pipeline.set_state(Gst.State.PLAYING)
            pipeline.get_bus().add_signal_watch()
            pipeline.get_bus().connect('message::error', self.fail)
        loop, self.turn = GLib.MainLoop(), 0
        if len(self.ways) > 1:
            GLib.timeout_add(self.args.every * 1000, self.switch)
        GLib.timeout_add(self.args.seconds * 1000, loop.quit)
        loop.run()
        for pipeline in pipelines:
            pipeline.set_state(Gst.State.NULL)
        self.heard = numpy.concatenate(self.heard)
        return self


def find_lag(said, run, at, length, least=ALIKE):
    """[ms] by which the voice is later around `at` s; None in a pause"""
    first = round(at * RATE)
    reference = said[first:first + round(length * RATE)]
    start = round((at - run.began) * RATE)
    heard = run.heard[start:start + len(reference) + round(LATEST_S * RATE)]
    if start < 0 or numpy.sqrt((reference ** 2).mean()) < 300:
        return None
    if len(heard) < len(reference) + round(LATEST_S * RATE):
        return None
    size = len(reference) + len(heard)
    c = numpy.fft.irfft(numpy.fft.rfft(heard, size)
                        * numpy.conj(numpy.fft.rfft(reference, size)), size)
    late = int(numpy.argmax(c[:round(LATEST_S * RATE)]))
    there = heard[late:late + len(reference)]
    alike = c[late] / math.sqrt((reference ** 2).sum() * (there ** 2).sum() + 1)
    return late / RATE * 1e3 if alike > least else None


def shifts(said, run):
    found = {1: [], 2: []}
    for at, way in run.changes:
        before = [find_lag(said, run, at - d, 0.3) for d in (1.2, .9, .6)]
        after = [find_lag(said, run, at + d, 0.3) for d in (.4, .7, 1.0)]
        before = [x for x in before if x is not None]
        after = [x for x in after if x is not None]
        if before and after:
            found[way].append(statistics.median(after) - statistics.median(before))
    return found


def powers(samples):
    """In each octave, of a piece of sound"""
    spectrum = abs(numpy.fft.rfft(samples * numpy.hanning(len(samples)))) ** 2
    hz = numpy.fft.rfftfreq(len(samples), 1 / RATE)
    return numpy.array([spectrum[(hz >= low) & (hz < 2 * low)].sum() for low in OCTAVES_HZ])


def spectrum(said, run, since, until):
    """[dB] that the voice is louder than it was said, in each octave, from `since` to `until`
    (s, from a change on)"""
    sums = numpy.zeros((2, len(OCTAVES_HZ)))
    for at, _ in run.changes:
        lags = [find_lag(said, run, at + d, 0.3, 0.5) for d in (-.6, .7)]
        lags = [lag for lag in lags if lag is not None]
        for k in range(round((until - since) / WINDOW_S) if lags else 0):
            first = round((at + since + k * WINDOW_S) * RATE)
            start = first + round((statistics.mean(lags) / 1e3 - run.began) * RATE)
            pieces = [x[n:n + round(WINDOW_S * RATE)]
                      for x, n in ((run.heard, start), (said, first))]
            if len(pieces[0]) == len(pieces[1]) == round(WINDOW_S * RATE):
                sums += [powers(piece) for piece in pieces]
    return 10 * numpy.log10(sums[0] / sums[1])


def compare_spectrum(said, run):
    """What a change makes of the spectrum: the worst octave"""
    change = spectrum(said, run, -0.1, 0.5) - spectrum(said, run, 1.0, 3.0)
    return f'{max(change, key=abs):+.1f} dB'


def judged(samples):
    """At 16 kHz, without what the others hum"""
    narrow = numpy.convolve(samples, listen.low_pass(numpy, 0.46 / 3), 'same')[::3]
    return listen.speech_of(numpy, narrow, 16000)


def rate_speech(said, run):
    scores, delays = [], []
    for k in range(1, int(run.args.seconds / PIECE_S)):
        at = k * PIECE_S
        late = find_lag(said, run, at, PIECE_S - LATEST_S, 0)
        if late is None:
            continue
        first = round((at - run.began + late / 1e3) * RATE)
        n = round((PIECE_S - LATEST_S) * RATE)
        narrow = [judged(x) for x in (said[at * RATE:at * RATE + n],
                                      run.heard[first:first + n])]
        scores.append(pesq(16000, narrow[0] / 32768, narrow[1] / 32768, 'wb'))
        pieces = [find_lag(said, run, at + d / 2, 0.4) for d in range(2 * PIECE_S - 2)]
        delays += [p for p in pieces if p is not None]
    return statistics.mean(scores), statistics.mean(delays)


def span(values, form):
    """The median, and from where to where"""
    least, middle, most = (format(x, form) for x in (
        min(values), statistics.median(values), max(values)))
    return f'{middle} ({least} to {most})'


def row(name, said, runs):
    cells = [name]
    for way in (1, 2):
        found = [x for run in runs for x in shifts(said, run)[way]]
        cells.append(span(found, '+.1f') if found else '')
    rated = [rate_speech(said, run) for run in runs]
    cells.append(span([delay for _, delay in rated], '.0f'))
    cells.append(span([score for score, _ in rated], '.2f'))
    seconds = sum(run.args.seconds for run in runs)
    for kind in ('told', 'rtcp', 'rtp'):
        cells.append(f'{sum(run.bytes[kind] for run in runs) / seconds:.0f}')
    return f'| {" | ".join(cells)} |'


def wrapped(x):
    return (x + 2 ** 31) % 2 ** 32 - 2 ** 31


def compare_reports(run):
    """What two sender reports say of where the voice is in the mix, against what it says;
    and when each was known first"""
    errors, first = [], {}
    for now, mix, at, timestamp, mixed in run.told:
        known = [[r for r in run.reports.get(ssrc, []) if r[0] <= now]
                 for ssrc in (mix, VOICE)]
        first.setdefault('told', now)
        if not all(known):
            continue
        first.setdefault('reports', now)
        m, v = known[0][-1], known[1][-1]
        ntp = m[1] + wrapped(at - m[2]) / RATE
        said = v[2] + (ntp - v[1]) * RATE
        if mixed:
            errors.append(wrapped(timestamp - round(said)) / RATE * 1e3)
    return errors, first


def table(args):
    said = read_voice(args.voice)
    lines = ['| | enters the mix [ms] | leaves it [ms] | mouth to ear [ms] | PESQ '
             '| contributor-time [B/s] | RTCP [B/s] | RTP [B/s] |',
             '|---|---|---|---|---|---|---|---|']
    errors, first = [], []
    for name, tells, ways in (('not aligned', False, (2, 1)), ('aligned', True, (2, 1)),
                              ('all mixed', False, (1,)), ('separate', False, (2,))):
        runs = [Run(args.voice, args, tells, ways).play() for _ in range(args.runs)]
        lines.append(row(name, said, runs))
        print(lines[-1], flush=True)
        for run in runs if tells else []:
            wrong, known = compare_reports(run)
            errors += wrong
            first.append(known)
    told = max(known['told'] for known in first)
    reports = span([known['reports'] for known in first if 'reports' in known], '.1f')
    return lines + ['', (
        f'Sender reports put the voice {span([abs(e) for e in errors], ".0f")} ms from where '
        f'it was in the mix, from {reports} s on; contributor-time was there after '
        f'{told:.1f} s at most.')]


def fill_in(lines):
    before, rest = PAGE.read_text(encoding='utf-8').split(BEGIN)
    after = rest[rest.index(END):]
    PAGE.write_text('\n'.join([f'{before}{BEGIN}', *lines, after]), encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('voice', type=pathlib.Path)
    parser.add_argument('--seconds', type=int, default=56, help='of each run')
    parser.add_argument('--every', type=int, default=4, help='so many s it changes')
    parser.add_argument('--runs', type=int, default=3, help='for each row')
    parser.add_argument('--spectrum', action='store_true',
                        help='nothing but the spectrum at a change, in a minute and two')
    parser.add_argument('--write', action='store_true', help=f'into {PAGE.name}')
    args = parser.parse_args()
    Gst.init(None)
    if args.spectrum:
        said = read_voice(args.voice)
        for name, tells in (('not aligned', False), ('aligned', True)):
            print(name, compare_spectrum(said, Run(args.voice, args, tells, (2, 1)).play()),
                  flush=True)
        return
    lines = table(args)
    print('\n'.join(lines))
    if args.write:
        fill_in(lines)


if __name__ == '__main__':
    sys.exit(main())
