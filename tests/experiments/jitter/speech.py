#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rates speech that came over six traces: cut, stretched, or with a fixed delay.

  tests/experiments/jitter/speech.py [--build build] [--keep DIR] [--neteq PROGRAM]
      [--pairs | --changes]

Sends four minutes of the voices of examples/voices.sh through jitter-speech and
rates 8 s at a time by PESQ (ITU-T P.862.2, wideband) against what was said.
Fills in the tables of docs/algorithms/playout.md.  --pairs does only the second one, ours
beside a constant delay as long, piece by piece.  --changes does only the third one: what
one change of a delay takes from the piece that it falls into.  --keep leaves what is heard in DIR, and
the ratings, or takes these from there.  --neteq is a build of tests/peers/neteq.cc, which
says how to make it; without it NetEQ's rows stay as they are.

Needs the pesq module (pip install pesq) and, once, the packages of
examples/install-deps.sh party.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import write_playout

try:
    import pesq
except ImportError:
    sys.exit('speech.py: no module pesq: pip install pesq')

RATE = 16000
PIECE_S = 8
N_BEGINNING = 2                 # pieces in which the path is new
STUDENT = 2.05                  # 95 % of some 29 pieces
VOICE_S = 30
CODEC_MS = 6.5                  # Opus looks ahead
CHANGES_MS = (5, 10, 40, 80, 300)
CHANGE_S = (0.1, 2, 5)          # when, within a piece
N_CHANGED = 6                   # pieces
QUIET = 100                     # of 32768: says nothing of the delay
ALIKE = 0.5                     # half of it is what was said
TRACES = ('syn_lan:8', 'syn_wifi:8', 'syn_wifi_busy:8', '5g_n78_10ms',
          '5g_w2s_n8', 'syn_lte:8')
DECODE = ' ! rtpopusdepay ! opusdec plc=true'
OURS = 'qmjitterbuffer and qmstretch'
SAME = 'none, as late as that'
NETEQ = 'NetEQ'
NETEQ_RATE = 48000
PIPELINES = {
    OURS: 'qmjitterbuffer do-lost=true' + DECODE + ' ! qmstretch',
    'qmjitterbuffer': 'qmjitterbuffer do-lost=true' + DECODE,
    SAME: 'rtpjitterbuffer do-lost=true mode=none latency={delay}' + DECODE,
    'none 60 ms': 'rtpjitterbuffer do-lost=true mode=none latency=60' + DECODE,
    'slave 60 ms': 'rtpjitterbuffer do-lost=true mode=slave latency=60'
    + DECODE,
}


def make_speech(path):
    """All voices, one after the other."""
    voices = write_playout.ROOT / 'build/voices'
    subprocess.run([write_playout.ROOT / 'examples/voices.sh', voices], check=True)
    with open(path, 'wb') as out:
        for voice in sorted(voices.glob('*.wav')):
            subprocess.run(
                ['ffmpeg', '-v', 'error', '-nostdin', '-i', voice, '-t',
                 str(VOICE_S), '-ar', str(RATE), '-ac', '1', '-f', 's16le', '-'],
                check=True, stdout=out)


def hear(build, speech, trace, pipeline, heard):
    """Returns the share of time in which nothing was there to be played."""
    env = dict(os.environ)
    env['GST_PLUGIN_PATH_1_0'] = str(build / 'gst/fairqueue')
    env['GST_REGISTRY_1_0'] = str(build / 'jitter-report.registry')
    return float(subprocess.run(
        [build / 'tests/experiments/jitter/jitter-speech', speech,
         write_playout.argument(trace), pipeline, heard],
        env=env, check=True, capture_output=True, text=True).stdout)


