# SPDX-License-Identifier: LGPL-2.1-or-later
"""The room: one partialmix, to which seats, recorded voices and RTP come."""
import json
import pathlib
import time

from seat import LEVEL, LEVEL_ID, OPUS, PT, Gst, GLib, Seat, clean, numbers

RTP_NEIGHBOUR = 0               # all that comes to --rtp-port
FIRST_SEAT = 1000000            # a meeting's neighbours count from 1
FIRST_VOICE_SSRC = 1001
MAX_TOLD = 1000                 # names of whom nothing has come yet
MIX_BPS = 64000                 # of its encoder, at most


def play_voice(number, path, port):
    """A recording as a talker, again and again."""
    pipe = Gst.parse_launch(
        f'filesrc location="{path}" ! wavparse ! audioconvert ! '
        'level audio-level-meta=true post-messages=false ! '
        'opusenc bitrate=32000 audio-type=voice dtx=true ! '
        f'rtpopuspay pt={PT} ssrc={FIRST_VOICE_SSRC + number} ! '
        f'application/x-rtp,extmap-{LEVEL_ID}=(string)<"",{LEVEL},"vad=off"> ! '
        f'clocksync ! udpsink host=127.0.0.1 port={port} sync=false')
    bus = pipe.get_bus()
    bus.add_signal_watch()
    bus.connect('message::eos', lambda *_: pipe.seek_simple(
        Gst.Format.TIME, Gst.SeekFlags.FLUSH, 0))
    pipe.set_state(Gst.State.PLAYING)
    return pipe


