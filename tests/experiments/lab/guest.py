# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shell script that is a run: namespaces, queues, flows, in their time.

The same script runs as root of the private kernel (uml.py); the part that
starts flows serves the real-time runner, too.
"""

from lab import als, graphs, group, scenario

LEAD_S = 0.5                    # receivers stand before senders start
WARM_S = 2.0                    # for the neighbours to learn their addresses


def ns_batch(lines):
    """ip(8) batches, one process for each namespace."""
    out = []
    for ns, commands in lines.items():
        text = '\n'.join(commands)
        where = f'-n {ns} ' if ns else ''
        out.append(f"ip {where}-batch - <<'BATCH'\n{text}\nBATCH")
    return out


def topology(net):
    """Namespaces for routers, wires and hosts; cables; addresses; routes."""
    spaces = (net.routers_ns + [f'w-{link.name}' for link in net.links]
              + list(net.hosts))
    first = [f'netns add {ns}' for ns in spaces]
    inside = {ns: ['link set lo up'] for ns in spaces}
    for link in net.links:
        wire = f'w-{link.name}'
        for end in (0, 1):
            router, port = f'r-{link.ends[end]}', link.port(end)
            first.append(f'link add {port} netns {router} type veth '
                         f'peer name x{end} netns {wire}')
            inside[router] += [
                f'addr add {link.address(end)}/30 dev {port}',
                f'link set {port} up gso_max_segs 1']
            inside[wire].append(f'link set x{end} up')
    for host in net.hosts.values():
        router = f'r-{host.router}'
        first.append(f'link add {host.port} netns {router} type veth '
                     f'peer name e0 netns {host.name}')
        inside[router] += [
            f'addr add {host.gateway}/30 dev {host.port}',
            f'link set {host.port} up gso_max_segs 1']
        inside[host.name] += [
            f'addr add {host.address}/30 dev e0',
            'link set e0 up gso_max_segs 1',
            f'route add default via {host.gateway}{host.route}']
    for router in net.routers:
        for other, (link, end) in net.hops(router).items():
            for host in net.hosts.values():
                if host.router == other:
                    inside[f'r-{router}'].append(
                        f'route add {host.subnet} via '
                        f'{link.address(1 - end)}')
    out = ns_batch({'': first, **inside})
    out += [f'ip netns exec {r} sysctl -qw net.ipv4.ip_forward=1'
            for r in net.routers_ns]
    return out


def netem(table, end, t_s):
    """The wire's part: what every packet gets that an end's router sent."""
    loss = scenario.at(table['loss' if end == 0 else 'back_loss'], t_s)
    text = f'netem delay {scenario.at(table["delay_ms"], t_s)}ms limit 100000'
    return text + (f' loss random {100 * loss:.6g}%' if loss else '')


def queue(link, end, t_s, verb):
    """The router's part: the link's rate, and the queue before it."""
    table = link.table
    if end == 0 and table['queue'] == 'class':
        return []               # ours, on the wire
    rate = scenario.at(table['rate_bps' if end == 0 else 'back_rate_bps'], t_s)
    limit = table['queue_bytes'] or 10 ** 8
    if end == 0 and table['queue'] == 'cake':
        return [f'qdisc {verb} dev {link.port(end)} root cake bandwidth '
                f'{int(rate)}bit besteffort overhead 0']
    where = f'dev {link.port(end)}'
    # veth counts an Ethernet header that the scenarios do not have
    out = [f'qdisc {verb} {where} root handle 1: stab overhead -14 linklayer '
           f'ethernet tbf rate {int(rate)} burst {table["burst_bytes"]} '
           f'limit {limit}']
    if verb == 'add' and table['queue'] in ('codel', 'fq_codel', 'pie') and end == 0:
        out.append(f'qdisc add {where} parent 1:1 handle 10: {table["queue"]}'
                   f' {"ecn" if table["ecn"] else "noecn"}')
    elif verb == 'add' and table['queue_packets']:
        out.append(f'qdisc add {where} parent 1:1 handle 10: pfifo limit '
                   f'{table["queue_packets"]}')
    elif verb == 'add' and table['queue'] == 'red':
        average = 500
        burst = max(2, int(2 * table['red_min_bytes']
                           + table['red_max_bytes']) // (3 * average))
        out.append(f'qdisc add {where} parent 1:1 handle 10: red limit '
                   f'{limit} min {table["red_min_bytes"]} max '
                   f'{table["red_max_bytes"]} avpkt {average} burst {burst} '
                   f'probability {table["red_probability"]} bandwidth '
                   f'{int(rate)}' + (' ecn' if table['ecn'] else ''))
    return out


def class_queue(net, link, tools):
    """The command for a link whose queue is libfairmix's: between the two ends
    of its wire, in front of the delay."""
    settings = ' '.join(f'{k}={v}' for k, v in link.table['class'].items())
    ports = ','.join(str(net.ports[n]) for n, f in net.run.flows.items()
                     if f.get('marked')) or '0'
    return (f'X w-{link.name} {tools}/linkqueue x0 x1 {settings} '
            f'rate_bps={link.table["rate_bps"][0][1]} '
            f'limit_packets={link.table["queue_packets"]} ports={ports} '
            f'seed={net.run.seed} >>$OUT/linkqueue.log 2>&1 &')


def wander(net, link, tools):
    """Likewise for one whose delay wanders."""
    return (f'X w-{link.name} {tools}/linkdelay x0 x1 '
            f'{scenario.series(link.table["wander"])} {net.run.seed} '
            '>>$OUT/linkdelay.log 2>&1 &')


def links(net, tools):
    """Queues and delays, and what changes them in time."""
    out = []
    for link in net.links:
        ns = f'w-{link.name}'
        batch = []
        for end in (0, 1):
            here, there = f'x{end}', f'x{1 - end}'
            batch.append(f'qdisc add dev {there} root '
                         f'{netem(link.table, end, 0)}')
            if end == 0 and (link.table['queue'] == 'class' or link.table['wander']):
                continue        # a program of ours stands there
            batch += [f'qdisc add dev {here} ingress',
                      f'filter add dev {here} parent ffff: protocol all u32 '
                      f'match u32 0 0 action mirred egress redirect dev '
                      f'{there}']
        text = '\n'.join(batch)
        out.append(f"tc -n {ns} -batch - <<'BATCH'\n{text}\nBATCH")
        if link.table['queue'] == 'class':
            out.append(class_queue(net, link, tools))
        if link.table['wander']:
            out.append(wander(net, link, tools))
        for end in (0, 1):
            text = '\n'.join(queue(link, end, 0, 'add'))
            if not text:
                continue
            out.append(f"tc -n r-{link.ends[end]} -batch - <<'BATCH'\n"
                       f'{text}\nBATCH')
    for host in net.hosts.values():
        if host.delay_ms:
            out.append(f'tc -n {host.name} qdisc add dev e0 root netem delay '
                       f'{host.delay_ms}ms limit 100000')
    for name, flow in net.run.bundles.items():
        if flow['jitter_ms']:
            half = f'{flow["jitter_ms"] / 2:g}ms'
            out.append(f'tc -n {net.source(name).name} qdisc add dev lo root '
                       f'netem delay {half} {half} limit 100000')
    return out


def changes(net):
    """[(t_s, command)] for the staircases of the links."""
    out = []
    for link in net.links:
        table = link.table
        for key, end in (('rate_bps', 0), ('back_rate_bps', 1)):
            for t_s, _ in table[key][1:]:
                out += [(t_s, f'tc -n r-{link.ends[end]} {command}')
                        for command in queue(link, end, t_s, 'change')]
        times = {t for key in ('delay_ms', 'loss', 'back_loss')
                 for t, _ in table[key][1:]}
        for t_s in times:
            out += [(t_s, f'tc -n w-{link.name} qdisc change dev x{1 - end} '
                     f'root {netem(table, end, t_s)}') for end in (0, 1)]
    return sorted(out)


def staircase_args(steps, start_s, end_s):
    """cbrflow's steps, in its own time."""
    times = [(max(t, start_s), v) for t, v in steps]
    kept = [(t, v) for i, (t, v) in enumerate(times)
            if t < end_s and (i + 1 == len(times) or times[i + 1][0] > t)]
    return ' '.join(f'{t - start_s:.3f}:{v}' for t, v in kept) \
        + f' {end_s - start_s:.3f}:0'


