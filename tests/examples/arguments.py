#!/usr/bin/env python3
"""What is typed wrong is said, and nothing runs.

usage: arguments.py SOURCE-ROOT BUILD-ROOT

Each row: a command, what it must print.  An error ends with status 2 before a
pipeline begins; help ends with status 0.  No process here lives for more than
moments.  Where that is allowed it is in a network of its own: nobody else has its
ports, and no name server is asked.
"""
import contextlib
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import smoke
import voices

ROOT, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
LAUNCH = ROOT / 'examples/launch'
USED = 15000                    # a port that somebody else has
PATIENCE_S = 60
SCRIPTS = ['sender', 'receiver', 'renderer', 'mixer', 'mixer-chain',
           'jitterbuffer', 'multicast-sender', 'multicast-receiver',
           'layered-sender', 'layered-receiver', 'layered-router']

# (script, its arguments, what it says)
WRONG = [
    ('sender', 'test 127.0.0.1', 'a port belongs to the host'),
    ('sender', 'test 127.0.0.1:', "port of 127.0.0.1: is a number, not ''"),
    ('sender', 'test 127.0.0.1:x', "is a number, not 'x'"),
    ('sender', 'test 127.0.0.1:70000', 'from 1 to 65533, not 70000'),
    ('sender', 'test 127.0.0.1:0', 'from 1 to 65533, not 0'),
    ('sender', 'test 127.0.0.1:99999999999999999999', 'from 1 to 65533'),
    ('sender', 'test ::1:5000', r'stands in brackets, as in \[::1\]:5000'),
    ('sender', 'test nobody.invalid:5000', 'unknown host in nobody.invalid'),
    ('sender', 'test 127.0.0.1:5000 010', "a number, not '010'"),
    ('sender', 'test 127.0.0.1:5000 70000', 'our own port is a number from 1'),
    ('sender', f'test 127.0.0.1:5000 {USED - 2}', f'port {USED} is in use'),
    ('sender', 'missing.wav', 'no file missing.wav'),
    ('sender', 'test 127.0.0.1:5000 10000 x', 'more than 3 arguments'),
    ('sender', '--loud', 'no option --loud'),
    ('BITRATE=fast sender', '', "BITRATE is a number, not 'fast'"),
    ('BITRATE=1 sender', '', 'BITRATE is a number from 6000'),
    ('SSRC=0 sender', '', 'SSRC is a number from 1'),
    ('receiver', '70000', 'from 1 to 65533, not 70000'),
    ('receiver', f'{USED}', f'port {USED} is in use'),
    ('receiver', f'{USED - 1}', f'port {USED} is in use'),
    ('receiver', '5000 127.0.0.1:10000,127.0.0.1', 'a port belongs to the host'),
    ('receiver', '5000 127.0.0.1:10000 out.mp3', 'nothing but WAV is written'),
    ('receiver', '5000 127.0.0.1:10000 no/where/out.wav', 'cannot write into'),
    ('LATENCY=-1 receiver', '', "LATENCY is a number, not '-1'"),
    ('DATABASE=missing.ini receiver', '', 'no file missing.ini'),
    ('renderer', 'out.mp3', 'nothing but WAV is written'),
    ('renderer', 'fake missing.wav', 'no file missing.wav'),
    ('FMX_BUILD=/nowhere renderer', 'fake', 'examples/voices.sh'),
    ('mixer', f'{USED - 10}', f'port {USED} is in use'),
    ('mixer', '65530', 'our own port is a number from 1 to 65523'),
    ('mixer', '5000 127.0.0.1:10000 from=127.0.0.1', 'a port belongs'),
    ('mixer', '5000 to=nobody.invalid:5000', 'unknown host in nobody.invalid'),
    ('ALGORITHM=best mixer', '', 'ALGORITHM is shortq, dpm'),
    ('mixer-chain', '127.0.0.1', 'a port belongs to the host'),
    ('jitterbuffer', '5000 127.0.0.1', 'a port belongs to the host'),
    ('multicast-sender', 'missing.wav', 'no file missing.wav'),
    ('multicast-sender', 'test 239.1.2.3', 'a port belongs to the host'),
    ('multicast-sender', 'test 127.0.0.1:5004', 'no multicast group'),
    ('multicast-sender', 'mix:70000', 'from 1 to 65533, not 70000'),
    ('BITRATE=1 multicast-sender', '', 'BITRATE is a number from 16000'),
    ('TTL=256 multicast-receiver', '', 'TTL is a number from 0'),
    ('multicast-receiver', '127.0.0.1:5004', 'no multicast group'),
    ('multicast-receiver', '239.1.2.3:5004 out.mp3', 'nothing but WAV'),
    ('layered-sender', 'missing.wav', 'no file missing.wav'),
    ('layered-sender', 'test 239.1.2.254:5004', 'no room for 3 layers'),
    ('layered-sender', 'test [ff15::ff]:5004', 'no room for 3 layers'),
    ('layered-sender', 'test 127.0.0.1:5004', 'no multicast group'),
    ('layered-receiver', '239.1.2.0:5004 out.mp3', 'nothing but WAV'),
    ('layered-receiver', '239.1.2.0:5004 fake all', "or talkers, not 'all'"),
    ('layered-receiver', '239.1.2.0:1', 'from 2 to 65527, not 1'),
    ('layered-router', 'lo', 'two interfaces, and the bandwidth'),
    ('layered-router', 'lo nowhere 1000000', 'no interface nowhere'),
    ('layered-router', 'lo lo fast', "BPS is a number, not 'fast'"),
    ('layered-router', 'lo lo 100000 239.1.2.0:5004 9', 'LAYERS is a number'),
    *((f'UTILISATION={text} layered-router', 'lo lo 100000', 'from 0.01 to 1')
      for text in ('2', '0.0', '0.009', '0.9x')),
    ('jitterbuffer', '5000 127.0.0.1:10000 out.wav', 'auto or fake'),
]


