"""Artificial talkers: noise with the rhythm of syllables, none like another."""
import wave

import numpy

RATE_HZ = 48000


def talk(seed, seconds, rate_hz=RATE_HZ):
    """Noise of speech's spectrum, four syllables a second, int16 range."""
    rng = numpy.random.default_rng(seed)
    n = int(seconds * rate_hz)
    spectrum = numpy.fft.rfft(rng.standard_normal(n))
    hertz = numpy.fft.rfftfreq(n, 1 / rate_hz)
    spectrum *= (hertz > 120) / (1 + (hertz / 500) ** 2)
    noise = numpy.fft.irfft(spectrum, n)
    steps = rng.uniform(0.15, 1.0, int(seconds * 4) + 2)
    envelope = numpy.interp(numpy.arange(n) / rate_hz * 4,
                            numpy.arange(len(steps)), steps)
    voice = noise * envelope
    return voice / numpy.sqrt(numpy.mean(voice ** 2)) * 1600     # -26 dBFS


def write(path, samples, rate_hz=RATE_HZ):
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(numpy.clip(samples, -32768, 32767)
                         .astype('<i2').tobytes())
