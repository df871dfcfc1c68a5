#!/usr/bin/env python3
"""tests/tally.py counts what test programs report, and never too kindly."""
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest

TALLY = pathlib.Path(__file__).resolve().parents[1] / 'tally.py'
spec = importlib.util.spec_from_file_location('tally', TALLY)
tally = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tally)


def entry(stdout='', result='OK', suite='gst-fairmix:elements'):
    return {'name': 'x', 'stdout': stdout, 'result': result, 'suite': [suite]}


class Tally(unittest.TestCase):
    def count(self, *args, **kwargs):
        return tuple(tally.count_program(entry(*args, **kwargs)))

    def test_a_plain_program_counts_one(self):
        self.assertEqual(self.count('hello\n'), (1, 0, 0))
        self.assertEqual(self.count('hello\n', 'FAIL'), (0, 1, 0))

    def test_tap_lines_count_each(self):
        self.assertEqual(self.count('1..3\nok 1 - a\nok 2 - b\nok 3 - c\n'),
                         (3, 0, 0))
        self.assertEqual(self.count('1..2\nok 1 - a\nnot ok 2 - b\n', 'FAIL'),
                         (1, 1, 0))

    def test_tap_skips_are_seen(self):
        self.assertEqual(self.count('1..2\nok 1 - a\nok 2 # SKIP no\n'),
                         (1, 0, 1))

    def test_a_program_that_died_in_the_middle_fails_for_the_rest(self):
        self.assertEqual(self.count('1..4\nok 1 - a\n', 'FAIL'), (1, 3, 0))

    def test_gst_check_counts_its_checks(self):
        line = '91%: Checks: 12, Failures: 1, Errors: 0\nfile.c:1: no\n'
        self.assertEqual(self.count(line, 'FAIL'), (11, 1, 0))

    def test_python_unittests_count_each(self):
        text = 'Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)'
        self.assertEqual(self.count(text, 'FAIL'), (2, 2, 1))

    def test_a_timeout_fails_even_if_every_line_was_ok(self):
        self.assertEqual(self.count('ok 1 - a\n', 'TIMEOUT'), (1, 1, 0))

    def test_a_bad_exit_after_good_checks_fails(self):
        line = '100%: Checks: 3, Failures: 0, Errors: 0\n'
        self.assertEqual(self.count(line, 'FAIL'), (3, 1, 0))

    def test_a_skipped_program_is_not_a_pass(self):
        self.assertEqual(self.count('', 'SKIP'), (0, 0, 1))

    def run_main(self, *logs):
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for n, entries in enumerate(logs):
                path = pathlib.Path(folder) / f'{n}.json'
                if entries is not None:
                    path.write_text('\n'.join(map(json.dumps, entries)))
                arguments.append(f'run {n}={path}')
            status = tally.main(arguments, out)
        self.lines = out.getvalue().splitlines()
        return status, self.lines[-1]

    def test_the_last_line_is_the_sum(self):
        self.assertEqual(self.run_main([entry()], [entry(), entry()]),
                         (0, '3 passed, 0 failed'))

    def test_a_run_that_never_was_is_a_failure(self):
        self.assertEqual(self.run_main([entry()], None),
                         (1, '1 passed, 1 failed'))
        self.assertEqual(self.run_main([entry()], []),
                         (1, '1 passed, 1 failed'))

    def test_skips_are_named_in_the_last_line(self):
        self.assertEqual(self.run_main([entry(), entry(result='SKIP')]),
                         (0, '1 passed, 0 failed, 1 skipped'))

    def test_what_failed_has_the_last_words(self):
        said = '\n'.join(f'line {n}' for n in range(1, 40))
        self.run_main([entry(said, 'FAIL'), entry('all is well')])
        quoted = [line for line in self.lines if '|' in line]
        self.assertEqual(len(quoted), tally.LAST_WORDS)
        self.assertEqual(quoted[-1].strip(), '| line 39')


if __name__ == '__main__':
    sys.exit(0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful()
             else 1)
