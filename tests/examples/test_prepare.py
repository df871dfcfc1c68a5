#!/usr/bin/env python3
"""What the scripts of the examples have in common: packages, build directories."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STANZA = '''Package: {}
Status: install ok {}
Architecture: {}
Multi-Arch: {}
Version: 1
Maintainer: nobody
Description: nothing

'''


def shell(text, *arguments, **environment):
    """Runs @text where prepare.sh was sourced.  Returns: what it prints"""
    return subprocess.run(
        ['sh', '-eu', '-c', f'top={ROOT}; . "$top/examples/prepare.sh"; {text}', 'sh',
         *map(str, arguments)], env={**os.environ, **environment}, check=True,
        stdout=subprocess.PIPE, text=True, timeout=60).stdout


@unittest.skipUnless(shutil.which('dpkg-query'), 'not a Debian system')
class Packages(unittest.TestCase):
    def missing(self, *stanzas):
        """Those of the group `figures`, where dpkg knows of @stanzas"""
        with tempfile.TemporaryDirectory() as folder:
            here = subprocess.run(['dpkg', '--print-architecture'], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.strip()
            pathlib.Path(folder, 'arch').write_text(f'{here}\nother\n')
            pathlib.Path(folder, 'status').write_text(''.join(
                STANZA.format('python3-matplotlib', state, arch or here,
                              'no' if arch == 'all' else 'same')
                for state, arch in stanzas))
            for part in ('info', 'updates'):
                pathlib.Path(folder, part).mkdir()
            return shell('fmx_missing figures', DPKG_ADMINDIR=folder).split()

    def test_what_is_there_for_two_architectures_is_there(self):
        self.assertEqual(self.missing(('installed', ''), ('installed', 'other')), [])
        self.assertEqual(self.missing(('installed', ''), ('config-files', 'other')), [])
        self.assertEqual(self.missing(('installed', 'all')), [])

    def test_what_is_not_there_for_this_one_is_missing(self):
        name = ['python3-matplotlib']
        self.assertEqual(self.missing(), name)
        self.assertEqual(self.missing(('config-files', '')), name)
        self.assertEqual(self.missing(('installed', 'other')), name)


@unittest.skipUnless(shutil.which('meson') and shutil.which('ninja'), 'no meson here')
class Builds(unittest.TestCase):
    def test_a_setup_that_was_interrupted_is_done_again(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'meson.build').write_text("project('nothing')\n")
            build = pathlib.Path(folder, 'build')
            shell('fmx_build "$@"', build, folder)
            # of what meson writes, all but the last, by which it is used
            (build / 'build.ninja').unlink()
            shell('fmx_build "$@"', build, folder)
            self.assertTrue((build / 'build.ninja').exists())


LASTS = """import os, subprocess, sys
assert os.getpid() == 1
try:
    print('here', flush=True)
    sys.exit(subprocess.call(sys.argv[1:]))
except KeyboardInterrupt:
    sys.exit(130)
"""


def has_namespaces():
    return all(map(shutil.which, ('ip', 'tc', 'unshare', 'gst-launch-1.0'))) and \
        subprocess.run(['unshare', '--user', '--map-root-user', '--net', '--mount', 'true'],
                       check=False, capture_output=True).returncode == 0


@unittest.skipUnless(has_namespaces(), 'nobody may make networks here')
class Namespaces(unittest.TestCase):
    def begin(self, *command):
        """Starts a program in there that runs @command"""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = pathlib.Path(folder.name, 'lasts.py')
        program.write_text(LASTS)
        shell_in = subprocess.Popen(
            ['sh', '-eu', '-c', f'top={ROOT}; . "$top/examples/prepare.sh"; '
             'fmx_in_namespaces "$@"', 'sh', str(program), *command],
            stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(shell_in.stdout.close)
        self.addCleanup(lambda: shell_in.poll() is None and os.killpg(shell_in.pid, signal.SIGKILL))
        self.assertEqual(shell_in.stdout.readline(), 'here\n')
        return shell_in

    def test_who_is_told_to_end_ends_all_in_there(self):
        told = self.begin('sleep', '600')
        told.send_signal(signal.SIGTERM)
        told.communicate(timeout=60)    # until nobody has its output any more
        self.assertEqual(told.returncode, 143)

    def test_control_c_is_for_the_program(self):
        told = self.begin('sleep', '600')
        os.killpg(told.pid, signal.SIGINT)
        told.communicate(timeout=60)
        self.assertEqual(told.returncode, 130)

    def test_it_ends_as_the_program_did(self):
        ends = self.begin('sh', '-c', 'exit 7')
        ends.communicate(timeout=60)
        self.assertEqual(ends.returncode, 7)


if __name__ == '__main__':
    unittest.main()
