# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run's topology: hosts, addresses, ports and routes, alike for all runners.

Every flow has a host of its own at either end, on the router that the
scenario names.  A host of a bundle holds all that stands in that LAN: the
talkers and their mixer, or the far mixer and its listener.
"""
import collections
import dataclasses


@dataclasses.dataclass
class Host:
    name: str                   # "<flow>-s" or "<flow>-d"
    router: str
    number: int
    delay_ms: float = 0.0
    route: str = ''             # what is said of its default route

    @property
    def address(self):
        return f'10.1.{self.number}.2'

    @property
    def gateway(self):
        return f'10.1.{self.number}.1'

    @property
    def subnet(self):
        return f'10.1.{self.number}.0/30'

    @property
    def port(self):             # the router's end of the cable
        return f'h{self.number}'


@dataclasses.dataclass
class Link:
    name: str
    number: int
    ends: tuple                 # the routers
    table: dict                 # as in the scenario

    def address(self, end):
        return f'10.2.{self.number}.{end + 1}'

    def port(self, end):        # at that end's router
        return f'l{self.number}{"fb"[end]}'

    def direction(self, end):
        """The name of what leaves at an end, as links.csv calls it."""
        return self.name if end == 0 else f'{self.name}-back'


class Network:
    def __init__(self, run):
        self.run = run
        self.links = [Link(n, i, (t['from'], t['to']), t)
                      for i, (n, t) in enumerate(run.links.items())]
        self.routers = list(dict.fromkeys(
            r for link in self.links for r in link.ends))
        self.hosts = {}
        self.ports = {}
        for i, (name, flow) in enumerate(run.flows.items()):
            self.ports[name] = 5000 + 10 * i
            for end, side in (('from', 's'), ('to', 'd')):
                self.hosts[f'{name}-{side}'] = Host(
                    f'{name}-{side}', flow[end], len(self.hosts),
                    flow['access_delay_ms'], self._route(flow))

    @staticmethod
    def _route(flow):
        web = flow.get('web') or {}
        mss = f' advmss {flow["mss"]}' if flow.get('mss') else ''
        return mss + ''.join(f' {key} {web[key]}' for key in
                             ('initcwnd', 'rto_min') if key in web)

    def source(self, flow):
        return self.hosts[f'{flow}-s']

    def sink(self, flow):
        return self.hosts[f'{flow}-d']

    def hops(self, router):
        """{other router: (link, end at which to leave)}, shortest path."""
        first = {}
        seen = {router}
        queue = collections.deque([(router, None)])
        while queue:
            at, via = queue.popleft()
            for link in self.links:
                for end in (0, 1):
                    other = link.ends[1 - end]
                    if link.ends[end] == at and other not in seen:
                        seen.add(other)
                        first[other] = via or (link, end)
                        queue.append((other, first[other]))
        return first

    def udp_flows(self):
        """[(name, protocol, first port, last port)] for netlog."""
        out = []
        for name, flow in self.run.flows.items():
            if flow['kind'] in ('multicast', 'listener'):
                continue        # lab/group.py has them
            protocol = {'tcp': 'tcp', 'als': 'rtp'}.get(flow['kind'], 'udp')
            out.append((name, protocol, self.ports[name], self.ports[name]))
        return out

    @property
    def routers_ns(self):
        return [f'r-{r}' for r in self.routers]
