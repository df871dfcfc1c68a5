# SPDX-License-Identifier: LGPL-2.1-or-later
"""A browser's seat: a pipeline of its own between the room's mixer and webrtcbin.

The two pipelines are joined by proxysink and proxysrc, so that who joins, leaves
or hangs holds up nobody else.  K slots of fixed SSRC go out, a microphone comes in.
"""
import ctypes
import re
import secrets
import time

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstSdp', '1.0')
gi.require_version('GstWebRTC', '1.0')
gi.require_version('Nice', '0.1')
# pylint: disable=wrong-import-position
from gi.repository import GLib, Gst, GstSdp, GstWebRTC, Nice  # noqa: E402

LEVEL = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'
TWCC = ('http://www.ietf.org/id/'
        'draft-holmer-rmcat-transport-wide-cc-extensions-01')
PT, LEVEL_ID, TWCC_ID = 111, 1, 3
OPUS = (f'application/x-rtp,media=audio,encoding-name=OPUS,payload={PT},'
        'clock-rate=48000,encoding-params=(string)2')
OFFER = (f'{OPUS},extmap-{LEVEL_ID}=(string)"{LEVEL}",'
         f'extmap-{TWCC_ID}=(string)"{TWCC}",'
         'rtcp-fb-transport-cc=(boolean)true')

ANSWER_S = 30                   # from the offer to the answer: else the page is gone
JOIN_S = 60                     # from the offer to a connection
RISES = 'up', 'resume', 'breaker-closed'        # reasons for more
SILENCE_S = 15                  # without RTCP: nobody is there any more
MAX_KBPS = 1000
MAX_SSRCS = 16                  # of a microphone, one after the other
FEEDBACK_MS = 100
LINK_QUEUE_MS = 300             # of --link: as access networks have it
DIRECTION = GstWebRTC.WebRTCRTPTransceiverDirection
# of TCP with its kind, which libnice looks at although there is none
CANDIDATE = re.compile(r'\S+ [12] (?!(?i:TCP) )\S+ \d{1,10} \S+ \d{1,5} typ \S+|'
                       r'\S+ [12] \S+ \d{1,10} \S+ \d{1,5} typ \S+( \S+ \S+)*? '
                       r'tcptype (active|passive|so)( |$)')
GOBJECT = ctypes.CDLL('libgobject-2.0.so.0')


def clean(name):
    """A name that can be shown: one line, no control characters, 40 of them."""
    text = ''.join(c for c in str(name) if c.isprintable()).strip()
    return re.sub(r'\s+', ' ', text)[:40] or 'somebody'


def numbers(structure, field):
    """The SSRCs in a field of a message, whichever list it is."""
    text = structure.to_string()
    found = re.search(rf'\b{field}=\([^)]*\)[<{{]([^>}}]*)[>}}]', text)
    return [int(n) for n in re.findall(r'\b\d+\b', re.sub(
        r'\([a-z0-9]+\)', '', found[1]))] if found else []


def settle(thing, *path):
    """webrtcbin has its ICE and its transports by floating references, which PyGObject takes
    away from it when it sees them: makes common ones of them, before it does."""
    here = ctypes.c_void_p(hash(thing))
    for name in path:
        there = ctypes.c_void_p()
        GOBJECT.g_object_get(here, name.encode(), ctypes.byref(there), None)
        if not there:
            return
        if GOBJECT.g_object_is_floating(there):
            GOBJECT.g_object_ref_sink(there)
        GOBJECT.g_object_unref(there)   # whoever owns it lives as long as @thing
        here = there


def is_voice(sdp, media):
    """Whether webrtcbin can do something with that line of an answer."""
    has_name, has_word, has_key = (
        bool(media.get_attribute_val(name) or sdp.get_attribute_val(name))
        for name in ('ice-ufrag', 'ice-pwd', 'fingerprint'))
    here = [bool(media.get_attribute_val(name)) for name in ('ice-ufrag', 'ice-pwd')]
    candidates = [media.get_attribute_val_n('candidate', n)
                  for n in range(media.attributes_len())]
    return media.get_media() == 'audio' and has_name and has_word and has_key and \
        here[0] == here[1] and all(CANDIDATE.match(text) for text in candidates if text)


