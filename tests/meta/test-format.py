#!/usr/bin/env python3
"""format.sh formats what has changed, and that only.

usage: test-format.py SOURCE-ROOT

It runs in a small tree of its own.  Skipped where there is no git or no indent.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIP = 77

HEADER = 'typedef struct\n{\n  int n;\n} Path;\n'
# as a person would set it, and no indent would
BY_HAND = 'static const Table table = { .name = "of two", .n = 2 };\n'
ENDS = '''
static int
ends (const Path *path)
{
  return path->sent && path->n > 0;
}
'''
# `sent` is a variable there
OTHER = 'static struct\n{\n  int n;\n} sent;\n' + BY_HAND
WRONG = '''
static int
begins (const Path *path)
{
  if (path->n>0) return 1;
  return 0;
}
'''
RIGHT = '''
static int
begins (const Path *path)
{
  if (path->n > 0)
    return 1;
  return 0;
}
'''


def run(root, *args):
    done = subprocess.run([str(a) for a in args], cwd=root, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def git(root, *args):
    code, said = run(root, 'git', '-c', 'user.name=x', '-c', 'user.email=x@y.z', *args)
    assert code == 0, said


def make_tree(source, root):
    for name in ('format.sh', 'format-lines.py'):
        (root / 'tests/meta').mkdir(parents=True, exist_ok=True)
        shutil.copy(pathlib.Path(source, 'tests/meta', name), root / 'tests/meta' / name)
    (root / 'subprojects/fairmix').mkdir(parents=True)
    (root / 'subprojects/fairmix/path.h').write_text(HEADER, encoding='utf-8')
    (root / 'subprojects/fairmix/path.c').write_text(BY_HAND + ENDS, encoding='utf-8')
    (root / 'tests/other.c').write_text(OTHER, encoding='utf-8')
    git(root, 'init', '-q')
    git(root, 'add', '.')
    git(root, 'commit', '-q', '-m', 'base')


def check(root):
    path = root / 'subprojects/fairmix/path.c'
    fmt = 'tests/meta/format.sh'

    code, said = run(root, fmt)
    assert code == 0 and 'formatted' not in said, said
    print('ok: what was committed stays, of all files')

    path.write_text(BY_HAND + ENDS + WRONG, encoding='utf-8')
    code, said = run(root, fmt, '--check')
    assert code != 0 and '1 not formatted' in said, said
    assert path.read_text(encoding='utf-8') == BY_HAND + ENDS + WRONG
    assert run(root, fmt)[0] == 0
    assert path.read_text(encoding='utf-8') == BY_HAND + ENDS + RIGHT
    assert run(root, fmt, '--check')[0] == 0
    print('ok: lines that have changed are formatted, and no others')

    git(root, 'commit', '-q', '-a', '-m', 'more')
    path.write_text(BY_HAND + ENDS + WRONG, encoding='utf-8')
    git(root, 'commit', '-q', '-a', '-m', 'worse')
    assert run(root, fmt)[1] == ''
    assert run(root, fmt, '--since', 'HEAD^')[0] == 0
    assert path.read_text(encoding='utf-8') == BY_HAND + ENDS + RIGHT
    print('ok: what was committed since a revision is, too')

    new = root / 'subprojects/fairmix/new.c'
    new.write_text(HEADER + ENDS + WRONG, encoding='utf-8')
    git(root, 'add', new)
    assert run(root, fmt)[0] == 0
    assert new.read_text(encoding='utf-8') == HEADER + ENDS + RIGHT
    print('ok: a new file is, whatever others take for a variable')


def main(source):
    for program in ('git', 'indent'):
        if shutil.which(program) is None:
            print(f'skipped: no {program}')
            return SKIP
    with tempfile.TemporaryDirectory() as folder:
        make_tree(source, pathlib.Path(folder))
        check(pathlib.Path(folder))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
