#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""qmjitterbuffer inside of webrtcbin: a call from this process to itself.

  meson devenv -C build ../examples/python/webrtc.py [SECONDS]

The callee's pipeline has `qmrtpbin rtpbin=callee`, and that is all.  You will
see which jitter buffer webrtcbin was given, how it first sheds what waited for
the connection, and how the delay follows:

  jitter buffer: qmjitterbuffer
    delay 188 -> 168 ms (standing-queue)
    ...
    delay 48 -> 28 ms (standing-queue)
  played 400 packets, delay 28 ms

Needs gstreamer1.0-plugins-bad, gstreamer1.0-nice, gir1.2-gst-plugins-bad-1.0,
and a network besides loopback, which ICE leaves out.
"""
import sys

import gi

gi.require_version('Gst', '1.0')
try:
    gi.require_version('GstWebRTC', '1.0')
    gi.require_version('GstSdp', '1.0')
except ValueError as error:
    sys.exit(f'{error}: please install gstreamer1.0-plugins-bad, '
             'gstreamer1.0-nice and gir1.2-gst-plugins-bad-1.0')
# pylint: disable=wrong-import-position
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402,F401

PATIENCE_S = 20                 # until the two are connected

PIPELINE = '''
  audiotestsrc is-live=true wave=ticks ! opusenc ! rtpopuspay pt=96 !
    application/x-rtp,media=audio,encoding-name=OPUS,payload=96 !
    webrtcbin name=caller bundle-policy=max-bundle
  webrtcbin name=callee bundle-policy=max-bundle
  qmrtpbin rtpbin=callee jitterbuffer="jitterbuffer,max-delay=500"
'''


def on_offer(promise, caller, callee):
    """The caller's offer goes to the callee, whose answer comes back."""
    reply = promise.get_reply()     # owns the offer
    offer = reply.get_value('offer')
    caller.emit('set-local-description', offer, Gst.Promise.new())
    callee.emit('set-remote-description', offer, Gst.Promise.new())
    callee.emit('create-answer', None, Gst.Promise.new_with_change_func(
        lambda p, *_: on_answer(p, caller, callee)))


def on_answer(promise, caller, callee):
    reply = promise.get_reply()
    answer = reply.get_value('answer')
    callee.emit('set-local-description', answer, Gst.Promise.new())
    caller.emit('set-remote-description', answer, Gst.Promise.new())


def connect(caller, callee):
    caller.connect('on-negotiation-needed', lambda *_: caller.emit(
        'create-offer', None, Gst.Promise.new_with_change_func(
            lambda p, *_: on_offer(p, caller, callee))))
    for one, other in (caller, callee), (callee, caller):
        one.connect('on-ice-candidate', lambda _, line, candidate, other=other:
                    other.emit('add-ice-candidate', line, candidate))


def play(pipeline, pad, loop, seconds):
    """What comes in is decoded and played to nobody, for so long."""
    if pad.direction != Gst.PadDirection.SRC:
        return
    GLib.timeout_add_seconds(seconds, loop.quit)
    player = Gst.parse_bin_from_description(
        'rtpopusdepay ! opusdec plc=true ! audioconvert ! fakesink sync=true',
        True)
    pipeline.add(player)
    player.sync_state_with_parent()
    pad.link(player.get_static_pad('sink'))


def on_element(_bin, _parent, element, found):
    factory = element.get_factory()
    if factory and factory.get_name().endswith('jitterbuffer') and \
            'adaptation' in [p.name for p in element.list_properties()]:
        print('jitter buffer:', factory.get_name())
        found.append(element)


def on_message(_bus, message, loop, errors):
    if message.type == Gst.MessageType.ERROR:
        errors.append(message.parse_error()[0].message)
        print(errors[-1], file=sys.stderr)
        loop.quit()
    structure = message.get_structure()
    if structure and structure.get_name() == 'fairmix-playout-adaptation':
        print(f'  delay {structure.get_value("before") // Gst.MSECOND} -> '
              f'{structure.get_value("after") // Gst.MSECOND} ms '
              f'({structure.get_value("reason")})')


def main():
    if '--help' in sys.argv or '-h' in sys.argv:
        sys.exit(print(__doc__))
    try:
        seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
        if not 0 < seconds < 1e6:
            raise ValueError
    except ValueError:
        sys.exit('usage: webrtc.py [SECONDS]')
    Gst.init(None)
    for name, where in (('qmrtpbin', '`meson devenv -C build`'),
                        ('webrtcbin', 'gstreamer1.0-plugins-bad'),
                        ('nicesrc', 'gstreamer1.0-nice')):
        if not Gst.ElementFactory.find(name):
            sys.exit(f'no {name} here: it comes with {where}')
    pipeline = Gst.parse_launch(PIPELINE)
    caller = pipeline.get_by_name('caller')
    callee = pipeline.get_by_name('callee')
    loop = GLib.MainLoop()
    found, errors = [], []
    connect(caller, callee)
    callee.connect('pad-added',
                   lambda _, pad: play(pipeline, pad, loop, seconds))
    pipeline.connect('deep-element-added', on_element, found)
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect('message', on_message, loop, errors)
    GLib.timeout_add_seconds(PATIENCE_S + seconds, loop.quit)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    for element in found:
        stats = element.get_property('stats')
        print(f'played {stats.get_value("qm-played")} packets, '
              f'delay {stats.get_value("qm-delay") // Gst.MSECOND} ms')
    pipeline.set_state(Gst.State.NULL)
    if not found:
        print('no connection', file=sys.stderr)
    return 0 if found and not errors else 1


sys.exit(main())
