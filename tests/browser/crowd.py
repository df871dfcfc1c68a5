#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What browsers cost the server of examples/web: CPU, threads, memory of each.

usage: crowd.py SOURCE-ROOT BUILD-ROOT [BROWSERS [TALKERS [SECONDS]]]

As many webrtcbins as there shall be browsers (20) join by HTTP as pages do, in a
process of their own; some of them (8) talk.  Meanwhile the server's process is
looked at from outside.  They decode nothing, and send plain receiver reports, by
which the rate rises more slowly than with a browser's feedback: how much was sent is
printed beside what it cost.
"""
import json
import os
import pathlib
import sys
import time
import urllib.request

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstSdp', '1.0')
gi.require_version('GstWebRTC', '1.0')
# pylint: disable=wrong-import-position
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

from room import Room  # noqa: E402

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])

MICROPHONE = ('audiotestsrc is-live=true wave=pink-noise volume=0.2 ! opusenc '
              'bitrate=32000 ! rtpopuspay pt=111 ! application/x-rtp,media=audio,'
              'encoding-name=OPUS,payload=111,clock-rate=48000 ! queue name=last')
PATIENCE_S = 120


class Browser:
    """webrtcbin, which says what a page says."""

    def __init__(self, server, number, talks):
        self.server, self.keep = server, []
        self.pipe = Gst.Pipeline.new(f'browser{number}')
        self.web = Gst.ElementFactory.make('webrtcbin', None)
        self.web.set_property('bundle-policy',
                              GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.pipe.add(self.web)
        self.web.connect('pad-added', self.on_pad)
        self.web.connect('notify::ice-gathering-state',
                         lambda *_: GLib.idle_add(self.on_gathered))
        if talks:
            microphone = Gst.parse_bin_from_description(MICROPHONE, True)
            self.pipe.add(microphone)
            microphone.link(self.web)
        self.pipe.set_state(Gst.State.PLAYING)
        with self.ask('POST', '/seats', json.dumps({'name': f'B{number}'})) as reply:
            self.seat = reply.headers['Location']
            offer = json.load(reply)['offer']
        _, sdp = GstSdp.SDPMessage.new_from_text(offer)
        self.web.emit('set-remote-description',
                      GstWebRTC.WebRTCSessionDescription.new(
                          GstWebRTC.WebRTCSDPType.OFFER, sdp), Gst.Promise.new())
        self.web.emit('create-answer', None,
                      Gst.Promise.new_with_change_func(self.on_answer))

    def ask(self, method, path, body):
        return urllib.request.urlopen(urllib.request.Request(
            self.server + path, body.encode(), method=method))

    def on_answer(self, promise):
        reply = promise.get_reply()
        self.keep.append(reply)
        self.web.emit('set-local-description', reply.get_value('answer'),
                      Gst.Promise.new())

    def on_gathered(self):
        if self.seat and self.web.get_property(
                'ice-gathering-state').value_nick == 'complete':
            seat, self.seat = self.seat, None
            self.ask('PATCH', seat, self.web.get_property(
                'local-description').sdp.as_text()).close()

    def on_pad(self, _web, pad):
        if pad.direction == Gst.PadDirection.SRC:
            sink = Gst.ElementFactory.make('fakesink', None)
            sink.set_property('async', False)
            sink.set_property('sync', False)
            self.pipe.add(sink)
            sink.sync_state_with_parent()
            pad.link(sink.get_static_pad('sink'))

    def is_connected(self):
        return self.web.get_property('connection-state').value_nick == 'connected'


def look_at(pid):
    """CPU in s, threads, resident memory in kB"""
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text(
        encoding='ascii').rpartition(')')[2].split()
    tick, page = os.sysconf('SC_CLK_TCK'), os.sysconf('SC_PAGE_SIZE')
    return ((int(fields[11]) + int(fields[12])) / tick, int(fields[17]),
            int(fields[21]) * page // 1024)


def run_for(seconds, until=lambda: False):
    loop = GLib.MainContext.default()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        if not loop.iteration(False):
            time.sleep(0.01)
    return until()


def main():
    n, n_talkers, seconds = [*map(int, sys.argv[3:]), *(20, 8, 20)[
        len(sys.argv) - 3:]]
    Gst.init(None)
    room = Room(ROOT, BUILD, '--max-seats', str(n))
    server = f'http://127.0.0.1:{room.port}'
    try:
        before = look_at(room.server.pid)
        browsers = []
        for i in range(n):
            browsers.append(Browser(server, i, i < n_talkers))
            if not run_for(PATIENCE_S, browsers[-1].is_connected):
                sys.exit(f'browser {i} is not connected')
        run_for(5)
        began, there, since = time.monotonic(), look_at(room.server.pid), len(
            room.events)
        run_for(seconds)
        cpu, threads, memory = look_at(room.server.pid)
        took = time.monotonic() - began
        sent = {e['seat']: e['sent-bps'] for e in room.said('rate')}
        apart = {e['seat']: len(e['separate']) for e in room.events
                 if e['event'] == 'selection'}
        print(f'{n} browsers, {n_talkers} talk, {took:.0f} s')
        print(f'CPU          {100 * (cpu - there[0]) / took / n:6.2f} % of a core '
              f'each, {100 * (cpu - there[0]) / took:.0f} % in all')
        print(f'threads      {(threads - before[1]) / n:6.1f} each, {threads} in all')
        print(f'memory       {(memory - before[2]) / n / 1024:6.1f} MiB each')
        print(f'sent to each {sum(sent.values()) / max(1, len(sent)) / 1000:6.0f} '
              f'kbit/s; voices apart: {sum(apart.values()) / max(1, len(apart)):.1f}')
        if len(room.said('joined')) != n or room.said('left'):
            sys.exit(f'not all {n} stayed: {room.events[since:]}')
    finally:
        for browser in browsers:
            browser.pipe.set_state(Gst.State.NULL)
        room.close()


main()