def run(command, *arguments, **environment):
    return subprocess.run([str(command), *arguments], capture_output=True,
                          text=True, check=False, timeout=PATIENCE_S,
                          stdin=subprocess.DEVNULL,
                          env={**os.environ, **environment})


def script(text, arguments, **environment):
    """Runs `VARIABLE=VALUE... SCRIPT` of examples/launch."""
    *variables, name = text.split()
    environment.update(v.split('=', 1) for v in variables)
    return run(LAUNCH / f'{name}.sh', *arguments.split(),
               **{'FMX_BUILD': str(BUILD), **environment})


def check_wrong():
    for text, arguments, expected in WRONG:
        done = script(text, arguments)
        if done.returncode != 2 or not re.search(expected, done.stderr) \
                or 'Setting pipeline' in done.stdout:
            yield f'{text} {arguments}: {done}'


def check_help():
    """-h and --help, wherever they stand, print the whole header."""
    programs = [LAUNCH / f'{name}.sh' for name in SCRIPTS]
    programs += [ROOT / 'examples' / f'{name}.sh'
                 for name in ('party', 'multicast', 'voices', 'install-deps')]
    programs += [ROOT / 'tests/run.sh']
    for program in programs:
        for arguments in (['-h'], ['--help'], ['x', '--help']):
            done = run(program, *arguments)
            if done.returncode or f'{program.name}' not in done.stdout \
                    or done.stdout.startswith('#') or done.stderr:
                yield f'{program.name} {arguments}: {done}'


def check_ended(folder):
    """Who shows several programs at work says so when one of them does not work."""
    if not os.environ.get('FMX_SMOKE_NETNS') or not shutil.which('tc'):
        print('no programs in networks of their own here')
        return
    done = run('sh', '-c', f'top={ROOT}; . "$top/examples/prepare.sh"; fmx_in_namespaces "$@"',
               'sh', str(ROOT / 'examples/python/multicast.py'), '--seconds', '2', '--out',
               f'{folder}/group', PYTHON=sys.executable, FMX_BUILD='/nowhere', GST_PLUGIN_PATH='',
               GST_REGISTRY=f'{folder}/registry')
    if done.returncode != 1 or 'ended' not in done.stderr \
            or 'meson setup build' not in done.stderr:
        yield f'multicast.py with programs that end: {done}'


def check_default():
    """The help of mixer.sh names the algorithms and the default of tfrcrate."""
    text = run('gst-inspect-1.0', 'tfrcrate').stdout
    text = text[text.index('  algorithm '):]
    values = dict(re.findall(r'^ +\(\d\): ([\w-]+) +- (.+?) *$',
                             text[:text.index('  alpha ')], re.M))
    names = [n for n, about in values.items() if about not in values]   # aliases
    default = re.search(r'Default: \d+, "(\w+)"', text)[1]
    said = re.search(r'ALGORITHM=([\w|-]+) \((\w+)\)', script('mixer', '-h').stdout)
    if set(said[1].split('|')) != set(names) or said[2] != default:
        yield f'mixer.sh --help: {said[0]}, tfrcrate: {names}, {default}'