class Room:
    """Knows who is there.  on_change(): whenever that changes."""

    def __init__(self, options):
        self.options = options
        self.seats = {}                 # token: Seat
        self.names = {}                 # SSRC: (name, seat's number or 0)
        self.told = {}              # SSRC of a meeting: its name, before its stream
        self.n_seats = FIRST_SEAT
        self.kbps, self.link_step, self.link_timer = 0, -1, 0
        self.began = time.monotonic()
        self.pipe = Gst.Pipeline.new('room')
        self.meeting = self.make_meeting()
        self.mix = self.meeting.get_by_name('mix') if self.meeting \
            else Gst.ElementFactory.make('partialmix', 'mix')
        self.mix.set_property('latency', 40 * Gst.MSECOND)
        self.mix.set_property('max-mix-bitrate', MIX_BPS)
        self.mix.set_property('mix-music', options.music)
        self.pipe.add(self.meeting or self.mix)
        if options.rtp_port:
            rtp = Gst.parse_bin_from_description(
                f'udpsrc address={options.rtp_address} port={options.rtp_port} '
                f'caps={OPUS},extmap-{LEVEL_ID}=(string)"{LEVEL}"', True)
            self.pipe.add(rtp)
            rtp.get_static_pad('src').link(
                self.request_pad(f'sink_{RTP_NEIGHBOUR}'))
        self.clock = Gst.SystemClock.obtain()
        self.pipe.use_clock(self.clock)
        bus = self.pipe.get_bus()
        bus.add_signal_watch()
        bus.connect('message', self.on_message)
        self.pipe.set_state(Gst.State.PLAYING)
        self.voices = []
        self.next_link()
        if options.demo:
            self.play(options.voices)
        GLib.timeout_add_seconds(1, self.check)

    def make_meeting(self):
        """A dpmmixer, whose partialmix is ours, too: dpmclients and other mixers
        come to its port, or it joins one."""
        options = self.options
        if options.meeting_port is None and not options.parent:
            return None
        meeting = Gst.ElementFactory.make('dpmmixer', 'meeting')
        meeting.set_property('port', options.meeting_port or 0)
        for name in ('secret', 'parent'):
            if getattr(options, name):
                meeting.set_property(name, getattr(options, name))
        return meeting

    def request_pad(self, name, cname=None):
        """A pad of the mixer, where the pipeline can link it."""
        pad = self.mix.request_pad_simple(name)
        if cname:
            pad.set_property('cname', cname)
        if not self.meeting:
            return pad
        ghost = Gst.GhostPad.new(name, pad)
        ghost.set_active(True)
        self.meeting.add_pad(ghost)
        return ghost

    def release_pad(self, pad):
        if self.meeting:
            pad, ghost = pad.get_target(), pad
            ghost.set_active(False)
            self.meeting.remove_pad(ghost)
        self.mix.release_request_pad(pad)

    def say(self, event, **fields):
        print(json.dumps({'t': round(time.monotonic() - self.began, 3),
                          'event': event, **fields}), flush=True)

    def share_clock(self, pipe):
        """So that times mean the same on both sides of a proxy."""
        pipe.use_clock(self.clock)
        pipe.set_start_time(Gst.CLOCK_TIME_NONE)
        pipe.set_base_time(self.pipe.get_base_time())

    def play(self, folder):
        for n, path in enumerate(sorted(pathlib.Path(folder).glob('*.wav'))):
            name = path.stem.partition('-')[2] or path.stem
            self.names[FIRST_VOICE_SSRC + n] = name.capitalize(), 0
            self.voices.append(play_voice(n, path, self.options.rtp_port))

    def next_link(self):
        """The next of the rates that --link gives, for so long as it says."""
        if not self.options.link:
            return
        self.link_step += 1
        self.kbps, seconds = self.options.link[
            self.link_step % len(self.options.link)]
        self.say('link', kbps=self.kbps)
        for seat in self.seats.values():
            if seat.narrow:
                seat.narrow.set_property('bitrate', self.kbps * 1000)
        if self.link_timer:
            GLib.source_remove(self.link_timer)
        self.link_timer = GLib.timeout_add(
            round(1000 * seconds), self.on_link) if seconds else 0

    def on_link(self):
        self.link_timer = 0
        self.next_link()
        return False

    def join(self, name, on_ready):
        """on_ready(seat, offer, error)"""
        if len(self.seats) >= self.options.max_seats:
            return on_ready(None, None, 'the room is full')
        self.n_seats += 1
        seat = Seat(self, self.n_seats, name,
                    lambda offer, error: on_ready(seat, offer, error),
                    lambda seat: self.seats.pop(seat.token, None))
        self.seats[seat.token] = seat
        return None

    def check(self):
        for seat in list(self.seats.values()):
            seat.check()
        return True

    def by_number(self, number):
        return next((s for s in self.seats.values() if s.number == number), None)

    def on_message(self, _bus, message):
        if message.type == Gst.MessageType.ERROR:
            self.say('error', text=message.parse_error()[0].message)
        elif message.type == Gst.MessageType.LATENCY:
            self.pipe.recalculate_latency()
        structure = message.get_structure()
        if message.type != Gst.MessageType.ELEMENT or structure is None:
            return
        if structure.get_name() == 'fairmix-selection':
            seat = self.by_number(structure.get_value('neighbour'))
            if seat:
                seat.selection = {f: numbers(structure, f)
                                  for f in ('separate', 'mixed', 'held')}
                self.say('selection', seat=seat.number, **seat.selection)
        elif structure.get_name() == 'fairmix-stream':
            self.on_stream(structure)
        elif structure.get_name() in ('dpm-session', 'dpm-neighbour'):
            self.say(structure.get_name(), what=structure.get_value('event'))
        elif structure.get_name() == 'dpm-talk':
            self.on_talk(structure.get_value('ssrc'), structure.get_value('name'))

    def on_stream(self, structure):
        ssrc = structure.get_value('out-ssrc')
        number = structure.get_value('neighbour')
        added = structure.get_value('event') == 'added'
        seat = self.by_number(number)
        self.say('stream', ssrc=ssrc, seat=number, there=added)
        if not added:
            self.told.pop(ssrc, None)
            if number != RTP_NEIGHBOUR or ssrc - FIRST_VOICE_SSRC not in range(len(self.voices)):
                self.names.pop(ssrc, None)      # a recording only pauses
        elif seat:
            self.names[ssrc] = seat.name, number
        else:
            told = self.told.get(ssrc) if number != RTP_NEIGHBOUR else None
            name = self.options.name.get(ssrc) or told or \
                structure.get_value('cname') or f'RTP {ssrc}'
            self.names.setdefault(ssrc, (clean(name), number))

    def on_talk(self, ssrc, name):
        """A meeting's names come before its streams, or after them."""
        _, number = self.names.get(ssrc, (None, None))
        if name and number is None:
            self.told[ssrc] = name
            while len(self.told) > MAX_TOLD:        # of some nothing ever comes
                del self.told[next(iter(self.told))]
        if name and number not in (None, RTP_NEIGHBOUR) and number < FIRST_SEAT:
            self.names[ssrc] = clean(name), number

    def picture(self, seat):
        """All that the page of @seat shows."""
        talk = {number for _, number in self.names.values()}
        return {'people': [{'ssrc': ssrc, 'name': name}
                           for ssrc, (name, number) in self.names.items()
                           if number != seat.number],
                'listeners': [other.name for other in self.seats.values()
                              if other.linked and other.number not in talk | {seat.number}],
                'n_seats': len(self.seats), 'you': seat.picture()}

    def close(self):
        for seat in list(self.seats.values()):
            seat.close('the server ends')
        for pipe in [*self.voices, self.pipe]:
            pipe.set_state(Gst.State.NULL)
