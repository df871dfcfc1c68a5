#!/usr/bin/env python3
"""Functions and files stay short.

usage: check-sizes.py --self-test | SOURCE-ROOT

Lines are counted as they stand, comments included; a function begins with the
line of its name and ends with its closing brace.  Where a limit must be
broken, a comment directly above the function says why, `/* size: reason */`;
for a file it stands within the first ten lines, `/* file size: reason */`.
Python and shell have `#` instead; of shell scripts only the file counts.
"""
import ast
import re

from csource import functions
from rules import files, read, run

# folder: (function, file), in lines; the innermost one counts
LIMITS = {
    'subprojects/fairmix/fairmix': (60, 500),
    'gst': (100, 1000),
    'subprojects/fairmix/tests': (100, 500),
    'tests/check': (100, 500),
    'tests': (100, 1000),
    'examples': (100, 400),
}
CLASS_INIT = 150
C = ('.c', '.h', '.cc')

def python_functions(source):
    """The same of a Python program."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            yield (node.name, node.lineno,
                   node.end_lineno - node.lineno + 1)


FUNCTIONS = {**dict.fromkeys(C, functions), '.py': python_functions}


def waived(lines, first):
    """Whether the comment that ends above a function gives a reason."""
    above = first - 2
    while above >= 0 and lines[above].strip() and '}' not in lines[above]:
        if re.search(r'(/\*|#) size: [^*\s]', lines[above]):
            return True
        above -= 1
    return False


def check_file(path, where, function_limit, file_limit):
    source = read(path)
    lines = source.split('\n')
    n_lines = source.count('\n')
    if n_lines > file_limit and not any(
            re.search(r'(/\*|#) file size: [^*\s]', line) for line in lines[:10]):
        yield f'{where}: {n_lines} lines, more than {file_limit}'
    for name, first, length in FUNCTIONS.get(path.suffix, lambda _: ())(source):
        limit = function_limit
        if name.endswith('_class_init'):
            limit = max(limit, CLASS_INIT)
        if length > limit and not waived(lines, first):
            yield f'{where}:{first}: {name}: {length} lines, more than {limit}'


def check(root):
    for path in files(root, *C, '.py', '.sh'):
        where = path.relative_to(root)
        folder = next((str(p) for p in where.parents if str(p) in LIMITS), None)
        if folder:
            yield from check_file(path, where, *LIMITS[folder])


def body(n_lines, head='static void\nlong_one (int x)\n'):
    """A function of n_lines from its name to its closing brace."""
    return head + '{\n' + '  x++;\n' * (n_lines - 3) + '}\n'


LIB_C = 'subprojects/fairmix/fairmix/mix/fmx-x.c'
SIXTY_ONE = 'fmx-x.c:2: long_one: 61 lines, more than 60'

CASES = [
    ('60 lines are allowed', {LIB_C: body(60)}, []),
    ('61 are not', {LIB_C: body(61)}, [SIXTY_ONE]),
    ('a waiver needs a reason',
     {LIB_C: '/* size: */\n' + body(61, 'void long_one (int x)\n')},
     ['long_one: 61 lines']),
    ('a waiver with a reason is one',
     {LIB_C: '/* size: one case per packet type */\n' + body(61)}, []),
    ('a waiver is for one function only',
     {LIB_C: '/* size: reason */\n' + body(61)
      + body(61).replace('long_one', 'other')}, ['other: 61 lines']),
    ('elements may be longer, and class_init longer still',
     {'gst/a/gstx.c': body(100) + body(150).replace('one', 'one_class_init')},
     []),
    ('but not endless',
     {'gst/a/gstx.c': body(101) + body(151).replace('one', 'one_class_init')},
     ['long_one: 101', 'class_init: 151']),
    ('tests of elements may have long functions, but no long files',
     {'tests/check/elements/x.c': body(100) + 'int x;\n' * 399,
      'tests/check/elements/y.c': body(100) + 'int x;\n' * 400},
     ['y.c: 501 lines, more than 500']),
    ('C++ counts like C', {'tests/x.cc': body(101)}, ['long_one: 101 lines']),
    ('Python functions and files are short, too',
     {'tests/x.py': 'def long_one():\n' + '    pass\n' * 100,
      'examples/x.py': 'pass\n' * 401},
     ['x.py:1: long_one: 101 lines', '401 lines']),
    ('they are waived with a reason as well',
     {'tests/x.py': '# size: a table\ndef f():\n' + '    pass\n' * 100}, []),
    ('shell scripts end',
     {'tests/x.sh': ':\n' * 1000, 'examples/x.sh': ':\n' * 401},
     ['examples/x.sh: 401 lines']),
    ('files end', {LIB_C: 'int x;\n' * 501}, ['501 lines, more than 500']),
    ('a file can be waived', {LIB_C: '/* file size: a table */\n'
                              + 'int x;\n' * 501}, []),
    ('braces in strings, characters and comments do not count',
     {LIB_C: '/* { */ const char *a = "{\\"{"; char b = \'{\'; // {\n'
      + body(61)}, [': long_one: 61 lines']),
    ('alternatives count once',
     {LIB_C: body(30).replace('  x++;\n', '#ifdef A\n  if (x) {\n#else\n'
                              '  if (!x) {\n#endif\n  }\n', 1)
      + body(61).replace('long_one', 'next')}, ['next: 61 lines']),
    ('tables and structures are no functions',
     {LIB_C: 'static const int t[] = {\n' + '  1,\n' * 70 + '};\n'
      'struct x {\n' + '  int a;\n' * 70 + '};\n'}, []),
    ('functions inside extern "C" are found',
     {LIB_C: 'extern "C" {\n' + body(61) + '}\n'}, ['long_one: 61']),
    ('attributes do not hide a name',
     {LIB_C: body(61, 'void\nlong_one (int x) __attribute__ ((cold))\n')},
     [SIXTY_ONE]),
    ('macros in front of a function do not hide it',
     {LIB_C: 'G_DEFINE_TYPE (A, a, B)\n' + body(61)}, ['long_one: 61']),
]

if __name__ == '__main__':
    run(check, CASES)