def check_unbuilt(folder):
    """Without a build each script says how to build; without GStreamer how to
    install it."""
    no_plugins = {'FMX_BUILD': f'{folder}/build', 'GST_PLUGIN_PATH': folder,
                  'GST_PLUGIN_PATH_1_0': '', 'GST_REGISTRY': f'{folder}/registry'}
    for name in SCRIPTS[:1] + SCRIPTS[3:5]:
        done = script(name, '', **no_plugins)
        if done.returncode != 2 or done.stderr.count('meson setup build') != 1:
            yield f'{name} in an unbuilt clone: {done}'
    asked = pathlib.Path(folder, 'asked')
    asked.mkdir()
    for tool in ('sh', 'dirname', 'env', 'grep', 'sed', 'mkdir', 'cat', 'rm', 'id', 'sort', 'tr'):
        (asked / tool).symlink_to(shutil.which(tool))
    (asked / 'meson').write_text('#!/bin/sh\necho meson was asked; exit 1\n')
    (asked / 'meson').chmod(0o755)
    for name in ('party', 'meet', 'web', 'layers', 'multicast'):
        done = run(ROOT / f'examples/{name}.sh', PATH=str(asked), PYTHON=sys.executable,
                   FMX_BUILD=f'{folder}/{name}')
        if done.returncode != 1 or 'meson was asked' not in done.stderr:
            yield f'{name}.sh in an unbuilt clone: {done}'
    tools = pathlib.Path(folder, 'bin')
    tools.mkdir()
    for tool in ('bash', 'dirname', 'grep', 'getent', 'cut', 'head'):
        (tools / tool).symlink_to(shutil.which(tool))
    done = script('sender', '', PATH=str(tools))
    if done.returncode != 2 or 'install-deps.sh build run' not in done.stderr:
        yield f'without gst-launch-1.0: {done}'


def check_options():
    """What no program knows is refused before anything is installed or built."""
    for name in ('party', 'meet', 'web', 'layers', 'multicast', 'voices'):
        for option in ('--nonsense', '-X'):
            done = run(ROOT / f'examples/{name}.sh', option)
            if done.returncode != 2 or done.stdout \
                    or f'there is no option {option}' not in done.stderr:
                yield f'{name}.sh {option}: {done}'
    done = run(ROOT / 'examples/install-deps.sh', '--list', 'run', 'games')
    if done.returncode != 2 or 'unknown package group games' not in done.stderr:
        yield f'install-deps.sh games: {done}'


def check_packages(folder):
    """Whose package is missing says which; ping.py says what is wrong of a name."""
    fakes = pathlib.Path(folder, 'python')
    fakes.mkdir()
    (fakes / 'prometheus_client.py').write_text('raise ImportError')
    (fakes / 'gi.py').write_text('def require_version(name, version):\n'
                                 '    if name == "GstWebRTC":\n'
                                 '        raise ValueError(name)\n')
    for program, arguments, status, said in (
            ('service/node.py', [], 1, 'python3-prometheus-client'),
            ('python/webrtc.py', [], 1, 'gir1.2-gst-plugins-bad-1.0'),
            ('service/ping.py', ['a..b'], 2, 'a..b:5004: '),
            ('service/ping.py', ['127.0.0.1', '70000'], 2, 'no such port'),
            ('service/ping.py', ['-h'], 0, r'HOST \[PORT\]')):
        done = python_or_not(ROOT / 'examples' / program, *arguments,
                             PYTHONPATH=str(fakes))
        if done.returncode != status or 'Traceback' in done.stderr \
                or not re.search(said, done.stdout + done.stderr):
            yield f'{program} {arguments}: {done}'
    tools = pathlib.Path(folder, 'no-ffmpeg')
    tools.mkdir()
    for tool in ('sh', 'dirname', 'env'):
        (tools / tool).symlink_to(shutil.which(tool))
    done = run(ROOT / 'examples/voices.sh', f'{folder}/voices', PATH=str(tools))
    if done.returncode != 1 or 'install-deps.sh party' not in done.stderr:
        yield f'voices.sh without ffmpeg: {done}'


