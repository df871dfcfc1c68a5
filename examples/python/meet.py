#!/usr/bin/python3
"""Six people meet behind two mixers; one is behind a narrow link, one leaves, one comes
late, one is killed and returns.

usage: meet.py [--seconds N] [--out FOLDER] [--voices FOLDER] [--secret WORD]

    4 x dpmclient -> dpmmixer <- dpmmixer parent= <- 2 x dpmclient

Each is a gst-launch-1.0 line of its own, as a person would type it.  You will see
who comes and goes; afterwards NAME.wav holds what each of them heard, meet.png
shows whose voice is in it and when, and what came over the narrow link, meet.log all
messages.

examples/meet.sh installs and builds what this needs.  The exit status is 0 if
everybody heard all others, and nobody himself.
"""
import argparse
import functools
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import cairo
import numpy

import heard
import link

HEARD = 0.8             # of the windows of a voice, to call it heard
ECHO = 0.1              # of one's own, and one window: chance
SETTLE_S = 1.5          # after somebody came, before it counts
NARROW_KBPS = 120       # of the first one's link: for a voice and a mix of four
NARROW_S, QUEUE_S = 0.020, 0.300
SAMPLE_S = 0.5
LEAST_BYTES = 100_000   # of a recording in which there may be something
LEAST_S, MOST_S = 10, 600       # of a meeting of which anything can be said
GREEN, GREY, RED, INK = (0.31, 0.60, 0.02), (0.83, 0.84, 0.81), (0.64, 0, 0), (
    0.18, 0.20, 0.21)
BLUE, STRIP = (0.20, 0.40, 0.64), 34


class Person:
    """One life of a client: a voice and what it hears."""

    def __init__(self, voice, port, options, life=1):
        self.name = voice.stem.split('-', 1)[-1]
        self.life, self.voice = life, voice
        self.recording = options.out / (
            f'{self.name}.wav' if life == 1 else f'{self.name}-{life}.wav')
        self.begin, self.end = time.monotonic(), None
        self.link = []          # (when, kbit/s that came, packets lost), if it is narrow
        self.process = launch(
            options, '-e', 'filesrc', f'location={quoted(voice)}',
            *f'! wavparse ! audioconvert ! clocksync ! dpmclient server=127.0.0.1:{port}'
            .split(), f'display-name={quoted(self.name)}',
            *'! audio/x-raw,format=S16LE,channels=2 ! wavenc ! filesink async=false'.split(),
            f'location={quoted(self.recording)}')

    def stop(self, signum=signal.SIGINT):
        if self.end is not None:
            return
        self.end = time.monotonic()
        stop(self.process, signum)

    @property
    def title(self):
        return self.name if self.life == 1 else f'{self.name}, returned'


def quoted(text):
    """As gst-launch-1.0 has to be told it, whatever it has of spaces and quotes."""
    return '"' + str(text).replace('\\', '\\\\').replace('"', '\\"') + '"'


def launch(options, *words):
    words = list(words)
    for element in ('dpmclient', 'dpmmixer'):
        if element in words and options.secret:
            words.insert(words.index(element) + 1, f'secret={quoted(options.secret)}')
    process = subprocess.Popen(['gst-launch-1.0', '-m', *words],
                               stdin=subprocess.DEVNULL, stdout=options.log,
                               stderr=subprocess.STDOUT)
    options.running.append(process)
    return process


def stop(process, signum=signal.SIGINT):
    process.send_signal(signum)
    wait_for(process)


def wait_for(process):
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def stop_all(processes):
    for process in processes:
        process.send_signal(signal.SIGINT)
    for process in processes:
        wait_for(process)


class Narrow(link.Gate):
    """A link of NARROW_KBPS, and what comes over it to @person."""

    def __init__(self, server):
        super().__init__(*(link.Way(NARROW_S, 1000 * NARROW_KBPS,
                                    int(QUEUE_S * 125 * NARROW_KBPS))
                           for _ in range(2)), server)
        self.start()

    def look(self, person):
        down, bytes_then = self.ways[1].counters, 0
        while person.end is None:
            time.sleep(SAMPLE_S)
            person.link.append((time.monotonic(), (down.out_bytes - bytes_then)
                                / SAMPLE_S / 125, down.lost_packets))
            bytes_then = down.out_bytes


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(('127.0.0.1', 0))
        return end.getsockname()[1]


