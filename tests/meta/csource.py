"""Reads C and C++ as far as the checkers of this folder need it."""
import re

TOKEN = re.compile(r'''/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*"
                       | '(?:\\.|[^'\\\n])*' ''', re.X | re.S)
EXTERN_C = re.compile(r'extern\s*"C"\s*\{')


def blank(match):
    return re.sub(r'[^\n]', ' ', match[0])


def without_text(source):
    """The source with comments, strings and `extern "C" {` blanked out."""
    return TOKEN.sub(blank, EXTERN_C.sub(blank, source))


def without_directives(source):
    """... and without preprocessor lines; of alternatives only the first."""
    kept, branches, continued = [], [], False
    for line in source.split('\n'):
        directive = re.match(r'\s*#\s*(\w+)(.*)', line)
        if continued or directive:
            word = '' if continued else directive[1]
            continued = line.endswith('\\')
            if word in ('if', 'ifdef', 'ifndef'):
                branches.append(True)
            elif word in ('else', 'elif') and branches:
                branches[-1] = False
            elif word == 'endif' and branches:
                branches.pop()
            line = ''
        kept.append(line if all(branches) else '')
    return '\n'.join(kept)


def name_before(text):
    """(name, offset) of the function whose body begins after text, if any."""
    end = len(text.rstrip())
    while end and text[end - 1] == ')':
        depth, at = 0, end
        while at > 0:
            at -= 1
            depth += {')': 1, '(': -1}.get(text[at], 0)
            if depth == 0:
                break
        stop = len(text[:at].rstrip())
        start = stop
        while start and (text[start - 1].isalnum() or text[start - 1] == '_'):
            start -= 1
        if start == stop:
            return None
        if text[start:stop] not in ('__attribute__', 'G_GNUC_PRINTF'):
            return text[start:stop], start
        end = len(text[:start].rstrip())
    return None


def functions(source):
    """(name, first line, number of lines) of each function definition."""
    for function in definitions(source):
        yield function[:3]


def definitions(source):
    """(name, first line, number of lines, head from the name on, body) of each
    function definition, without comments and texts."""
    text = without_directives(without_text(source))
    depth, begun = 0, None
    for brace in re.finditer(r'[{}]', text):
        if brace[0] == '{':
            if depth == 0:
                found = name_before(text[:brace.start()])
                if found:
                    begun = (found[0], text.count('\n', 0, found[1]) + 1,
                             text[found[1]:brace.start()], brace.start())
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0 and begun:
                last = text.count('\n', 0, brace.start()) + 1
                yield (begun[0], begun[1], last - begun[1] + 1, begun[2],
                       text[begun[3]:brace.start()])
                begun = None
