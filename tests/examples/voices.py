"""Artificial talkers: a buzz with a wandering pitch, breath and the rhythm of
syllables, none like another.  Codecs treat them as they treat voices."""
import wave

import numpy

RATE_HZ = 48000


def wander(rng, n, steps_per_s, low, high, rate_hz):
    """A curve through random points between low and high."""
    points = rng.uniform(low, high, int(n / rate_hz * steps_per_s) + 2)
    return numpy.interp(numpy.arange(n) / rate_hz * steps_per_s,
                        numpy.arange(len(points)), points)


def talk(seed, seconds, rate_hz=RATE_HZ):
    """Harmonics up to 3.5 kHz, a third of their power in breath, four syllables
    a second; -26 dBFS in int16."""
    rng = numpy.random.default_rng(seed)
    n = int(seconds * rate_hz)
    base = 95 + 14 * seed
    pitch = base * wander(rng, n, 3, 0.8, 1.25, rate_hz)
    phase = 2 * numpy.pi * numpy.cumsum(pitch) / rate_hz
    voice = numpy.zeros(n)
    for harmonic in range(1, int(3500 / (base * 1.25))):
        loudness = wander(rng, n, 6, 0.1, 1.0, rate_hz) / harmonic
        voice += loudness * numpy.sin(harmonic * phase
                                      + rng.uniform(0, 2 * numpy.pi))
    # two buzzes of near pitch look alike for a second; their breath does not
    breath = numpy.fft.rfft(rng.standard_normal(n))
    hertz = numpy.fft.rfftfreq(n, 1 / rate_hz)
    breath[(hertz < 300) | (hertz > 3500)] = 0
    breath = numpy.fft.irfft(breath, n)
    voice += breath * numpy.sqrt(numpy.mean(voice ** 2)
                                 / numpy.mean(breath ** 2) / 3)
    voice *= wander(rng, n, 4, 0.15, 1.0, rate_hz)
    return voice / numpy.sqrt(numpy.mean(voice ** 2)) * 1600


def write(path, samples, rate_hz=RATE_HZ):
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(numpy.clip(samples, -32768, 32767)
                         .astype('<i2').tobytes())
