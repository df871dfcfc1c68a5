#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long the tests with browsers wait, and for how long a voice may be silent, on a
machine that has time and on one that has none."""
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import patience  # noqa: E402
import silence  # noqa: E402


class WaitingTest(unittest.TestCase):
    def waits_s(self, spare):
        """For how long, where @spare of a processor has nothing to do."""
        clock = [0.0]
        with mock.patch.object(patience.time, 'monotonic', lambda: clock[0]), \
                mock.patch.object(patience.machine, 'idle_s', lambda: spare * clock[0]):
            waiting = patience.Patience(10)
            while not waiting.is_over():
                clock[0] += 0.5
        return clock[0]

    def test_who_has_time_waits_as_long_as_was_said(self):
        self.assertEqual(self.waits_s(1), 10)

    def test_who_has_none_waits_longer_and_not_for_ever(self):
        self.assertEqual(self.waits_s(0.01), 10 * patience.LONGER + 0.5)

    def test_a_machine_that_stood_still_may_be_silent_as_long(self):
        watch = silence.Watch()
        watch.stalls = mock.Mock(longest_s=9.0)
        self.assertEqual(watch.limit_s(None), silence.LIMIT_S)
        self.assertEqual(watch.limit_s('it stood still'), silence.BUSY_LIMIT_S + 9)

    def test_a_silence_is_what_was_looked_at(self):
        def silence_s(*looks):
            return silence.longest_silence(
                [{'t': t, 'heard': [True, heard]} for t, heard in looks], [0, 1])

        found = silence_s((0, True), (1, False), (1.05, False), (1.1, True), (9, True))
        self.assertEqual((round(found[0], 3), *found[1:]), (0.1, 1, 1))
        found = silence_s((0, True), (1, False), (1.5, False), (9, True))
        self.assertEqual((round(found[0], 3), *found[1:]), (0.6, 1, 1))
        self.assertEqual(silence_s((0, True), (9, True))[0], 0)


unittest.main()