def hold(options, voices):
    """Everything that happens.  Returns: the people."""
    root, branch = free_port(), free_port()
    mixers = [launch(options, 'dpmmixer', f'port={root}', 'display-name=root'),
              launch(options, 'dpmmixer', f'port={branch}', 'display-name=branch',
                     f'parent=127.0.0.1:{root}')]
    time.sleep(1)
    begin, people, narrow = time.monotonic(), [], Narrow(root)
    names = [v.stem.split('-', 1)[-1] for v in voices]

    def at(share, text):
        time.sleep(max(0, begin + share * options.seconds - time.monotonic()))
        print(f'{time.monotonic() - begin:5.1f} s  {text}', flush=True)

    def come(number, life=1):
        people.append(Person(voices[number], narrow.port if number == 0 else
                             branch if number in (3, 4) else root, options, life))

    at(0, ', '.join(names[:3]) + ' join the mixer, ' + ' and '.join(names[3:5])
       + f' its branch; {names[0]} by a link of {NARROW_KBPS} kbit/s')
    for number in range(5):
        come(number)
    threading.Thread(target=narrow.look, args=people[:1], daemon=True).start()
    at(0.25, f'{names[5]} comes late')
    come(5)
    at(0.45, f'{names[1]} leaves')
    people[1].stop()
    at(0.55, f'{names[2]} is killed')
    people[2].stop(signal.SIGKILL)
    at(0.6, f'{names[2]} returns')
    come(2, life=2)
    at(1, 'the end')
    for person in people:
        person.stop()
    for mixer in mixers:
        stop(mixer)
    narrow.stop()
    return people


load = functools.cache(heard.load)      # each is compared with seven


def listen(listener, talker):
    """[(begin, end, heard)] of the windows of a voice, in seconds of the clock."""
    recording, voice = load(listener.recording), load(talker.voice)
    early = talker.begin - listener.begin
    if early < 0:               # it had begun before: not from its beginning
        skipped = int((SETTLE_S - early) * heard.RATE_HZ)
        voice, early = voice[skipped:], SETTLE_S
        begin = listener.begin + SETTLE_S
    else:
        begin = talker.begin
    end = min(listener.end, talker.end)
    cut = max(0, int((early - 1) * heard.RATE_HZ))
    start = cut + heard.place(voice[:int((end - begin) * heard.RATE_HZ)],
                              recording[cut:])
    windows = []
    for when, ok, _ in heard.windows_heard(voice, recording, start):
        first = listener.begin + start / heard.RATE_HZ + when
        if first + heard.WINDOW_S > end or first < begin + SETTLE_S:
            continue
        windows.append((first, first + heard.WINDOW_S / 2, ok))
    return windows


def draw(people, found, path):
    width, row, left = 900, 13, 210
    panel = row * len(people) + 14
    begin, end = people[0].begin, max(p.end for p in people)
    bottom = 60 + panel * len(people) + (STRIP + 10) * sum(bool(p.link) for p in people)
    surface = cairo.ImageSurface(cairo.FORMAT_RGB24, width, bottom)
    c = cairo.Context(surface)
    c.set_source_rgb(1, 1, 1)
    c.paint()
    c.select_font_face('sans-serif')

    def x(when):
        return left + (when - begin) / (end - begin) * (width - left - 20)

    def text(at_x, at_y, words, size=10, bold=False):
        c.select_font_face('sans-serif', cairo.FONT_SLANT_NORMAL,
                           cairo.FONT_WEIGHT_BOLD if bold else
                           cairo.FONT_WEIGHT_NORMAL)
        c.set_font_size(size)
        c.set_source_rgb(*INK)
        c.move_to(at_x, at_y)
        c.show_text(words)

    text(12, 22, 'Who was heard by whom, second by second', 14, True)
    text(12, 38, 'green: the voice is in what that person heard; red: it is not; '
         'grey: both were there, but not for long enough to tell; or it is his own voice')
    def strip(listener, y):
        """What came over the link, of what it carries"""
        c.set_source_rgb(*GREY)
        c.rectangle(x(listener.begin), y, x(listener.end) - x(listener.begin), STRIP)
        c.fill()
        for when, kbps, _ in listener.link:
            c.line_to(x(when), y + STRIP * (1 - min(1, kbps / NARROW_KBPS)))
        c.set_source_rgb(*BLUE)
        c.set_line_width(1.5)
        c.stroke()
        text(left - 85, y + STRIP / 2, f'of {NARROW_KBPS} kbit/s', 8)

    top = 50 - panel
    for i, listener in enumerate(people):
        top += panel
        text(12, top + row, listener.title, 11, True)
        if listener.link:
            text(12, top + 2 * row, 'behind a narrow link', 9)
        for j, talker in enumerate(people):
            y = top + j * row
            text(left - 85, y + row - 3, talker.title, 8)
            c.set_source_rgb(*GREY)
            first = max(listener.begin, talker.begin)
            c.rectangle(x(first), y, max(0, x(min(listener.end, talker.end))
                                         - x(first)), row - 3)
            c.fill()
            for a, b, ok in found.get((i, j), ()):
                c.set_source_rgb(*(GREEN if ok else RED))
                c.rectangle(x(a), y, x(b) - x(a) + 0.5, row - 3)
                c.fill()
        if listener.link:
            strip(listener, top + row * len(people) + 4)
            top += STRIP + 10
    for s in range(0, int(end - begin) + 1, 5):
        text(x(begin + s) - 4, bottom - 6, f'{s} s', 9)
    surface.write_to_png(str(path))


