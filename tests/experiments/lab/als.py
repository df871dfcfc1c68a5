# SPDX-License-Identifier: LGPL-2.1-or-later
"""The gst-launch lines of an ALS flow: its sender, the routers in front of links, its
receivers.

A flow to one host is unicast, over a relay in its first router; one with branches goes
to a multicast group, a layer each, and a relay in its router stands before each
branch.  TCP goes through the kernel, and the relays' taps see it.
"""
from lab import network

RTP = 'application/x-rtp,media=video,clock-rate=90000,encoding-name=X,payload=96'
RTCP = 'application/x-rtcp'
QUIET = 'sync=false async=false'
PASSING = f'{QUIET} processing-deadline=0'
BANDWIDTH = 10_000_000          # of which RTCP may have a twentieth
RULES = {
    # to the letter; memory_s None: the scenario's
    'paper': {'router': 'rule=equal utilisation=0.9',
              'sender': 'increase=5000', 'profile': 'avp', 'interval_s': 5,
              'adaptation_s': 5},
    'ours': {'router': 'rule=max-min utilisation=0.995',
             'sender': 'increase=0', 'profile': 'avpf', 'interval_s': 0.2,
             'adaptation_s': 0.2},
}


def ns(seconds):
    return round(seconds * 1e9)


def session(flow):
    rule = RULES[flow['rule']]
    return (f'rtpsession name=rtp rtp-profile={rule["profile"]} '
            f'bandwidth={BANDWIDTH} rtcp-min-interval={ns(rule["interval_s"])} ')


def group(flow_port, layer):
    """Address and port of a layer."""
    return f'239.1.{flow_port // 10 % 250}.{layer}', flow_port + 2 * layer


def media(flow, port):
    """alsrtcp with what it sends."""
    rule = RULES[flow['rule']]
    memory = flow['memory_s'] or \
        rule['adaptation_s'] * (1 if flow['rule'] == 'paper' else 3)
    address, _ = group(port, 0)
    out = (f'alsrtcp name=als rtpbin=rtp max-bitrate={flow["max_bps"]} '
           f'memory={ns(memory)} adaptation-interval={ns(rule["adaptation_s"])} '
           f'{rule["sender"]} ')
    if flow['branches']:
        out += f'address={address} port={port} '
    for layer in range(flow['layers']):
        out += (f'appsrc name=media{layer} is-live=true format=time '
                f'do-timestamp=true blocksize={flow["packet_bytes"]} caps={RTP} ! '
                f'als.sink_{layer} ')
    return out


def udpsink(host, port, more=''):
    return f'udpsink host={host} port={port} {more or QUIET} '


def sender(net, name):
    flow, port = net.run.flows[name], net.ports[name]
    if flow['branches']:
        to, more = group(port, 0)[0], f'ttl-mc=8 multicast-iface=e0 {QUIET}'
        reports = f'udpsrc address={to} port={port + 1} multicast-iface=e0'
    else:
        # the relay: the router's end of the cable
        to, more = net.source(name).gateway, QUIET
        reports = f'udpsrc port={port + 2}'
    out = (session(flow) + media(flow, port)
           + 'als.src_0 ! rtp.send_rtp_sink rtp.send_rtp_src ! '
           + udpsink(to, port, more)
           + 'rtp.send_rtcp_src ! ' + udpsink(to, port + 1, more)
           + f'{reports} caps={RTCP} ! als.rtcp_sink als.rtcp_src ! '
           'rtp.recv_rtcp_sink ')
    for layer in range(1, flow['layers']):
        out += f'als.src_{layer} ! ' + udpsink(*group(port, layer), more)
    return out


def receiver(net, name):
    """Of a unicast flow."""
    flow, port = net.run.flows[name], net.ports[name]
    return (session(flow) + 'alsrtcp name=als role=receiver rtpbin=rtp '
            f'udpsrc port={port} caps={RTP} ! rtp.recv_rtp_sink '
            f'rtp.recv_rtp_src ! fakesink name=got0 {QUIET} '
            f'udpsrc port={port + 1} caps={RTCP} ! als.rtcp_sink '
            'als.rtcp_src ! rtp.recv_rtcp_sink rtp.send_rtcp_src ! '
            + udpsink(net.source(name).address, port + 2))


def listener(net, name, link):
    """Of a group, at the far end of a branch."""
    flow, port = net.run.flows[name], net.ports[name]
    base, iface = group(port, 0)[0], f'multicast-iface={link.port(1)}'
    more = f'ttl-mc=8 {iface} {QUIET}'
    layers = range(1, flow['layers'])
    out = (session(flow) + 'alsrtcp name=als role=receiver rtpbin=rtp '
           f'address={base} port={port} '
           f'sources={",".join(f"layer{k}" for k in layers)} '
           f'udpsrc address={base} port={port} {iface} caps={RTP} ! '
           'rtp.recv_rtp_sink rtp.recv_rtp_src ! '
           f'fakesink name=got0 {QUIET} '
           f'udpsrc address={base} port={port + 1} {iface} caps={RTCP} ! '
           'als.rtcp_sink als.rtcp_src ! rtp.recv_rtcp_sink '
           'rtp.send_rtcp_src ! tee name=reports '
           'reports. ! ' + udpsink(base, port + 1, more)
           + 'reports. ! ' + udpsink(base, port - 1, more))
    for k in layers:
        address, at = group(port, k)
        out += (f'udpsrc name=layer{k} address={address} port={at} {iface} '
                f'caps={RTP} ! fakesink name=got{k} {QUIET} ')
    return out


