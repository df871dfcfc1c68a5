#!/usr/bin/env python3
"""`meson dist` makes an archive that is complete.

usage: test-dist.py SOURCE-ROOT BUILD-DIR

The archive holds every file that git knows and no other, and the library in
it, which is a project of its own, configures, its tests included: meson looks
for each source.  (tests/run.sh builds and tests the same files: `alone`.)
Skipped where the sources are no git checkout, or where git does not trust it
because it belongs to somebody else.
"""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

SKIP = 77


def run(*args, **kwargs):
    return subprocess.run([str(a) for a in args], check=True, text=True,
                          capture_output=True, **kwargs).stdout


def meson(*args):
    return run(*(os.environ.get('MESON', 'meson').split()), *args)


def make_archive(build):
    meson('dist', '-C', build, '--no-tests', '--allow-dirty', '--formats',
          'gztar')
    return next(pathlib.Path(build, 'meson-dist').glob('*.tar.gz'))


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return next(pathlib.Path(folder).iterdir())


def check_files(source, tree):
    known = set(run('git', '-C', source, 'ls-tree', '-r', '--name-only',
                    'HEAD').splitlines())
    there = {str(p.relative_to(tree)) for p in tree.rglob('*') if p.is_file()}
    assert known == there, f'not the same: {sorted(known ^ there)[:20]}'
    return f'{len(there)} files'


def check_library(tree, folder):
    meson('setup', pathlib.Path(folder, 'build'), tree / 'subprojects/fairmix')
    return 'the library alone configures'


def main(source, build):
    git = subprocess.run(['git', '-C', source, 'rev-parse', 'HEAD'],
                         text=True, capture_output=True, check=False)
    if git.returncode or not pathlib.Path(source, '.git').exists():
        print('skipped:', git.stderr.partition('\n')[0] or 'part of another checkout')
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        tree = unpack(make_archive(build), folder)
        print(check_files(source, tree))
        print(check_library(tree, folder))


if __name__ == '__main__':
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f'{error}\n{error.stdout}\n{error.stderr}')
