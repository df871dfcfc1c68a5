#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Is a mixer there?  Says HELLO to its port, waits for the COOKIE.

  ping.py [HOST [PORT]]        default: localhost 5004

Prints the round trip and ends with 0, with 1 if nobody answers within a second,
with 2 if there is no such host or port.
"""
import os
import socket
import sys
import time

VERSION, HELLO, COOKIE = 1, 1, 2
TRIES, PATIENCE_S = 4, 0.25


BYTES = 8 + 32 + 64  # of either message


def header(kind):
    return b'dpm' + bytes([VERSION, kind, 0, 0, BYTES])


def ask(address, family):
    """Returns the seconds until the answer, or None."""
    nonce = os.urandom(32)
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(PATIENCE_S)
        for _ in range(TRIES):
            began = time.monotonic()
            try:
                sock.connect(address)
                sock.send(header(HELLO) + nonce + bytes(64))
                answer = sock.recv(1500)
            except socket.timeout:
                continue
            except OSError:             # no way there, or nobody: maybe soon
                time.sleep(PATIENCE_S)
                continue
            if answer.startswith(header(COOKIE) + nonce):
                return time.monotonic() - began
    return None


def main(host='localhost', port='5004'):
    if host.startswith('-'):
        print(__doc__)
        return 0 if host in ('-h', '--help') else 2
    try:
        if port.isdigit() and int(port) > 65535:
            raise OverflowError('no such port')
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except (OSError, OverflowError, UnicodeError) as error:
        print(f'{host}:{port}: {error}', file=sys.stderr)
        return 2
    for family, _, _, _, address in found:
        took = ask(address, family)
        if took is not None:
            print(f'{address[0]}: {took * 1000:.1f} ms')
            return 0
    print(f'{host}:{port}: no answer', file=sys.stderr)
    return 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:3]))
