# SPDX-License-Identifier: LGPL-2.1-or-later
"""The gst-launch lines of a bundle: talkers, mixer - link - mixer, listener.

Ports are used as in examples/launch: of a block, +0 takes RTP, +1 its sender's
RTCP, +2 the RTCP about what one sends.  Within a LAN (one host here) the
talkers' block is 4000 and the listener's 6000.
"""
import math
from random import Random

from lab import listen, plan, scenario

TALKERS, LISTENER = 4000, 6000
CAPS = {
    'pcmu': 'application/x-rtp,media=audio,clock-rate=8000,'
            'encoding-name=PCMU,payload=0',
    'opus': 'application/x-rtp,media=audio,clock-rate=48000,'
            'encoding-name=OPUS,payload=96',
}
OUT_CAPS = {
    'pcmu': 'application/x-rtp,media=audio,clock-rate=8000,encoding-name=PCMU',
    'opus': 'application/x-rtp,media=audio,clock-rate=48000,'
            'encoding-name=OPUS',
}
# as ALIGN=1 of examples/launch: the mix says where voices are in it, and they stay there
ALIGNED = ',extmap-3=urn:x-fairmix:rtp-hdrext:contributor-time'
RTCP = 'application/x-rtcp'
OVERHEAD_BPS = 40 * 8 * 50      # IP, UDP and RTP headers of 20 ms packets
MIN_OPUS_BPS = 6000
QUIET = 'sync=false async=false'


def opus_bps(wire_bps):
    return max(MIN_OPUS_BPS, int(wire_bps - OVERHEAD_BPS))


def _quote(words):
    """One shell line; $OUT stays alive in it."""
    return ' '.join(f'"{w}"' if set(w) & set('();,=&*') else w
                    for w in words.split())


def microphone(flow, i, voice, packet_ns, phase_ns):
    """What talker i says: a pitch of their own, so that one can tell them
    apart, or speech that comes in real time.  phase_ns is when their packets
    begin, for no two microphones were switched on at once."""
    hum = f'audiotestsrc is-live=true timestamp-offset={phase_ns} '
    if flow['ear'] != 'speech':
        return (f'{hum} freq={listen.tone_hz(i, flow["streams"])} '
                f'volume={listen.VOLUME}')
    rate = listen.RATE_HZ[flow['codec']]
    if i > 0:
        return (f'{hum} freq={listen.other_hz(i, rate)} '
                f'volume={listen.OTHERS_VOLUME[rate]}')
    size = 2 * round(rate * packet_ns / 1e9)
    # the queue keeps the parser from taking four seconds at a time
    return (f'filesrc location={voice} blocksize={size} ! queue '
            'max-size-buffers=2 ! rawaudioparse '
            f'pcm-format=s16le sample-rate={rate} num-channels=1 ! '
            # a packet is sent when its last sample has been spoken
            f'clocksync ts-offset={packet_ns} ! audioconvert ! audioresample')


def talkers(flow, voice, seed, after_s=0):
    """Everybody's microphone; after a pause they are the same ones, at the same
    ports, who go on so much later."""
    branches = []
    random = Random(seed)
    # how a hum is encoded is not measured
    effort = 10 if flow['ear'] == 'speech' else 0
    for i in range(flow['streams']):
        # 178 samples make 78.4 kbit/s of a stream of PCMU, as in the paper
        ns, size, clock_hz = (22250000, 178, 8000) if flow['codec'] == 'pcmu' \
            else (20000000, 960, 48000)
        common = (f'ssrc={1001 + i} '
                  f'seqnum-offset={round(after_s * 1e9 / ns) % 65536} '
                  f'timestamp-offset={round(after_s * clock_hz)}')
        sink = (f'udpsink host=127.0.0.1 port={TALKERS} '
                f'bind-port={TALKERS + 1 + i} {QUIET}')
        source = microphone(flow, i, voice, ns, random.randrange(ns))
        if source.startswith('audiotestsrc'):
            source += f' samplesperbuffer={size}'
        if flow['codec'] == 'pcmu':
            branches.append(
                f'{source} ! '
                'audio/x-raw,rate=8000,channels=1 ! mulawenc ! rtppcmupay '
                f'{common} min-ptime={ns} max-ptime={ns} ! {sink}')
        else:
            branches.append(
                f'{source} ! '
                'audio/x-raw,rate=48000,channels=1 ! opusenc frame-size=20 '
                f'complexity={effort} '
                f'bitrate-type=cbr bitrate={opus_bps(flow["stream_bps"])} ! '
                f'rtpopuspay {common} ! {sink}')
    return ' '.join(branches)


