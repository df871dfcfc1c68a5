#!/usr/bin/python3
"""The ear of the party hears who spoke, and nobody else."""
import pathlib
import sys
import tempfile
import unittest

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'examples/python'))
import heard                    # noqa: E402  after the path
import voices                   # noqa: E402

SECONDS = 16
VOICES = [voices.talk(seed, SECONDS, heard.RATE_HZ) for seed in range(9)]
OFFSET = 5000                   # samples of silence before anybody speaks


def mix(which):
    total = sum(VOICES[n] for n in which)
    return numpy.concatenate((numpy.zeros(OFFSET), total, numpy.zeros(3000)))


class Heard(unittest.TestCase):
    def test_each_of_eight_is_found_in_the_mix_of_eight(self):
        recording = mix(range(8))
        for n in range(8):
            self.assertEqual(heard.share_heard(VOICES[n], recording), 1.0)

    def test_who_was_silent_is_not_heard(self):
        self.assertLess(heard.share_heard(VOICES[8], mix(range(8))), 0.15)

    def test_chance_finds_less_than_a_window_in_fifty(self):
        """Absent from a pair of voices, as one's own is from what one hears."""
        found = []
        for absent in range(8):
            others = [(absent + 1) % 8, (absent + 3) % 8]
            found += [ok for _, ok, _ in heard.windows_heard(
                VOICES[absent], mix(others))]
        self.assertGreater(len(found), 80)
        self.assertLess(sum(found) / len(found), 0.02)

    def test_a_voice_with_its_halves_swapped_is_chance(self):
        recording = mix(range(8))
        self.assertEqual(heard.share_heard(VOICES[3], recording), 1.0)
        self.assertLess(heard.share_by_chance(VOICES[3], recording), 0.05)

    def test_a_voice_is_placed_to_the_sample(self):
        self.assertEqual(heard.place(VOICES[3], mix(range(8))), OFFSET)

    def test_what_is_missing_is_missed(self):
        recording = mix(range(8))
        half = OFFSET + len(VOICES[0]) // 2
        recording[half:half + len(VOICES[0]) // 2] -= \
            VOICES[2][len(VOICES[2]) // 2:]
        share = heard.share_heard(VOICES[2], recording)
        self.assertGreater(share, 0.4)
        self.assertLess(share, 0.6)

    def test_a_voice_that_comes_too_late_is_not_where_it_should_be(self):
        recording = mix(range(8)) - mix([2])
        first, second = numpy.split(VOICES[2], 2)
        for part, at_s in ((first, 0.0), (second, SECONDS / 2 + 0.6)):
            at = OFFSET + int(at_s * heard.RATE_HZ)
            recording[at:at + len(part)] += part[:len(recording) - at]
        self.assertLess(heard.share_heard(VOICES[2], recording), 0.6)

    def test_files_are_read_as_mono_at_any_usual_rate(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'a.wav'
            time = numpy.arange(48000) / 48000
            voices.write(path, 8000 * numpy.sin(2 * numpy.pi * 440 * time))
            samples = heard.load(path)
        self.assertEqual(len(samples), heard.RATE_HZ)
        level = numpy.sqrt(2 * numpy.mean(samples[500:-500] ** 2))
        self.assertAlmostEqual(level, 8000, delta=80)


if __name__ == '__main__':
    unittest.main(verbosity=2)
