# SPDX-License-Identifier: LGPL-2.1-or-later
"""What whoever comes to the server's port may cost it: connections, bodies, guesses."""
import hmac
import ipaddress
import os
import resource
import socket
import time
import urllib.parse

IDLE_S = 30                     # a connection on which nothing gets on ends
MAX_CONNECTIONS, MAX_OF_ONE = 500, 100          # in all; of one address
MAX_BODY, MAX_ENDLESS = 1 << 16, 1 << 24         # more than that is refused; not even read
TCP_ESTABLISHED = 1             # linux/tcp.h
JOINS, JOINS_S, MAX_ASKING = 20, 10, 1000       # of one address; addresses at a time


def raise_limit():
    """A seat takes some 50 file descriptors, and many systems give 1024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def origin(message):
    """Who asks: an IPv4 address, or the network that a host of IPv6 has for itself."""
    text = message.get_remote_address().get_address().to_string()
    address = ipaddress.ip_address(text.partition('%')[0])
    if address.version == 4:
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def is_gone(message):
    """Whether the connection was closed at its other end: while a reply is waited for,
    libsoup does not look."""
    with socket.socket(fileno=os.dup(message.get_socket().get_fd())) as asking:
        return asking.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != TCP_ESTABLISHED


class Door:
    """refuse(message, status, why): how it says no"""

    def __init__(self, soup, secret, refuse):
        self.secret, self.refuse = secret.encode(), refuse
        self.sockets = []               # that are open: (weak reference, whose)
        self.joins = {}                 # of whom: when, of late
        soup.connect('request-started', self.on_started)

    def on_started(self, _soup, message):
        """Somebody has connected."""
        connection = message.get_socket()
        whose = origin(message)
        self.sockets = [(s, o) for s, o in self.sockets if s() and not s().is_closed()]
        if len(self.sockets) >= MAX_CONNECTIONS or \
                [o for _, o in self.sockets].count(whose) >= MAX_OF_ONE:
            connection.close()
            return
        connection.set_timeout(IDLE_S)
        self.sockets.append((connection.weak_ref(), whose))
        message.connect('got-headers', self.on_headers)
        message.connect('got-chunk', self.on_chunk, [0])

    def on_headers(self, message):
        """Before there is a body.  libsoup 3.2 never closes a connection that is kept alive"""
        message.get_response_headers().replace('Connection', 'close')
        # libsoup would send a file as often as that names a part of it
        message.get_request_headers().remove('Range')
        try:
            urllib.parse.unquote(message.get_uri().get_path(), errors='strict')
        except UnicodeDecodeError:      # no handler can be told such a path
            self.refuse(message, 400, 'not UTF-8')
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
