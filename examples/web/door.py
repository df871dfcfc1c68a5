# SPDX-License-Identifier: LGPL-2.1-or-later
"""What whoever comes to the server's port may cost it: connections, bodies, guesses."""
import collections
import contextlib
import hmac
import ipaddress
import os
import resource
import socket
import time
import urllib.parse

from gi.repository import GLib

IDLE_S = 30                     # a connection on which nothing gets on ends
MAX_CONNECTIONS, MAX_OF_ONE = 500, 100          # in all; of one address
SILENT_S, MAX_SILENT = 10, 30   # until it has asked something; of one address at a time
MAX_BODY, MAX_ENDLESS = 1 << 16, 1 << 24         # more than that is refused; not even read
TCP_ESTABLISHED = 1             # linux/tcp.h
JOINS, JOINS_S, MAX_ASKING = 20, 10, 1000       # of one address; addresses at a time


def raise_limit():
    """A seat takes some 50 file descriptors, and many systems give 1024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def origin(message):
    """Who asks: an IPv4 address, or the network that a host of IPv6 has for itself.  Of who
    is gone already nobody knows."""
    try:
        text = message.get_socket().get_remote_address().get_address().to_string()
    except GLib.Error:
        return 'nobody'
    address = ipaddress.ip_address(text.partition('%')[0])
    if address.version == 4:
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def is_gone(message):
    """Whether the connection was closed at its other end: while a reply is waited for,
    libsoup does not look."""
    with socket.socket(fileno=os.dup(message.get_socket().get_fd())) as asking:
        return asking.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != TCP_ESTABLISHED


class Visit:
    """A connection.  As long as nothing is asked on it, it may have one of the few threads
    in which GLib shakes hands for TLS, and others wait for that."""

    def __init__(self, connection, whose):
        self.connection, self.whose = connection.weak_ref(), whose
        self.since, self.is_silent = time.monotonic(), True
        self.has_seat = False           # it has named one

    def lasts(self):
        connection = self.connection()
        return connection is not None and not connection.is_closed()

    def end(self):
        with contextlib.suppress(GLib.Error):           # he was faster
            self.connection().shutdown(True, True)


class Door:
    """refuse(message, status, why): how it says no; seats: by token"""

    def __init__(self, soup, secret, refuse, seats):
        self.secret, self.refuse, self.seats = secret.encode(), refuse, seats
        self.visits = []                # that last
        self.joins = {}                 # of whom: when, of late
        soup.connect('request-started', self.on_started)
        # what has come by then is read first
        GLib.timeout_add_seconds(1, self.end_silence, priority=GLib.PRIORITY_LOW)

    def end_silence(self):
        now = time.monotonic()
        for visit in self.visits:
            if visit.is_silent and now - visit.since > SILENT_S and visit.lasts():
                visit.end()
        return True

    def make_room(self, whose):
        """Whether one more may come.  Of strangers the oldest goes of the address that has
        most of them, for one of an address that has less, or that has a seat."""
        if len(self.visits) < MAX_CONNECTIONS:
            return True
        strangers = [visit for visit in self.visits if not visit.has_seat]
        of_whom = collections.Counter(visit.whose for visit in strangers)
        most, n = max(of_whom.items(), key=lambda item: item[1], default=(None, 0))
        is_guest = any(visit.has_seat and visit.whose == whose for visit in self.visits)
        if n < (1 if is_guest else of_whom[whose] + 2):
            return False
        oldest = next(visit for visit in strangers if visit.whose == most)
        self.visits.remove(oldest)
        oldest.end()
        return True

    def on_started(self, _soup, message):
        """Somebody has connected."""
        connection = message.get_socket()
        whose = origin(message)
        self.visits = [visit for visit in self.visits if visit.lasts()]
        mine = [visit for visit in self.visits if visit.whose == whose]
        if len(mine) >= MAX_OF_ONE or \
                sum(visit.is_silent for visit in mine) >= MAX_SILENT or \
                not self.make_room(whose):
            connection.close()
            return
        connection.set_timeout(IDLE_S)
        visit = Visit(connection, whose)
        self.visits.append(visit)
        message.connect('got-headers', self.on_headers, visit)
        message.connect('got-chunk', self.on_chunk, [0])

    def on_headers(self, message, visit):
        """Before there is a body.  libsoup 3.2 never closes a connection that is kept alive"""
        visit.is_silent = False
        message.get_response_headers().replace('Connection', 'close')
        # libsoup would send a file as often as that names a part of it
        message.get_request_headers().remove('Range')
        where = message.get_uri()
        try:
            message.get_method()
            for text in (where.get_path(), where.get_query() or ''):
                urllib.parse.unquote(text, errors='strict')
        except UnicodeDecodeError:      # no handler can be told such things
            self.refuse(message, 400, 'not UTF-8')
        else:
            token = where.get_path().removeprefix('/seats/').partition('/')[0]
            visit.has_seat = token in self.seats
        if message.get_request_headers().get_content_length() > MAX_BODY:
            self.refuse_body(message)

    def on_chunk(self, message, chunk, seen):
        """A part of a body that need not have told its length"""
        seen[0] += chunk.get_size()
        if seen[0] > MAX_ENDLESS:
            message.get_socket().close()
        elif seen[0] > MAX_BODY and not message.get_status():
            self.refuse_body(message)

    def refuse_body(self, message):
        message.get_request_body().set_accumulate(False)
        self.refuse(message, 413, 'too long')

    def may_join(self, message):
        """Whether the secret is right; guesses are limited for each address."""
        now, whose = time.monotonic(), origin(message)
        self.joins = {o: times for o, times in self.joins.items() if now - times[-1] < JOINS_S}
        times = [t for t in self.joins.get(whose, ()) if now - t < JOINS_S]
        if len(times) >= JOINS or len(self.joins) >= MAX_ASKING:
            self.refuse(message, 429, 'too many at once: try again in 10 s')
            return False
        self.joins[whose] = [*times, now]
        given = message.get_request_headers().get_one('Authorization') or ''
        if self.secret and not hmac.compare_digest(
                urllib.parse.unquote_to_bytes(given), b'Bearer ' + self.secret):
            self.refuse(message, 401, 'the secret is wrong')
            return False
        return True
