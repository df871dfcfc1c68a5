# SPDX-License-Identifier: LGPL-2.1-or-later
"""webrtcbin in place of a browser, for tests that look at the server alone."""
import time

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstSdp', '1.0')
gi.require_version('GstWebRTC', '1.0')
# pylint: disable=wrong-import-position
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

MICROPHONE = ('audiotestsrc is-live=true wave=pink-noise volume=0.2 ! opusenc '
              'bitrate=32000 ! rtpopuspay name=pay pt=111 ! application/x-rtp,media=audio,'
              'encoding-name=OPUS,payload=111,clock-rate=48000 ! queue name=last')

# As often as Chromium tells of packets; before GStreamer 1.26 they answer without the
# extension, and tell of none.
FEEDBACK_NS = 100 * Gst.MSECOND


class Browser:
    """webrtcbin, which says what a page says."""

    def __init__(self, seat, talks):
        self.seat, self.keep = seat, []
        self.pipe = Gst.Pipeline.new(None)
        self.web = Gst.ElementFactory.make('webrtcbin', None)
        self.web.set_property('bundle-policy',
                              GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.pipe.add(self.web)
        bus = self.pipe.get_bus()
        bus.add_signal_watch()
        bus.connect('message::latency', lambda *_: self.pipe.recalculate_latency())
        self.web.connect('pad-added', self.on_pad)
        self.web.connect('notify::ice-gathering-state',
                         lambda *_: GLib.idle_add(self.on_gathered))
        if talks:
            microphone = Gst.parse_bin_from_description(MICROPHONE, True)
            self.pipe.add(microphone)
            microphone.link(self.web)
        self.pipe.set_state(Gst.State.PLAYING)
        _, sdp = GstSdp.SDPMessage.new_from_text(seat.offer)
        self.web.emit('set-remote-description',
                      GstWebRTC.WebRTCSessionDescription.new(
                          GstWebRTC.WebRTCSDPType.OFFER, sdp), Gst.Promise.new())
        self.web.emit('create-answer', None,
                      Gst.Promise.new_with_change_func(self.on_answer))

    def on_answer(self, promise):
        reply = promise.get_reply()
        self.keep.append(reply)
        self.web.emit('set-local-description', reply.get_value('answer'),
                      Gst.Promise.new())

    def on_gathered(self):
        if self.seat and self.web.get_property(
                'ice-gathering-state').value_nick == 'complete':
            seat, self.seat = self.seat, None
            seat.answer(self.web.get_property('local-description').sdp.as_text())

    def on_pad(self, _web, pad):
        if pad.direction == Gst.PadDirection.SRC:
            sink = Gst.ElementFactory.make('fakesink', None)
            sink.set_property('async', False)
            sink.set_property('sync', False)
            self.pipe.add(sink)
            sink.sync_state_with_parent()
            pad.link(sink.get_static_pad('sink'))

    def is_connected(self):
        if self.web.get_property('connection-state').value_nick != 'connected':
            return False
        for n in range(2):              # sessions, as far as there are
            session = self.web.get_by_name('rtpbin').emit('get-internal-session', n)
            if session:
                session.set_property('twcc-feedback-interval', FEEDBACK_NS)
        return True


def run_for(seconds, until=lambda: False):
    loop = GLib.MainContext.default()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        if not loop.iteration(False):
            time.sleep(0.01)
    return until()
