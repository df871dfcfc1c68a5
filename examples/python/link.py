#!/usr/bin/env python3
"""A narrow road between two port blocks, on one machine, without privileges.

usage: link.py KBITS DELAY_MS QUEUE_BYTES BLOCK:HOST:BLOCK [BLOCK:HOST:BLOCK]

UDP that arrives at the first block's three ports (RTP, RTCP, feedback) leaves
for the second: first through a drop-tail queue of QUEUE_BYTES that is served
at KBITS kbit/s on the wire (IP and UDP headers count 28 bytes), then DELAY_MS
later.  The optional second pair is the way back: delayed, not narrowed.

    link.py 200 40 15000 20000:127.0.0.1:6000 20010:127.0.0.1:5080

You will see one line a second: rate in, rate out, lost packets, queue.
"""
import collections
import dataclasses
import heapq
import selectors
import socket
import sys
import threading
import time

HEADER_BYTES = 28               # IPv4 and UDP
PORTS = 3                       # of a block: examples/launch/README.md


@dataclasses.dataclass
class Counters:
    """What passed since the start."""
    in_bytes: int = 0           # on the wire, both of passed and lost packets
    out_bytes: int = 0
    in_packets: int = 0
    lost_packets: int = 0
    queue_s: float = 0.0        # how long the last packet will wait


class Way:
    """One direction: a queue in front of a wire of some rate and length."""

    def __init__(self, delay_s, rate_bps=None, queue_bytes=0):
        self.delay_s = delay_s
        self.rate_bps = rate_bps        # None: as fast as you like
        self.queue_bytes = queue_bytes
        self.counters = Counters()
        self.queue = collections.deque()
        self.backlog = 0                # bytes in the queue
        self.free_at = None             # when the packet in service is out

    def arrive(self, now, packet):
        """Takes (socket, destination, data) or loses it."""
        size = len(packet[2]) + HEADER_BYTES
        self.counters.in_bytes += size
        self.counters.in_packets += 1
        if self.rate_bps and self.backlog + size > self.queue_bytes:
            self.counters.lost_packets += 1
            return
        self.queue.append((size, packet))
        self.backlog += size
        if self.free_at is None:
            self.free_at = now + self.service_s(size)
        self.counters.queue_s = self.service_s(self.backlog)

    def service_s(self, size):
        return size * 8 / self.rate_bps if self.rate_bps else 0.0

    def serve(self, now):
        """Yields (time, packet) for all that reach the far end."""
        while self.free_at is not None and self.free_at <= now:
            size, packet = self.queue.popleft()
            self.backlog -= size
            self.counters.out_bytes += size
            yield self.free_at + self.delay_s, packet
            if self.queue:
                self.free_at += self.service_s(self.queue[0][0])
            else:
                self.free_at = None


class Link(threading.Thread):
    """Carries port blocks over ways until stop() is called."""

    def __init__(self, routes):
        """routes: (way, port block here, (host, port block there)) each."""
        super().__init__(daemon=True)
        self.selector = selectors.DefaultSelector()
        self.ways = [way for way, _, _ in routes]
        for way, block, (host, peer) in routes:
            for n in range(PORTS):
                sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                sock.bind(('127.0.0.1', block + n))
                sock.setblocking(False)
                self.selector.register(sock, selectors.EVENT_READ,
                                       (way, (host, peer + n)))
        self.flying = []                # heap of (arrival time, n, packet)
        self.serial = 0
        self.late_s = 0.0               # how late we woke up, at worst
        self.recent_late_s = 0.0        # the same, since somebody cleared it
        self.stopped = False

    def stop(self):
        self.stopped = True
        self.join()

    def run(self):
        due = time.monotonic()
        while not self.stopped:
            now = time.monotonic()
            self.late_s = max(self.late_s, now - due)
            self.recent_late_s = max(self.recent_late_s, now - due)
            self.step(now)
            times = [w.free_at for w in self.ways if w.free_at is not None]
            times += [self.flying[0][0]] if self.flying else []
            wait = min([0.1] + [max(0.0, t - now) for t in times])
            due = now + wait
            for key, _ in self.selector.select(wait):
                self.receive(key.fileobj, *key.data)
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()

    def receive(self, sock, way, destination):
        while True:
            try:
                data = sock.recv(65536)
            except OSError:
                return
            way.arrive(time.monotonic(), (sock, destination, data))

    def step(self, now):
        for way in self.ways:
            for at, packet in way.serve(now):
                heapq.heappush(self.flying, (at, self.serial, packet))
                self.serial += 1
        while self.flying and self.flying[0][0] <= now:
            _, _, (sock, destination, data) = heapq.heappop(self.flying)
            try:
                sock.sendto(data, destination)
            except OSError:
                pass                    # nobody there: a network does not care