# (program of examples/, its arguments, the line that says what is wrong)
WRONG_OF_PROGRAMS = [
    ('python/link.py', 'a 10 9000 20000:127.0.0.1:6000', 'KBITS'),
    ('python/link.py', '0 10 9000 20000:127.0.0.1:6000', 'KBITS'),
    ('python/link.py', '9 -1 9000 20000:127.0.0.1:6000', 'DELAY_MS'),
    ('python/link.py', '9 10 9000 20000', 'BLOCK:HOST:BLOCK'),
    ('python/link.py', '9 10 9000 20000:127.0.0.1:65534', 'BLOCK:HOST:BLOCK'),
    ('python/link.py', '9 10 9000 20000:nobody.invalid:6000', 'nobody.invalid'),
    ('python/link.py', f'9 10 9000 {USED}:127.0.0.1:6000', f'{USED}'),
    ('python/heard.py', 'missing.wav missing.wav', 'missing.wav'),
    ('python/heard.py', f'{ROOT}/README.md missing.wav', 'README.md'),
    ('python/embed.py', 'x', 'SECONDS'),
    ('python/embed.py', '-1', 'SECONDS'),
    ('python/webrtc.py', 'x', 'SECONDS'),
    ('python/telehaptic.py', 'scene 5100 localhost', 'HOST:PORT'),
    ('python/telehaptic.py', 'device 5100 localhost:x', 'HOST:PORT'),
    ('python/telehaptic.py', 'device 70000 localhost:5000', 'PORT'),
    ('python/telehaptic.py', '--delay -1', 'delay'),
    ('python/telehaptic.py', '--seconds nan', 'seconds'),
    ('service/ping.py', '255.255.255.255', '255.255.255.255:5004: '),
]


def check_wrong_of_programs():
    """A sentence says what is wrong, and no traceback."""
    for name, arguments, expected in WRONG_OF_PROGRAMS:
        done = python_or_not(ROOT / 'examples' / name, *arguments.split())
        if done.returncode not in (1, 2) or 'Traceback' in done.stderr \
                or expected not in done.stderr:
            yield f'{name} {arguments}: {done}'


def check_programs(folder):
    """The programs say in a sentence that an element or a number is missing."""
    programs = [BUILD / 'examples/embed', BUILD / 'examples/jitterbuffer',
                ROOT / 'examples/python/embed.py']
    if importlib.util.find_spec('prometheus_client'):
        programs += [ROOT / 'examples/service/node.py']
    nothing = {'GST_PLUGIN_PATH': folder, 'GST_REGISTRY': f'{folder}/registry',
               'GST_PLUGIN_PATH_1_0': ''}
    for program in programs:
        if not program.exists():        # -Dexamples=disabled
            continue
        done = python_or_not(program, **nothing)
        if done.returncode != 1 or 'meson devenv' not in done.stderr \
                or 'Traceback' in done.stderr:
            yield f'{program.name} without plugins: {done}'
        if program.suffix != '.py':
            done = run(program, 'x')
            if done.returncode != 2 or 'usage' not in done.stderr:
                yield f'{program.name} x: {done}'
    yield from check_ends()
    yield from check_path(folder)
    yield from check_broken()


def check_broken():
    """Who hears of an error on the way ends with one."""
    more = 'import gi, runpy\ngi.require_version("Gst", "1.0")\nfrom gi.repository import Gst\n' \
        'parse = Gst.parse_launch\nGst.parse_launch = lambda line: parse(' \
        'f"{line} filesrc location=/no/file ! fakesink")\n' \
        f'runpy.run_path("{ROOT}/examples/python/embed.py", run_name="__main__")'
    done = run(sys.executable, '-c', more)
    if done.returncode != 1 or 'Traceback' in done.stderr:
        yield f'embed.py in which something breaks: {done}'


def check_path(folder):
    """Who has other plugins of his own has those that he built, too; and who says where ours
    are has those."""
    tools = pathlib.Path(folder, 'paths')
    tools.mkdir()
    for tool, does in (('gst-launch-1.0', 'echo "$GST_PLUGIN_PATH"'), ('gst-inspect-1.0', ':')):
        (tools / tool).write_text(f'#!/bin/sh\n{does}\n')
        (tools / tool).chmod(0o755)
    built, path = f'{BUILD}/gst/fairrate', f'{tools}:{os.environ["PATH"]}'
    for theirs, wanted in ((folder, True), ('', True), (f'{folder}:{tools}', False)):
        said = script('sender', '', PATH=path, GST_PLUGIN_PATH=theirs).stdout
        if (built in said) != wanted or theirs not in said:
            yield f'sender.sh where GST_PLUGIN_PATH is "{theirs}" looks in {said}'
        (tools / 'libgstdpm.so').touch()