def _size(flow):
    """A cbr flow's packets, as cbrflow takes it."""
    burst = f'x{flow["burst"]}' if flow['burst'] > 1 else ''
    return f'{flow["packet_bytes"]}{burst}'


def web_commands(net, tools, number, name, duration_s):
    flow, sink, port = net.run.flows[name], net.sink(name), net.ports[name]
    web = flow['web']
    least, most = web['bytes']
    return [(-LEAD_S, sink, f'{tools}/webflow recv {port}'),
            (flow['start_s'], net.source(name),
             f'{tools}/webflow send {sink.address} {port} {duration_s:.3f} '
             f'{flow["cc"]} {web["users"]} {least} {most} {web["shape"]} '
             f'{web["idle_s"]} {net.run.seed * 100 + number}')]


def flow_commands(net, tools, out, bundle=graphs.bundle):
    """[(t_s, host, command line)], receivers first."""
    commands = []
    for number, (name, flow) in enumerate(net.run.flows.items()):
        source, sink = net.source(name), net.sink(name)
        port = net.ports[name]
        start = flow['start_s']
        stop = flow['stop_s'] or net.run.duration_s
        if flow['kind'] == 'tcp':
            if flow['web']:
                commands += web_commands(net, tools, number, name, stop - start)
                continue
            commands.append((-LEAD_S, sink, f'{tools}/tcpflow recv {port}'))
            line = (f'{tools}/tcpflow send {sink.address} {port} '
                    f'{stop - start:.3f} {flow["cc"]}')
            if flow['on_off']:
                least, most = flow['on_off']['bytes']
                line += (f' {least} {most} {flow["on_off"]["idle_s"]} '
                         f'{net.run.seed * 100 + number}')
            commands.append((start, source, line))
        elif flow['kind'] == 'cbr':
            steps = staircase_args(flow['rate_bps'], start, stop)
            commands.append((start, source, f'{tools}/cbrflow {sink.address} '
                             f'{port} {_size(flow)} '
                             f'{flow["jitter_intervals"]} '
                             f'{net.run.seed * 100 + number} {steps}'))
        elif flow['kind'] in ('als', 'multicast', 'listener'):
            continue            # they share routers
        elif flow['kind'] == 'peer':
            command = flow['command'].format(path=flow['path'], tools=tools)
            most = int(flow['streams'] * flow['stream_bps'] * 1.1)
            commands += [
                (-LEAD_S, sink, f'{command} recv {source.address} {port}'),
                (start, source, f'{command} send {sink.address} {port} '
                 f'{stop - start:.3f} {flow["least_bps"]} {most}')]
        else:
            commands += bundle(net, name, tools, out)
    commands += als.flow_commands(net, tools, out)
    commands += group.flow_commands(net, tools, out)
    return sorted(commands, key=lambda c: c[0])


