#!/usr/bin/env python3
"""libfairmix needs nothing but memory, strings and mathematics.

usage: check-symbols.py --self-test | LIBRARY.a

No clock, no random numbers, no allocation, no input or output, and no state of
its own: the library must behave the same in an element, in a simulator and in
a test.  $CC and $NM name other tools than cc and nm.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MEMORY = set('''memcpy memset memmove memcmp memchr strcmp strncmp strlen
strnlen'''.split())
MATHS = {name + suffix for suffix in ('', 'f') for name in '''acos asin atan
atan2 cbrt ceil cos cosh copysign exp exp2 expm1 fabs floor fma fmax fmin fmod
frexp hypot ldexp llrint llround log log10 log1p log2 lrint lround modf
nearbyint pow remainder rint round scalbn sin sinh sqrt tan tanh trunc'''
         .split()}
# What the compiler itself asks for: failed assertions, stack protection,
# position independence, which instructions the processor has.
COMPILER = set('''__assert_fail __stack_chk_fail _GLOBAL_OFFSET_TABLE_
__cpu_model __cpu_features2 __cpu_indicator_init __tls_get_addr'''.split())
FORTIFIED = re.compile(r'__(\w+)_chk$|__(\w+)_finite$')
INSTRUMENTED = ('__asan_', '__ubsan_', '__tsan_', '__sanitizer_', '__gcov_',
                '__lsan_', '__msan_', '__odr_asan', '__llvm_', '_ITM_',
                '__start___', '__stop___')
# Sections that hold what can be written.
WRITABLE = re.compile(r'\.(data|bss|tdata|tbss)(?!\.rel\.ro)|\*COM\*')


def nm(library, *args):
    return subprocess.run([os.environ.get('NM', 'nm'), *args, str(library)],
                          capture_output=True, text=True,
                          check=True).stdout.splitlines()


def allowed(symbol, own):
    if symbol in own or symbol in MEMORY | MATHS | COMPILER:
        return True
    fortified = FORTIFIED.match(symbol)
    if fortified and (fortified[1] or fortified[2]) in MEMORY | MATHS:
        return True
    return symbol.startswith(INSTRUMENTED)


def rows(library):
    """(object, symbol, class, section) of each line of nm's table."""
    where = '?'
    for line in nm(library, '--format=sysv'):
        begins = re.match(r'(?:Undefined symbols|Symbols) from \S*\[(.+)\]:',
                          line)
        fields = [f.strip() for f in line.split('|')]
        if begins:
            where = begins[1]
        elif len(fields) == 7 and fields[0] != 'Name':
            yield where, fields[0], fields[2], fields[6]


def check(library):
    table = list(rows(library))
    own = {name for _, name, kind, _ in table if kind in 'TRDBVWC'}
    instrumented = any(name.startswith(INSTRUMENTED)
                       for _, name, _, _ in table)
    for where, name, kind, section in table:
        if kind in 'Uw' and not allowed(name, own):
            yield f'{where}: needs {name}'
        if WRITABLE.match(section) and not instrumented:
            yield f'{where}: {name} is state of its own ({section})'


def check_source(source, *flags):
    """The violations of a library that is made of one source file."""
    with tempfile.TemporaryDirectory() as folder:
        c, o, a = (pathlib.Path(folder, name)
                   for name in ('x.c', 'x.o', 'libx.a'))
        c.write_text(source, encoding='utf-8')
        subprocess.run([*os.environ.get('CC', 'cc').split(), '-w', '-fPIC',
                        *flags, '-c', str(c), '-o', str(o)], check=True)
        subprocess.run(['ar', 'rcs', str(a), str(o)], check=True)
        return list(check(a))


CASES = [
    ('mathematics, memory and assertions are allowed',
     '#include <assert.h>\n#include <math.h>\n#include <string.h>\n'
     'double f (double *x, int n) { assert (n); memset (x, 0, n);'
     ' return pow (x[0], x[1]) + lrint (x[2]); }', (), None),
    ('and stay so when they are fortified',
     '#include <string.h>\nvoid f (char *x, int n)'
     '{ char y[9]; memcpy (y, x, n); memcpy (x, y, n); }',
     ('-O2', '-D_FORTIFY_SOURCE=2', '-fstack-protector-all'), None),
    ('sanitizers may add what they need',
     'int f (int *x, int i) { static int t[9]; return t[i]++ + x[i]; }',
     ('-fsanitize=address,undefined',), None),
    ('constant tables are allowed',
     'int g (void); static int (*const t[]) (void) = { g };'
     'int g (void) { return 0; } int f (int i) { return t[i] (); }', (), None),
    ('a clock is not', '#include <time.h>\nint f (void) { return time (0); }',
     (), 'needs time'),
    ('nor a better one', '#include <time.h>\nint f (struct timespec *t)'
     '{ return clock_gettime (0, t); }', (), 'needs clock_gettime'),
    ('nor chance', '#include <stdlib.h>\nint f (void) { return rand (); }',
     (), 'needs rand'),
    ('nor allocation', '#include <stdlib.h>\nvoid *f (void)'
     '{ return malloc (1); }', (), 'needs malloc'),
    ('nor printing', '#include <stdio.h>\nvoid f (int i)'
     '{ printf ("%d", i); }', (), 'needs printf'),
    ('nor a variable that outlives a call',
     'int f (void) { static int n = 1; return n++; }', (), 'state of its own'),
    ('nor one that is hidden in a thread',
     '_Thread_local int n; int f (void) { return n++; }', (),
     'state of its own'),
]


def self_test():
    failed = 0
    for claim, source, flags, expected in CASES:
        found = check_source(source, *flags)
        good = any(expected in f for f in found) if expected else not found
        print(f'{"ok" if good else "not ok"}: {claim}'
              + ('' if good else f'\n  found: {found}'))
        failed += not good
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--self-test':
        sys.exit(bool(self_test()))
    VIOLATIONS = list(check(sys.argv[1]))
    print('\n'.join(VIOLATIONS) or 'the rule holds')
    sys.exit(bool(VIOLATIONS))
