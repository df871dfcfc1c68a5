#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A room that browsers join by a link: page, signalling, and the mixer.

  meson devenv -C build ../examples/web/server.py [OPTION...]

Prints one JSON object a line about what happens.  What a page says, over HTTP:

  POST   /seats               {"name"}  -> 201, Location, {"offer", "slots", ...}
  PATCH  /seats/TOKEN         the answer, application/sdp  -> 204
  GET    /seats/TOKEN/events  server-sent events: the picture, twice a second
  POST   /seats/TOKEN/wishes  {"ssrc", "separate"}  -> 204
  DELETE /seats/TOKEN         -> 204; so does POST /seats/TOKEN/leave

The server offers, so that header extensions have the same numbers for all and
packets pass from one browser to another as they are.  With --secret, POST /seats
needs `Authorization: Bearer SECRET`, %-encoded as in a link.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import sys
import time

import gi

gi.require_version('Soup', '3.0')
# pylint: disable=wrong-import-position
from gi.repository import Gio, GLib, Soup  # noqa: E402

from door import Door, is_gone, raise_limit  # noqa: E402
from room import Gst, Room  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parent / 'page'
TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css',
         '.js': 'text/javascript'}
PICTURE_MS = 500
DEMO_LINK = '900:20,160:15,900:45'        # what lasts rises rarely, after a fall
POLICY = ("default-src 'self'; style-src 'self' 'unsafe-inline'; "
          "frame-ancestors 'none'")


def ports(text):
    first, _, last = text.partition('-')
    return int(first), int(last)


def link(text):
    """KBPS[:SECONDS],...  Without seconds, or 0: until SIGUSR1."""
    steps = [step.partition(':') for step in text.split(',')]
    return [(int(kbps), float(seconds or 0)) for kbps, _, seconds in steps]


def named(text):
    ssrc, _, name = text.partition('=')
    return int(ssrc), name


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.partition('\n')[0])
    add = parser.add_argument
    add('--port', type=int, default=8443, help='TCP port of the page')
    add('--http', action='store_true', help='listen to this machine alone, '
        'without TLS: browsers give the microphone to localhost, too')
    add('--cert', help='certificate, PEM')
    add('--key', help='its private key, PEM')
    add('--secret', default=os.environ.get('FMX_SECRET', ''),
        help='who joins must know it; also $FMX_SECRET')
    add('--slots', type=int, default=8, help='streams that a browser gets at most')
    add('--max-seats', type=int, default=20, help='browsers at a time')
    add('--absent-s', type=float, default=10, help='a browser whose page is '
        'gone for so long leaves')
    add('--jitter-ms', type=int, default=20, help='jitter buffer for microphones')
    add('--address', action='append', default=[],
        help='address for media (default: all but loopback); may be repeated')
    add('--ports', type=ports, help='UDP ports for media, FIRST-LAST')
    add('--stun-server', help='stun://HOST:PORT')
    add('--turn-server', help='turn://USER:PASSWORD@HOST:PORT')
    add('--music', action='store_true', help='code mixes as music: for instruments; '
        'voices sound worse')
    add('--rtp-port', type=int, default=0, help='UDP port for plain RTP talkers: '
        'Opus, payload type 111')
    add('--rtp-address', default='127.0.0.1', help='where that port listens')
    add('--link', type=link, help='a link to each browser that has so many '
        'kbit/s for so many seconds, in turn: KBPS[:SECONDS],...; SIGUSR1 goes '
        'on to the next one at once')
    add('--name', type=named, action='append', default=[], help='SSRC=NAME of a '
        'plain RTP talker; may be repeated')
    add('--meeting-port', type=int, help='UDP port for dpmclients and mixers, with '
        'the same secret; 0: any')
    add('--parent', help='a dpmmixer to join, HOST[:PORT], with the same secret')
    add('--demo', action='store_true', help='recorded voices, and --link '
        + DEMO_LINK)
    add('--voices', default='', help='folder of WAV files for --demo')
    options = parser.parse_args()
    if not options.http and not (options.cert and options.key):
        parser.error('--cert and --key, or --http')
    if not 1 <= options.slots <= 32:
        parser.error('--slots: 1 ... 32')
    options.name = dict(options.name)
    if options.demo:
        options.rtp_port = options.rtp_port or 5404
        options.link = options.link or link(DEMO_LINK)
    return options


