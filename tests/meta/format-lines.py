#!/usr/bin/env python3
"""Prints a file as another program formatted it, but for what was committed so.

usage: format-lines.py FILE FORMATTED REVISION

Where no line of FILE has changed since REVISION its layout stays: it may have been set
by hand.  Without Git, or for a file that is new, all is as in FORMATTED.
"""
import difflib
import os
import re
import subprocess
import sys


def changed_lines(path, revision):
    """Numbers, from 0, of the lines that are not as in the revision; None: all of them."""
    git = ['git', 'diff', '--no-color', '--no-ext-diff', '-U0', revision, '--', path]
    known = ['git', 'cat-file', '-e', f'{revision}:./{os.path.relpath(path)}']
    try:
        if subprocess.run(known, stderr=subprocess.DEVNULL).returncode != 0:
            return None
        diff = subprocess.run(git, stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    changed = set()
    for start, n in re.findall(r'^@@ \S+ \+(\d+)(?:,(\d+))? @@', diff, re.M):
        # what stands on both sides of lines that have gone is next to a change
        first, n = (int(start) - 1, int(n or 1)) if n != '0' else (int(start) - 1, 2)
        changed.update(range(first, first + n))
    return changed


def merge(old, new, changed):
    """The lines of `new` for changed ones of `old`, and else those of `old`"""
    lines = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(
            None, old, new, autojunk=False).get_opcodes():
        is_new = changed is None or any(i in changed for i in range(i1, max(i2, i1 + 1)))
        lines += new[j1:j2] if tag != 'equal' and is_new else old[i1:i2]
    return lines


def read_lines(path):
    with open(path, encoding='utf-8') as file:
        return file.readlines()


def main(path, formatted, revision):
    sys.stdout.reconfigure(encoding='utf-8')
    sys.stdout.writelines(merge(
        read_lines(path), read_lines(formatted), changed_lines(path, revision)))


if __name__ == '__main__':
    main(*sys.argv[1:])