def hear_neteq(program, speech, trace, heard):
    """As hear(); what NetEQ made up counts as missing."""
    missing = float(subprocess.run(
        [program, speech, write_playout.argument(trace), f'{heard}.48k'],
        check=True, capture_output=True, text=True).stdout)
    subprocess.run(
        ['ffmpeg', '-v', 'error', '-nostdin', '-y', '-f', 's16le', '-ar',
         str(NETEQ_RATE), '-ac', '1', '-i', f'{heard}.48k', '-f', 's16le',
         '-ar', str(RATE), heard], check=True)
    return missing


def lag_of(said, heard):
    """By how many samples @said comes later in @heard, which is longer, and how
    similar they are then, from -1 to 1."""
    n = 1 << (len(said) + len(heard)).bit_length()
    spectrum = np.conj(np.fft.rfft(said, n)) * np.fft.rfft(heard, n)
    product = np.fft.irfft(spectrum, n)[:len(heard) - len(said)]
    lag = int(np.argmax(product))
    scale = (np.linalg.norm(said)
             * np.linalg.norm(heard[lag:lag + len(said)]))
    return lag, product[lag] / scale if scale > 0 else 0.0


def lags_of(said, heard):
    """Of each second that is heard again; what hardly resembles what was said, or
    was not heard at all, says nothing of the delay."""
    lags = [lag_of(said[i:i + RATE], heard[i:i + 2 * RATE])
            for i in range(0, len(said), RATE)
            if np.std(said[i:i + RATE]) > QUIET]
    alike = [lag for lag, similarity in lags if similarity > ALIKE]
    return alike or [lag for lag, _ in lags]


def rate_piece(said, heard):
    """(PESQ, delay in ms) of 8 s; @heard goes on for a second more."""
    lags = lags_of(said, heard)
    lag = int(np.median(lags))
    return (pesq.pesq(RATE, said, heard[lag:lag + len(said)], 'wb'),
            1000.0 * np.mean(lags) / RATE)


def pieces(said, heard):
    n = PIECE_S * RATE
    for i in range(0, min(len(said), len(heard) - 5 * RATE) - n + 1, n):
        yield (said[i:i + n].astype(float),
               heard[i:i + n + RATE].astype(float))


def measure(build, folder, neteq, names):
    """A row for each trace and pipeline."""
    speech = folder / 'speech.s16'
    if not speech.exists():
        make_speech(speech)
    said = np.fromfile(speech, '<i2')
    rows = []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for trace in TRACES:
            delay = 0.0
            for name in names:
                heard = folder / f'{trace}-{name.replace(" ", "-")}.s16'
                missing = hear_neteq(neteq, speech, trace, heard) \
                    if name == NETEQ else \
                    hear(build, speech, trace, PIPELINES[name].format(
                        delay=round(delay)), heard)
                rated = list(pool.map(rate_piece, *zip(
                    *pieces(said, np.fromfile(heard, '<i2')))))
                scores, delays = np.array(rated).T
                if name == OURS:
                    delay = delays.mean() - CODEC_MS
                rows.append({'trace': trace, 'name': name,
                             'mean': float(scores.mean()),
                             'worst': float(np.percentile(scores, 10)),
                             'delay': float(delays.mean()),
                             'scores': scores.tolist(),
                             'missing': missing})
                print(rows[-1], file=sys.stderr)
    return rows


def kept_rows(trace):
    """What the page says of a peer that was not measured now"""
    return [line for line in write_playout.PAGE.read_text(
        encoding='utf-8').splitlines() if line.startswith(f'| {trace} | {NETEQ} ')]


def table(rows):
    lines = ['| trace | | PESQ | worst tenth | delay [ms] | nothing to play |',
             '|---|---|---|---|---|---|']
    for trace in TRACES:
        own = [row for row in rows if row['trace'] == trace]
        lines += [f'| {row["trace"]} | {row["name"]} | {row["mean"]:.2f} '
                  f'| {row["worst"]:.2f} | {row["delay"]:.0f} '
                  f'| {100.0 * row["missing"]:.2f} % |' for row in own]
        if not any(row['name'] == NETEQ for row in own):
            lines += kept_rows(trace)
    return lines


