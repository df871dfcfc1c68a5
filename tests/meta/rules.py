"""What the checkers of this folder share.

A checker is a function from a source tree to sentences, one per violation; no
sentence means that the rule holds.  Its cases are small trees that break the
rule, or do not: `check-x.py --self-test` runs them, so that a rule which has
gone blind fails a test of its own.
"""
import pathlib
import sys
import tempfile

SKIPPED = ('.git', 'install', '__pycache__')


def files(root, *suffixes):
    """The files of the tree that are ours: no builds, no fetched projects."""
    for path in sorted(pathlib.Path(root).rglob('*')):
        parts = path.relative_to(root).parts
        if any(p in SKIPPED or p.startswith('build') for p in parts[:-1]):
            continue
        if parts[0] == 'subprojects' and len(parts) > 2 \
                and parts[1] != 'fairmix':
            continue
        if path.is_file() and path.suffix in suffixes:
            yield path


def read(path):
    return path.read_text(encoding='utf-8')


def _plant(root, tree):
    for name, text in tree.items():
        path = pathlib.Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')


def _self_test(check, cases):
    failed = 0
    for claim, tree, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            _plant(root, tree)
            found = list(check(pathlib.Path(root)))
        missed = [e for e in expected if not any(e in f for f in found)]
        if missed or len(found) != len(expected):
            failed += 1
            print(f'not ok: {claim}\n  expected: {expected}\n  found: {found}')
        else:
            print(f'ok: {claim}')
    return failed


def run(check, cases):
    """The main program of a checker: check-x.py --self-test | SOURCE-ROOT"""
    if sys.argv[1] == '--self-test':
        sys.exit(bool(_self_test(check, cases)))
    found = list(check(pathlib.Path(sys.argv[1])))
    print('\n'.join(found) or 'the rule holds')
    sys.exit(bool(found))
