#!/usr/bin/python3
"""Eight people talk; two partial mixers bring them to one listener over a
link that narrows and widens.

usage: party.py [--seconds N] [--play] [--mic] [--out FOLDER] [--voices FOLDER]

    8 x sender.sh -> mixer.sh -> the link -> mixer.sh -> receiver.sh

These are the very scripts of examples/launch, one process each.  You will see
a line of numbers that lives, then a table; afterwards party.wav holds what the
listener heard, party.png and party.log what happened.  --play lets you hear it at once,
--mic puts you in the place of the first talker.

examples/party.sh installs and builds what this needs.  The exit status is 0 if
every voice was heard and every pipeline kept running.
"""
import argparse
import csv
import math
import os
import pathlib
import signal
import sys
import tempfile
import time
import wave

import heard
import link
import machine
import timeline
from pipelines import Pipeline

# Port blocks: examples/launch/README.md
MIXER_A, MIXER_B, LISTENER, TALKERS = 5000, 6000, 10100, 10000
LINK_THERE, LINK_BACK = 20000, 20010
ONE_WAY_S = 0.040
QUEUE_BYTES = 3750              # 115 ms in the middle: a small router
# A link that wakes up so late shows a queue that is none: what the listener hears then is
# this machine, not the link.  Where the link is fast, half of what its queue holds.
LATE_S = 0.1
# A voice must last longer than the party: programs take their time to start.
START_S = 3
# What the listener must find of each voice.  The link narrows to a half twice:
# its queue overflows until the sender has heard of it, some 0.5 s.  With what is
# played late after that, each may spoil windows (2 s, one each second) that begin
# in 3 s, of 37; the rest is for a controller that asks for too much once.
HEARD = 0.8
# (share of the run, kbit/s): enough for all, for half, for few, for all
PLAN = [(0.0, 550), (0.25, 260), (0.5, 120), (0.7, 260), (0.8, 550)]
SAMPLE_S = 0.25
STATUS_S = 0.5
# What is shorter has stages of which nothing can be said; what is longer fills a disk.
LEAST_S, MOST_S = 10, 600
FIELDS = ['time_s', 'link_kbps', 'target_kbps', 'sent_kbps', 'used_kbps',
          'lost_packets', 'packets', 'queue_ms', 'rtt_ms', 'separate', 'mixed', 'busy']


