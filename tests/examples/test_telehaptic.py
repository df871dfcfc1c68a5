#!/usr/bin/python3
"""The network of examples/python/telehaptic.py."""
import functools
import pathlib
import sys
import threading
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'examples/python'))
import telehaptic               # noqa: E402  after the path

N_PACKETS = 50
PATIENCE_S = 60


class Network(unittest.TestCase):
    def test_what_is_due_at_the_same_moment_comes_in_order(self):
        come, all_there = [], threading.Event()

        def arrive(n):
            come.append(n)
            if len(come) == N_PACKETS:
                all_there.set()

        packets = [functools.partial(arrive, n) for n in range(N_PACKETS)]
        order = sorted(range(N_PACKETS), key=lambda n: id(packets[n]), reverse=True)
        network = telehaptic.Network(0, 0)
        with mock.patch.object(telehaptic.time, 'monotonic', return_value=1.0):
            for n in order:
                network.send(packets[n])
            network.start()
            self.assertTrue(all_there.wait(PATIENCE_S))
        self.assertEqual(come, order)


if __name__ == '__main__':
    unittest.main()
