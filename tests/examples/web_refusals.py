#!/usr/bin/env python3
"""examples/web refuses what is wrong, clearly, and within bounds.

usage: web_refusals.py SOURCE-ROOT BUILD-ROOT

Without a browser: what a page would say, and what an attacker might.
"""
import http.client
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'browser'))
# pylint: disable=wrong-import-position
from room import Room  # noqa: E402

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
SECRET = {'Authorization': 'Bearer open sesame'}
SDP_OF_ONE_LINE = ('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n'
                   'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n')
SDP_WITHOUT_KEYS = ('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n'
                    + 2 * 'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n')


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, text, reply.headers


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
    expect(ask(port, 'POST', '/seats', '[1]', SECRET), 400, 'JSON object')
    reply = ask(port, 'POST', '/seats', join, SECRET)
    expect(reply, 201, 'extmap:3')
    seat = reply[2]['Location']
    offer = json.loads(reply[1])['offer']
    if offer.count('m=audio') != 2 or offer.count('cname:') != 2:
        sys.exit(f'not two slots of one SSRC each: {offer}')
    for wrong, says in (('nonsense', 'not a session description'),
                        (SDP_OF_ONE_LINE, 'not a session description of 2'),
                        (SDP_WITHOUT_KEYS, 'not audio with ICE and DTLS'),
                        ('x' * 70000, 'too long'), (b'\xff\xfe', 'UTF-8')):
        reply = ask(port, 'PATCH', seat, wrong)
        if reply[0] not in (400, 413):
            sys.exit(f'{wrong[:40]}: {reply[:2]}')
        expect(reply, reply[0], says)
    expect(ask(port, 'POST', seat + '/wishes', '{"ssrc": "x"}'), 400)
    expect(ask(port, 'PATCH', '/seats/guessed', 'x'), 404, 'no such seat')
    expect(ask(port, 'DELETE', seat), 204)
    expect(ask(port, 'DELETE', seat), 404)
    statuses = [ask(port, 'POST', '/seats', join)[0] for _ in range(25)]
    if set(statuses) != {401, 429} or statuses[-1] != 429:
        sys.exit(f'a flood of joins is not stopped: {statuses}')


def main():
    room = Room(ROOT, BUILD, '--slots', '2', secret='open sesame')
    try:
        check(room.port)
    finally:
        returned = room.close()
    if returned != 0:
        sys.exit(f'the server ended with {returned}: {room.errors}')


main()