class Party:
    def __init__(self, options, voices):
        self.options, self.voices = options, voices
        self.rows, self.pipelines, self.complaints = [], [], []
        self.log = open(options.out / 'party.log', 'w', encoding='utf-8')
        self.seen = {'target': 0.0, 'rtt': 0.0, 'separate': 0, 'mixed': 0}
        self.stalls = machine.Stalls()
        self.way = link.Way(ONE_WAY_S, PLAN[0][1] * 1000, QUEUE_BYTES)
        self.link = link.Link([
            (self.way, LINK_THERE, ('127.0.0.1', MIXER_B)),
            (link.Way(ONE_WAY_S), LINK_BACK, ('127.0.0.1', self.exit_block()))])

    def exit_block(self):
        """Mixer A's block for mixer B, its last neighbour."""
        return MIXER_A + 10 * len(self.voices)

    def start(self, name, script, *arguments, **environment):
        self.pipelines.append(Pipeline(name, script, *arguments,
                                       on_message=self.on_message,
                                       log=self.log, **environment))

    def on_message(self, pipeline, source, structure, fields):
        if structure in ('GstMessageError', 'GstMessageWarning'):
            self.complaints.append(f'{pipeline.name}: {source}: '
                                   f'{fields.get("debug", structure)}')
        if pipeline.name != 'mixer A':
            return
        if 'target-bps' in fields:
            self.seen['target'] = float(fields['target-bps'])
            self.seen['rtt'] = float(fields.get('rtt-ms', 0))
        if structure == 'fairmix-selection':
            self.seen['separate'] = int(fields['n-separate'])
            self.seen['mixed'] = int(fields['n-mixed'])

    def start_all(self):
        out, here = self.options.out, '127.0.0.1'
        self.link.start()
        self.stalls.start()
        sound = str(out / 'party.wav') + ('+auto' if self.options.play else '')
        self.start('listener', 'receiver.sh', LISTENER, f'{here}:{MIXER_B + 10}',
                   sound)
        self.start('mixer B', 'mixer.sh', MIXER_B, f'from={here}:{LINK_BACK}',
                   f'to={here}:{LISTENER}')
        talkers = [f'from={here}:{TALKERS + 10 * n}'
                   for n in range(len(self.voices))]
        self.start('mixer A', 'mixer.sh', MIXER_A, *talkers,
                   f'to={here}:{LINK_THERE}')
        time.sleep(1)
        for n, voice in enumerate(self.voices):
            source = 'mic' if self.options.mic and n == 0 else str(voice)
            self.start(voice.stem, 'sender.sh', source,
                       f'{here}:{MIXER_A + 10 * n}', TALKERS + 10 * n,
                       SSRC=str(1001 + n), NAME=voice.stem)

    def stop_all(self):
        """Whoever speaks first stops first, so that nobody misses anything."""
        for pipeline in reversed(self.pipelines):
            pipeline.stop()
        self.link.stop()
        self.log.close()

    def row(self, now_s, last):
        counters, row = self.way.counters, dict.fromkeys(FIELDS, 0)
        row.update(
            time_s=round(now_s, 3), link_kbps=self.way.rate_bps / 1000,
            target_kbps=self.seen['target'] / 1000,
            sent_kbps=(counters.in_bytes - last.in_bytes) * 8e-3 / SAMPLE_S,
            used_kbps=(counters.out_bytes - last.out_bytes) * 8e-3 / SAMPLE_S,
            lost_packets=counters.lost_packets - last.lost_packets,
            packets=counters.in_packets - last.in_packets,
            queue_ms=counters.queue_s * 1e3, rtt_ms=self.seen['rtt'],
            separate=self.seen['separate'], mixed=self.seen['mixed'],
            busy=int(self.too_busy()))
        return row

    def too_busy(self):
        """Whether this machine just kept the link or the players waiting."""
        stalled_s, full = self.stalls.take()
        late_s, self.link.recent_late_s = self.link.recent_late_s, 0.0
        limit_s = min(LATE_S, self.way.service_s(QUEUE_BYTES) / 2)
        return full or max(stalled_s, late_s) > limit_s

    def run(self):
        begin = time.monotonic()
        last = link.Counters()
        seconds, n = self.options.seconds, 0
        while n * SAMPLE_S < seconds:
            for share, kbps in PLAN:
                if n * SAMPLE_S >= share * seconds:
                    self.way.rate_bps = kbps * 1000
            n += 1
            time.sleep(max(0.0, begin + n * SAMPLE_S - time.monotonic()))
            self.rows.append(self.row(n * SAMPLE_S, last))
            last = link.dataclasses.replace(self.way.counters)
            if n * SAMPLE_S % STATUS_S == 0:
                self.show_status()
            dead = [p for p in self.pipelines if not p.alive]
            if dead:
                print()
                sys.exit(f'{dead[0].name} ended:\n' + '\n'.join(dead[0].tail))
        print(flush=True)

    def show_status(self):
        now, recent = self.rows[-1], self.rows[-8:]
        lost = sum(r['lost_packets'] for r in recent)
        sent = sum(r['sent_kbps'] for r in recent) / len(recent)
        packets = max(1, sum(r['packets'] for r in recent))
        text = (f'{now["time_s"]:5.1f} s  link {now["link_kbps"]:3.0f} kbit/s'
                f'  target {now["target_kbps"]:4.0f}  sent {sent:3.0f}'
                f'  RTT {now["rtt_ms"]:3.0f} ms  lost {lost / packets:5.1%}'
                f'  {now["separate"]} separate + {now["mixed"]} mixed ')
        live = sys.stdout.isatty()
        print(('\r\033[K' if live else '') + text, end='' if live else '\n',
              flush=True)


def print_table(rows):
    print('\n  from    link  target    sent   used    lost   queue  separate')
    print('     s  kbit/s  kbit/s  kbit/s                95 %, ms   streams')
    for group in timeline.phases(rows):
        n = len(group)
        sent = sum(r['sent_kbps'] for r in group) / n
        packets = max(1, sum(r['packets'] for r in group))
        queue = sorted(r['queue_ms'] for r in group)[int(0.95 * (n - 1))]
        print(f'{group[0]["time_s"] - SAMPLE_S:6.1f}'
              f'{group[0]["link_kbps"]:8.0f}'
              f'{sum(r["target_kbps"] for r in group) / n:8.0f}{sent:8.0f}'
              f'{timeline.share_used(group):7.0%}'
              f'{sum(r["lost_packets"] for r in group) / packets:8.1%}'
              f'{queue:8.0f}{sum(r["separate"] for r in group) / n:10.1f}')


