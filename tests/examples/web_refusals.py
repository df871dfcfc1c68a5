#!/usr/bin/env python3
"""examples/web refuses what is wrong, clearly, and within bounds.

usage: web_refusals.py SOURCE-ROOT BUILD-ROOT

Without a browser: what a page would say, and what an attacker might.  Whoever it is, he
keeps nobody else out, and leaves nothing behind.
"""
import contextlib
import http.client
import json
import os
import pathlib
import select
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'browser'))
# pylint: disable=wrong-import-position
from room import Room  # noqa: E402

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
SECRET = {'Authorization': 'Bearer %C3%B6ffne%20dich'}
ATTACKER, SILENT = '127.0.0.2', '127.0.0.3'
MAX_BODY, MAX_ENDLESS, MAX_CONNECTIONS, MAX_OF_ONE, MAX_SILENT = 1 << 16, 1 << 24, 500, 100, 30
JOINS, JOINS_S = 20, 10                         # of one address
PATIENCE_S = 30
SDP_OF_ONE_LINE = ('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n'
                   'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n')
SDP_WITHOUT_KEYS = ('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n'
                    + 2 * 'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n')
SDP_OF_NO_COMPONENT = ('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=ice-ufrag:x\r\n'
                       'a=ice-pwd:y\r\na=fingerprint:sha-256 00\r\n' + 2 * (
                           'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n'
                           'a=candidate:1 0 UDP 1 127.0.0.1 9 typ host\r\n'))
SDP_OF_HALF_A_PASSWORD = SDP_OF_NO_COMPONENT.replace('candidate:1 0 UDP 1 127.0.0.1 9 typ host',
                                                     'ice-ufrag:x')
SDP_OF_NO_TCP = SDP_OF_NO_COMPONENT.replace('1 0 UDP', '1 1 TCP')      # without its kind


def ask(port, method, path, body=None, headers=None, whose='127.0.0.1'):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE_S,
                                            source_address=(whose, 0))
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, text, reply.headers


def connect(port, whose=ATTACKER):
    return socket.create_connection(('127.0.0.1', port), PATIENCE_S, (whose, 0))


def hear(connection, until):
    """What comes, until that does, or the end"""
    heard = b''
    while until not in heard and (more := connection.recv(1 << 16)):
        heard += more
    return heard


def talk(port, text):
    with connect(port) as client:
        client.sendall(text)
        return hear(client, b'UTF-8')


def expect(reply, status, says=''):
    if reply[0] != status or says not in reply[1]:
        sys.exit(f'{status} "{says}" was expected, not {reply[0]} {reply[1]}')


def check(port):
    join = json.dumps({'name': 'Ada\x00\n' + 'x' * 1000})
    expect(ask(port, 'GET', '/'), 200, 'A round table')
    expect(ask(port, 'GET', '/../server.py'), 404)
    expect(ask(port, 'GET', '/%2e%2e/server.py'), 404)
    expect(ask(port, 'POST', '/seats', join), 401, 'the secret is wrong')
    expect(ask(port, 'POST', '/seats', join, {'Authorization': 'Bearer x'}), 401)
    expect(ask(port, 'GET', '/' + 300 * 'x' + '.html'), 404)
    expect(ask(port, 'GET', '/%ff.html'), 400, 'UTF-8')
    expect(ask(port, 'GET', '/?secret=%ff'), 400, 'UTF-8')
    if b'400' not in talk(port, b'G\xffT / HTTP/1.1\r\nHost: x\r\n\r\n'):
        sys.exit('what is no method is none')
    expect(ask(port, 'POST', '/seats', '[1]', SECRET), 400, 'JSON object')
    expect(ask(port, 'POST', '/seats', 60000 * '[', SECRET), 400, 'JSON object')
    reply = ask(port, 'POST', '/seats', join, SECRET)
    expect(reply, 201, 'extmap:3')
    seat = reply[2]['Location']
    offer = json.loads(reply[1])['offer']
    if offer.count('m=audio') != 2 or offer.count('cname:') != 2:
        sys.exit(f'not two slots of one SSRC each: {offer}')
    for wrong, says in (('nonsense', 'not a session description'),
                        (SDP_OF_ONE_LINE, 'not a session description of 2'),
                        (SDP_WITHOUT_KEYS, 'not audio with ICE and DTLS'),
                        (SDP_OF_NO_COMPONENT, 'not audio with ICE and DTLS'),
                        (SDP_OF_HALF_A_PASSWORD, 'not audio with ICE and DTLS'),
                        (SDP_OF_NO_TCP, 'not audio with ICE and DTLS'),
                        ((MAX_BODY + 1) * 'x', 'too long'), (b'\xff\xfe', 'UTF-8')):
        reply = ask(port, 'PATCH', seat, wrong)
        if reply[0] not in (400, 413):
            sys.exit(f'{wrong[:40]}: {reply[:2]}')
        expect(reply, reply[0], says)
    expect(ask(port, 'POST', seat + '/wishes', '{"ssrc": "x"}'), 400)
    expect(ask(port, 'PATCH', '/seats/guessed', 'x'), 404, 'no such seat')
    expect(ask(port, 'DELETE', seat), 204)
    expect(ask(port, 'DELETE', seat), 404)
    check_parts(port)
    check_flood_of_joins(port, join)
    reply = ask(port, 'POST', '/seats', join, SECRET)
    expect(reply, 201)
    return reply[2]['Location']