def has_recorded(person):
    return person.recording.exists() and person.recording.stat().st_size >= LEAST_BYTES


def judge(people):
    """Prints a table.  Returns: the windows, and whether all is well."""
    found, good = {}, all(map(has_recorded, people))
    print('\n  heard by' + ' ' * 12 + ' '.join(f'{p.name:>9}' for p in people))
    for i, listener in enumerate(people):
        cells = []
        for j, talker in enumerate(people):
            if not has_recorded(listener):
                cells.append(f'{"":>9}')
                continue
            windows = listen(listener, talker)
            if listener.name != talker.name:
                found[i, j] = windows
            if len(windows) < 2:        # too short a time to tell
                cells.append(f'{"":>9}')
                continue
            n_heard = sum(ok for _, _, ok in windows)
            share = n_heard / len(windows)
            good &= (n_heard <= 1 + ECHO * len(windows)
                     if listener.name == talker.name else share >= HEARD)
            cells.append(f'{share:9.0%}')
        print(f'  {listener.title:20}' + ' '.join(cells))
    return found, good and any(len(windows) >= 2 for windows in found.values())


def tell_sounds(people):
    """Prints of each recording what needs no knowledge of voices."""
    print('\n  what was played           s    RMS, dB   peak, dB   longest silence, s')
    for person in filter(has_recorded, people):
        samples = load(person.recording) / 32768
        loud = numpy.abs(samples) > 1e-3
        edges = numpy.flatnonzero(numpy.concatenate(([True], loud, [True])))
        rms, peak = (20 * numpy.log10(1e-9 + v) for v in (
            numpy.sqrt(numpy.mean(samples ** 2)), numpy.abs(samples).max()))
        print(f'  {person.title:20} {len(samples) / heard.RATE_HZ:8.1f} {rms:10.1f} '
              f'{peak:10.1f} {numpy.diff(edges).max() / heard.RATE_HZ:12.2f}')
    for person in people:
        if person.link:
            kbps = [rate for _, rate, _ in person.link]
            print(f'  {person.title}: {numpy.mean(kbps):.0f} kbit/s came, at most '
                  f'{max(kbps):.0f} of {NARROW_KBPS}; {person.link[-1][2]} packets lost')


def seconds(text):
    if not LEAST_S <= float(text) <= MOST_S:
        raise argparse.ArgumentTypeError(f'from {LEAST_S} to {MOST_S}, not {text}')
    return float(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\nusage')[0])
    top = pathlib.Path(__file__).resolve().parents[2]
    build = pathlib.Path(os.environ.get('FMX_BUILD', top / 'build'))
    parser.add_argument('--seconds', type=seconds, default=30)
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('.'))
    parser.add_argument('--voices', type=pathlib.Path, default=build / 'voices')
    parser.add_argument('--secret', default='four-words-nobody-guesses')
    options = parser.parse_args()
    voices = sorted(options.voices.glob('*.wav'))[:6]
    if len(voices) < 6:
        sys.exit(f'six voices are needed in {options.voices}: run '
                 'examples/voices.sh')
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ['GST_PLUGIN_PATH'] = ':'.join(
        [*filter(None, [os.environ.get('GST_PLUGIN_PATH')]),
         *map(str, (build / 'gst').glob('*/'))])
    os.environ.setdefault('GST_REGISTRY', str(build / 'registry.bin'))
    options.running = []
    with open(options.out / 'meet.log', 'w', encoding='utf-8') as options.log:
        try:
            people = hold(options, voices)
        finally:
            stop_all(options.running)
    found, good = judge(people)
    tell_sounds(people)
    draw(people, found, options.out / 'meet.png')
    print(f'\n{"everybody heard all others, and nobody himself" if good else "somebody was not heard"}'
          f'; look at {options.out / "meet.png"}, listen to {options.out}/*.wav')
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.default_int_handler)   # ends in order, too
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
