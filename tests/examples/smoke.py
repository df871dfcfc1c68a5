#!/usr/bin/python3
"""Runs the examples for some seconds, as a person would, and listens.

usage: smoke.py SOURCE-ROOT BUILD-ROOT TEST

Everything happens on loopback, in a network namespace of its own where that is
allowed, so that fixed ports are free.  Talkers are artificial (voices.py),
listeners write files, and the ear of the party says who was heard.
"""
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path[:0] = [str(ROOT / 'examples/python'), str(ROOT / 'tests/examples')]
import heard                    # noqa: E402  after the path
import machine                  # noqa: E402
import numpy                    # noqa: E402
import voices                   # noqa: E402

LAUNCH = ROOT / 'examples/launch'
PLAYS = 'New clock'     # says gst-launch-1.0
SILENCE = bytes.fromhex('f8fffe')        # 20 ms of Opus
COMPLAINT = re.compile(r'WARN|CRITICAL|ERROR|Traceback|warning:', re.I)


def own_network():
    """Starts this program again inside a network namespace, if possible."""
    if os.environ.get('FMX_SMOKE_NETNS'):
        with socket.socket() as sock:           # loopback up
            # up, running, and multicast: which stays inside this network
            fcntl.ioctl(sock, 0x8914, struct.pack('16sh', b'lo',
                                                  0x1 | 0x40 | 0x1000))
        subprocess.run(['ip', 'route', 'add', '224.0.0.0/4', 'dev', 'lo'],
                       check=False)
        return
    prefix = ['unshare', '--user', '--map-root-user', '--net']
    if subprocess.run(prefix + ['true'], capture_output=True,
                      check=False).returncode == 0:
        os.environ['FMX_SMOKE_NETNS'] = 'yes'
        os.execvp(prefix[0], prefix + [sys.executable] + sys.argv)
    print('no network namespace here: using the ports of the host')
    # one such test after another; the lock goes with this process
    lock = os.open(BUILD / 'ports.lock', os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)


class Running:
    """Scripts in the background, each with its output in a file."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []

    def start(self, script, *arguments, **environment):
        name = f'{len(self.processes)}-{script}'
        log = open(self.folder / f'{name}.log', 'w+', encoding='utf-8')
        process = subprocess.Popen(
            [str(LAUNCH / script), *map(str, arguments)],
            env={**os.environ, 'FMX_BUILD': str(BUILD), **environment},
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append((name, process, log))
        return process

    def wait_until_all_play(self):
        for _, _, log in self.processes:
            wait_for(log.name, PLAYS, 1)

    def check_alive(self):
        for name, process, log in self.processes:
            if process.poll() not in (None, 0):
                log.seek(0)
                fail(f'{name} ended with {process.returncode}:\n{log.read()}')

    def stop(self):
        """Control-C, the last started first; nobody may complain."""
        bad = []
        for name, process, log in reversed(self.processes):
            try:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                log.seek(0)
                bad.append(f'{name} does not end:\n{log.read()}')
            log.seek(0)
            bad += [f'{name}: {line.strip()}' for line in log
                    if COMPLAINT.search(line)]
        if bad:
            fail('\n'.join(bad))


def fail(text):
    print(text)
    sys.exit(1)


def talkers(folder, count, seconds):
    paths = []
    for n in range(count):
        paths.append(folder / f'voice-{n}.wav')
        voices.write(paths[-1], voices.talk(n, seconds))
    return paths


def share_heard(recording, path):
    """Of a voice that begins at any time of the recording: programs take their
    time to start."""
    sound, voice = heard.load(recording), heard.load(path)
    until_s = len(sound) / heard.RATE_HZ
    return heard.share_heard(voice, sound,
                             heard.place(voice, sound, (-1, until_s)))


def expect_heard(recording, paths, least=0.8):
    for path in paths:
        share = share_heard(recording, path)
        print(f'{path.stem}: {share:.0%} heard')
        if share < least:
            fail(f'{path.stem} was not heard')


def wait_for(path, pattern, count, patience_s=60):
    """Until a log has so many of these."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        text = pathlib.Path(path).read_text(encoding='utf-8')
        if len(re.findall(pattern, text)) >= count:
            return
        time.sleep(0.05)
    fail(f'not {count} times "{pattern}":\n{text[-3000:]}')