def interval(values):
    """Their mean, and half of its confidence interval"""
    return (f'{values.mean():+.3f} '
            f'± {STUDENT * values.std(ddof=1) / np.sqrt(len(values)):.3f}')


def pairs_table(rows):
    scores = {(row['trace'], row['name']): np.array(row['scores']) for row in rows}
    lines = [f'| trace | PESQ beyond that of *{SAME}* '
             f'| what the first {N_BEGINNING * PIECE_S} s add to that | after them |',
             '|---|---|---|---|']
    for trace in TRACES:
        more = scores[trace, OURS] - scores[trace, SAME]
        lines.append(
            f'| {trace} | {interval(more)} '
            f'| {more[:N_BEGINNING].sum() / len(more):+.3f} '
            f'| {interval(more[N_BEGINNING:])} |')
    return lines


def later(heard, at, n):
    """A delay that grows: a gap, and all that follows later"""
    return np.concatenate([heard[:at], np.zeros(n), heard[at:-n]])


def hole(heard, at, n):
    """The gap alone"""
    return np.concatenate([heard[:at], np.zeros(n), heard[at + n:]])


def sooner(heard, at, n):
    """A delay that shrinks: @n samples are cut out"""
    return np.concatenate([heard[:at], heard[at + n:], np.zeros(n)])


CHANGES = {'it grows: a gap, the rest is later': later,
           'it shrinks: a cut, the rest is sooner': sooner,
           'a gap as long, nothing moves': hole}


def lost_by_changes(piece):
    """PESQ that a piece loses by one of each kind and length"""
    said, heard = piece
    before = rate_piece(said, heard)[0]
    return [[np.mean([rate_piece(said, change(
        heard, int(s * RATE), ms * RATE // 1000))[0] for s in CHANGE_S]) - before
        for ms in CHANGES_MS] for change in CHANGES.values()]


def changes_table(build, folder):
    """Of speech over a LAN, which nothing else disturbs"""
    speech, heard = folder / 'speech.s16', folder / 'undisturbed.s16'
    if not speech.exists():
        make_speech(speech)
    if not heard.exists():
        hear(build, speech, TRACES[0], PIPELINES[OURS], heard)
    every = list(pieces(np.fromfile(speech, '<i2'), np.fromfile(heard, '<i2')))
    with concurrent.futures.ProcessPoolExecutor() as pool:
        lost = np.array(list(pool.map(
            lost_by_changes, every[::len(every) // N_CHANGED][:N_CHANGED])))
    lines = ['| once in 8 s | ' + ' | '.join(f'{ms} ms' for ms in CHANGES_MS) + ' |',
             '|---' * (1 + len(CHANGES_MS)) + '|']
    for i, name in enumerate(CHANGES):
        lines.append(f'| {name} | ' + ' | '.join(
            f'{x:.2f}' for x in lost[:, i].mean(axis=0)) + ' |')
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default=write_playout.ROOT / 'build')
    parser.add_argument('--keep')
    parser.add_argument('--neteq')
    parser.add_argument('--pairs', action='store_true')
    parser.add_argument('--changes', action='store_true')
    args = parser.parse_args()
    names = [OURS, SAME] if args.pairs else [
        *PIPELINES, *([NETEQ] if args.neteq else [])]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if args.changes:
            write_playout.fill_in('speech changes', changes_table(
                pathlib.Path(args.build).resolve(), folder))
            return
        ratings = folder / 'ratings.json'
        if not ratings.exists():
            ratings.write_text(json.dumps(measure(
                pathlib.Path(args.build).resolve(), folder, args.neteq, names)),
                encoding='utf-8')
        rows = json.loads(ratings.read_text(encoding='utf-8'))
    if not args.pairs:
        write_playout.fill_in('speech', table(rows))
    write_playout.fill_in('speech pairs', pairs_table(rows))


if __name__ == '__main__':
    main()