def router(flow, link):
    """alsrouter in front of a link, with the tap that withtap opens."""
    rate = int(link.table['rate_bps'][0][1])
    return (f'alsrouter name=router bandwidth={rate} '
            f'{RULES[flow["rule"]]["router"]} fdsrc fd=3 ! router.tap_63 ')


def relay(net, names, link):
    """Of unicast flows that leave by a link."""
    out = router(net.run.flows[names[0]], link)
    for i, name in enumerate(names):
        port, to = net.ports[name], net.sink(name).address
        for k, caps in enumerate((RTP, RTCP)):
            pad = 2 * i + k
            out += (f'udpsrc port={port + k} caps={caps} ! router.sink_{pad} '
                    f'router.src_{pad} ! ' + udpsink(to, port + k, PASSING))
    return out


def group_relay(net, name, link):
    """Of a group, before a branch: as examples/launch/layered-router.sh."""
    flow, port = net.run.flows[name], net.ports[name]
    base = group(port, 0)[0]
    near, far = net.source(name).port, link.port(0)
    sent = f'ttl-mc=8 loop=false auto-multicast=false {PASSING}'
    layers = range(flow['layers'])
    last = flow['layers']
    out = router(flow, link) + (
        f'alsrtcp name=als role=receiver relay=true address={base} port={port} '
        f'sources={",".join(f"layer{k}" for k in layers[1:])} ')
    for k in layers:
        address, at = group(port, k)
        out += (f'udpsrc name=layer{k} address={address} port={at} caps={RTP} '
                f'multicast-iface={near} ! router.sink_{k} router.src_{k} ! '
                + udpsink(address, at, f'multicast-iface={far} {sent}'))
    return out + (
        f'udpsrc address={base} port={port + 1} caps={RTCP} '
        f'multicast-iface={near} ! router.sink_{last} router.src_{last} ! '
        'als.rtcp_sink als.rtcp_src ! '
        + udpsink(base, port + 1, f'multicast-iface={far} {sent}')
        + f'udpsrc address={base} port={port - 1} caps={RTCP} '
        f'multicast-iface={far} ! tee name=back back. ! '
        + udpsink(base, port + 1, f'multicast-iface={near} {sent}')
        + 'back. ! ' + udpsink(base, port - 1, f'multicast-iface={near} {sent}'))


def quote(words):
    return ' '.join(f'"{w}"' if set(w) & set('();,=&*') else w
                    for w in words.split())


def settings(link):
    """The bandwidth's later steps, as FMX_SET has them."""
    return ';'.join(f'{t},router,bandwidth,{int(bps)}'
                    for t, bps in link.table['rate_bps'][1:])


def launch(tools, name, table, graph):
    return f'{tools}/launch {name} {table} {quote(graph)}'


def before(tools, name, link, graph):
    """A router's command; it has no table."""
    steps = settings(link)
    env = f'env "FMX_SET={steps}" ' if steps else ''
    return (f'{env}{tools}/withtap {link.port(0)} '
            + launch(tools, name, '/dev/null', graph))


def at_router(name):
    """A router's namespace, in a host's place."""
    return network.Host(f'r-{name}', name, -1)


def flow_commands(net, tools, out):
    """[(t_s, host, command line)] of all ALS flows."""
    commands, shared = [], {}
    flows = {n: f for n, f in net.run.flows.items() if f['kind'] == 'als'}
    for name, flow in flows.items():
        start = flow['start_s']
        table = f'{out}/senders-{name}.csv'
        commands.append((start, net.source(name),
                         launch(tools, name, table, sender(net, name))))
        if not flow['branches']:
            link, end = net.hops(flow['from'])[flow['to']]
            assert end == 0, 'ALS goes from the near end of a link'
            shared.setdefault(link.name, (link, []))[1].append(name)
            commands.append((-0.4, net.sink(name), launch(
                tools, name, '/dev/null', receiver(net, name))))
        for router_name, joins_s in flow['branches'].items():
            link, _ = net.hops(flow['from'])[router_name]
            commands += [
                (-0.4, at_router(flow['from']), before(
                    tools, name, link, group_relay(net, name, link))),
                (max(joins_s, -0.4) or -0.4, at_router(router_name), launch(
                    tools, f'{name}-{router_name}',
                    f'{out}/senders-{name}-{router_name}.csv',
                    listener(net, name, link)))]
    for link, names in shared.values():
        commands.append((-0.4, at_router(link.ends[0]), before(
            tools, f'router-{link.name}', link, relay(net, names, link))))
    return commands