def aligned(flow, words=ALIGNED):
    """Where somebody listens all know where voices are in a mix."""
    return words if flow['ear'] else ''


def near_mixer(net, name, database):
    """LAN 1's mixer: what the talkers say, to the far mixer."""
    flow = net.run.flows[name]
    port, far = net.ports[name], net.sink(name).address
    mix = f'partialmix name=mix mix-encoding={flow["codec"]} '
    rate = ''
    least, most = flow['mix_bitrate_bps']
    mix += (f'headroom={flow["headroom"]} {aligned(flow, "align=true ")}'
            f'frame-duration={round(flow["mix_packet_s"] * 1e9)} ')
    if flow['codec'] == 'pcmu':
        mix += 'rate=8000 csrc-audio-level-id=0 '
    else:
        mix += f'min-mix-bitrate={least} max-mix-bitrate={most} '
    if flow['strategy'] == 'mix-all':
        mix += ('src_1::target-bitrate='
                f'{math.ceil(scenario.mix_wire_bps(flow, most))} ')
    if who_counts(flow):
        mix += f'database-location={database} '
    if flow['strategy'] == 'dpm':
        # nobody before tfrcrate hears its target, and it lets all pass
        least = 1 if flow['ignore_feedback'] else plan.least_bps(flow)
        rate = (f'tfrcrate name=rate algorithm={flow["controller"]} '
                f'segment-size={flow["segment_bytes"]} '
                f'policy={flow["policy"]} '
                f'max-pacing-delay={flow["pacing_ms"]} '
                f'min-bitrate={int(least)} initial-bitrate={int(least)} '
                'max-bitrate='
                f'{int(flow["streams"] * flow["stream_bps"] * 1.1)} ! ')
    through = 'in.recv_rtp_src' if flow['ignore_feedback'] \
        else f'in.recv_rtp_src ! mix.sink_0 {mix} mix.src_1'
    graph = (
        'rtpsession name=in '
        f'udpsrc port={TALKERS} caps={CAPS[flow["codec"]]} ! '
        'in.recv_rtp_sink '
        'rtpsession name=out rtcp-sync-send-time=false '
        'rtcp-min-interval=1000000000 '
        f'{through} ! {OUT_CAPS[flow["codec"]]}{aligned(flow)} ! {rate}'
        'out.send_rtp_sink '
        f'out.send_rtp_src ! udpsink name=wire host={far} port={port} {QUIET} '
        f'out.send_rtcp_src ! udpsink host={far} port={port + 1} {QUIET} ')
    if rate:
        graph += (f'udpsrc port={port + 2} caps={RTCP} ! rate.rtcp_sink '
                  'rate.rtcp_src ! out.recv_rtcp_sink')
    else:
        graph += f'udpsrc port={port + 2} caps={RTCP} ! out.recv_rtcp_sink'
    return graph


def far_mixer(net, name):
    """LAN 2's mixer: acknowledges what comes, and hands it to its listener."""
    flow = net.run.flows[name]
    port, near = net.ports[name], net.source(name).address
    return (
        'rtpsession name=in rtcp-min-interval=1000000000 '
        f'udpsrc port={port} caps={CAPS[flow["codec"]]}{aligned(flow)} ! '
        'rtpccfb name=feedback ! identity name=repair ! in.recv_rtp_sink '
        f'udpsrc port={port + 1} caps={RTCP} ! in.recv_rtcp_sink '
        'in.send_rtcp_src ! reports. feedback.rtcp_src ! reports. '
        f'funnel name=reports ! udpsink host={near} port={port + 2} {QUIET} '
        'in.recv_rtp_src ! mix.sink_0 partialmix name=mix '
        f'{aligned(flow, "align=true ")}rtpsession name=out '
        f'mix.src_1 ! {OUT_CAPS[flow["codec"]]}{aligned(flow)} ! '
        'out.send_rtp_sink '
        f'out.send_rtp_src ! udpsink host=127.0.0.1 port={LISTENER} {QUIET}')