def check_ends():
    """Two ends that cannot meet do not go on as if they could."""
    if not (BUILD / 'gst/fairqueue').is_dir():
        return
    positions = 5100            # of both ends here
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as somebody:
        somebody.bind(('', positions))
        for arguments, status, said in (
                ([], 1, 'in use[^$]*the scene has ended'),
                (['device', str(USED), '127.0.0.1:5100'], 1, 'in use'),
                (['scene', '70000', '127.0.0.1:5102'], 2, "invalid .*'70000'"),
                *((['scene', '5104', peer], 2, f"invalid .*'{peer}'")
                  for peer in ('nobody', 'nobody:0'))):
            done = python_or_not(ROOT / 'examples/python/telehaptic.py', *arguments)
            if done.returncode != status or 'Traceback' in done.stderr \
                    or not re.search(said, done.stderr):
                yield f'telehaptic.py {arguments}: {done}'


def check_pythons():
    """What GStreamer and numpy are installed for is Debian's Python, whichever
    stands first in PATH."""
    needs = re.compile(r'^\s*(?:import|from) (?:gi|numpy|matplotlib|cairo)\b', re.M)
    for folder in ('examples', 'tests', 'docs'):
        for path in (ROOT / folder).rglob('*.py'):
            text = path.read_text(encoding='utf-8')
            if text.startswith('#!/usr/bin/env') and needs.search(text):
                yield f'{path}: #!/usr/bin/env may find a Python without gi'


def check_names(folder):
    """Files and people may be called anything."""
    tools = pathlib.Path(folder, 'parser')
    tools.mkdir()
    parser = tools / 'gst-launch-1.0'
    parser.write_text(f'#!/bin/sh\nexec {sys.executable} '
                      f'{pathlib.Path(__file__).with_name("as_parsed.py").resolve()} "$@"\n')
    parser.chmod(0o755)
    path = {'PATH': f'{tools}:{os.environ["PATH"]}', 'FMX_BUILD': str(BUILD)}
    for name in ('a b', 'a"b\\', "a' ! b", 'a,b=(int)1'):
        file = pathlib.Path(folder, name + '.wav')
        file.touch()
        for program, arguments, more in (
                ('sender', [str(file)], {'NAME': name}),
                ('receiver', ['5000', '127.0.0.1:10000', str(file)], {'DATABASE': str(file)}),
                ('mixer', [], {'DATABASE': str(file)})):
            done = run(LAUNCH / f'{program}.sh', *arguments, **path, **more)
            wanted = {*more.values(), *(a for a in arguments if a.endswith('.wav'))}
            if not wanted <= set(done.stdout.split('\0')):
                yield f'{program}.sh with {name}: {done}'


def processes_of(session):
    found = subprocess.run(['ps', '-o', 'pid=,args=', '-s', str(session)], text=True,
                           capture_output=True, check=False).stdout.splitlines()
    return [line for line in found if not line.endswith('<defunct>')]


