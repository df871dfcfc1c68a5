#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What browsers cost the server of examples/web: CPU, threads, memory of each.

usage: crowd.py [--janus] [--write] SOURCE-ROOT BUILD-ROOT [BROWSERS [TALKERS [SECONDS]]]

As many webrtcbins as there shall be browsers (20) join by HTTP as pages do, in a
process of their own; some of them (8) talk.  Meanwhile the server's process is
looked at from outside.  They decode nothing.  With GStreamer 1.26 or newer they tell of
packets ten times a second, as browsers do; before, they send receiver reports, by which
the rate rises more slowly: how much was sent is printed beside what it cost.  --janus:
afterwards the same browsers in a room of Janus's audiobridge, which mixes all for each:
as it comes, and set as one does who knows it.  --write: the page examples/web/README.md
has it as a table.
"""
import argparse
import json
import os
import pathlib
import re
import time
import urllib.request

import janus
import readme
from room import Room, free_port
from standin import Browser, Gst, run_for

PATIENCE_S, SETTLE_S, LATER_S = 120, 5, 80


class Seat:
    """A seat of our server, as a page has it."""

    def __init__(self, server, name):
        self.server = server
        with self.ask('POST', '/seats', json.dumps({'name': name})) as reply:
            self.link = reply.headers['Location']
            self.offer = json.load(reply)['offer']

    def ask(self, method, path, body):
        return urllib.request.urlopen(urllib.request.Request(
            self.server + path, body.encode(), method=method))

    def answer(self, sdp):
        self.ask('PATCH', self.link, sdp).close()


def look_at(pid):
    """CPU in s, threads, resident memory in kB"""
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text(
        encoding='ascii').rpartition(')')[2].split()
    tick, page = os.sysconf('SC_CLK_TCK'), os.sysconf('SC_PAGE_SIZE')
    return ((int(fields[11]) + int(fields[12])) / tick, int(fields[17]),
            int(fields[21]) * page // 1024)


def received(browsers):
    """Bytes that have come to their sockets."""
    total = 0
    for browser in browsers:
        for n in range(2):
            session = browser.web.get_by_name('rtpbin').emit('get-internal-session', n)
            if session:
                total += sum(map(int, re.findall(
                    r'octets-received\\*=\\*\(guint64\\*\)(\d+)',
                    session.get_property('stats').to_string())))
    return total


def measure(pid, options, sit_down, heard):
    """The process @pid while browsers come, and then for a while.  @sit_down(name):
    returns the seat of a new one; @heard(): what each hears, while all are there.
    Returns what each of them costs"""
    browsers, before = [], look_at(pid)
    try:
        for n in range(options.browsers):
            browsers.append(Browser(sit_down(f'B{n}'), n < options.talkers))
            if not run_for(PATIENCE_S, browsers[-1].is_connected):
                raise SystemExit(f'browser {n} is not connected')
        run_for(SETTLE_S)
        began, there, bytes_then = time.monotonic(), look_at(pid), received(browsers)
        run_for(options.seconds)
        cpu, threads, memory = look_at(pid)
        took = time.monotonic() - began
        n = options.browsers
        found = {
            'CPU': f'{100 * (cpu - there[0]) / took / n:.2f} % of a core',
            'threads': f'{(threads - before[1]) / n:.1f}',
            'memory': f'{(memory - before[2]) / n / 1024:.1f} MiB',
            'RTP that reaches it':
                f'{(received(browsers) - bytes_then) * 8 / took / n / 1000:.0f} kbit/s',
            'what that is': heard()}
        for name, text in found.items():
            print(f'  {name:19} {text}', flush=True)
        return found
    finally:
        for browser in browsers:
            browser.pipe.set_state(Gst.State.NULL)


def hear_ours(room, options):
    """How many voices are apart, and how many some time later."""
    most = options.talkers * (options.browsers - 1) / options.browsers

    def apart():
        latest = {e['seat']: len(e['separate']) for e in room.said('selection')}
        return sum(latest.values()) / options.browsers

    found = apart()
    run_for(LATER_S)
    return f'{found:.1f} of {most:.1f} voices apart, {apart():.1f} {LATER_S} s later'


def measure_ours(options):
    room = Room(options.source, options.build, '--max-seats', str(options.browsers))
    try:
        found = measure(room.server.pid, options,
                        lambda name: Seat(f'http://127.0.0.1:{room.port}', name),
                        lambda: hear_ours(room, options))
        sent = {e['seat']: e['sent-bps'] for e in room.said('rate')}
        print(f'sent to each {sum(sent.values()) / max(1, len(sent)) / 1000:6.0f} kbit/s, '
              'when a rate changed last')
        if len(room.said('joined')) != options.browsers or room.said('left'):
            raise SystemExit(f'not all stayed: {room.events}')
        return found
    finally:
        room.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n')[0])
    for name in ('source', 'build'):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve())
    for name, value in (('browsers', 20), ('talkers', 8), ('seconds', 20)):
        parser.add_argument(name, type=int, nargs='?', default=value)
    for name in ('--janus', '--write'):
        parser.add_argument(name, action='store_true')
    options = parser.parse_args()
    if options.janus and not janus.PROGRAM:
        parser.error('Janus is not installed')
    Gst.init(None)
    loads = [os.getloadavg()[0]]
    print(f'{options.browsers} browsers, {options.talkers} talk, {options.seconds} s; '
          f'load {loads[0]:.0f}')
    columns = {'this server': measure_ours(options)}
    if options.janus:
        for name, settings in (('Janus as it comes', janus.DEFAULT),
                               ('Janus, set for many', janus.KNOWING)):
            print(name)
            peer = janus.Janus(free_port(), settings)
            try:
                columns[name] = measure(peer.pid, options,
                                        lambda name, peer=peer: janus.Place(peer.link, name),
                                        lambda: 'one mix of all')
            finally:
                peer.close()
            loads.append(os.getloadavg()[0])
    if options.write:
        text = readme.table(('for each browser', *columns), [
            (name, *(column[name] for column in columns.values()))
            for name in columns['this server']])
        readme.fill('crowd', f'At a load of {readme.span(loads)} on {os.cpu_count()} '
                    f'processors, GStreamer {Gst.version_string().split()[1]}:\n\n{text}')


main()