def smoke_receiver(folder, running):
    """Two talkers, one listener, no mixer between them."""
    paths = talkers(folder, 2, 10)
    running.start('receiver.sh', 5000, '127.0.0.1:10000,127.0.0.1:10010',
                  folder / 'out.wav')
    running.wait_until_all_play()
    for n, path in enumerate(paths):
        running.start('sender.sh', path, '127.0.0.1:5000', 10000 + 10 * n)
    running.wait_until_all_play()
    time.sleep(9)
    running.check_alive()
    running.stop()
    expect_heard(folder / 'out.wav', paths)


def udp_socket(address, port):
    sock = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET,
                         socket.SOCK_DGRAM)
    sock.settimeout(30)
    sock.bind((address, port))
    return sock


def smoke_ipv6(folder, running):
    """A receiver with a peer on IPv6 and one on IPv4 hears both and answers
    both; a sender reaches IPv6.  Names of files may have spaces."""
    addresses = pathlib.Path('/proc/net/if_inet6')
    if not addresses.exists() or not addresses.read_text(encoding='ascii'):
        print('no IPv6 here')
        sys.exit(77)            # skipped
    running.start('receiver.sh', 5000, '[::1]:10000,localhost:10010',
                  folder / 'what came.wav', FLAGS='-m')
    log = running.processes[-1][2].name
    wait_for(log, PLAYS, 1)
    here = ('::1', '127.0.0.1')
    with contextlib.ExitStack() as stack:
        answers = [stack.enter_context(udp_socket(address, 10002 + 10 * n))
                   for n, address in enumerate(here)]
        for n, address in enumerate(here):
            out = stack.enter_context(udp_socket(address, 0))
            for seq in range(10):
                out.sendto(struct.pack('!BBHII', 0x80, 96, seq, 960 * seq,
                                       77 + n) + SILENCE, (address, 5000))
        for answer in answers:
            answer.recv(2000)
        wait_for(log, r'fairmix-stream, event=\(string\)added', 2)
        path = folder / 'a voice.wav'
        voices.write(path, voices.talk(0, 4))
        ports = [stack.enter_context(udp_socket('::1', 6000 + n))
                 for n in range(2)]
        running.start('sender.sh', path, '[::1]:6000', 10020)
        for port in ports:
            port.recv(2000)
    running.stop()
    if (folder / 'what came.wav').stat().st_size < 1000:
        fail('nothing was written')


def conference(folder, running, blocks, mixer, n_mixers):
    """Participants at blocks of mixers; each hears the others, not itself."""
    paths = talkers(folder, len(blocks), 18)
    for n, block in enumerate(blocks):
        running.start('receiver.sh', 10000 + 10 * n, f'127.0.0.1:{block}',
                      folder / f'out-{n}.wav')
    running.start(*mixer)
    wait_for(running.processes[-1][2].name, PLAYS, n_mixers)
    running.wait_until_all_play()
    for n, block in enumerate(blocks):
        running.start('sender.sh', paths[n], f'127.0.0.1:{block}',
                      10000 + 10 * n)
    running.wait_until_all_play()
    time.sleep(17)
    running.check_alive()
    running.stop()
    for n in range(len(blocks)):
        print(f'listener {n}:')
        expect_heard(folder / f'out-{n}.wav', paths[:n] + paths[n + 1:])
        own = share_heard(folder / f'out-{n}.wav', paths[n])
        if own > 0.25:          # of 14 windows; by chance: test_heard.py
            fail(f'listener {n} hears itself ({own:.0%})')


def smoke_mixer(folder, running):
    """Three participants at one mixer."""
    conference(folder, running, [5000, 5010, 5020],
               ('mixer.sh', 5000, *(f'127.0.0.1:{10000 + 10 * n}'
                                    for n in range(3))), 1)


def smoke_mixer_chain(folder, running):
    """Three participants, each at another mixer of a chain of three."""
    conference(folder, running, [5000, 6000, 7000], ('mixer-chain.sh',), 3)


