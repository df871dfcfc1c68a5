# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runner `uml`: the real pipelines and the kernel's TCP, in virtual time.

A private Linux with time travel (uml/build.sh makes it): computing takes no
time there, and waiting takes none here, so a run does not depend on how busy
this machine is.  With its seed the same run gives the same tables, bit by bit.
"""
import os
import pathlib
import shutil
import subprocess

from lab import graphs, group, guest, listen, network
from lab.runner import Unavailable

HERE = pathlib.Path(__file__).resolve().parent.parent / 'uml'
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME')
                     or pathlib.Path.home() / '.cache') / 'gst-fairmix' / 'uml'
START_NS = 10 ** 18             # the guest's clock begins here: 2001-09-09


def kernel():
    name = subprocess.run([HERE / 'name.sh'], capture_output=True, text=True,
                          check=True).stdout.strip()
    path = CACHE / name
    if not path.exists():
        raise Unavailable(
            'the private kernel is missing; make it (2 to 5 minutes, once) '
            f'with\n  {os.path.relpath(HERE / "build.sh")}')
    return path


def check(build):
    kernel()
    if not shutil.which('tc') or not shutil.which('ip'):
        raise Unavailable('ip and tc are missing: apt-get install iproute2')
    if not (tools(build) / 'netlog').exists():
        raise Unavailable(f'{tools(build)}/netlog is missing: build first '
                          '(meson configure build -Dtests=enabled; '
                          'meson compile -C build)')


refuses = group.refuses


def tools(build):
    return pathlib.Path(build).resolve() / 'tests' / 'experiments' / 'net'


def registry(build):
    """A GStreamer registry of the host's, for read-only guests."""
    path = pathlib.Path(build).resolve() / 'experiments-registry.bin'
    env = dict(os.environ, GST_REGISTRY=str(path),
               GST_PLUGIN_PATH=plugin_path(build))
    subprocess.run(['gst-inspect-1.0', 'fakesink'], env=env, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def plugin_path(build):
    return ':'.join(str(p) for p in
                    sorted((pathlib.Path(build).resolve() / 'gst').glob('*/'))
                    if p.is_dir())


def prepare(run, folder, build, bundle=graphs.bundle):
    """Writes what the run needs; returns (command, environment)."""
    net = network.Network(run)
    (folder / 'job.sh').write_text(guest.job(net, tools(build), bundle),
                                   encoding='utf-8')
    listen.prepare(run, folder, build)
    for name, text in guest.databases(net).items():
        (folder / name).write_text(text, encoding='utf-8')
    (folder / 'environment').write_text(
        f'export GST_REGISTRY={registry(build)} GST_REGISTRY_UPDATE=no '
        'GST_REGISTRY_FORK=no\n'
        f'export GST_PLUGIN_PATH={plugin_path(build)}\n', encoding='utf-8')
    env = {'PATH': os.environ['PATH'], 'TMPDIR': '/dev/shm',
           'HOME': str(folder), 'UML_SEED': str(run.seed)}
    # Nothing here may differ between two runs of the same seed: the kernel
    # stirs its command line into its random numbers.
    command = [str(kernel()), 'mem=1G', 'root=/dev/root', 'rootfstype=hostfs',
               'rootflags=/', 'ro', 'con=null', 'con0=null,null', 'quiet',
               'umid=uml', 'uml_dir=.', 'time-travel=inf-cpu',
               f'time-travel-start={START_NS}',
               f'init={HERE / "guest-init.sh"}']
    return command, env


def finish(folder):
    """None, or why the run counts for nothing."""
    rc = folder / 'rc'
    if not rc.exists():
        return 'the guest did not come to its end'
    if rc.read_text(encoding='ascii').strip() != '0':
        text = (folder / 'stderr').read_text(encoding='utf-8', errors='replace')
        return f'the job failed: {text.strip()[-400:]}'
    guest.join_senders(folder)
    return None


def versions():
    return {'kernel': kernel().name, 'linux': '6.1 (Debian, user mode)'}