def print_voices(voices, recording, least):
    """Returns how many of them the listener heard, at least so much of."""
    print('\n  what the listener heard of each voice, and what chance alone would find:')
    sound, count, chance = heard.load(recording), 0, 0.0
    for voice in voices:
        samples = heard.load(voice)
        start = heard.place(samples, sound)
        share = heard.share_heard(samples, sound, start)
        chance += heard.share_by_chance(samples, sound, start) / len(voices)
        count += share >= least
        print(f'  {voice.stem:12} {share:4.0%} '
              + '#' * round(share * 40))
    print(f'  by chance    {chance:4.0%}')
    return count


def seconds(text):
    if not LEAST_S <= float(text) <= MOST_S:
        raise argparse.ArgumentTypeError(f'from {LEAST_S} to {MOST_S}, not {text}')
    return float(text)


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__.split('\n\nusage')[0])
    top = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument('--seconds', type=seconds, default=40, metavar='N',
                        help=f'from {LEAST_S} to {MOST_S}; 40 if it is not said')
    parser.add_argument('--play', action='store_true',
                        help='through the loudspeakers')
    parser.add_argument('--mic', action='store_true',
                        help='the microphone in place of the first talker')
    parser.add_argument('--heard', type=float, default=HEARD, metavar='SHARE',
                        help='of its windows, to call a voice heard')
    parser.add_argument('--out', type=pathlib.Path, default=pathlib.Path('.'))
    parser.add_argument('--voices', type=pathlib.Path,
                        default=pathlib.Path(os.environ.get(
                            'FMX_BUILD', top / 'build')) / 'voices')
    return parser.parse_args()


def main():
    options = parse_options()
    voices = sorted(options.voices.glob('*.wav'))
    if not voices:
        sys.exit(f'no voices in {options.voices}: run examples/voices.sh')
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / 'party.log').touch()
    except OSError as error:
        sys.exit(f'nothing can be written there: {error}')
    with tempfile.TemporaryDirectory() as folder:
        play(options, [lasting(voice, options.seconds + START_S, folder)
                       for voice in voices])


def lasting(voice, seconds, folder):
    """The voice, or a file in which it begins again until it lasts so long."""
    with wave.open(str(voice)) as file:
        length_s = file.getnframes() / file.getframerate()
        if length_s >= seconds:
            return voice
        path = pathlib.Path(folder, voice.name)
        with wave.open(str(path), 'w') as longer:
            longer.setparams(file.getparams())
            frames = file.readframes(file.getnframes())
            frames *= math.ceil(seconds / length_s)
            frame_bytes = file.getnchannels() * file.getsampwidth()
            longer.writeframes(frames[:int(seconds * file.getframerate())
                                      * frame_bytes])
    return path


def play(options, voices):
    """The party itself, and what is said of it; ends the program."""
    try:
        party = Party(options, voices)
    except OSError as error:
        sys.exit(f'is another party going on here? {error}')
    try:
        party.start_all()
        party.run()
    finally:
        party.stop_all()
    with open(options.out / 'party.csv', 'w', newline='',
              encoding='utf-8') as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(party.rows)
    print_table(party.rows)
    spoken = voices[1:] if options.mic else voices
    count = print_voices(spoken, options.out / 'party.wav', options.heard)
    for complaint in party.complaints[:10]:
        print(f'  ! {complaint}')
    for sentence in timeline.remarks(party.rows):
        print(f'  ! {sentence}')
    if party.link.late_s > LATE_S:
        print(f'  ! this machine was too busy: the link stood still for '
              f'{party.link.late_s * 1e3:.0f} ms')
    timeline.draw(options.out / 'party.csv', options.out / 'party.png')
    print(f'\n{count} of {len(spoken)} voices heard; listen to '
          f'{options.out / "party.wav"}, look at {options.out / "party.png"}')
    sys.exit(0 if count == len(spoken) and not party.complaints else 1)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.default_int_handler)   # ends in order, too
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