def ice_servers(options):
    """The same servers, as browsers want them named."""
    found = []
    if options.stun_server:
        found.append({'urls': options.stun_server.replace('stun://', 'stun:')})
    if options.turn_server:
        scheme, _, rest = options.turn_server.partition('://')
        user, _, host = rest.rpartition('@')
        name, _, password = user.partition(':')
        found.append({'urls': f'{scheme}:{host}', 'username': name,
                      'credential': password})
    return found


class Watcher:
    """A page that takes events: no picture before the one that was last is written, for
    who reads slowly, or not at all."""

    def __init__(self, message):
        self.message, self.is_written = message, True
        message.connect('wrote-chunk', self.on_written)

    def on_written(self, _message):
        self.is_written = True

    def send(self, picture):
        if self.is_written:
            self.is_written = False
            self.message.get_response_body().append(
                f'data: {json.dumps(picture)}\n\n'.encode())
            self.message.unpause()

    def end(self):
        self.message.get_response_body().complete()
        self.message.unpause()

    def drop(self):
        """Another one took its place."""
        with contextlib.suppress(GLib.Error):           # it was cut off, and nobody has seen
            self.message.get_socket().shutdown(True, True)
        self.end()


class Server:
    """HTTP in front of a room."""

    def __init__(self, options):
        self.options = options
        self.room = Room(options)
        self.files = {'/' + file.name: file for file in PAGE.iterdir() if file.suffix in TYPES}
        self.watchers = {}              # token: Watcher
        self.absent = {}                # token: since when nobody watches
        self.soup = Soup.Server()
        self.door = Door(self.soup, options.secret, self.refuse, self.room.seats)
        self.soup.add_handler('/seats', self.on_seats)
        self.soup.add_handler(None, self.on_file)
        how = Soup.ServerListenOptions(0)
        if not options.http:
            self.soup.set_tls_certificate(
                Gio.TlsCertificate.new_from_files(options.cert, options.key))
            how = Soup.ServerListenOptions.HTTPS
        (self.soup.listen_local if options.http
         else self.soup.listen_all)(options.port, how)
        GLib.timeout_add(PICTURE_MS, self.send_pictures)

    # -- answers

    def reply(self, message, status, body=None, kind='application/json', **headers):
        out = message.get_response_headers()
        for name, value in {'Cache-Control': 'no-store', **headers}.items():
            out.replace(name.replace('_', '-'), value)
        message.set_status(status, None)
        if body is not None:
            if not isinstance(body, (str, bytes)):
                body = json.dumps(body)
            if isinstance(body, str):
                body = body.encode()
            message.set_response(kind, Soup.MemoryUse.COPY, body)

    def refuse(self, message, status, why):
        self.room.say('refused', status=status, why=why)
        self.reply(message, status, {'error': why})

    def on_file(self, _soup, message, path, _query):
        file = self.files.get('/index.html' if path == '/' else path)
        if path == '/favicon.ico':
            self.reply(message, 204)
        elif message.get_method() not in ('GET', 'HEAD'):
            self.refuse(message, 405, 'only GET')
        elif not file:
            self.refuse(message, 404, 'no such page')
        else:
            self.reply(message, 200, file.read_bytes(), TYPES[file.suffix],
                       Content_Security_Policy=POLICY,
                       X_Content_Type_Options='nosniff')

    def body(self, message):
        data = message.get_request_body().flatten().get_data() or b''
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.refuse(message, 400, 'not UTF-8')
            return None

    def json_body(self, message):
        text = self.body(message)
        if text is None:
            return None
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            self.refuse(message, 400, 'a JSON object is wanted')
            return None
        return value

    # -- /seats

    def on_seats(self, _soup, message, path, _query):
        method, parts = message.get_method(), path.split('/')[2:]
        if not parts:
            if method == 'POST':
                self.join(message)
            else:
                self.refuse(message, 405, 'only POST')
            return
        seat = self.room.seats.get(parts[0])
        what = (method, *parts[1:])
        if seat is None:
            self.refuse(message, 404, 'no such seat: it may have timed out')
        elif what == ('PATCH',):
            self.answer(message, seat)
        elif what == ('GET', 'events'):
            self.watch(message, seat)
        elif what == ('POST', 'wishes'):
            self.wish(message, seat)
        elif what in (('DELETE',), ('POST', 'leave')):
            seat.close()
            self.reply(message, 204)
        else:
            self.refuse(message, 405, 'not here')

    def join(self, message):
        if not self.door.may_join(message):
            return
        wanted = self.json_body(message)
        if wanted is None:
            return

        def ready(seat, offer, error):
            if seat and is_gone(message):
                error = 'who asked is gone'
                seat.close(error)
            if error:
                self.refuse(message, 503, error)
            else:
                self.reply(message, 201, {
                    'offer': offer, 'slots': self.options.slots,
                    'id': seat.number, 'iceServers': ice_servers(self.options),
                    'demo': self.options.demo}, Location=f'/seats/{seat.token}')
            message.unpause()

        message.pause()
        self.room.join(wanted.get('name', ''), ready)

    def answer(self, message, seat):
        text = self.body(message)
        if text is None:
            return
        wrong = seat.answer(text)
        if wrong:
            self.refuse(message, 400, wrong)
        else:
            self.reply(message, 204)

    def wish(self, message, seat):
        wanted = self.json_body(message)
        if wanted is None:
            return
        ssrc, separate = wanted.get('ssrc'), wanted.get('separate')
        if not isinstance(ssrc, int) or not isinstance(separate, bool):
            self.refuse(message, 400, 'ssrc: a number, separate: true or false')
        else:
            seat.wish(ssrc, separate)
            self.reply(message, 204)

    # -- events

    def watch(self, message, seat):
        headers = message.get_response_headers()
        headers.set_encoding(Soup.Encoding.CHUNKED)
        headers.replace('Content-Type', 'text/event-stream')
        headers.replace('Cache-Control', 'no-store')
        message.get_response_body().set_accumulate(False)
        message.set_status(200, None)
        old = self.watchers.get(seat.token)
        if old:
            old.drop()
        self.watchers[seat.token] = watcher = Watcher(message)
        self.absent.pop(seat.token, None)
        message.connect('finished', self.on_watcher_gone, seat.token)
        watcher.send(self.room.picture(seat))

    def on_watcher_gone(self, message, token):
        watcher = self.watchers.get(token)
        if watcher and watcher.message is message:
            del self.watchers[token]
            self.absent[token] = time.monotonic()

    def send_pictures(self):
        now = time.monotonic()
        for token in list(self.watchers):
            seat = self.room.seats.get(token)
            if seat:
                self.watchers[token].send(self.room.picture(seat))
            else:
                self.watchers.pop(token).end()
        for token, since in list(self.absent.items()):
            seat = self.room.seats.get(token)
            if seat is None:
                del self.absent[token]
            elif now - since > self.options.absent_s:
                seat.close('its page is gone')
        return True


def main():
    options = parse_arguments()
    raise_limit()
    Gst.init(None)
    for name, where in (('partialmix', '`meson devenv -C build`'),
                        ('dpmmixer', '`meson devenv -C build`'),
                        ('webrtcbin', 'gstreamer1.0-plugins-bad'),
                        ('nicesrc', 'gstreamer1.0-nice')):
        if not Gst.ElementFactory.find(name):
            sys.exit(f'no {name} here: it comes with {where}')
    try:
        server = Server(options)
    except GLib.Error as error:
        sys.exit(f'server.py: {error.message}')
    loop = GLib.MainLoop()
    for number in (signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, loop.quit)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1,
                         lambda: server.room.next_link() or True)
    server.room.say('listening', port=options.port, https=not options.http)
    loop.run()
    server.room.close()


if __name__ == '__main__':
    main()
