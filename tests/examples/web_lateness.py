#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A seat of examples/web holds no packet back: those that are an hour early leave, too;
who has gone is no longer drawn, and nothing is left of his seat; who does not read gets
one picture.

usage: web_lateness.py SOURCE-ROOT

webrtcbin's own clocksync would keep what is forwarded for as long as a mix takes, and
a voice that is to leave a narrow link would go on to fill it meanwhile.
"""
import os
import pathlib
import sys
import time
import types
import weakref

SOURCE = pathlib.Path(sys.argv[1])
sys.path[:0] = str(SOURCE / 'examples/web'), str(SOURCE / 'tests/browser')
# pylint: disable=wrong-import-position
import seat as seat_module  # noqa: E402
import server  # noqa: E402
from standin import Browser, Gst, run_for  # noqa: E402

PATIENCE_S = 60
EARLY = 3600 * Gst.SECOND
WANTED = 5
MAX_TOLD = 1000


def wait_for(look, otherwise):
    if not run_for(PATIENCE_S, look):
        print(otherwise, flush=True)
        os._exit(1)                     # threads that wait for an hour do not end


def sit_down(room, talks=False):
    """Returns the seat of a browser that is connected, and the browser."""
    found = []
    room.join('Ada', lambda *ready: found.append(ready))
    wait_for(lambda: found, 'no offer')
    seat, offer, wrong = found[0]
    if wrong:
        sys.exit(wrong)
    browser = Browser(types.SimpleNamespace(offer=offer, answer=seat.answer), talks)
    wait_for(lambda: seat.linked, 'no connection')
    return seat, browser


def check_names(room):
    """A recording that pauses stays at the table, any other talker goes; one of a meeting
    has his name, whether that is told before he talks or after it."""
    for ssrc in range(1, 2000):         # of whom nothing ever comes
        room.on_talk(-ssrc, 'Dora')
    if len(room.told) > MAX_TOLD:
        sys.exit(f'{len(room.told)} names are kept')
    for ssrc, early in ((8, True), (9, False)):
        stream = types.SimpleNamespace(get_value={
            'out-ssrc': ssrc, 'neighbour': 1, 'event': 'added'}.get)
        for step in (room.on_talk, room.on_stream)[::1 if early else -1]:
            step(*((ssrc, 'Cem') if step == room.on_talk else (stream,)))
        if room.names.pop(ssrc)[0] != 'Cem':
            sys.exit(f'{ssrc} has no name')
    room.voices.append(None)
    for ssrc, stays in ((1001, True), (1002, False), (4001, False), (7, False)):
        for event in ('added', 'removed'):
            room.on_stream(types.SimpleNamespace(get_value={
                'out-ssrc': ssrc, 'neighbour': 0, 'event': event}.get))
        if (ssrc in room.names) != stays:
            sys.exit(f'{ssrc}: {room.names}')
    room.voices.clear()


def check_pictures():
    """To who does not read them: one, and the next after that was written."""
    written, sent = [], []
    body = types.SimpleNamespace(append=sent.append)
    watcher = server.Watcher(types.SimpleNamespace(
        connect=lambda _, handler: written.append(handler), unpause=lambda: None,
        get_response_body=lambda: body))
    for _ in range(3):
        watcher.send({})
    written[0](None)
    watcher.send({})
    if len(sent) != 2:
        sys.exit(f'{len(sent)} pictures were sent')


def check_unanswered(room):
    """Whose page is gone before it has answered loses his seat; so does who has answered and
    is not connected, later."""
    for answered, seconds in ((False, seat_module.ANSWER_S), (True, seat_module.JOIN_S)):
        found = []
        room.join('Abe', lambda *ready: found.append(ready))
        wait_for(lambda: found, 'no offer')
        seat, _, _ = found[0]
        seat.answered = answered
        for since_s, gone in ((seconds - 5, False), (seconds + 5, True)):
            seat.since = time.monotonic() - since_s
            seat.check()
            if seat.closed != gone:
                sys.exit(f'after {since_s} s the seat is {"" if gone else "not "}held')


def check_failed(room):
    """Of whom nothing comes for 7 s webrtcbin says that he failed, and connects him when it
    comes after all: until then he keeps his seat"""
    found = []
    room.join('Abe', lambda *ready: found.append(ready))
    wait_for(lambda: found, 'no offer')
    seat, _, _ = found[0]
    web, failed = seat.web, types.SimpleNamespace(value_nick='failed')
    seat.web = types.SimpleNamespace(get_property=lambda _: failed)
    seat.on_connection()
    if seat.closed:
        sys.exit('who is late has no seat')
    seat.web = web
    seat.close()


def check_leaving(room):
    """Nothing is left of a seat: neither he nor webrtcbin, with its files and threads"""
    seat, browser = sit_down(room)
    left = {'seat', 'webrtcbin', 'ICE'}
    weakref.finalize(seat, left.discard, 'seat')
    seat.web.weak_ref(left.discard, 'webrtcbin')
    seat.web.get_property('ice-agent').weak_ref(left.discard, 'ICE')
    seat.close()
    del seat
    wait_for(lambda: not left, f'still there: {left}')
    browser.pipe.set_state(Gst.State.NULL)


def check_collision(room):
    """Somebody else has the SSRC of a microphone, which takes another one and is heard on"""
    heard = set(room.names)
    seat, browser = sit_down(room, talks=True)
    for _ in range(3):
        wait_for(lambda: seat.closed or room.names.keys() - heard, 'no voice')
        if seat.closed:
            print('who takes another SSRC loses his seat', flush=True)
            os._exit(1)
        heard |= room.names.keys()
        browser.pipe.get_by_name('pay').get_static_pad('src').send_event(Gst.Event.new_custom(
            Gst.EventType.CUSTOM_UPSTREAM, Gst.Structure.from_string(
                f'GstRTPCollision, ssrc=(uint){seat.microphone}')[0]))
    seat.close()
    browser.pipe.set_state(Gst.State.NULL)


def main():
    Gst.init(None)
    check_pictures()
    sys.argv[1:] = '--http', '--slots', '2', '--address', '127.0.0.1'
    room = server.Room(server.parse_arguments())
    check_names(room)
    check_unanswered(room)
    check_failed(room)
    check_leaving(room)
    check_collision(room)
    seat, browser = sit_down(room)
    seat.mix_src.set_offset(EARLY)
    sent = []
    seat.rate.get_static_pad('src').add_probe(
        Gst.PadProbeType.BUFFER, lambda _, info: sent.append(info) or Gst.PadProbeReturn.OK)
    talker = Gst.parse_launch('audiotestsrc is-live=true samplesperbuffer=960 ! opusenc ! '
                              'rtpopuspay pt=111 ssrc=1 ! proxysink name=out')
    voice = Gst.ElementFactory.make('proxysrc', None)
    voice.set_property('proxysink', talker.get_by_name('out'))
    room.pipe.add(voice)
    voice.get_static_pad('src').link(room.request_pad('sink_0'))
    voice.sync_state_with_parent()
    room.share_clock(talker)
    talker.set_state(Gst.State.PLAYING)
    wait_for(lambda: len(sent) >= WANTED, f'{len(sent)} packets left, of {WANTED}')
    for pipe in talker, browser.pipe:
        pipe.set_state(Gst.State.NULL)
    room.close()


main()
