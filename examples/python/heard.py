#!/usr/bin/python3
"""Which voices are in a recording?  By correlation, window by window.

usage: heard.py RECORDING.wav VOICE.wav...

Each voice file is cut into windows of two seconds, one each second.  A window is heard if the
recording, somewhere near where the rest of the voice is, holds the same
waveform: its whitened cross-correlation has one peak that stands out from
everything else there, more than chance allows.
You will see, for each voice, the share of its windows that is heard.
"""
import sys
import wave

import numpy

RATE_HZ = 8000          # codecs keep the waveform below 4 kHz, little above
WINDOW_S = 2.0
SEARCH_S = 1.5          # either side of the voice's own place
BAND_HZ = (150, 2500)
PEAK = 6.5              # in standard deviations; chance: one in 1e5 windows
ALONG_S = 0.4           # so much may playout move: a full queue, a busy machine
START_S = (-1.0, 4.0)   # in a recording: when it is known that voices begin


def load(path):
    """The file as mono at RATE_HZ."""
    with wave.open(str(path)) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        if file.getsampwidth() != 2 or rate % RATE_HZ:
            raise ValueError(f'{path}: 16 bits, a multiple of {RATE_HZ} Hz')
        # a writer that was cut off leaves a wrong length: take what is there
        raw = file.readframes(1 << 30)
    raw = raw[:len(raw) // (2 * channels) * 2 * channels]
    samples = numpy.frombuffer(raw, '<i2').reshape(-1, channels).mean(axis=1)
    factor = rate // RATE_HZ
    taps = numpy.sinc((numpy.arange(-64, 65)) / factor) * numpy.hamming(129)
    return numpy.convolve(samples, taps / taps.sum(), 'same')[::factor]


def correlate(reference, recording):
    """Whitened cross-correlation at lags 0 ... len (recording) - len (ref)."""
    size = 1 << (len(recording) + len(reference) - 1).bit_length()
    a = numpy.fft.rfft(recording, size)
    b = numpy.fft.rfft(reference, size)
    hertz = numpy.fft.rfftfreq(size, 1 / RATE_HZ)
    cross = a * b.conj()
    cross /= numpy.abs(cross) ** 0.7 + 1e-9     # louder bands count more
    cross[(hertz < BAND_HZ[0]) | (hertz > BAND_HZ[1])] = 0
    return numpy.fft.irfft(cross, size)[:len(recording) - len(reference) + 1]


def place(voice, recording, start_s=START_S):
    """The lag in samples, within start_s, at which the whole voice fits best."""
    early, late = (int(s * RATE_HZ) for s in start_s)
    padded = numpy.concatenate((numpy.zeros(-early), recording,
                                numpy.zeros(late + len(voice))))
    found = numpy.abs(correlate(voice, padded))[:late - early]
    return int(numpy.argmax(found)) + early


def windows_heard(voice, recording, start=None):
    """Yields (time in the voice, heard, lag) for each window that the
    recording could hold and in which the voice is not silent."""
    start = place(voice, recording) if start is None else start
    length, search = int(WINDOW_S * RATE_HZ), int(SEARCH_S * RATE_HZ)
    loud = numpy.sqrt(numpy.mean(voice ** 2)) / 4
    for begin in range(0, len(voice) - length + 1, length // 2):
        window = voice[begin:begin + length]
        low, high = start + begin - search, start + begin + length + search
        if low < 0 or high > len(recording):
            continue
        if numpy.sqrt(numpy.mean(window ** 2)) < loud:
            continue
        found = numpy.abs(correlate(window, recording[low:high]))
        peak = int(numpy.argmax(found))
        floor = numpy.sqrt(numpy.mean(found ** 2))
        near = abs(peak - search) <= ALONG_S * RATE_HZ
        yield begin / RATE_HZ, bool(found[peak] > PEAK * floor and near), \
            (peak - search) / RATE_HZ


def share_heard(voice, recording, start=None):
    """Share of the voice's windows that the recording holds, 0 ... 1."""
    heard = [ok for _, ok, _ in windows_heard(voice, recording, start)]
    return sum(heard) / len(heard) if heard else 0.0


def share_by_chance(voice, recording, start=None):
    """The same for a voice that is not there: this one, its halves swapped."""
    start = place(voice, recording) if start is None else start
    half = len(voice) // 2
    swapped = numpy.concatenate((voice[half:], voice[:half]))
    return share_heard(swapped, recording, start)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    try:
        path = arguments[0]
        recording = load(path)
        for path in arguments[1:]:
            print(f'{share_heard(load(path), recording):6.0%}  {path}')
    except (OSError, EOFError, ValueError, wave.Error) as error:
        sys.exit(f'{path}: {error}')


if __name__ == '__main__':
    main(sys.argv[1:])