def warm_up(net):
    """Neighbours ask for each other's address once; over a long link the first
    packets would wait for the answer and then come in a burst."""
    return [f'X {net.source(name).name} bash -c '
            f"'echo >/dev/udp/{net.sink(name).address}/9'"
            for name in net.run.flows]


def netlog(net, tools, out, end_s):
    """The command that writes flows.csv and links.csv."""
    specs = [f'flow:{n}:{p}:{a}-{b}' for n, p, a, b in net.udp_flows()]
    specs += group.log_specs(net)
    for name in net.hosts:
        specs.append(f'{"sent" if name.endswith("-s") else "received"}:'
                     f'{name}:e0')
    specs += [f'router:{r}' for r in net.routers_ns]
    specs += [f'link:{link.direction(end)}:r-{link.ends[end]}:'
              f'{link.port(end)}' for link in net.links for end in (0, 1)]
    return (f'{tools}/netlog -o {out} -e $FMX_EPOCH_NS -t {end_s} '
            + ' '.join(specs))


def databases(net):
    """{file name: text} that the graphs refer to."""
    texts = {n: graphs.who_counts(f) for n, f in net.run.bundles.items()}
    return {graphs.database_name(n): text for n, text in texts.items() if text}


def join_senders(folder):
    """One senders.csv of those that the mixers wrote."""
    parts = sorted(folder.glob('senders-*.csv'))
    lines = []
    for part in parts:
        text = part.read_text(encoding='ascii', errors='replace')
        lines += text.splitlines(keepends=True)[1:] if lines \
            else text.splitlines(keepends=True)
    if lines:
        (folder / 'senders.csv').write_text(''.join(lines), encoding='ascii')


def job(net, tools, bundle=graphs.bundle):
    """The whole script; $OUT is where results go."""
    end_s = net.run.duration_s
    out = ['#!/bin/bash', f'# {net.run.name}', 'set -eu',
           'X() { ns=$1; shift; ip netns exec $ns "$@"; }']
    out += topology(net) + links(net, tools)
    hosts = ' '.join(net.hosts)
    ecn = int(net.run.ecn)
    out += [f'for h in {hosts}; do X $h sysctl -qw '
            f'net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_ecn={2 - ecn}; done',
            *(['export FMX_ECN=1'] if ecn else []),
            *warm_up(net), *group.relays(net, tools), f'sleep {WARM_S}',
            f'export FMX_EPOCH_NS=$(($(date +%s%N) + {round(LEAD_S * 1e9)}))']
    events = []
    for t_s, host, line in flow_commands(net, tools, '$OUT',
                                          bundle):
        events.append((t_s, f'X {host.name} {line} '
                       f'>>$OUT/{host.name}.log 2>&1 &'))
    events += [(t_s, command) for t_s, command in changes(net)]
    events.sort(key=lambda e: e[0])
    started = False
    now = -LEAD_S
    for t_s, command in events:
        if t_s >= 0 and not started:
            out += [f'sleep {-now:.3f}',
                    netlog(net, tools, '$OUT', end_s) + ' & LOG=$!']
            started, now = True, 0.0
        if t_s > now:
            out.append(f'sleep {t_s - now:.3f}')
            now = t_s
        out.append(command)
    out += ['wait $LOG', 'exit 0']
    return '\n'.join(out) + '\n'
