#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The real-time runner leaves nothing behind, however it ends.

usage: test-netns.py BUILD; exit status 77 where one may not make namespaces
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
from lab import netns, runner  # noqa: E402

BUILD = None
PATIENCE_S = 60                 # a busy machine's
SCENARIO = """
title = "two talkers and TCP"
duration_s = {duration_s}
[link.wan]
rate_bps = 635_000
delay_ms = 70
queue_bytes = 75_000
[flow.audio]
kind = "bundle"
streams = 2
[flow.tcp]
kind = "tcp"
"""


def processes_about(folder):
    """Command lines of processes that work in a folder or were told of it."""
    found = []
    for proc in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            line = (proc / 'cmdline').read_bytes()
            where = os.readlink(proc / 'cwd')
        except OSError:
            continue
        if folder.encode() in line or where.startswith(folder):
            found.append(line.replace(b'\0', b' ').decode())
    return found


def namespaces(prefix=''):
    folder = pathlib.Path('/run/netns')
    return [p.name for p in folder.glob(f'fx{prefix}*')] \
        if folder.exists() else []


class NetnsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.before = set(namespaces())

    def tearDown(self):
        self.folder.cleanup()

    def start(self, duration_s):
        path = pathlib.Path(self.folder.name) / 'two.toml'
        path.write_text(SCENARIO.format(duration_s=duration_s),
                        encoding='utf-8')
        return subprocess.Popen(
            [sys.executable, HERE / 'run.py', path, '--runner', 'netns',
             '--build', BUILD, '--out', self.folder.name],
            stderr=subprocess.DEVNULL, start_new_session=True)

    def wait_for(self, what, otherwise=lambda: 'nothing happened'):
        limit = time.monotonic() + PATIENCE_S
        while not what():
            self.assertLess(time.monotonic(), limit, otherwise())
            time.sleep(0.05)

    def rows(self):
        files = list(pathlib.Path(self.folder.name).glob('**/flows.csv'))
        return files[0].read_text('ascii').count('\n') if files else 0

    def assert_nothing_is_left(self):
        """Whoever was killed needs a turn until he is gone."""
        def left():
            return [*self.made(), *processes_about(self.folder.name)]

        self.wait_for(lambda: not left(), lambda: f'it left {left()}')

    def test_a_run_gives_tables_and_leaves_nothing(self):
        self.assertEqual(self.start(3).wait(PATIENCE_S), 0)
        self.assertGreater(self.rows(), 30)
        self.assert_nothing_is_left()

    def made(self):
        return set(namespaces()) - self.before

    def interrupt(self, number, when=lambda self: self.rows() > 10):
        run = self.start(600)
        self.wait_for(lambda: when(self))
        self.assertNotEqual(self.made(), set())
        run.send_signal(number)
        self.assertEqual(run.wait(PATIENCE_S), 130)
        self.assert_nothing_is_left()

    def test_an_interrupt_leaves_nothing(self):
        self.interrupt(signal.SIGINT)

    def test_being_ended_leaves_nothing(self):
        self.interrupt(signal.SIGTERM)

    def test_a_hang_up_leaves_nothing(self):
        self.interrupt(signal.SIGHUP)

    def test_an_end_while_it_begins_leaves_nothing(self):
        self.interrupt(signal.SIGTERM, NetnsTest.made)


if __name__ == '__main__':
    BUILD = runner.build_to_test(netns.check)
    unittest.main()