class Seat:
    """One browser.  on_ready(offer, error): once; on_gone(seat): once."""

    def __init__(self, room, number, name, on_ready, on_gone):
        self.room, self.number, self.name = room, number, clean(name)
        self.token = secrets.token_urlsafe(16)
        self.on_ready, self.on_gone = on_ready, on_gone
        self.since = self.heard = time.monotonic()
        self.n_rtcp = 0
        self.linked = self.answered = self.closed = False
        self.rate = self.narrow = self.mix_src = None
        self.mix_sinks, self.proxies, self.handlers = [], [], []
        self.microphone = self.voice = None     # its SSRC; what all of them come through
        self.selection = {'separate': [], 'mixed': [], 'held': []}
        self.cause = 'start'            # why its rate is no higher
        self.wishes = {}                # SSRC: whether it shall stay separate
        self.pipe = Gst.Pipeline.new(f'seat{number}')
        self.web = self.make_webrtcbin()
        self.make_slots()
        bus = self.pipe.get_bus()
        bus.add_signal_watch()
        self.handlers.append((bus, bus.connect('message', self.on_message)))
        room.share_clock(self.pipe)
        self.pipe.set_state(Gst.State.PLAYING)
        self.web.emit('create-offer', None,
                      Gst.Promise.new_with_change_func(self.on_offer))

    # -- what it is made of

    def make_webrtcbin(self):
        options = self.room.options
        web = Gst.ElementFactory.make('webrtcbin', f'web{self.number}')
        web.set_property('bundle-policy', GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        web.set_property('latency', options.jitter_ms)
        for name in ('stun-server', 'turn-server'):
            value = getattr(options, name.replace('-', '_'))
            if value:
                web.set_property(name, value)
        settle(web, 'ice-agent')
        ice = web.get_property('ice-agent')
        if options.ports:
            ice.set_property('min-rtp-port', options.ports[0])
            ice.set_property('max-rtp-port', options.ports[1])
        agent = ice.get_property('agent')
        if agent.find_property('upnp'):         # each seat would ask the router for ports
            agent.set_property('upnp', False)
        for text in options.address:
            address = Nice.Address.new()
            if address.set_from_string(text):
                agent.add_local_address(address)
        for signal, handler in (
                ('request-aux-sender', self.make_rate),
                ('deep-element-added', self.on_inside), ('pad-added', self.on_pad),
                ('notify::connection-state', lambda *_: GLib.idle_add(self.on_connection)),
                ('notify::ice-gathering-state', lambda *_: GLib.idle_add(self.on_gathered))):
            self.handlers.append((web, web.connect(signal, handler)))
        self.pipe.add(web)
        return web

    def make_slots(self):
        self.slots = Gst.ElementFactory.make('rtpslots', None)
        self.pipe.add(self.slots)
        for slot in range(self.room.options.slots):
            sink = self.web.request_pad_simple('sink_%u')
            source = self.slots.request_pad_simple('src_%u')
            # the browser finds the line that a packet belongs to by its SSRC
            ssrc = source.query_caps(None).get_structure(0).get_value('ssrc')
            caps = Gst.Caps.from_string(f'{OFFER},ssrc=(uint){ssrc}')
            transceiver = sink.get_property('transceiver')
            transceiver.set_property('codec-preferences', caps)
            transceiver.set_property(
                'direction', DIRECTION.SENDRECV if slot == 0
                else DIRECTION.SENDONLY)
            source.link(sink)
        self.first = self.join(self.room.pipe, self.pipe,
                               self.slots.get_static_pad('sink'))

    def join(self, from_pipe, to_pipe, sink):
        """Returns the pad in @from_pipe that leads to @sink in @to_pipe."""
        out = Gst.ElementFactory.make('proxysink', None)
        into = Gst.ElementFactory.make('proxysrc', None)
        into.set_property('proxysink', out)
        from_pipe.add(out)
        to_pipe.add(into)
        into.get_static_pad('src').link(sink)
        out.sync_state_with_parent()
        into.sync_state_with_parent()
        self.proxies += [e for e in (out, into)
                         if e.get_parent() is self.room.pipe]
        return out.get_static_pad('sink')

    def make_rate(self, _web, _transport):
        """What webrtcbin puts before its session: the congestion control and, for
        a demonstration, a narrow link behind it."""
        self.rate = Gst.ElementFactory.make('tfrcrate', f'rate{self.number}')
        self.rate.set_property('webrtcbin', self.web.get_name())
        self.rate.set_property('twcc-ext-id', TWCC_ID)
        self.rate.set_property('max-bitrate', MAX_KBPS * 1000)
        if not self.room.options.link:
            return self.rate
        aux = Gst.Bin.new(f'aux{self.number}')
        self.narrow = Gst.ElementFactory.make('cbtqueue', None)
        self.narrow.set_property('discipline', 'fifo')
        self.narrow.set_property('max-size-time', LINK_QUEUE_MS * Gst.MSECOND)
        self.narrow.set_property('bitrate', self.room.kbps * 1000)
        aux.add(self.rate)
        aux.add(self.narrow)
        self.rate.link(self.narrow)
        for name, element in (('sink', self.rate), ('src', self.narrow)):
            aux.add_pad(Gst.GhostPad.new(name, element.get_static_pad(name)))
        return aux

    # -- how it gets connected

    def on_offer(self, promise):
        reply = promise.get_reply()
        if reply is None or not reply.has_field('offer'):
            GLib.idle_add(self.fail, 'webrtcbin makes no offer')
            return
        self.offer = reply              # owns the description
        self.web.emit('set-local-description', reply.get_value('offer'),
                      Gst.Promise.new())

    def on_gathered(self):
        if self.on_ready and not self.closed and self.web.get_property(
                'ice-gathering-state').value_nick == 'complete':
            text = self.web.get_property('local-description').sdp.as_text()
            ready, self.on_ready = self.on_ready, None
            self.since = time.monotonic()
            settle(self.web.get_static_pad('sink_0'), 'transceiver', 'sender', 'transport')
            ready(text, None)

    def fail(self, why):
        if self.on_ready:
            ready, self.on_ready = self.on_ready, None
            ready(None, why)
        self.close(why)

    def answer(self, text):
        """The browser's answer.  Returns what is wrong with it, or None."""
        if self.answered:
            return 'there is an answer already'
        result, sdp = GstSdp.SDPMessage.new_from_text(text)
        if result != GstSdp.SDPResult.OK or \
                sdp.medias_len() != self.room.options.slots:
            return (f'not a session description of {self.room.options.slots} '
                    'media lines')
        for n in range(sdp.medias_len()):
            if not is_voice(sdp, sdp.get_media(n)):
                return f'media line {n} is not audio with ICE and DTLS'
        self.answered = True
        self.web.emit('set-remote-description',
                      GstWebRTC.WebRTCSessionDescription.new(
                          GstWebRTC.WebRTCSDPType.ANSWER, sdp),
                      Gst.Promise.new())
        return None

    def on_connection(self):
        if self.closed:
            return
        state = self.web.get_property('connection-state').value_nick
        # before, webrtcbin blocks whoever pushes
        if state == 'connected' and not self.linked:
            self.linked = True
            self.heard = time.monotonic()
            self.acknowledge()
            self.mix_src = self.room.request_pad(f'src_{self.number}')
            self.mix_src.link(self.first)
            self.room.say('joined', seat=self.number, name=self.name)
        elif state == 'closed':         # what has failed may come about: check() gives it up
            self.close('connection closed')

    def acknowledge(self):
        """The browser's own packets, so that it knows what its way up carries."""
        session = self.web.get_by_name('rtpbin').emit('get-internal-session', 0)
        session.set_property('twcc-feedback-interval', FEEDBACK_MS * Gst.MSECOND)

    def on_inside(self, _web, _bin, element):
        """webrtcbin keeps all packets until a mix would have been made of them, 60 to 90 ms;
        what is forwarded shall go at once, and stop at once when the rate falls."""
        if element.get_factory() and element.get_factory().get_name() == 'clocksync':
            element.set_property('sync', False)

    def on_pad(self, _web, pad):
        """The browser's microphone; another one when it takes another SSRC."""
        if pad.direction != Gst.PadDirection.SRC or self.closed:
            return
        self.microphone = pad.get_current_caps().get_structure(0).get_value('ssrc')
        if self.voice is None:
            sink = self.room.request_pad(f'sink_{self.number}', self.name)
            self.mix_sinks.append(sink)
            self.voice = Gst.ElementFactory.make('funnel', None)
            self.pipe.add(self.voice)
            self.voice.get_static_pad('src').link(self.join(self.pipe, self.room.pipe, sink))
            self.voice.sync_state_with_parent()
        if self.voice.numsinkpads < MAX_SSRCS:
            pad.link(self.voice.request_pad_simple('sink_%u'))
        else:
            GLib.idle_add(self.fail, 'too many SSRCs')

    # -- while it is there

    def on_message(self, _bus, message):
        if message.type == Gst.MessageType.ERROR:
            self.fail(message.parse_error()[0].message)
        elif message.type == Gst.MessageType.LATENCY:
            # until it is told, webrtcbin of GStreamer 1.26 sends no RTCP
            self.pipe.recalculate_latency()
        structure = message.get_structure()
        if structure and structure.get_name() == 'fairmix-rate-decision':
            reason = structure.get_value('reason')
            if reason not in RISES:
                self.cause = reason
            self.room.say('rate', seat=self.number, reason=reason,
                          **{name: round(structure.get_value(name))
                             for name in ('target-bps', 'receive-bps', 'sent-bps',
                                          'rtt-ms')})

    def wish(self, ssrc, separate):
        """Keep this voice separate, for this listener only."""
        if ssrc not in self.room.names:
            return
        self.wishes[ssrc] = separate
        self.room.mix.emit('set-stream', ssrc, Gst.Structure.from_string(
            f'stream, neighbour=(int){self.number}, '
            f'priority=(int){100 if separate else 0}')[0])

    def check(self):
        """Each second: is anybody there?"""
        now = time.monotonic()
        if not self.linked:
            if not self.answered and not self.on_ready and now - self.since > ANSWER_S:
                self.close('nobody answers')
            elif now - self.since > JOIN_S:
                self.fail('no connection came about')
            return
        n_rtcp = self.rate_stats().get('n-rtcp', 0)
        if n_rtcp != self.n_rtcp:
            self.n_rtcp, self.heard = n_rtcp, now
        elif now - self.heard > SILENCE_S:
            self.close('nothing was heard for too long')

    def rate_stats(self):
        if self.rate is None:
            return {}
        stats = self.rate.get_property('stats')
        return {stats.nth_field_name(i): stats.get_value(stats.nth_field_name(i))
                for i in range(stats.n_fields())}

    def way_up(self):
        """Of the browser's packets how many came, and how many did not."""
        session = self.web.get_by_name('rtpbin').emit('get-internal-session', 0)
        source = session.emit('get-source-by-ssrc', self.microphone) \
            if session and self.microphone else None
        stats = source.get_property('stats') if source else None
        return {name: stats.get_value(f'packets-{name}') for name in ('received', 'lost')} \
            if stats else None

    def picture(self):
        """What the page shows of this listener."""
        stats = self.rate_stats()
        return {'id': self.number, **self.selection,
                'wishes': [s for s, on in self.wishes.items() if on],
                'target': stats.get('target-bitrate', 0),
                'sent': round(stats.get('sent-bps', 0)),
                'rtt': round(stats.get('rtt', 0) / 1e6, 1),
                'loss': round(stats.get('loss-fraction', 0), 4),
                'state': stats.get('state', 'starting'), 'cause': self.cause,
                'slots': self.room.options.slots, 'up': self.way_up(),
                'link': self.room.kbps * 1000 if self.narrow else 0}

    def close(self, why='left'):
        if self.closed:
            return
        self.closed = True
        self.room.say('left', seat=self.number, name=self.name, why=why)
        if self.linked:
            self.mix_src.unlink(self.first)
            self.room.release_pad(self.mix_src)
        self.pipe.get_bus().remove_signal_watch()
        self.pipe.set_state(Gst.State.NULL)
        for proxy in self.proxies:
            proxy.set_state(Gst.State.NULL)
            self.room.pipe.remove(proxy)
        for sink in self.mix_sinks:
            self.room.release_pad(sink)
        # what calls us would keep us, and we all that a connection has of files and threads
        for caller, number in self.handlers:
            caller.disconnect(number)
        self.pipe = self.web = self.slots = self.rate = self.narrow = self.voice = None
        self.on_gone(self)