class Gate(Link):
    """Before a server, for one client of it: both ways pass here.  port: for the client;
    server: its own"""

    def __init__(self, there, back, server):
        super().__init__([])
        self.ways, self.server, self.client = [there, back], server, None
        self.ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in self.ways]
        for way, end in zip(self.ways, self.ends):
            end.bind(('127.0.0.1', 0))
            end.setblocking(False)
            self.selector.register(end, selectors.EVENT_READ, (way, None))
        self.port = self.ends[0].getsockname()[1]

    def receive(self, sock, way, destination):
        front, back = self.ends
        while True:
            try:
                data, who = sock.recvfrom(65536)
            except OSError:
                return
            if sock is front:
                self.client = who
            elif self.client is None or who != ('127.0.0.1', self.server):
                continue                # of nobody's conversation
            packet = (back, ('127.0.0.1', self.server), data) if sock is front \
                else (front, self.client, data)
            way.arrive(time.monotonic(), packet)


def parse_number(name, text, least):
    if not text.isdecimal() or int(text) < least:
        sys.exit(f'{name} is a number from {least} on, not {text!r}')
    return int(text)


def parse_route(text):
    """(block here, (address there, block there)) of BLOCK:HOST:BLOCK"""
    block, _, rest = text.partition(':')
    host, _, peer = rest.rpartition(':')
    if not host or not all(n.isdecimal() and 0 < int(n) <= 65536 - PORTS
                           for n in (block, peer)):
        sys.exit(f'BLOCK:HOST:BLOCK, blocks from 1 to {65536 - PORTS}, not {text!r}')
    try:
        return int(block), (socket.gethostbyname(host), int(peer))
    except (OSError, UnicodeError) as error:
        sys.exit(f'{host}: {error}')


def main(arguments):
    if not 4 <= len(arguments) <= 5:
        sys.exit(__doc__)
    kbits, delay_ms, queue_bytes = map(
        parse_number, ('KBITS', 'DELAY_MS', 'QUEUE_BYTES'), arguments, (1, 0, 1))
    there = Way(delay_ms / 1e3, kbits * 1000, queue_bytes)
    routes = [(there, *parse_route(arguments[3]))]
    if arguments[4:]:
        routes.append((Way(delay_ms / 1e3), *parse_route(arguments[4])))
    try:
        link = Link(routes)
    except OSError as error:
        sys.exit(f'blocks {", ".join(str(block) for _, block, _ in routes)}: {error.strerror}')
    link.start()
    last = Counters()
    try:
        while True:
            time.sleep(1)
            now = dataclasses.replace(there.counters)
            print(f'in {(now.in_bytes - last.in_bytes) * 8 / 1e3:6.0f} kbit/s'
                  f'  out {(now.out_bytes - last.out_bytes) * 8 / 1e3:6.0f}'
                  f'  lost {now.lost_packets - last.lost_packets:3d} packets'
                  f'  queue {now.queue_s * 1e3:4.0f} ms', flush=True)
            last = now
    except KeyboardInterrupt:
        link.stop()


if __name__ == '__main__':
    main(sys.argv[1:])
