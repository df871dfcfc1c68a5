#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fills in the table of docs/algorithms/adapt.md: speech of which packets are lost.

    write_concealment.py [--build build] [--newer FOLDER] [--keep FOLDER]

The voices of examples/voices.sh go through the encoder of a mix and partialmix's decoder
(bench-concealment), and PESQ (ITU-T P.862.2, wideband) rates 8 s at a time.  --newer: where
a libopus of 1.5 or later is, built with its networks; without it the rows that need it stay
as they are.  Debian 13's:

    apt-get download libopus0 && dpkg-deb -x libopus0_*.deb opus
    write_concealment.py --newer opus/usr/lib/x86_64-linux-gnu

--keep: leaves the ratings there, and takes what is there already.

Needs the pesq module (pip install pesq) and, once, the packages of
examples/install-deps.sh party.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

try:
    import pesq
except ImportError:
    sys.exit('write_concealment.py: no module pesq: pip install pesq')

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs/algorithms/adapt.md'
RATE, NARROWER = 48000, 16000   # of the voices; PESQ's
LOOKAHEAD = 312                 # of the encoder, in samples
VOICE_S, PIECE_S = 24, 8
LOSSES = (0, 2, 5, 10, 20)
PROVIDED = 6                    # as fmx_adapt_protection has it
COPY = -1                       # each packet once more, in the next one
BITRATES = (32000, 24000, 16000)
# name: (percent that the encoder is told, the decoder's complexity, with the newer one)
WAYS = {
    'made up': (0, 0, False),
    'FEC': (PROVIDED, 0, False),
    'a copy': (COPY, 0, False),
    'made up, newer': (0, 0, True),
    'made up by the network': (0, 5, True),
    'FEC and the network': (PROVIDED, 5, True),
}


def narrower(samples):
    """16 of 48 kHz"""
    n = len(samples) // 3 * 3
    spectrum = np.fft.rfft(samples[:n])
    return np.fft.irfft(spectrum[:n // 6 + 1], n // 3) / 3


def make_speech(folder):
    """Some of each voice, in files of their own.  Returns: those."""
    voices = ROOT / 'build/voices'
    subprocess.run([ROOT / 'examples/voices.sh', voices], check=True, stdout=sys.stderr)
    files = []
    for voice in sorted(voices.glob('*.wav')):
        files.append(folder / f'{voice.stem}.s16')
        subprocess.run(['ffmpeg', '-v', 'error', '-nostdin', '-y', '-i', voice, '-t',
                        str(VOICE_S), '-ar', str(RATE), '-ac', '1', '-f', 's16le',
                        files[-1]], check=True)
    return files


def rate(program, said, bitrate, loss, seed, way, newer):
    """([PESQ of each piece], version) of one voice"""
    provided, complexity, _ = way
    env = dict(os.environ)
    if newer:
        env['LD_LIBRARY_PATH'] = str(newer)
    with tempfile.TemporaryDirectory() as scratch:
        heard = pathlib.Path(scratch) / 'heard.s16'
        told = subprocess.run(
            [program, said, str(bitrate), str(provided), str(loss), str(seed),
             str(complexity), heard],
            env=env, check=True, capture_output=True, text=True).stdout
        after = narrower(np.fromfile(heard, '<i2')[LOOKAHEAD:].astype(float))
    before = narrower(np.fromfile(said, '<i2').astype(float))
    n = PIECE_S * NARROWER
    return [pesq.pesq(NARROWER, before[i:i + n], after[i:i + n], 'wb')
            for i in range(0, len(after) - n // 2, n)], told.split(' ')[1]


def measure(options, folder):
    """[bitrate, way, version, [PESQ at each loss]], of the ways that can be taken"""
    program = options.build.resolve() / 'tests/bench/bench-concealment'
    voices = make_speech(folder)
    rows = []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for bitrate in BITRATES:
            for name, way in WAYS.items():
                if way[2] and not options.newer:
                    continue
                row = [bitrate, name, '', []]
                for loss in LOSSES:
                    rated = [pool.submit(rate, program, said, bitrate, loss, seed, way,
                                         options.newer if way[2] else None)
                             for seed, said in enumerate(voices)]
                    scores = [s for job in rated for s in job.result()[0]]
                    row[2] = rated[0].result()[1]
                    row[3].append(float(np.mean(scores)))
                rows.append(row)
                print(row, file=sys.stderr)
    return rows


def kept_line(bitrate, name):
    """What the page says of a way that was not measured now"""
    return [line for line in PAGE.read_text(encoding='utf-8').splitlines()
            if line.startswith(f'| {bitrate // 1000} kbit/s | {name} |')]


def table(rows):
    found = {(row[0], row[1]): row for row in rows}
    lines = ['| mix | lost packets are | libopus | '
             + ' | '.join(f'{loss} % lost' for loss in LOSSES) + ' |',
             '|---' * (3 + len(LOSSES)) + '|']
    for bitrate in BITRATES:
        for name in WAYS:
            if (bitrate, name) not in found:
                lines += kept_line(bitrate, name)
                continue
            _, _, version, scores = found[bitrate, name]
            lines.append(f'| {bitrate // 1000} kbit/s | {name} | {version.strip()} | '
                         + ' | '.join(f'{score:.2f}' for score in scores) + ' |')
    return lines


def fill(name, lines):
    pattern = re.compile(rf'(<!-- {name}: filled in .*?-->\n).*?(<!-- end -->)', re.S)
    text = PAGE.read_text(encoding='utf-8')
    if not pattern.search(text):
        sys.exit(f'{PAGE}: no marker "{name}"')
    PAGE.write_text(pattern.sub(lambda m: m[1] + '\n'.join(lines) + '\n' + m[2], text),
                    encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build')
    parser.add_argument('--newer', type=pathlib.Path)
    parser.add_argument('--keep')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        ratings = folder / 'ratings.json'
        if not ratings.exists():
            ratings.write_text(json.dumps(measure(options, folder)), encoding='utf-8')
        fill('concealment', table(json.loads(ratings.read_text(encoding='utf-8'))))


if __name__ == '__main__':
    main()
