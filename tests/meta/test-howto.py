#!/usr/bin/env python3
"""docs/howto/add-a-rate-controller.md works as it is written.

usage: test-howto.py SOURCE-ROOT BUILD-ROOT

Carries out its steps in a copy of the library, compiles that and the page's
test, and runs the test.  CC: the compiler, with its options.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

LIB = 'subprojects/fairmix/'
CLAIM = 'test_has_half_of_the_equation'
MODULES = ('base', 'wire', 'rtt', 'loss', 'topology', 'rate')
FILE = re.compile(r'`(subprojects/fairmix/[\w/.-]+\.[ch])`')
ROW = re.compile(r'^\| `([\w.-]+)` \| `(.+?)` \| `(.+?)` \|$', re.M)


def written(page):
    """(file, text) for each block of C, named by the last file before it."""
    name = None
    for part in re.split(r'^(```c\n.*?^```)$', page, flags=re.M | re.S):
        if part.startswith('```c\n'):
            yield name, part[5:-3]
        else:
            name = (FILE.findall(part) or [name])[-1]


def listed(page, rate):
    for name, after, line in ROW.findall(page):
        path = rate / name
        text = path.read_text(encoding='utf-8')
        assert text.count(after + '\n') == 1, f'{name}: not one "{after}"'
        path.write_text(text.replace(after + '\n', f'{after}\n{line}\n'),
                        encoding='utf-8')
        yield name


def main():
    source, build = map(pathlib.Path, sys.argv[1:])
    page = (source / 'docs/howto/add-a-rate-controller.md').read_text(encoding='utf-8')
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for part in ('fairmix', 'tests'):
            shutil.copytree(source / LIB / part, copy / LIB / part)
        files = [name for name, text in written(page)
                 if (copy / name).write_text(text, encoding='utf-8')]
        assert len(files) == 3, files
        assert len(list(listed(page, copy / LIB / 'fairmix/rate'))) == 6
        sources = [str(f) for m in MODULES
                   for f in sorted((copy / LIB / 'fairmix' / m).glob('*.c'))]
        test = [str(copy / name) for name in files if '/test-' in name]
        program = copy / 'test'
        subprocess.run([*shlex.split(os.environ.get('CC', 'cc')), '-std=c11', '-Wall',
                        '-Werror', f'-I{copy / LIB}', f'-I{copy / LIB / "tests"}',
                        f'-I{build / LIB}', *sources, *test, '-lcmocka', '-lm', '-o',
                        str(program)], check=True)
        ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
        print(ran.stdout, ran.stderr)
        return ran.returncode or CLAIM not in ran.stdout + ran.stderr


sys.exit(main())
