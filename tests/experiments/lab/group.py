# SPDX-License-Identifier: LGPL-2.1-or-later
"""A multicast group in real pipelines: the gst-launch lines of its sender and of its
listeners, and who forwards it in each router.

The tree is rooted where the sender is.  A router's kernel forwards, as net/igmprelay.c
tells it: a group goes where somebody has joined it, and the listeners' reports, which go
to the group, too, up to the sender.
"""

RTP = 'application/x-rtp,media=video,clock-rate=90000,encoding-name=X,payload=96'
RTCP = 'application/x-rtcp'
QUIET = 'sync=false async=false ttl-mc=8'


def address(port):
    return f'239.2.{port // 10 % 250}.1'


def of_kind(net, kind):
    return [n for n, f in net.run.flows.items() if f['kind'] == kind]


def session(flow):
    profile = 'avpf' if flow['early'] else 'avp'
    return (f'rtpsession name=rtp rtp-profile={profile} '
            f'bandwidth={flow["max_bps"]} '
            f'rtcp-min-interval={round(flow["min_interval_s"] * 1e9)} '
            f'asmprtcp name=asmp rtpbin=rtp algorithm={flow["algorithm"]} ')


def reports(port):
    """RTCP of the group, both ways."""
    return (f'udpsrc address={address(port)} port={port + 1} caps={RTCP} ! '
            'asmp.rtcp_sink asmp.rtcp_src ! rtp.recv_rtcp_sink rtp.send_rtcp_src ! '
            f'udpsink host={address(port)} port={port + 1} {QUIET} ')


def sender(net, name):
    flow, port = net.run.flows[name], net.ports[name]
    return (session(flow) + f'role=sender max-bitrate={flow["max_bps"]} '
            f'initial-bitrate={flow["initial_bps"]} '
            'appsrc name=media0 is-live=true format=time do-timestamp=true '
            f'blocksize={flow["packet_bytes"]} caps={RTP} ! asmp.sink '
            'asmp.src ! rtp.send_rtp_sink rtp.send_rtp_src ! '
            f'udpsink host={address(port)} port={port} {QUIET} ' + reports(port))


def listener(net, name):
    of = net.run.flows[name]['of']
    port = net.ports[of]
    return (session(net.run.flows[of]) + 'role=receiver '
            f'udpsrc address={address(port)} port={port} caps={RTP} ! asmp.sink '
            'asmp.src ! rtp.recv_rtp_sink rtp.recv_rtp_src ! '
            'fakesink sync=false async=false ' + reports(port))


def relays(net, tools):
    """[command]: a router each."""
    out = []
    for group in of_kind(net, 'multicast'):
        root = net.run.flows[group]['from']
        hosts = [net.source(group)] + [
            net.sink(n) for n in of_kind(net, 'listener')]
        for router in net.routers:
            hops = net.hops(router)
            up = '-' if router == root else hops[root][0].port(hops[root][1])
            ports = {link.port(end) for link in net.links for end in (0, 1)
                     if link.ends[end] == router}
            ports |= {h.port for h in hosts if h.router == router}
            out.append(f'X r-{router} {tools}/igmprelay {up} '
                       f'{" ".join(sorted(ports - {up}))} '
                       f'>>$OUT/r-{router}.log 2>&1 &')
    return out


def flow_commands(net, tools, out):
    """[(t_s, host, command line)] of all groups."""
    commands = []
    for name in of_kind(net, 'multicast'):
        commands.append((
            net.run.flows[name]['start_s'], net.source(name),
            f'{tools}/launch {name} {out}/senders-{name}.csv {sender(net, name)}'))
    for name in of_kind(net, 'listener'):
        flow = net.run.flows[name]
        start = flow['start_s'] or -0.4
        until = f'timeout -s INT {flow["stop_s"] - start:.3f} ' \
            if flow['stop_s'] else ''
        commands.append((start, net.sink(name),
                         f'{until}{tools}/launch {name} /dev/null '
                         + listener(net, name)))
    return commands


def log_specs(net):
    """What netlog is to count."""
    out = []
    for name in of_kind(net, 'multicast'):
        port = net.ports[name]
        out += [f'group:{name}:{port}-{port}',
                f'group:{name}-rtcp:{port + 1}-{port + 1}']
    for name in of_kind(net, 'listener'):
        flow = net.run.flows[name]
        port, stop = net.ports[flow['of']], flow['stop_s'] or net.run.duration_s
        out += [f'member:{name}:{port}:{name}-d:{flow["start_s"]}-{stop}',
                f'sent:{name}-d:e0']
    return out


def refuses(run):
    """Why real pipelines cannot run this; None if they can."""
    for flow in run.flows.values():
        if flow['kind'] == 'listener' and (flow['count'] > 1 or flow['loss']):
            return 'receivers are real here: one at a place, with its link\'s losses'
        if flow['kind'] == 'multicast' and not (flow['smooth']
                                                and flow['packet_bytes']):
            return 'asmprtcp always smooths, and its packets are of one size here'
    return None