def smoke_join(folder, running):
    """Eight talkers join one mixer in the same instant, again and again."""
    rounds = int(os.environ.get('FMX_JOIN_ROUNDS', '4'))
    for n in range(rounds):
        mixer = running.start('mixer.sh', 5000, *(
            f'from=127.0.0.1:{10000 + 10 * n}' for n in range(8)),
            'to=127.0.0.1:11000', FLAGS='-m')
        log = running.processes[-1][2].name
        wait_for(log, PLAYS, 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for seq in range(10):
                for talker in range(8):
                    out.sendto(struct.pack('!BBHII', 0x80, 96, seq, 960 * seq,
                                           1001 + talker) + SILENCE,
                               ('127.0.0.1', 5000 + 10 * talker))
                time.sleep(0.02)
        wait_for(log, r'fairmix-stream, event=\(string\)added', 8)
        running.check_alive()
        mixer.send_signal(signal.SIGINT)
        mixer.wait(60)
    print(f'{rounds} times all eight came in')


def need_multicast():
    if not os.environ.get('FMX_SMOKE_NETNS') or not shutil.which('ip'):
        print('multicast only in a network of its own')
        sys.exit(77)            # skipped


def smoke_control_c(_folder, running):
    """Control-C ends each script, also where nobody has said anything."""
    need_multicast()
    peer = '127.0.0.1:10000'
    for script in (('multicast-sender.sh', 'mix:7000', '239.1.2.3:6004', peer),
                   ('multicast-receiver.sh', '239.1.2.3:7004', 'fake'),
                   ('layered-sender.sh', 'mix:7100', '239.1.3.0:6104', peer),
                   ('layered-receiver.sh', '239.1.4.0:6204', 'fake'),
                   ('layered-receiver.sh', '239.1.5.0:6304', 'fake', 'talkers'),
                   ('receiver.sh', 7200, peer, 'fake'),
                   ('mixer.sh', 7300, peer)):
        running.start(*script)
    running.wait_until_all_play()
    running.stop()


def smoke_multicast(folder, running):
    """A voice, then a partial mix of two, to a multicast group."""
    need_multicast()
    paths = talkers(folder, 3, 10)
    running.start('multicast-receiver.sh', '239.1.2.3:5004', folder / 'a.wav')
    running.start('multicast-receiver.sh', '239.1.2.3:6004', folder / 'b.wav')
    running.start('multicast-sender.sh', 'mix:7000', '239.1.2.3:6004',
                  '127.0.0.1:10000,127.0.0.1:10010')
    wait_for(running.processes[-1][2].name, PLAYS, 1)
    running.start('multicast-sender.sh', paths[0], '239.1.2.3:5004',
                  FLAGS='-m')
    log = running.processes[-1][2].name
    for n in (1, 2):
        running.start('sender.sh', paths[n], '127.0.0.1:7000',
                      9990 + 10 * n)
    running.wait_until_all_play()
    wait_for(log, 'fairmix-rate-decision.*asmp-rate', 1)
    time.sleep(9)
    running.check_alive()
    running.stop()
    expect_heard(folder / 'a.wav', paths[:1])
    expect_heard(folder / 'b.wav', paths[1:])


def smoke_layers(folder, _running):
    """Two voices in layers through two routers: apart and with what is above
    8 kHz behind the wide link, both in the middle behind the narrow one."""
    for tool in ('ip', 'tc'):
        if not shutil.which(tool) or not os.environ.get('FMX_SMOKE_NETNS'):
            print('multicast only in networks of its own')
            sys.exit(77)            # skipped
    (folder / 'voices').mkdir(exist_ok=True)
    random = numpy.random.default_rng(1)
    for n in range(3):
        voice = voices.talk(n, 30)
        hiss = numpy.diff(random.standard_normal(len(voice) + 2), 2) * 60
        voices.write(folder / f'voices/voice-{n}.wav', voice + hiss)
    out = run_program(str(ROOT / 'examples/layers.sh'), '--seconds', '18',
                      '--voices', str(folder / 'voices'), '--out', str(folder))
    wide, narrow = out.split('narrow listener', 1)

    def sides(part):
        return [float(s) for s in re.findall(r'over right ([-+.\d]+)', part)]

    def air(part):
        return float(re.search(r'above 8.5 kHz: ([-.\d]+)', part)[1])

    print(f'left over right: {sides(wide)} behind the wide link, '
          f'{sides(narrow)} behind the narrow one')
    if 'wide listener, 3 layers' not in wide or ', 1 layer:' not in narrow:
        fail('not the layers that the links carry')
    if min(sides(wide)[0], -sides(wide)[1]) < 10:
        fail('the voices are not apart')
    if max(map(abs, sides(narrow))) > 0.5:
        fail('they are not in the middle')
    if air(wide) < air(narrow) + 10:
        fail('what is above 8 kHz is missing')

def headers_on_the_wire(port, patience_s=60):
    """IPv4 options and UDP checksum of the next packet to this port."""
    end = time.monotonic() + patience_s
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                       socket.htons(0x0800)) as wire:
        wire.bind(('lo', 0x0800))
        wire.settimeout(patience_s)
        while time.monotonic() < end:
            packet = wire.recv(2048)
            header_bytes = 4 * (packet[0] & 15)
            udp = packet[header_bytes:header_bytes + 8]
            if packet[9] == socket.IPPROTO_UDP and udp[2:4] == struct.pack('!H', port):
                return packet[20:header_bytes], int.from_bytes(udp[6:8], 'big')
    fail(f'nothing is sent to port {port}')


