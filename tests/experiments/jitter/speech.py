#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rates speech that came over three traces: cut, stretched, or with a fixed delay.

  tests/experiments/jitter/speech.py [--build build] [--keep DIR]

Sends four minutes of the voices of examples/voices.sh through jitter-speech and
rates 8 s at a time by PESQ (ITU-T P.862.2, wideband) against what was said.
Fills in the table of docs/algorithms/playout.md and draws
docs/figures/playout-speech.{svg,png}.  --keep leaves what is heard in DIR, and
the ratings, or takes these from there.

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
VOICE_S = 30
QUIET = 100                     # of 32768: says nothing of the delay
TRACES = ('5g_n78_10ms', '5g_w2s_n8', 'syn_spikes')
DECODE = ' ! rtpopusdepay ! opusdec plc=true'
PIPELINES = {
    'qmjitterbuffer and qmstretch':
        'qmjitterbuffer shrink=shift do-lost=true' + DECODE + ' ! qmstretch',
    'qmjitterbuffer': 'qmjitterbuffer do-lost=true' + DECODE,
    'rtpjitterbuffer 60 ms': 'rtpjitterbuffer do-lost=true latency=60' + DECODE,
    'rtpjitterbuffer 100 ms': 'rtpjitterbuffer do-lost=true latency=100' + DECODE,
    'rtpjitterbuffer 200 ms': 'rtpjitterbuffer do-lost=true latency=200' + DECODE,
}
STYLES = {'qmjitterbuffer and qmstretch': ('#009E73', 'o'),
          'qmjitterbuffer': ('#0072B2', 's'),
          'rtpjitterbuffer 60 ms': ('#D55E00', '^'),
          'rtpjitterbuffer 100 ms': ('#CC79A7', 'v'),
          'rtpjitterbuffer 200 ms': ('#E69F00', 'D')}


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
         write_playout.TRACES / f'{trace}.csv.gz', pipeline, heard],
        env=env, check=True, capture_output=True, text=True).stdout)


def lag_of(said, heard):
    """By how many samples @said comes later in @heard, which is longer."""
    n = 1 << (len(said) + len(heard)).bit_length()
    spectrum = np.conj(np.fft.rfft(said, n)) * np.fft.rfft(heard, n)
    return int(np.argmax(np.fft.irfft(spectrum, n)[:len(heard) - len(said)]))


def rate_piece(said, heard):
    """(PESQ, delay in ms) of 8 s; @heard goes on for a second more."""
    lags = [lag_of(said[i:i + RATE], heard[i:i + 2 * RATE])
            for i in range(0, len(said), RATE)
            if np.std(said[i:i + RATE]) > QUIET]
    lag = int(np.median(lags))
    return (pesq.pesq(RATE, said, heard[lag:lag + len(said)], 'wb'),
            1000.0 * np.mean(lags) / RATE)


def pieces(said, heard):
    n = PIECE_S * RATE
    for i in range(0, min(len(said), len(heard) - 5 * RATE) - n + 1, n):
        yield (said[i:i + n].astype(float),
               heard[i:i + n + RATE].astype(float))


def measure(build, folder):
    """A row for each trace and pipeline."""
    speech = folder / 'speech.s16'
    if not speech.exists():
        make_speech(speech)
    said = np.fromfile(speech, '<i2')
    rows = []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for trace in TRACES:
            for name, pipeline in PIPELINES.items():
                heard = folder / f'{trace}-{name.replace(" ", "-")}.s16'
                missing = hear(build, speech, trace, pipeline, heard)
                rated = list(pool.map(rate_piece, *zip(
                    *pieces(said, np.fromfile(heard, '<i2')))))
                scores, delays = np.array(rated).T
                rows.append({'trace': trace, 'name': name,
                             'mean': float(scores.mean()),
                             'worst': float(np.percentile(scores, 10)),
                             'delay': float(delays.mean()),
                             'missing': missing})
                print(rows[-1], file=sys.stderr)
    return rows


def draw(rows):
    plt = write_playout.plt
    figure, axes = plt.subplots(1, len(TRACES), figsize=(9.6, 3.3), sharey=True)
    for axis, trace in zip(axes, TRACES):
        for row in (r for r in rows if r['trace'] == trace):
            colour, marker = STYLES[row['name']]
            axis.plot([row['delay']] * 2, [row['worst'], row['mean']],
                      color=colour, linewidth=1)
            cut = row['name'] == write_playout.OURS    # may lie below the stretched
            axis.plot(row['delay'], row['mean'], marker, color=colour,
                      markersize=10 if cut else 7,
                      fillstyle='none' if cut else 'full', label=row['name'])
            axis.plot(row['delay'], row['worst'], '_', color=colour)
        axis.set_title(trace, fontsize=9)
        axis.set_xlabel('delay [ms]')
        axis.set_xlim(0, 250)
    axes[0].set_ylabel('PESQ: mean, and worst tenth')
    axes[0].set_ylim(1, 4.6)
    figure.get_layout_engine().set(rect=(0, 0.15, 1, 0.85))
    figure.legend(*axes[0].get_legend_handles_labels(), ncol=3,
                  loc='lower center')
    write_playout.save(figure, 'playout-speech')


def table(rows):
    lines = ['| trace | | PESQ | worst tenth | delay [ms] | nothing to play |',
             '|---|---|---|---|---|---|']
    for row in rows:
        lines.append(f'| {row["trace"]} | {row["name"]} | {row["mean"]:.2f} '
                     f'| {row["worst"]:.2f} | {row["delay"]:.0f} '
                     f'| {100.0 * row["missing"]:.2f} % |')
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default=write_playout.ROOT / 'build')
    parser.add_argument('--keep')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        ratings = folder / 'ratings.json'
        if not ratings.exists():
            ratings.write_text(json.dumps(measure(
                pathlib.Path(args.build).resolve(), folder)), encoding='utf-8')
        rows = json.loads(ratings.read_text(encoding='utf-8'))
    draw(rows)
    write_playout.fill_in('speech', table(rows))


if __name__ == '__main__':
    main()
