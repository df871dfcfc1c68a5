# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines for a test: network namespaces, joined by cables."""
import os
import pathlib
import signal
import subprocess
import sys
import time

from leftovers import UNTIL_WE_END
from patience import Patience

FORWARD = 'echo 1 >/proc/sys/net/ipv4/ip_forward'
# With process numbers of its own, all that is in it ends with the first.
OWN = 'unshare --user --map-root-user --net'.split()
ALONE = 'unshare --pid --fork --kill-child --mount-proc'.split()


def works(command):
    return subprocess.run([*command, 'true'], capture_output=True, check=False
                          ).returncode == 0


def own_network(*needs):
    """Starts this program again inside a network namespace.  Where that cannot be,
    or one of the commands @needs fails in it, it ends with 77 and says which."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('ended by SIGTERM'))
    if os.environ.get('FMX_MACHINES'):
        return
    prefix = OWN + ALONE if works(OWN + ALONE) else OWN
    for need in (FORWARD, 'unshare --net true',
                 'ip link add xa type veth peer name xb', *needs):
        done = subprocess.run(prefix + ['sh', '-ec', need], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            print(f'no network of several machines here: {need}: {done.stderr.strip()}')
            sys.exit(77)
    os.environ['FMX_MACHINES'] = 'yes'
    os.execvp(prefix[0], prefix + [sys.executable] + sys.argv)


class Network:
    """Machines, each the command that runs another one there; () is this one."""

    def __init__(self):
        self.processes = []
        self.run((), 'ip link set lo up')

    def machine(self):
        """Another one.  It is gone when this process is, however that ends."""
        holder = self.start((), 'unshare --net sleep infinity')
        while os.readlink(f'/proc/{holder.pid}/ns/net') == \
                os.readlink('/proc/self/ns/net'):
            time.sleep(0.01)
        made = 'nsenter', f'--net=/proc/{holder.pid}/ns/net'
        self.run(made, 'ip link set lo up')
        return made

    def router(self):
        made = self.machine()
        self.run(made, 'sh -c', FORWARD)
        return made

    def cable(self, end, other_end):
        """Each (machine, device, address).  No end gives itself an IPv6 address, which
        it has 1 to 2 s later: Chromium, when a network changes so, drops connections
        that are not made yet, and shows a page without its scripts."""
        (machine, name, _), (other, peer, _) = end, other_end
        there = other[1].split('/')[2]
        self.run(machine,
                 f'ip link add {name} type veth peer name {peer} netns {there}')
        for at, device, ip in (end, other_end):
            self.run(at, f'ip address add {ip}/24 dev {device}')
            if os.path.exists('/proc/sys/net/ipv6'):
                self.run(at, f'ip link set {device} addrgenmode none')
            self.run(at, f'ip link set {device} up')

    def route(self, machine, gateway):
        self.run(machine, f'ip route add default via {gateway}')

    def run(self, machine, command, *more):
        subprocess.run([*machine, *command.split(), *more], check=True)

    def start(self, machine, command):
        self.processes.append(subprocess.Popen(
            [*machine, *UNTIL_WE_END, *command.split()], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return self.processes[-1]

    def serve(self, machine, command, port):
        """As start(), and waits until it listens at this UDP port."""
        process, patience = self.start(machine, command), Patience(60)
        sockets = pathlib.Path(f'/proc/{process.pid}/net/udp')
        while f':{port:04X} ' not in sockets.read_text(encoding='ascii'):
            if process.poll() is not None or patience.is_over():
                sys.exit(f'{command} does not listen')
            time.sleep(0.05)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
