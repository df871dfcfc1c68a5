#!/usr/bin/python3
"""The mixer inside an application that prints its decisions, in Python.

usage: meson devenv -C build ../examples/python/embed.py [SECONDS]

Four talkers (test tones) come in as RTP; two neighbours listen, one over a
wide path, one over a narrow one.  Talker 1003 is then made the chairperson.
You will see which streams each of the two gets separately:

    src_4: 1001 1002 1003 1004 separate
    src_5: 1004 separate, 1001 1002 1003 mixed
    1003 takes the chair
    src_5: 1003 separate, 1001 1002 1004 mixed
"""
import contextlib
import re
import sys

import gi
gi.require_version('Gst', '1.0')
from gi.repository import GLib, Gst        # noqa: E402  after the version

TALKERS = 4
CHAIR_AFTER_S = 3
NARROW_BPS = 90_000             # one stream, and a mix of the others
TALKER = ('audiotestsrc is-live=true wave=ticks freq={freq} '
          '! audio/x-raw,rate=48000,channels=1 ! opusenc bitrate=32000 '
          '! rtpopuspay pt=96 ssrc={ssrc} ! mix.sink_{n} ')


def print_selection(structure):
    """One message comes for each change of a selection."""
    parts, text = [], structure.to_string()     # e.g. mixed=(uint)< 7, 9 >
    for kind in ('separate', 'mixed'):
        ssrcs = re.findall(r'\d+', re.search(kind + r'=\(\w+\)<([^>]*)>',
                                             text)[1])
        if ssrcs:
            parts.append(' '.join(sorted(ssrcs)) + ' ' + kind)
    print(f'{structure.get_string("pad")}: {", ".join(parts) or "nobody"}',
          flush=True)


def on_message(_bus, message, pipeline, loop, errors):
    if message.type == Gst.MessageType.ERROR:
        errors.append(message.parse_error()[0].message)
        print(errors[-1], file=sys.stderr)
        loop.quit()
    elif message.type == Gst.MessageType.LATENCY:
        pipeline.recalculate_latency()
    elif message.has_name('fairmix-selection'):
        print_selection(message.get_structure())


def take_the_chair(mixer, ssrc):
    """What a Database file says, an application may say, too."""
    print(f'{ssrc} takes the chair', flush=True)
    values = Gst.Structure.new_empty('stream')
    values.set_value('priority', 10)
    mixer.emit('set-stream', ssrc, values)
    return GLib.SOURCE_REMOVE


def main():
    if '--help' in sys.argv or '-h' in sys.argv:
        sys.exit(print(__doc__))
    try:
        seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 6
        if not 0 < seconds < 1e6:
            raise ValueError
    except ValueError:
        sys.exit('usage: embed.py [SECONDS]')
    Gst.init(None)
    if not Gst.ElementFactory.find('partialmix'):
        sys.exit('no partialmix here: run me in `meson devenv -C build`')
    pipeline = Gst.parse_launch(
        'partialmix name=mix '
        'mix.src_4 ! fakesink sync=false async=false '
        'mix.src_5 ! fakesink sync=false async=false '
        + ''.join(TALKER.format(n=n, freq=300 + 100 * n, ssrc=1001 + n)
                  for n in range(TALKERS)))
    mixer = pipeline.get_by_name('mix')
    mixer.get_static_pad('src_5').set_property('target-bitrate', NARROW_BPS)

    loop, errors = GLib.MainLoop(), []
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect('message', on_message, pipeline, loop, errors)
    GLib.timeout_add_seconds(CHAIR_AFTER_S, take_the_chair, mixer, 1003)
    GLib.timeout_add(int(seconds * 1000), loop.quit)
    pipeline.set_state(Gst.State.PLAYING)
    with contextlib.suppress(KeyboardInterrupt):
        loop.run()
    stats = mixer.get_property('stats')
    for name in ('n-forwarded', 'n-decoded', 'n-encoded'):
        print(f'{name}: {stats.get_value(name)}')
    pipeline.set_state(Gst.State.NULL)
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
