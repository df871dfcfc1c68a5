#!/usr/bin/env python3
"""How often does gst-launch lose a talker when several join at once?

usage: all-pads-link.py [ROUNDS]

Each round starts a gst-launch-1.0 with one rtpbin of eight sessions; eight
streams begin in the same instant.  A round is lost if the pipeline dies or
complains.  The first two lines are of GStreamer's own elements alone.  Set
GST_PLUGIN_PATH for the others, e.g. in `meson devenv -C build`.
"""
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

TALKERS, PORT = 8, 5000
CAPS = 'application/x-rtp,media=audio,clock-rate=8000,encoding-name=PCMU,payload=0'
END = 'fakesink sync=false async=false'
GRAPHS = {                      # how they are linked: the rest of the line
    'in. : funnel.': f'rtpfunnel name=funnel ! {END} in. : funnel.',
    'in. : funnel.sink_%u': f'rtpfunnel name=funnel ! {END} in. : funnel.sink_%u',
    'in. : mix.': f'partialmix name=mix mix.src_99 ! {END} in. : mix.',
    'partialmix rtpbin=in': f'partialmix rtpbin=in name=mix mix.src_99 ! {END}',
}
TROUBLE = re.compile('ERROR|CRITICAL|WARNING')


def one_round(graph, log):
    """Returns what went wrong, or nothing."""
    sources = ' '.join(f'udpsrc port={PORT + n} caps={CAPS} ! in.recv_rtp_sink_{n}'
                       for n in range(TALKERS))
    line = f'gst-launch-1.0 -m rtpbin name=in latency=20 {sources} {graph}'
    with subprocess.Popen(line.split(), stdout=log, stderr=log) as process, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        while 'New clock' not in read(log) and process.poll() is None:
            time.sleep(0.02)
        for seq in range(25):
            for n in range(TALKERS):
                out.sendto(struct.pack('!BBHII', 0x80, 0, seq, 160 * seq, 1000 + n)
                           + b'\xff' * 160, ('127.0.0.1', PORT + n))
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
    return TROUBLE.findall(read(log)) or process.returncode


def read(log):
    with open(log.name, encoding='utf-8') as file:
        return file.read()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print(f'| link | rounds lost, of {rounds} |\n|---|---|')
    for name, graph in GRAPHS.items():
        lost = 0
        for _ in range(rounds):
            with tempfile.NamedTemporaryFile('w') as log:
                lost += bool(one_round(graph, log))
        print(f'| `{name}` | {lost} |', flush=True)


if __name__ == '__main__':
    main()