def smoke_router_alert(_folder, running):
    """The base's RTCP asks routers to look at it (RFC 2113), and needs no new
    checksum where they rewrite it; RTP is as it was."""
    need_multicast()
    running.start('layered-sender.sh', 'test', '239.1.2.0:5004', ALERT='1')
    running.wait_until_all_play()
    if headers_on_the_wire(5005) != (bytes.fromhex('94040000'), 0):
        fail('its RTCP does not alert routers')
    options, checksum = headers_on_the_wire(5004)
    if options or not checksum:
        fail(f'RTP: options {options}, checksum {checksum}')
    running.stop()


def smoke_renderer(folder, running):
    """Eight voices on a stage: the first on the left, the last on the right."""
    paths = talkers(folder, 8, 6)
    running.start('renderer.sh', folder / 'out.wav', *paths).wait(120)
    running.stop()
    expect_heard(folder / 'out.wav', paths)
    import wave
    with wave.open(str(folder / 'out.wav')) as file:
        samples = numpy.frombuffer(file.readframes(1 << 30), '<i2')
    sides = [s - s.mean() for s in samples.reshape(-1, 2).T.astype(float)]
    for n, near in ((0, 0), (7, 1)):
        with wave.open(str(paths[n])) as file:
            voice = numpy.frombuffer(file.readframes(1 << 30), '<i2')
        size = 1 << (len(sides[0]) + len(voice)).bit_length()
        spectrum = numpy.fft.rfft(voice.astype(float), size).conj()
        strength = [numpy.abs(numpy.fft.irfft(
            numpy.fft.rfft(side, size) * spectrum)).max() for side in sides]
        print(f'{paths[n].stem}: left {strength[0]:.3g}, right {strength[1]:.3g}')
        if strength[near] < 2 * strength[1 - near]:
            fail(f'{paths[n].stem} stands in the wrong place')


TOO_BUSY = 'this machine was too busy'


class TooBusy(Exception):
    """A program failed and says that this was why."""


def environment():
    return {**os.environ, 'GST_PLUGIN_PATH': ':'.join(
        str(p) for p in (BUILD / 'gst').iterdir() if p.is_dir()),
        'GST_REGISTRY': str(BUILD / 'registry.bin'), 'G_DEBUG': 'fatal-warnings'}


def run_program(*command):
    """What it prints."""
    slow = float(os.environ.get('CK_TIMEOUT_MULTIPLIER', 1))
    run = subprocess.run(command, capture_output=True, text=True, timeout=150 * slow,
                         env=environment(), check=False)
    print(run.stdout + run.stderr)
    if run.returncode and TOO_BUSY in run.stdout:
        raise TooBusy
    if run.returncode or COMPLAINT.search(run.stderr):
        fail(f'{command[0]} ended with {run.returncode}')
    return run.stdout


