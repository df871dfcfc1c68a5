#!/usr/bin/env python3
"""The link of the examples: a drop-tail queue in front of a wire."""
import pathlib
import socket
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'examples/python'))
import link                     # noqa: E402  after the path

PACKET = ('socket', 'destination', bytes(172))          # 200 bytes on the wire


class Way(unittest.TestCase):
    def arrivals(self, way, count, interval_s, until_s=60.0):
        """Sends packets at a steady pace; returns when each reaches the end."""
        times = []
        for n in range(count):
            times += [t for t, _ in way.serve(n * interval_s)]
            way.arrive(n * interval_s, PACKET)
        return times + [t for t, _ in way.serve(until_s)]

    def test_a_packet_needs_its_service_time_and_the_delay(self):
        way = link.Way(0.040, 160_000, 4000)    # 10 ms for 200 bytes
        self.assertEqual(len(self.arrivals(way, 1, 1)), 1)
        way = link.Way(0.040, 160_000, 4000)
        self.assertAlmostEqual(self.arrivals(way, 1, 1)[0], 0.050)

    def test_below_its_rate_it_loses_nothing_and_queues_nothing(self):
        way = link.Way(0.040, 160_000, 4000)
        times = self.arrivals(way, 100, 0.011)
        self.assertEqual(way.counters.lost_packets, 0)
        self.assertTrue(all(abs(t - n * 0.011 - 0.050) < 1e-9
                            for n, t in enumerate(times)))

    def test_above_its_rate_it_carries_its_rate(self):
        way = link.Way(0.0, 160_000, 4000)
        times = self.arrivals(way, 1000, 0.005)         # twice the rate
        spaces = [b - a for a, b in zip(times, times[1:])]
        self.assertTrue(all(abs(s - 0.010) < 1e-9 for s in spaces))
        self.assertEqual(len(times) + way.counters.lost_packets, 1000)

    def test_the_queue_is_as_long_as_it_was_asked_to_be(self):
        way = link.Way(0.0, 160_000, 4000)
        for _ in range(50):
            way.arrive(0.0, PACKET)
        self.assertEqual(way.counters.lost_packets, 30)
        self.assertAlmostEqual(way.counters.queue_s, 0.2)

    def test_a_new_rate_holds_from_the_next_packet_on(self):
        way = link.Way(0.0, 160_000, 4000)
        for _ in range(3):
            way.arrive(0.0, PACKET)
        way.rate_bps = 320_000
        self.assertEqual([round(t, 6) for t, _ in way.serve(1.0)],
                         [0.010, 0.015, 0.020])

    def test_without_a_rate_it_only_delays(self):
        way = link.Way(0.040)
        self.assertEqual([round(t, 6) for t in self.arrivals(way, 3, 0)],
                         [0.040] * 3)


class Gate(unittest.TestCase):
    def setUp(self):
        self.server, self.client, self.stranger = (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3))
        for sock in self.server, self.client, self.stranger:
            sock.bind(('127.0.0.1', 0))
            sock.setblocking(False)
            self.addCleanup(sock.close)
        self.gate = link.Gate(link.Way(0), link.Way(0), self.server.getsockname()[1])
        self.addCleanup(self.gate.selector.close)
        for end in self.gate.ends:
            self.addCleanup(end.close)

    def carry(self):
        """What the thread would do."""
        for key in self.gate.selector.get_map().values():
            self.gate.receive(key.fileobj, *key.data)
        self.gate.step(time.monotonic())
        self.gate.step(time.monotonic())

    def test_it_carries_both_ways(self):
        self.client.sendto(b'hello', ('127.0.0.1', self.gate.port))
        self.carry()
        data, gate = self.server.recvfrom(100)
        self.server.sendto(b'welcome', gate)
        self.carry()
        self.assertEqual((data, self.client.recv(100)), (b'hello', b'welcome'))

    def test_whoever_finds_its_other_end_gets_nowhere(self):
        end = self.gate.ends[1].getsockname()
        self.stranger.sendto(b'before anybody', end)
        self.carry()
        self.client.sendto(b'hello', ('127.0.0.1', self.gate.port))
        self.stranger.sendto(b'and after that', end)
        self.carry()
        self.assertEqual(self.server.recv(100), b'hello')
        with self.assertRaises(BlockingIOError):
            self.client.recv(100)


if __name__ == '__main__':
    unittest.main(verbosity=2)