def listener(net, name, out):
    """Whoever sits in LAN 2: every talker from another place."""
    flow = net.run.flows[name]
    rate, mix, sink = 48000, '', 'fakesink'
    if flow['ear']:
        rate = listen.RATE_HZ[flow['codec']]
        mix = (f'align=true rate={rate} database-location={out}/ear-{name}.ini '
               f'latency={round(flow["ear_latency_ms"] * 1e6)} ')
        sink = f'filesink name=ear sync=true location={out}/ear-{name}.raw'
    return (
        'rtpsession name=in '
        f'udpsrc port={LISTENER} caps={CAPS[flow["codec"]]}{aligned(flow)} ! '
        f'in.recv_rtp_sink in.recv_rtp_src ! mix.sink_0 partialmix name=mix {mix}'
        f'mix.src_1 ! audio/x-raw,format=S16LE,rate={rate},channels=2 ! '
        f'queue ! {sink}')


def spans(flow, end_s):
    """When the talkers talk: [(from_s, to_s)]."""
    start = flow['start_s']
    stop = flow['stop_s'] or end_s
    out = []
    for pause_from, pause_to in flow['pause_s'] or []:
        out.append((start, pause_from))
        start = pause_to
    out.append((start, stop))
    return [(a, b) for a, b in out if b > a]


def light_bundle(net, name, tools, out):
    """As bundle(), by net/bundle.c instead of GStreamer: no sound, and
    twenty times as fast."""
    flow = net.run.flows[name]
    port = net.ports[name]
    start = flow['start_s']
    stop = flow['stop_s'] or net.run.duration_s
    words = plan.flow_statement(net.run, name).split(' ', 1)[1]
    return [(-0.4, net.sink(name), f'{tools}/bundle recv {port}'),
            (start, net.source(name),
             f'{tools}/bundle send {net.sink(name).address} {port} '
             f'{out}/senders-{name}.csv {stop - start:.3f} {words} '
             f'seed={net.run.seed}')]


def bundle(net, name, tools, out):
    """[(t_s, host, command line)]: far side, near mixer, talkers."""
    flow = net.run.flows[name]
    source, sink = net.source(name), net.sink(name)
    start = flow['start_s']
    # wherever both can write
    sent = f'FMX_SENT=/run/sent-{name} ' if flow['repair'] else ''
    launch = f'env {sent}{tools}/launch' if sent else f'{tools}/launch'
    table = f'{out}/ear-{name}.csv' if flow['ear'] else '/dev/null'
    commands = [
        (-0.4, sink, f'{launch} {name} {table} '
         + _quote(listener(net, name, out))),
        (-0.4, sink, f'{launch} {name} /dev/null '
         + _quote(far_mixer(net, name))),
        (start, source, f'{launch} {name} {out}/senders-{name}.csv '
         + _quote(near_mixer(net, name, f'{out}/{database_name(name)}'))),
    ]
    for a, b in spans(flow, net.run.duration_s):
        commands.append((a, source, f'timeout -s INT {b - a:.3f} '
                         'gst-launch-1.0 -e '
                         + _quote(talkers(
                             flow, f'{out}/voice-{name}.raw',
                             f'{net.run.seed} {name}', a - start))))
    return commands


def database_name(name):
    return f'near-{name}.ini'


def who_counts(flow):
    """The near mixer's Database: with top-3 only the first three are heard."""
    mute = range(3, flow['streams']) if flow['strategy'] == 'top-3' else []
    return ''.join([f'[ssrc:{1001 + i}]\nmute=true\n' for i in mute]
                   + [f'[ssrc:{1001 + i}]\nnever-mix=true\n'
                      for i in range(flow['never_mix'])])