def run_until(done, *command, patience_s=60):
    """Interrupts it as soon as done(what it has printed), which has to come;
    returns all that it has printed."""
    out = ''
    with subprocess.Popen([*command, str(patience_s)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          env=environment()) as program:
        for line in program.stdout:
            out += line
            if done(out):
                program.send_signal(signal.SIGINT)
                break
        out += program.communicate(timeout=20)[0]
    print(out)
    if program.returncode or COMPLAINT.search(out):
        fail(f'{command[0]} ended with {program.returncode}')
    if not done(out):
        fail('not the decisions that were expected')
    return out


def smoke_embed_c(_folder, _running):
    """It prints that all are separate without a limit, and fewer with one."""
    run_until(lambda out: re.search('4 separate, 0 mixed', out)
              and re.search('0 separate, 4 mixed', out),
              str(BUILD / 'examples/embed'))


def smoke_embed_python(_folder, _running):
    """Who takes the chair stays separate."""
    def done(out):
        return (re.search('src_4: 1001 1002 1003 1004 separate', out)
                and 'takes the chair' in out
                and re.findall(r'src_5: (.*)', out)[-1:]
                == ['1003 separate, 1001 1002 1004 mixed'])
    run_until(done, sys.executable, str(ROOT / 'examples/python/embed.py'))


def smoke_telehaptic(_folder, _running):
    """Planes are shown at the scene's pace, and warped ones feel better."""
    out = run_program(sys.executable,
                      str(ROOT / 'examples/python/telehaptic.py'),
                      '--seconds', '6', '--delay', '80')
    seen = re.findall(r'(\d+) planes shown.*by ([\d.]+) N, warped by ([\d.]+) N',
                      out)[1:]
    if not seen or any(int(planes) < 3 for planes, _, _ in seen):
        fail('too few planes')
    if sum(float(warped) for _, _, warped in seen) \
            > 0.9 * sum(float(plain) for _, plain, _ in seen):
        fail('warping does not help')


def smoke_jitterbuffer_c(_folder, _running):
    """The delay follows a shaky network, and packets are played, which nobody on another
    machine can send."""
    bound = set()

    def done(out):
        sockets = pathlib.Path('/proc/net/udp').read_text(encoding='ascii')
        bound.update(re.findall(rf': (\w+):{17004:04X} ', sockets))
        return len(re.findall(r'delay \d+ -> \d+ ms \(late\)', out)) >= 3

    out = run_until(done, str(BUILD / 'examples/jitterbuffer'))
    if bound != {'0100007F'}:
        fail(f'the example listens at {bound}')
    if not re.search(r'played [1-9]\d+ packets', out):
        fail('nothing was played')


def smoke_webrtc(_folder, _running):
    """A call whose jitter buffer is ours, and in which packets are played."""
    if not os.environ.get('FMX_SMOKE_NETNS'):
        print('ICE leaves loopback out, and there is no network of its own')
        sys.exit(77)            # skipped
    if subprocess.run(['ip', 'link', 'show', 'near'], check=False,
                      capture_output=True).returncode:
        for command in ('link add near type veth peer name far',
                        'addr add 192.0.2.1/24 dev near', 'link set near up',
                        'link set far up'):
            subprocess.run(['ip', *command.split()], check=True)
    if subprocess.run(['gst-inspect-1.0', '--exists', 'webrtcbin'],
                      check=False).returncode:
        print('no webrtcbin')
        sys.exit(77)            # skipped
    out = run_program(sys.executable, str(ROOT / 'examples/python/webrtc.py'), '3')
    played = re.search(r'played (\d+) packets', out)
    if 'jitter buffer: qmjitterbuffer' not in out or not played \
            or int(played[1]) < 50:
        fail('not the call that was expected')


def smoke_party(folder, _running):
    """The party with artificial voices."""
    (folder / 'voices').mkdir(exist_ok=True)
    talkers(folder / 'voices', 8, 44)
    out = run_program(
        sys.executable, str(ROOT / 'examples/python/party.py'),
        '--voices', str(folder / 'voices'), '--out', str(folder))
    if '8 of 8 voices heard' not in out:
        fail('somebody was not heard')


def smoke_meet(folder, _running):
    """A meeting of artificial voices."""
    (folder / 'voices').mkdir(exist_ok=True)
    talkers(folder / 'voices', 6, 44)
    out = run_program(
        sys.executable, str(ROOT / 'examples/python/meet.py'), '--seconds', '18',
        '--voices', str(folder / 'voices'), '--out', str(folder))
    if 'everybody heard all others, and nobody himself' not in out:
        fail('somebody was not heard')


@contextlib.contextmanager
def sound_hardware(folder):
    """A sound server whose loudspeakers and room are imaginary; who runs inside
    hears the room through the default microphone."""
    if not shutil.which('pulseaudio'):
        print('no pulseaudio')
        sys.exit(77)            # skipped
    home = folder / 'pulse'
    home.mkdir()
    environment = {'HOME': str(home), 'XDG_RUNTIME_DIR': str(home),
                   'PULSE_SERVER': f'unix:{home}/socket',
                   'PULSE_SINK': 'speakers', 'PULSE_SOURCE': 'room.monitor'}
    os.environ.update(environment)
    with subprocess.Popen(
            ['pulseaudio', '-n', '--exit-idle-time=-1', '--disable-shm=yes',
             '--use-pid-file=no', '--high-priority=no', '--log-target=stderr',
             '-L', 'module-null-sink sink_name=speakers rate=48000',
             '-L', 'module-null-sink sink_name=room rate=48000',
             '-L', f'module-native-protocol-unix socket={home}/socket'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        end = time.monotonic() + 20
        while not (home / 'socket').exists() and time.monotonic() < end:
            time.sleep(0.05)
        try:
            yield
        finally:
            server.terminate()


def smoke_party_sound(folder, _running):
    """With loudspeakers and a microphone: the party hears what is said in the
    room, and the loudspeakers say what the recording holds."""
    (folder / 'voices').mkdir(exist_ok=True)
    paths = talkers(folder / 'voices', 3, 24)
    spoken = folder / 'spoken.wav'      # not what the first talker's file says
    voices.write(spoken, voices.talk(5, 24))
    launch = ['gst-launch-1.0', '-q', '-e']
    with sound_hardware(folder):
        speakers = subprocess.Popen(launch + (
            'pulsesrc device=speakers.monitor ! audio/x-raw,format=S16LE,'
            'rate=48000,channels=2 ! wavenc ! filesink location='
            f'{folder}/speakers.wav').split())
        room = subprocess.Popen(launch + (
            f'filesrc location={spoken} ! wavparse ! audioconvert ! '
            'pulsesink device=room').split())
        out = run_program(
            sys.executable, str(ROOT / 'examples/python/party.py'), '--play',
            '--mic', '--seconds', '20', '--voices', str(folder / 'voices'),
            '--out', str(folder))
        for process in (room, speakers):
            process.send_signal(signal.SIGINT)
            process.wait(20)
    if '2 of 2 voices heard' not in out:
        fail('somebody was not heard')
    for recording in ('party.wav', 'speakers.wav'):
        expect_heard(folder / recording, [spoken, *paths[1:]])


def smoke(name):
    keep = os.environ.get('FMX_SMOKE_KEEP')     # a folder, to look at later
    with (contextlib.nullcontext(keep) if keep
          else tempfile.TemporaryDirectory()) as temporary:
        folder = pathlib.Path(temporary)
        running = Running(folder)
        try:
            globals()['smoke_' + name.replace('-', '_')](folder, running)
        finally:
            for _, process, _ in running.processes:
                if process.poll() is None:
                    process.kill()


def wait_until_calm():
    """Until nobody who was due has waited for long; no longer than a minute."""
    stalls = machine.Stalls()
    stalls.start()
    for _ in range(20):
        stalls.take()
        time.sleep(3)
        if stalls.take()[0] < stalls.STALL_S:
            return


def once_more_if_stalled(test):
    """Sound in real time needs a machine that runs: where it stood still, or
    had nothing to spare, a failure says nothing, and there is another try."""
    for last in (False, False, True):
        stalls = machine.Stalls()
        stalls.start()
        try:
            return test()
        except TooBusy:
            if last:
                sys.exit(1)
        except (SystemExit, subprocess.TimeoutExpired, TimeoutError) as end:
            if last or getattr(end, 'code', 1) != 1 or not stalls.why():
                raise
            print(f'{TOO_BUSY}: {stalls.why()}')
        wait_until_calm()
        print('once more')


def main():
    own_network()
    once_more_if_stalled(lambda: smoke(sys.argv[3]))


if __name__ == '__main__':
    main()