def end_of_chain(tools, **more):
    """What is wrong, or left, after a chain was told to end, by @more or else here: then
    while a mixer waits for a program."""
    hold = tools / 'hold'
    if not more:
        hold.touch()
    chain = subprocess.Popen(
        [LAUNCH / 'mixer-chain.sh'], start_new_session=True, stdout=subprocess.DEVNULL,
        env={**os.environ, 'PATH': f'{tools}:{os.environ["PATH"]}', 'FMX_BUILD': str(BUILD),
             **more})
    while not more and chain.poll() is None and not all(
            any(program in line for line in processes_of(chain.pid))
            for program in ('/mixer.sh', '/gst-inspect-1.0')):
        time.sleep(0.01)
    if not more:
        chain.terminate()
        hold.unlink()
    try:
        chain.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        yield 'mixer-chain.sh does not end'
    # what ends by itself, as a program does that was being asked for, may do so
    until = time.monotonic() + PATIENCE_S / 6
    while (left := processes_of(chain.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    if left:
        yield f'mixer-chain.sh has left {left}'
    for line in left:
        os.kill(int(line.split()[0]), signal.SIGKILL)


def check_end(folder):
    """Who ends a chain before its mixers play ends all of it, also right after one of them
    began, or while they wait for a program that takes its own time."""
    tools = pathlib.Path(folder, 'slow')
    tools.mkdir()
    for tool, does in (('gst-inspect-1.0', 'trap "" INT\nsleep 0.5\n'
                        f'while [ -e {tools}/hold ] && grep -qs /mixer.sh /proc/$PPID/cmdline\n'
                        'do sleep 0.05\ndone'),
                       ('gst-launch-1.0', 'exec sleep 60')):
        (tools / tool).write_text(f'#!/bin/sh\n{does}\n')
        (tools / tool).chmod(0o755)
    yield from end_of_chain(tools)
    began = pathlib.Path(folder, 'began')
    began.write_text("""trap '[ -z "$!" ] || { trap - DEBUG; kill $$; }' DEBUG\n""")
    yield from end_of_chain(tools, BASH_ENV=str(began))


def check_interrupted(folder):
    """Who is told to end, alone of those that he started, ends them, too."""
    tools, made = pathlib.Path(folder, 'lasting'), pathlib.Path(folder, 'some voices')
    for place in tools, made:
        place.mkdir()
    (tools / 'gst-launch-1.0').write_text('#!/bin/sh\nexec sleep 600\n')
    (tools / 'gst-launch-1.0').chmod(0o755)
    for n in range(6):
        voices.write(made / f'{n}-voice{n}.wav', voices.talk(n, 14))
    of_voices = ['--voices', str(made), '--out', str(made)]
    for name, arguments, wanted, n_wanted, signum in (
            ('meet', of_voices, 'sleep 600', 7, signal.SIGINT),
            ('meet', of_voices, 'sleep 600', 7, signal.SIGTERM),
            ('party', [*of_voices, '--seconds', '10'], 'sleep 600', 9, signal.SIGTERM),
            ('telehaptic', [], 'telehaptic.py scene', 1, signal.SIGTERM)):
        log = made / 'log'
        program = subprocess.Popen(
            [sys.executable, ROOT / f'examples/python/{name}.py', *arguments],
            start_new_session=True, stdout=log.open('w'), stderr=subprocess.STDOUT,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            env={**os.environ, 'PATH': f'{tools}:{os.environ["PATH"]}',
                 'FMX_BUILD': str(BUILD)})
        end = time.monotonic() + PATIENCE_S
        while program.poll() is None and time.monotonic() < end and sum(
                wanted in line for line in processes_of(program.pid)) < n_wanted:
            time.sleep(0.01)
        program.send_signal(signum)
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(PATIENCE_S)
        left, said = processes_of(program.pid), log.read_text('utf-8')
        if left or 'Traceback' in said:
            yield f'{name}.py, told to end by {signum}, left {left}, and said {said}'
        for line in left:
            os.kill(int(line.split()[0]), signal.SIGKILL)


def check_half_a_voice(folder):
    """Control-C leaves nothing behind of what voices.sh was making."""
    tools, made, rest = (pathlib.Path(folder, 'half', n) for n in ('bin', 'voices', 'rest'))
    for place in tools, rest:
        place.mkdir(parents=True)
    for tool, does in (('find', 'echo 1 recording'), ('ffmpeg', 'kill -INT $PPID')):
        (tools / tool).write_text(f'#!/bin/sh\n{does}\n')
        (tools / tool).chmod(0o755)
    done = run(ROOT / 'examples/voices.sh', str(made), TMPDIR=str(rest),
               PATH=f'{tools}:{os.environ["PATH"]}')
    left = [*made.iterdir(), *rest.iterdir()]
    if left or not done.returncode:
        yield f'voices.sh, interrupted, left {left}: {done}'


def python_or_not(program, *arguments, **environment):
    """Runs it; a Python program with the Python that runs this."""
    command = [sys.executable, program] if program.suffix == '.py' else [program]
    return run(*map(str, command), *arguments, **environment)


def main():
    smoke.own_network()
    os.environ.update({
        'GST_PLUGIN_PATH': ':'.join(
            str(p) for p in (BUILD / 'gst').iterdir() if p.is_dir()),
        'GST_REGISTRY': str(BUILD / 'registry.bin')})
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chdir(folder)
        somebody = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        somebody.bind(('', USED))
        bad = [*check_wrong(), *check_help(), *check_default(),
               *check_unbuilt(folder), *check_ended(folder), *check_programs(folder), *check_wrong_of_programs(),
               *check_options(), *check_packages(folder), *check_names(folder),
               *check_end(folder), *check_interrupted(folder),
               *check_half_a_voice(folder),
               *check_pythons()]
    print('\n'.join(bad) or f'{len(WRONG)} wrong arguments, all said')
    sys.exit(bool(bad))


if __name__ == '__main__':
    main()
