#!/usr/bin/env python3
"""The reasons that tfrcrate's page lists are those that the code can give.

usage: check-reasons.py SOURCE-ROOT | --self-test

The code: the FMX_RATE_... strings of fmx-rate-controller.h, and what reason_of ()
of fmx-rate-sender.c returns besides.  The page: the first column of the table
under "### Reasons".  So does the comment of FmxRateSender.
"""
import pathlib
import re
import sys

RATE = 'subprojects/fairmix/fairmix/rate/'


def in_code(controller, sender):
    reason_of = sender.split('\nreason_of (', 1)[1].split('\n}', 1)[0]
    return {*re.findall(r'^#define FMX_RATE_[A-Z_]+ "([a-z-]+)"', controller, re.M),
            *re.findall(r'return "([a-z-]+)"', reason_of)}


def in_page(page):
    section = page.split('\n### Reasons\n', 1)[1].split('\n## ', 1)[0]
    return set(re.findall(r'^\| `([a-z-]+)` \|', section, re.M))


def in_comment(header):
    text = header.split('"target" with reason', 1)[1].split('and fields', 1)[0]
    return set(re.findall(r'"([a-z-]+)"', text))


def complaints(code, **places):
    for name, there in places.items():
        yield from (f'{name} lacks reason {r}' for r in sorted(code - there))
        yield from (f'{name} has reason {r}, the code has not'
                    for r in sorted(there - code))


def self_test():
    code = in_code('#define FMX_RATE_UP "up"\n#define FMX_RATE_PROBE "probe" /* */\n',
                   'static const char *\nreason_of (x)\n{\n  return "breaker";\n}\n'
                   'return "no";')
    assert code == {'up', 'probe', 'breaker'}, code
    page = in_page('\n### Reasons\n| `up` | a |\n| `gone` | b |\n## Next\n| `x` | c |')
    assert page == {'up', 'gone'}, page
    assert in_comment('"target" with reason\n * "up",\n "a-b" and fields "rtt"') == {'up', 'a-b'}
    assert list(complaints({'a', 'b'}, page={'b', 'c'})) == [
        'page lacks reason a', 'page has reason c, the code has not']


def main():
    if sys.argv[1] == '--self-test':
        self_test()
        return 0
    root = pathlib.Path(sys.argv[1])
    read = lambda path: (root / path).read_text(encoding='utf-8')
    bad = list(complaints(
        in_code(read(RATE + 'fmx-rate-controller.h'), read(RATE + 'fmx-rate-sender.c')),
        page=in_page(read('docs/elements/tfrcrate.md')),
        comment=in_comment(read(RATE + 'fmx-rate-sender.h'))))
    print('\n'.join(bad))
    return bool(bad)


sys.exit(main())
