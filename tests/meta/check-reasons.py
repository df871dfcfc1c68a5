#!/usr/bin/env python3
"""The tables of reasons in docs/elements are made from the code.

usage: check-reasons.py SOURCE-ROOT [--write] | --self-test

A table stands between "<!-- reasons: GROUP -->" and "<!-- end -->".  Without
--write, says which of them is not what the code would make of it.

A group's reasons are lines `#define PREFIX_NAME "name"`, each with a comment on
the line before that says why, or the members of an enum with their documentation
`@PREFIX_NAME: why`, of those that another file has a string for.  No call of the group passes a reason as a bare string.
"""
import pathlib
import re
import sys

LIBRARY = 'subprojects/fairmix/fairmix/'
BEGIN, END = '<!-- reasons: {} -->', '<!-- end -->'
# group: the page, what heads the second column, where the reasons are, their prefix,
# (of an enum: who names them), which calls take one
GROUPS = {
    'rate': ('tfrcrate', 'why the target is what it is',
             LIBRARY + 'rate/fmx-rate-controller.h', 'FMX_RATE_', None, None),
    'asmp': ('asmprtcp', 'why the rate was decided anew',
             LIBRARY + 'asmp/fmx-asmp-sender.h', 'FMX_ASMP_REASON_', None, 'decide|tell'),
    'als': ('alsrtcp', 'why the rates were decided anew',
            LIBRARY + 'als/fmx-als-sender.h', 'FMX_ALS_REASON_', None, 'decide|tell'),
    'layers': ('alsrtcp', 'what is news', 'gst/fairrtcp/gstalsstream.c', 'LAYERS_REASON_',
               None, None),
    'join': ('dpmclient', 'why somebody is not in, or no longer',
             LIBRARY + 'join/fmx-join-message.h', 'FMX_JOIN_REASON_',
             LIBRARY + 'join/fmx-join-message.c', None),
    'playout': ('qmjitterbuffer', 'why the delay changed',
                LIBRARY + 'playout/fmx-playout.h', 'FMX_PLAYOUT_',
                'gst/fairqueue/gstqmplayout.c', None),
    'selection': ('partialmix', 'why it was looked at again',
                  'gst/partialmix/gstpartialmixreasons.h', 'GST_PARTIAL_MIX_RESELECT_', None,
                  'reselect'),
    'stream': ('partialmix', 'why a stream came, went or moved',
               'gst/partialmix/gstpartialmixreasons.h', 'GST_PARTIAL_MIX_STREAM_', None,
               'remove_stream|remove_pad_streams'),
}


def defined(code, prefix):
    """The group's #defines: [(reason, why)]"""
    found = re.findall(r'(?:^/\* ((?:(?!\*/).)*?) \*/\n)?'
                       rf'^#define {prefix}[A-Z_]+ "([a-z-]+)"$', code, re.M | re.S)
    return [(name, ' '.join(why.replace('\n * ', '\n').split())) for why, name in found]


def documented(code, prefix, names):
    """The enum's documentation, of members that the file @names has a string for"""
    found = re.findall(rf'^ \* @{prefix}([A-Z_]+): (.*?)(?=^ \* @|^ \*/?$)', code, re.M | re.S)
    rows = [(name.lower().replace('_', '-'), ' '.join(why.replace('\n * ', '\n').split()))
            for name, why in found]
    return [(name, why) for name, why in rows if name != 'none' and f'"{name}"' in names]


def table(head, rows):
    return '\n'.join([f'| reason | {head} |', '|---|---|']
                     + [f'| `{name}` | {why} |' for name, why in rows])


def bare(code, calls):
    """Calls that pass a string where a #define is to stand"""
    return re.findall(rf'(?:{calls}) \([^;"{{]*"([a-z-]+)"', code) if calls else []


def filled(page, group, text):
    """@page with @text between the markers of @group; None without them"""
    begin = BEGIN.format(group)
    if begin not in page or END not in page.split(begin, 1)[1]:
        return None
    before, rest = page.split(begin, 1)
    return f'{before}{begin}\n{text}\n{END}{rest.split(END, 1)[1]}'


def check(read, write, sources):
    """Complaints; with @write the pages are made right"""
    for group, (name, head, path, prefix, names, calls) in GROUPS.items():
        rows = (documented(read(path), prefix, read(names)) if names
                else defined(read(path), prefix))
        if not rows:
            yield f'{path} has no reason {prefix}...'
        yield from (f'{path}: no comment says what {prefix}... "{r}" means'
                    for r, why in rows if not why)
        for source in sources(pathlib.PurePath(path).parent):
            yield from (f'{source}: "{r}" is passed as a bare string'
                        for r in bare(read(source), calls))
        page = f'docs/elements/{name}.md'
        made = filled(read(page), group, table(head, rows))
        if made is None:
            yield f'{page} has no {BEGIN.format(group)} ... {END}'
        elif made != read(page) and write:
            write(page, made)
        elif made != read(page):
            yield f'{page}: the table of {group} is not what check-reasons.py --write makes'


def self_test():
    code = ('#define A_UP "up"\n/* too\n * much */\n#define A_PROBE "probe"\n'
            '/* some */\n#define A_FEW 3\n')
    assert defined(code, 'A_') == [('up', ''), ('probe', 'too much')], defined(code, 'A_')
    enum = '/**\n * @A_NONE: no\n * @A_B_C: one,\n *     two\n * @A_D: three\n */\nenum {'
    assert documented(enum, 'A_', '"b-c", "none"') == [('b-c', 'one, two')]
    assert bare('decide (a, "rate", b);\nx (a, "no");', 'decide') == ['rate']
    assert bare('decide (a, FMX_RATE, b);\nx (a, "no");', 'decide') == []
    page = 'a\n<!-- reasons: rate -->\nold\n<!-- end -->\nb'
    made = filled(page, 'rate', table('why', [('up', 'room')]))
    assert made == ('a\n<!-- reasons: rate -->\n| reason | why |\n|---|---|\n'
                    '| `up` | room |\n<!-- end -->\nb'), made
    assert filled(page, 'other', '') is None
    assert filled(made, 'rate', table('why', [('up', 'less')])) != made


def main():
    if sys.argv[1] == '--self-test':
        self_test()
        return 0
    root = pathlib.Path(sys.argv[1])
    write = (lambda path, text: (root / path).write_text(text, encoding='utf-8')
             ) if '--write' in sys.argv[2:] else None
    bad = list(check(lambda path: (root / path).read_text(encoding='utf-8'), write,
                     lambda folder: sorted((root / folder).glob('*.c'))))
    print('\n'.join(bad))
    return bool(bad)


sys.exit(main())
