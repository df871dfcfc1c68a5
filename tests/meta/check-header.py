#!/usr/bin/env python3
"""A public header compiles alone, twice, as C11 and as C++17.

usage: check-header.py --self-test | HEADER INCLUDE-DIR...

HEADER is as in #include, e.g. fairmix/base/fmx-time.h.  $CC and $CXX name the
compilers; where there is none for C++, C has to do.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only']


def compilers():
    yield [*os.environ.get('CC', 'cc').split(), '-std=c11',
           '-Wstrict-prototypes'], '.c'
    cxx = os.environ.get('CXX', 'c++').split()
    if shutil.which(cxx[0]):
        yield [*cxx, '-std=c++17'], '.cc'


def check(header, folders):
    for compiler, suffix in compilers():
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, 'alone' + suffix)
            source.write_text(f'#include "{header}"\n' * 2, encoding='utf-8')
            run = subprocess.run(
                [*compiler, *STRICT, *(f'-I{d}' for d in folders),
                 str(source)], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            yield f'{header} with {" ".join(compiler)}:\n{run.stderr}'


GUARD = '#ifndef X_H\n#define X_H\n%s\n#endif\n'
CASES = [
    ('a header that brings what it uses',
     GUARD % '#include <stdint.h>\nuint8_t f (void);', 0),
    ('one that does not', GUARD % 'uint8_t f (void);', 2),
    ('one that C++ cannot read', GUARD % 'int f (int class);', 1),
    ('one that C cannot read', GUARD % 'bool f (int);', 1),
    ('one without a guard', 'struct x { int a; };\n', 2),
    ('one that the compiler warns of',
     GUARD % 'static inline int f (int a) { unsigned b = 1; return a < b; }',
     2),
]


def self_test():
    failed, n_compilers = 0, len(list(compilers()))
    for claim, text, n_expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'x.h').write_text(text, encoding='utf-8')
            found = list(check('x.h', [folder]))
        good = len(found) == n_expected or n_compilers < 2
        print(f'{"ok" if good else "not ok"}: {claim}'
              + ('' if good else f'\n  found: {found}'))
        failed += not good
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--self-test':
        sys.exit(bool(self_test()))
    VIOLATIONS = list(check(sys.argv[1], sys.argv[2:]))
    print('\n'.join(VIOLATIONS) or 'compiles alone')
    sys.exit(bool(VIOLATIONS))