def check_parts(port):
    """Who asks for a part of a file a thousand times gets the file once."""
    whole = ask(port, 'GET', '/page.js')
    parts = ask(port, 'GET', '/page.js', headers={'Range': 'bytes=' + ','.join(1000 * ['0-'])})
    expect(parts, 200)
    if parts[1] != whole[1]:
        sys.exit(f'{len(parts[1])} bytes of a page of {len(whole[1])}')


def check_flood_of_joins(port, join):
    """So many are let in, however long they take; the rest is told to wait."""
    began, n_heard = time.monotonic(), 0
    while (status := ask(port, 'POST', '/seats', join, whose=ATTACKER)[0]) == 401:
        n_heard += 1
        if n_heard > JOINS * (1 + (time.monotonic() - began) / JOINS_S):
            sys.exit(f'a flood of joins is not stopped: {n_heard} were heard')
    if status != 429 or n_heard == 0:
        sys.exit(f'after {n_heard} joins came {status}')


def send_endlessly(port):
    """A body without a length.  How much of it the server took"""
    attacker = socket.create_connection(('127.0.0.1', port), PATIENCE_S)
    attacker.sendall(b'POST /seats HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    sent = 0
    try:
        while sent < 4 * MAX_ENDLESS:
            attacker.sendall(b'%x\r\n%s\r\n' % (MAX_BODY, MAX_BODY * b'x'))
            sent += MAX_BODY
    except OSError:
        pass
    attacker.close()
    return sent


def check_floods(port, seat):
    """Connections that say nothing, event streams that nobody reads, a body without an end:
    others are served."""
    sent = send_endlessly(port)
    if sent >= 4 * MAX_ENDLESS:
        sys.exit(f'{sent} bytes were taken')
    attackers = []
    for n in range(2 * MAX_OF_ONE):
        attackers.append(connect(port, ATTACKER if n % 2 else SILENT))
        if n % 2:                       # the other half says nothing
            attackers[-1].sendall(f'GET {seat}/events HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
        if n % 10 == 0:
            expect(ask(port, 'GET', '/'), 200)
    attackers += wait_for_refusal(port)
    for attacker in attackers:
        attacker.close()


def wait_for_refusal(port):
    """An event stream that another one has replaced counts until it is closed: so connections
    that owe a body take the places of those, until there are too many."""
    attackers = []
    while len(attackers) < MAX_OF_ONE:
        try:
            ask(port, 'GET', '/', whose=ATTACKER)
        except OSError:
            return attackers
        attackers.append(connect(port))
        attackers[-1].sendall(b'POST /seats HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n')
    sys.exit('he is served by one connection more')


def check_silence(port):
    """Connections of one address that ask nothing, which may be that many; returns one that
    never has asked all."""
    slow = connect(port, SILENT)
    slow.sendall(b'GET / HTTP/1.1\r\nX: ')
    attackers = [connect(port, SILENT) for _ in range(MAX_OF_ONE - 1)]
    expect(ask(port, 'GET', '/'), 200)          # all of them have been seen to
    refused, _, _ = select.select(attackers, [], [], 0)
    if len(attackers) - len(refused) != MAX_SILENT - 1:
        sys.exit(f'of {len(attackers)} silent connections {len(refused)} are closed')
    for attacker in attackers:
        attacker.close()
    return slow


def fill(port, addresses, n_each):
    """As many silent connections as there may be, and a few more"""
    attackers = []
    for n in range(MAX_CONNECTIONS + 5):
        if n % 5 == 0 and n < MAX_CONNECTIONS:
            expect(ask(port, 'GET', '/'), 200)          # it has seen to all of them
        attackers.append(connect(port, addresses[n // n_each]))
    return attackers


def check_strangers(room, seat):
    """17 addresses with so many as each may have keep nobody out, and any number nobody who
    is in."""
    open_files = len(os.listdir(f'/proc/{room.server.pid}/fd'))
    attackers = fill(room.port, [f'127.0.1.{n}' for n in range(1, 20)], MAX_SILENT)
    expect(ask(room.port, 'GET', '/', whose='127.0.0.4'), 200)
    for attacker in attackers:
        attacker.close()
    wait_for_files(room.server.pid, open_files)
    with connect(room.port, '127.0.0.1') as page:
        page.sendall(f'GET {seat}/events HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
        hear(page, b'data:')
        attackers = fill(room.port, [f'127.0.{n // 200 + 2}.{n % 200 + 1}'
                                     for n in range(600)], 1)
        with contextlib.suppress(OSError):
            ask(room.port, 'GET', '/', whose='127.0.0.4')
            sys.exit('one more is served')
        for _ in range(MAX_SILENT):
            expect(ask(room.port, 'POST', seat + '/wishes', '{"ssrc": 1, "separate": true}'), 204)
        page.recv(1 << 16)
        if not hear(page, b'data:'):
            sys.exit('a page that has a seat is cut off')
    for attacker in attackers:
        attacker.close()
    wait_for_files(room.server.pid, open_files)


def wait_for_end(slow):
    """Whoever asks a letter a second comes to no end, and takes somebody else's place"""
    slow.settimeout(1)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            slow.sendall(b'x')
            if not slow.recv(1):
                slow.close()
                return
        except TimeoutError:
            pass
        except OSError:
            slow.close()
            return
    sys.exit('it goes on and on')


def check_abort(room):
    """Who asks for a seat and does not wait for it has none.  The server stands still until
    he has gone, or it might be sooner."""
    body = b'{"name": "Abe"}'
    room.server.send_signal(signal.SIGSTOP)
    with socket.create_connection(('127.0.0.1', room.port), PATIENCE_S) as client:
        client.sendall(b'POST /seats HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n'
                       b'Authorization: %s\r\n\r\n%s' % (
                           len(body), SECRET['Authorization'].encode(), body))
    room.server.send_signal(signal.SIGCONT)
    room.wait_for(lambda: room.said('left', name='Abe', why='who asked is gone'),
                  'his seat is held', PATIENCE_S)


def cut(connection):
    """Its other end is told that it is broken, not that it is over."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    connection.close()


def check_cuts(room):
    """Who is gone before he is looked at leaves no trace, whatever he has asked."""
    body = b'POST /seats HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'
    room.server.send_signal(signal.SIGSTOP)
    for text in (b'', b'GET / HTTP/1.1\r\nHost: x\r\n\r\n', body):
        attacker = connect(room.port)
        attacker.sendall(text)
        cut(attacker)
    room.server.send_signal(signal.SIGCONT)
    expect(ask(room.port, 'GET', '/'), 200)


def check_cut_events(room, seat):
    """A page whose connection broke has its events on the next one.  The server stands still
    meanwhile, or it might see that the first one is gone."""
    events = f'GET {seat}/events HTTP/1.1\r\nHost: x\r\n\r\n'.encode()
    first = connect(room.port, '127.0.0.1')
    first.sendall(events)
    first.recv(1)
    room.server.send_signal(signal.SIGSTOP)
    cut(first)
    with connect(room.port, '127.0.0.1') as second:
        second.sendall(events)
        room.server.send_signal(signal.SIGCONT)
        if b'data:' not in hear(second, b'data:'):
            sys.exit('no events come')


def wait_for_files(pid, most):
    """Until the server has no more of them open than it had"""
    deadline = time.monotonic() + PATIENCE_S
    while (now := len(os.listdir(f'/proc/{pid}/fd'))) > most:
        if time.monotonic() > deadline:
            sys.exit(f'{now} files are open, {most} were before')
        time.sleep(0.02)


def main():
    room = Room(ROOT, BUILD, '--slots', '2', secret='öffne dich')
    try:
        expect(ask(room.port, 'GET', '/'), 200, 'A round table')
        open_files = len(os.listdir(f'/proc/{room.server.pid}/fd'))
        seat = check(room.port)
        check_abort(room)
        check_cuts(room)
        for _ in range(10):             # in some, pictures are sent just then
            check_cut_events(room, seat)
        check_strangers(room, seat)
        slow = check_silence(room.port)
        check_floods(room.port, seat)
        wait_for_end(slow)
        expect(ask(room.port, 'DELETE', seat), 204)
        wait_for_files(room.server.pid, open_files)
    finally:
        returned = room.close()
    if returned != 0:
        sys.exit(f'the server ended with {returned}: {room.errors}')
    if room.errors:
        sys.exit(room.errors)


main()
