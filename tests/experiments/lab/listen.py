# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a listener gets, measured in the audio that comes out of the graphs.

A bundle with `ear = "tones"` has talkers who hum, each at a pitch and a place of
their own: who is heard at that place is separate, who is heard in the middle is
in the mix.  With `ear = "speech"` the first talker speaks and the others hum
above that talker's band, so that a filter takes them away: how good that speech
is (PESQ), and how late.  The tables are one row for each second, or each piece
of speech.
"""
import math
import pathlib
import wave

from lab.runner import Unavailable

VOICE = '1-allison.wav'
RATE_HZ = {'pcmu': 8000, 'opus': 16000}     # of the recording
PESQ_MODE = {8000: 'nb', 16000: 'wb'}
VOLUME = 0.1
# Of those who hum beside speech: -53 dBov; -69 dBov where what is louder
# would take the bits of an Opus mix.
OTHERS_VOLUME = {8000: 0.003, 16000: 0.0005}
# Where the speech that is judged ends.  Opus of few bits smears the hums above
# over the whole of its band, which begins at 5.6 kHz; G.711 does not.
SPEECH_HZ = {8000: 3360, 16000: 5440}
FRAME_S, HOP_S = 0.025, 0.01
LONGEST_GAP_S = 2.0             # what lasts longer is not being there
PIECE_S = 8.0                   # of speech, for PESQ
LATEST_S = 3.0                  # delay
WORST_PESQ = 1.0                # of what is not there at all
SILENCE = 1.0                   # less than a step of 16 bits: PESQ has no number for it
COLUMNS = ['t_s', 'flow', 'heard', 'separate', 'gaps', 'pesq', 'delay_ms']


def tone_hz(i, n):
    """What talker i of n hums: what Opus carries at 12 kbit/s, too, as a mix may have."""
    return min(400, 3000 // n) * (i + 1)


def other_hz(i, rate_hz):
    """What talker i hums beside speech."""
    return 0.442 * rate_hz + 50 * (i - 1)


def pan(i, n):
    """Places from left to right with nobody in the middle."""
    half = (n + 1) // 2
    step = i % half / max(1, half - 1)
    return (-0.9 if i < half else 0.9) * (1 - 0.6 * step)


def database(flow):
    """Everybody's place; what has none (a mix) comes from the middle."""
    return ''.join(f'[ssrc:{1001 + i}]\npan={pan(i, flow["streams"]):.3f}\n'
                   for i in range(flow['streams']))


def check(runs, build):
    """Raises Unavailable if one of the runs cannot be measured."""
    ears = {f['ear'] for run in runs for f in run.bundles.values()}
    if not ears - {None}:
        return
    try:
        import numpy  # noqa: F401  pylint: disable=import-outside-toplevel
        if 'speech' in ears:
            import pesq  # noqa: F401  pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise Unavailable(f'{e}: pip install {e.name}') from e
    if 'speech' in ears and not voice_path(build).exists():
        raise Unavailable(f'{voice_path(build)} is missing: '
                          f'examples/voices.sh {build}/voices')


def voice_path(build):
    return pathlib.Path(build).resolve() / 'voices' / VOICE


def low_pass(numpy, cutoff):
    """A windowed sinc of 193 taps; cutoff is in parts of the sample rate."""
    n = numpy.arange(-96, 97)
    taps = 2 * cutoff * numpy.sinc(2 * cutoff * n) * numpy.hamming(193)
    return taps / taps.sum()


def speech_of(numpy, samples, rate_hz):
    """Without what the others hum."""
    return numpy.convolve(
        samples, low_pass(numpy, SPEECH_HZ[rate_hz] / rate_hz), 'same')


def voice(build, rate_hz, duration_s):
    """What the first talker says, as 16-bit samples."""
    import numpy  # pylint: disable=import-outside-toplevel
    with wave.open(str(voice_path(build)), 'rb') as f:
        factor = f.getframerate() // rate_hz
        samples = numpy.frombuffer(f.readframes(f.getnframes()), '<i2')
    narrow = numpy.convolve(samples, low_pass(numpy, 0.46 / factor), 'same')
    narrow = numpy.clip(numpy.rint(narrow[::factor]), -32768, 32767)
    return numpy.resize(narrow, math.ceil(duration_s * rate_hz)).astype('<i2')


def prepare(run, folder, build):
    """The files that talkers and listeners read."""
    for name, flow in run.bundles.items():
        if flow['ear']:
            (folder / f'ear-{name}.ini').write_text(database(flow),
                                                    encoding='utf-8')
        if flow['ear'] == 'speech':
            samples = voice(build, RATE_HZ[flow['codec']], run.duration_s)
            (folder / f'voice-{name}.raw').write_bytes(samples.tobytes())


def heard_from(folder, name):
    """When the recording's first sample was heard; the last word counts, for
    the latency is not known at first."""
    table = (folder / f'ear-{name}.csv').read_text(encoding='ascii')
    told = [line.split(',')[0] for line in table.splitlines()
            if line.split(',')[2] == 'ear']
    if not told:
        raise ValueError(f'{name}: the listener heard nothing at all')
    return float(told[-1])


