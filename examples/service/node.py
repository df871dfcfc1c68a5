#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mixer that tells Prometheus how it is.

  [DPM_SECRET=WORDS] node.py [--metrics PORT] [PROPERTY=VALUE ...]

The properties are dpmmixer's; what the secret is, other users of the machine do not
see in the list of processes.  http://HOST:PORT/metrics has the figures (default:
9464, of this host alone unless --metrics ADDRESS:PORT says which address).  SIGTERM
and SIGINT: goodbye to everybody.  Needs python3-gi, gir1.2-gstreamer-1.0,
python3-prometheus-client.
"""
import argparse
import os
import signal
import sys
import warnings

import gi
try:
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
except ImportError:
    sys.exit('no prometheus_client here: please install python3-prometheus-client')
gi.require_version('Gst', '1.0')
from gi.repository import GLib, GObject, Gst       # noqa: E402  after the version

# field of dpmmixer's stats: what it is; the counters of what was refused are one
# metric with the field's name as label
REFUSED = ['n-limited', 'n-bad-cookies', 'n-wrong-secret', 'n-refused', 'n-foreign',
           'n-forged-control', 'n-replayed-control', 'n-invalid-control']
COUNTED = {'n-joined': 'Neighbours that came in', 'n-left': 'Neighbours that went',
           'n-timeouts': 'Neighbours that were not heard any more',
           'n-moved': 'Neighbours whose address changed'}
# of each neighbour
PACKETS = ['n-received', 'n-sent', 'n-unsent', 'n-forged', 'n-replayed',
           'n-malformed']
# of the partialmix inside
MIXER = {'n-forwarded': 'Packets forwarded, once for each who gets them',
         'n-decoded': 'Frames decoded', 'n-encoded': 'Frames encoded'}


def neighbours(stats):
    """Without the package python3-gst-1.0 GstValueArray can be read only so."""
    found, array = stats.get_array('neighbours')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)
        return [array.get_nth(i).copy() for i in range(array.n_values)] if found else []


def number(structure, field):
    return structure.get_value(field) if structure.has_field(field) else 0


def counter(field):
    return 'dpm_' + field.removeprefix('n-').replace('-', '_')


class Figures:
    """What the mixer's statistics say when somebody asks."""

    def __init__(self, mixer):
        self.mixer = mixer

    def collect(self):
        stats = self.mixer.get_property('stats')
        yield GaugeMetricFamily('dpm_neighbours', 'Neighbours that are in',
                                value=number(stats, 'n-neighbours'))
        for field, text in COUNTED.items():
            yield CounterMetricFamily(counter(field), text, value=number(stats, field))
        refused = CounterMetricFamily('dpm_refused', 'What was refused, and why',
                                      labels=['reason'])
        for field in REFUSED:
            refused.add_metric([field.removeprefix('n-')], number(stats, field))
        yield refused
        yield from self.collect_neighbours(neighbours(stats))
        yield from self.collect_mixer(stats.get_value('mixer'))

    @staticmethod
    def collect_neighbours(those):
        packets = CounterMetricFamily('dpm_neighbour_packets', 'Packets of a neighbour',
                                      labels=['neighbour', 'name', 'what'])
        target = GaugeMetricFamily(
            'dpm_neighbour_target_bps', 'What may be sent to it, on the wire',
            labels=['neighbour', 'name'])
        for one in those:
            who = [str(one.get_value('neighbour')), one.get_value('name')]
            for field in PACKETS:
                packets.add_metric([*who, field.removeprefix('n-')], number(one, field))
            if one.has_field('rate'):
                target.add_metric(who, number(one.get_value('rate'), 'target-bitrate'))
        yield packets
        yield target

    @staticmethod
    def collect_mixer(mixer):
        yield GaugeMetricFamily('dpm_streams', 'Voices and mixes that come in',
                                value=number(mixer, 'n-streams'))
        for field, text in MIXER.items():
            yield CounterMetricFamily(counter(field), text, value=number(mixer, field))


def is_text(spec):
    return spec is not None and spec.value_type == GObject.TYPE_STRING


def parse(words):
    """As Gst.parse_launchv(), but ends where a value is none, or out of range: of that
    GObject only warns."""
    with warnings.catch_warnings(record=True) as out_of_range:
        warnings.simplefilter('always')
        try:
            element = Gst.parse_launchv(words)
        except GLib.Error as error:
            sys.exit(error.message)
    if out_of_range:
        sys.exit(str(out_of_range[0].message))
    return element


def make_mixer(arguments):
    """What cannot be read must not be as if nobody had said it.  Texts are taken as they
    are, whatever quotes they have."""
    if Gst.ElementFactory.find('dpmmixer') is None:
        sys.exit('no dpmmixer here: install it, or run me in `meson devenv -C build`')
    specs = {spec.name: spec for spec in Gst.ElementFactory.make('dpmmixer').list_properties()}
    said = [argument.partition('=') for argument in arguments]
    texts = {name: text for name, _, text in said if is_text(specs.get(name))}
    mixer = parse(['dpmmixer', *(f'{name}={text}' for name, _, text in said
                                 if name not in texts)])
    for name, text in texts.items():
        mixer.set_property(name, text)
    if os.environ.get('DPM_SECRET'):
        mixer.set_property('secret', os.environ['DPM_SECRET'])
    return mixer


def on_message(_bus, message, loop, errors):
    structure = message.get_structure()
    if message.type == Gst.MessageType.ERROR:
        errors.append(message.parse_error()[0].message)
        loop.quit()
    elif structure is not None and structure.get_name() in ('dpm-neighbour', 'dpm-session'):
        print(structure.to_string(), flush=True)


def endpoint(text):
    """[ADDRESS:]PORT"""
    address, _, port = text.rpartition(':')
    if not 0 < int(port) < 65536:
        raise ValueError
    return address or '127.0.0.1', int(port)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--metrics', default=('127.0.0.1', 9464), type=endpoint,
                        metavar='[ADDRESS:]PORT')
    parser.add_argument('properties', nargs='*', metavar='PROPERTY=VALUE')
    options = parser.parse_intermixed_args()
    Gst.init(None)
    pipeline, loop, errors = Gst.Pipeline(), GLib.MainLoop(), []
    mixer = make_mixer(options.properties)
    pipeline.add(mixer)
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect('message', on_message, loop, errors)
    for number_of in signal.SIGINT, signal.SIGTERM:
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number_of, loop.quit)
    registry = CollectorRegistry()
    registry.register(Figures(mixer))
    address, port = options.metrics
    try:
        start_http_server(port, address, registry)
    except OSError as error:
        sys.exit(f'{address}:{port}: {error.strerror}')
    pipeline.set_state(Gst.State.PLAYING)       # what fails is told on the bus
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    return errors[0] if errors else 0


if __name__ == '__main__':
    sys.exit(main())
