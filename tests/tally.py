#!/usr/bin/env python3
"""Count the single test cases of several `meson test` runs.

usage: tally.py LABEL=TESTLOG.json...

Reads meson's testlog.json files and prints a table per run and suite, what
failed and what was skipped, and as its last line

    N passed, N failed[, N skipped]

A cmocka program counts by its TAP lines, a gst-check program by its "Checks:"
line, a Python unittest by its "Ran N tests", anything else as one.  A program
that did not end well always counts at least one failure, a run without a log or
without a test counts as one.  The exit status is 0 only if nothing failed and
something ran.
"""
import json
import pathlib
import re
import sys
from typing import NamedTuple

TAP_CASE = re.compile(r'^\s*(not ok|ok)\b(?P<rest>.*)$', re.M)
TAP_PLAN = re.compile(r'^\s*1\.\.(\d+)', re.M)
TAP_SKIP = re.compile(r'#\s*skip', re.I)
CHECKS = re.compile(r'Checks: (\d+), Failures: (\d+), Errors: (\d+)')
UNITTEST = re.compile(r'^Ran (\d+) tests? in ', re.M)
UNITTEST_END = re.compile(r'\b(failures|errors|skipped)=(\d+)')
LAST_WORDS = 20         # lines
GOOD = {'OK', 'EXPECTEDFAIL'}


class Count(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(*(a + b for a, b in zip(self, other)))

    def __str__(self):
        text = f'{self.passed} passed, {self.failed} failed'
        return text + (f', {self.skipped} skipped' if self.skipped else '')


def count_cases(stdout):
    """The cases that a test program reports, None if it reports none."""
    checks = CHECKS.findall(stdout)
    if checks:
        total, failures, errors = (sum(int(row[i]) for row in checks)
                                   for i in range(3))
        return Count(total - failures - errors, failures + errors)
    ran = UNITTEST.findall(stdout)
    if ran:
        end = {'failures': 0, 'errors': 0, 'skipped': 0}
        for word, number in UNITTEST_END.findall(stdout):
            end[word] += int(number)
        failed = end['failures'] + end['errors']
        return Count(sum(map(int, ran)) - failed - end['skipped'], failed,
                     end['skipped'])
    cases = TAP_CASE.findall(stdout)
    plan = sum(int(n) for n in TAP_PLAN.findall(stdout))
    if not cases and not plan:
        return None
    failed = sum(word == 'not ok' for word, _ in cases)
    skipped = sum(word == 'ok' and bool(TAP_SKIP.search(rest))
                  for word, rest in cases)
    passed = len(cases) - failed - skipped
    return Count(passed, failed + max(0, plan - len(cases)), skipped)


def count_program(entry):
    result = entry['result']
    said = '\n'.join(entry.get(stream) or '' for stream in ('stdout', 'stderr'))
    if result == 'SKIP':
        return Count(skipped=1)
    count = count_cases(said)
    if result in GOOD:
        return count or Count(passed=1)
    count = count or Count()
    return count if count.failed else count + Count(failed=1)


def suite(entry):
    """'elements' of meson's test name 'gst-fairmix:elements / partialmix'."""
    found = re.match(r'[^:]*:([^ ]*) / ', entry['name'])
    return found[1] if found else 'others'


def read(path):
    try:
        lines = pathlib.Path(path).read_text(encoding='utf-8').splitlines()
    except OSError:
        return []
    return [json.loads(line) for line in lines if line.strip()]


def last_words(entry):
    """The end of what it printed, for who sees nothing but the table."""
    said = '\n'.join(entry.get(stream) or '' for stream in ('stdout', 'stderr'))
    return said.strip().splitlines()[-LAST_WORDS:]


def tally(label, entries, out):
    """Prints the rows of one run and returns its sum."""
    if not entries:
        print(f'  {label:<26} nothing ran', file=out)
        return Count(failed=1)
    rows = {}
    for entry in entries:
        count = count_program(entry)
        name = suite(entry)
        rows[name] = rows.get(name, Count()) + count
        if count.failed:
            print(f'  FAILED  {label}: {entry["name"]} '
                  f'({entry["result"].lower()})', file=out)
            for line in last_words(entry):
                print(f'    | {line}', file=out)
        if count.skipped:
            said = last_words(entry) or ['']
            print(f'  SKIPPED {label}: {entry["name"]}: {said[-1]}', file=out)
    for name, count in sorted(rows.items()):
        print(f'  {label + ": " + name:<26} {count}', file=out)
    return sum(rows.values(), Count())


def main(arguments, out=sys.stdout):
    total = Count()
    for argument in arguments:
        label, path = argument.split('=', 1)
        total += tally(label, read(path), out)
    print(total, file=out)
    return 0 if total.passed and not total.failed else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