def amplitudes(samples, rate_hz, tones):
    """|amplitude| of each tone on each side: [frame, side, tone]."""
    import numpy  # pylint: disable=import-outside-toplevel
    size, hop = round(FRAME_S * rate_hz), round(HOP_S * rate_hz)
    window = numpy.hanning(size)
    n = numpy.arange(size)
    waves = window[:, None] * numpy.exp(
        -2j * math.pi * n[:, None] * numpy.array(tones) / rate_hz)
    frames = numpy.lib.stride_tricks.sliding_window_view(
        samples, size, axis=0)[::hop]
    return 2 * numpy.abs(frames @ waves) / window.sum() / 32768


def gaps_of(present):
    """Frames in which a gap of one talker begins."""
    out, since = [], None
    for k, here in enumerate(present):
        if not here and since is None and k and present[k - 1]:
            since = k
        elif here and since is not None:
            if 2 <= k - since <= LONGEST_GAP_S / HOP_S:
                out.append(since)
            since = None
    return out


def measure_tones(samples, rate_hz, flow, start_s, end_s):
    """[(t_s, heard, separate, gaps)], one for each second."""
    import numpy  # pylint: disable=import-outside-toplevel
    n = flow['streams']
    found = amplitudes(samples, rate_hz, [tone_hz(i, n) for i in range(n)])
    power = (found ** 2).sum(axis=1)
    present = power > (VOLUME / 4) ** 2
    gaps = [[start_s + k * HOP_S for k in gaps_of(present[:, i])]
            for i in range(n)]
    rows = []
    for t_s in range(1, int(end_s) + 1):
        first = max(0, round((t_s - 1 - start_s) / HOP_S))
        last = max(0, round((t_s - start_s) / HOP_S))
        here = present[first:last]
        if not len(here):
            continue
        heard = here.mean(axis=0) > 0.5
        left, right = (found[first:last] ** 2).sum(axis=0)
        place = numpy.arctan2(numpy.sqrt(right), numpy.sqrt(left)) \
            / (math.pi / 4) - 1
        apart = [heard[i] and abs(place[i]) > abs(pan(i, n)) / 2
                 for i in range(n)]
        began = sum(t_s - 1 <= g < t_s for talker in gaps for g in talker)
        rows.append((t_s, int(heard.sum()), sum(apart), began))
    return rows


def delay_of(numpy, said, heard):
    """Samples by which `said` comes later in `heard`."""
    size = len(said) + len(heard)
    spectrum = numpy.fft.rfft(heard, size) \
        * numpy.conj(numpy.fft.rfft(said, size))
    return int(numpy.argmax(numpy.abs(
        numpy.fft.irfft(spectrum, size)[:len(heard) - len(said)])))


def measure_speech(samples, rate_hz, said, start_s, end_s):
    """[(t_s, pesq, delay_ms)], one for each piece of PIECE_S."""
    import numpy  # pylint: disable=import-outside-toplevel
    from pesq import NoUtterancesError, pesq  # pylint: disable=import-outside-toplevel
    mono = speech_of(numpy, samples.astype(float).sum(axis=1), rate_hz)
    said = speech_of(numpy, said.astype(float), rate_hz)
    piece, latest = round(PIECE_S * rate_hz), round(LATEST_S * rate_hz)
    rows = []
    for k in range(int((end_s - LATEST_S) / PIECE_S)):
        t_s = k * PIECE_S
        first = round((t_s - start_s) * rate_hz)
        reference = said[round(t_s * rate_hz):][:piece]
        heard = mono[max(0, first):first + piece + latest]
        heard = numpy.pad(heard, (max(0, -first),
                                  piece + latest - len(heard)))[:piece + latest]
        late = delay_of(numpy, reference, heard)
        heard = heard[late:late + piece]
        score = WORST_PESQ
        if abs(heard).max() >= SILENCE:
            try:
                score = pesq(rate_hz, reference / 32768, heard / 32768,
                             PESQ_MODE[rate_hz])
            except NoUtterancesError:
                pass
        rows.append((t_s + PIECE_S, score, late / rate_hz * 1e3))
    return rows


def measure(run, folder):
    """Writes listener.csv and throws the recordings away."""
    heard = {n: f for n, f in run.bundles.items() if f['ear']}
    if not heard:
        return
    import numpy  # pylint: disable=import-outside-toplevel
    lines = [','.join(COLUMNS)]
    for name, flow in heard.items():
        rate_hz = RATE_HZ[flow['codec']]
        path = folder / f'ear-{name}.raw'
        samples = numpy.fromfile(path, '<i2')
        samples = samples[:len(samples) // 2 * 2].reshape(-1, 2)
        start_s = heard_from(folder, name)
        if flow['ear'] == 'tones':
            rows = measure_tones(samples, rate_hz, flow, start_s,
                                 run.duration_s)
            lines += [f'{t},{name},{heard},{apart},{gaps},,'
                      for t, heard, apart, gaps in rows]
        else:
            voice_file = folder / f'voice-{name}.raw'
            said = numpy.fromfile(voice_file, '<i2')
            rows = measure_speech(samples, rate_hz, said, start_s,
                                  run.duration_s)
            lines += [f'{t},{name},,,,{score:.3f},{late:.2f}'
                      for t, score, late in rows]
            voice_file.unlink()
        path.unlink()
    (folder / 'listener.csv').write_text('\n'.join(lines) + '\n',
                                         encoding='ascii')
