#!/usr/bin/env python3
"""Breaks what was mended once more, and looks whether a test notices.

usage: mutate.py [--in DIR] [--list] [DEFECT...]     DEFECT: 3, 9 or 9b

Each entry of mutations.toml is applied to a copy of the tree, one at a time; what
its test needs is built there, and its case has to fail.  The copy is made in DIR,
which stays and makes the next call faster, or in a folder that goes again.  Exit
status 1 if anything was not noticed.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = pathlib.Path(__file__).with_name('mutations.toml')
OPTIONS = ['-Dtests=enabled', '-Dbenchmarks=disabled', '-Dexamples=disabled',
           '-Dns3=disabled']
SANITIZE = {'plain': [],
            'address': ['-Db_sanitize=address,undefined', '-Db_lundef=false',
                        '-Dc_args=-fsanitize=float-cast-overflow'],
            'thread': ['-Db_sanitize=thread', '-Db_lundef=false']}
ENV = {'ASAN_OPTIONS': 'detect_leaks=0:detect_odr_violation=0',
       'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
       'TSAN_OPTIONS': 'ignore_noninstrumented_modules=1:halt_on_error=1',
       'G_SLICE': 'always-malloc', 'CCACHE_NOHASHDIR': '1',
       'CK_DEFAULT_TIMEOUT': '60'}
LIMIT_S = 300


def read_table(path=TABLE):
    return tomllib.loads(path.read_text(encoding='utf-8'))['mutation']


def call(command, **more):
    return subprocess.run([str(word) for word in command], check=False, text=True,
                          errors='replace', stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **more)


def must(command, **more):
    run = call(command, **more)
    if run.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{run.stdout[-4000:]}')
    return run.stdout


def copy_tree(to):
    """What git knows of the tree, as it is now; what is the same stays."""
    names = must(['git', '-C', ROOT, 'ls-files', '-z', '--cached', '--others',
                  '--exclude-standard']).split('\0')
    for name in filter(None, names):
        source, copy = ROOT / name, to / name
        if not source.is_file():
            continue
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
        copy.chmod(source.stat().st_mode)


class Build:
    def __init__(self, tree, kind):
        self.folder = tree / f'build-{kind}'
        self.env = {**os.environ, **ENV}
        if not (self.folder / 'build.ninja').exists():
            must(['meson', 'setup', self.folder, tree, *OPTIONS, *SANITIZE[kind]])
        # the first test makes a registry of all plugins, and need not pass
        self.make('element-lock')
        if not (self.folder / 'tests/tests.registry').exists():
            self.run('element-lock', '', {'TSAN_OPTIONS': 'exitcode=0'})

    def introspect(self, what):
        return json.loads(must(['meson', 'introspect', self.folder, what]))

    def find(self, name):
        return next(test for test in self.introspect('--tests')
                    if test['name'] == name)

    def make(self, *names):
        """The output of a build that fails, '' if it does not."""
        tests = [self.find(name) for name in names]
        ids = {target for test in tests for target in test['depends']}
        wanted = [file for target in self.introspect('--targets')
                  for file in target['filename'] if target['id'] in ids]
        if not wanted:
            return ''
        run = call(['ninja', '-C', self.folder, *(
            os.path.relpath(file, self.folder) for file in wanted)], env=self.env)
        return run.stdout if run.returncode else ''

    def run(self, name, case, more=()):
        """(whether it passed, the last line that says why not)"""
        test = self.find(name)
        command, env = list(test['cmd']), {**self.env, **test['env'], **dict(more)}
        env.update(CK_DEFAULT_TIMEOUT='30')
        if command[-1].endswith('.py') and case:
            command += ['-k', case]
        elif case:
            env['GST_CHECKS'] = case
        try:
            run = call(command, env=env, timeout=LIMIT_S,
                       cwd=test['workdir'] or self.folder)
        except subprocess.TimeoutExpired:
            return False, f'nothing for {LIMIT_S} s'
        passed = run.returncode == 0
        if test['protocol'] == 'tap' and case:
            passed = re.search(rf'^ok \d+ - {case}$', run.stdout, re.M) is not None
        return passed, reason(run.stdout) or f'exit status {run.returncode}'


def reason(output):
    """The line that says most about what went wrong."""
    for pattern in (r'ERROR: AddressSanitizer: .*', r'WARNING: ThreadSanitizer: .*',
                    r'runtime error: .*', r':[EF]:[^:]*:[^:]*:\d+: (.*)', r'Assertion .*',
                    r'# .*!=.*', r'\w+Error: .*', r'# 0x.*', r'.*is not.*'):
        found = re.findall(pattern, output)
        if found:
            return found[-1].strip()[:100]
    return ''


def check_whole(build, entries):
    """The tests, before anything is broken: those that fail already."""
    problem = build.make(*{entry['test'] for entry in entries})
    if problem:
        sys.exit(problem[-4000:])
    cases = {(entry['test'], entry.get('case', '')) for entry in entries}
    return {(test, case): why for test, case in sorted(cases)
            for passed, why in [build.run(test, case)] if not passed}


def judge(tree, build, entry):
    """(how its test fails, ''), or ('', what is wrong)"""
    file = tree / entry['file']
    text = file.read_text(encoding='utf-8')
    if text.count(entry['mend']) != 1:
        return '', f'the mend stands {text.count(entry["mend"])} times'
    file.write_text(text.replace(entry['mend'], entry['broken']), encoding='utf-8')
    try:
        problem = build.make(entry['test'])
        if problem:
            return '', f'does not build: {problem[-600:]}'
        for _ in range(entry.get('tries', 1)):
            passed, why = build.run(entry['test'], entry.get('case', ''))
            if not passed:
                return why, ''
        return '', 'NOT NOTICED'
    finally:
        file.write_text(text, encoding='utf-8')


def chosen(table, names):
    return [entry for entry in table if not names or entry['defect'] in names
            or re.match(r'\d+', entry['defect'])[0] in names]


def row(entry, verdict):
    kind = entry.get('kind', 'plain')
    test = ', '.join(filter(None, [entry['test'], entry.get('case')]))
    return (f'| {entry["defect"]} | {entry["breaks"]} | {test}'
            f'{"" if kind == "plain" else f" ({kind})"} | {verdict} |')


def run(table, tree):
    copy_tree(tree)
    bad = 0
    print('| defect | what is broken | test | |\n|---|---|---|---|', flush=True)
    for kind in SANITIZE:
        entries = [entry for entry in table if entry.get('kind', 'plain') == kind]
        if not entries:
            continue
        build = Build(tree, kind)
        failing = check_whole(build, entries)
        for entry in entries:
            why, wrong = judge(tree, build, entry)
            before = failing.get((entry['test'], entry.get('case', '')))
            if before:
                wrong = f'fails as it is: {before}'
            bad += bool(wrong)
            print(row(entry, wrong or f'fails: {why}'), flush=True)
    print(f'{len(table) - bad} of {len(table)} are noticed')
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--in', dest='folder', type=pathlib.Path)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('defects', nargs='*', metavar='DEFECT')
    args = parser.parse_args()
    table = chosen(read_table(), args.defects)
    if args.list:
        for entry in table:
            print(f'{entry["defect"]:4} {entry["breaks"]}')
        return 0
    if args.folder:
        args.folder.mkdir(parents=True, exist_ok=True)
        return bool(run(table, args.folder.resolve()))
    with tempfile.TemporaryDirectory(prefix='fmx-mutate-') as folder:
        return bool(run(table, pathlib.Path(folder)))


if __name__ == '__main__':
    sys.exit(main())
