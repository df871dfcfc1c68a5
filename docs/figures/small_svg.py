#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes SVG without what the eye does not see.

usage: docs/figures/small_svg.py FILE.svg...          rewrites them in place

    from small_svg import save          # in whatever draws with matplotlib
    save (figure, file or path)

Curves keep only the points that move them by more than 0.15 points (a fifth of a
pixel), coordinates have one digit behind the point and are relative, what is
said twice becomes a class, letters become text, metadata goes.  A file that has
been written so stays as it is.
"""
import collections
import io
import math
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

SVG, XLINK = 'http://www.w3.org/2000/svg', 'http://www.w3.org/1999/xlink'
HREF = f'{{{XLINK}}}href'
TOLERANCE = 0.15                # points
DIGITS, MARK_DIGITS = 1, 2      # behind the point; of marks, which are small
FONT = "'DejaVu Sans',sans-serif"
TOKEN = re.compile(r'[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?')
ARGUMENTS = {'M': 2, 'L': 2, 'C': 6, 'Q': 4, 'Z': 0}
MANY_CLIPS = 12                 # so often cut by the same edge: a class, too
DEFAULTS = {'stroke-linejoin: round', 'stroke-linecap: butt', 'opacity: 1'}


def number(value, digits):
    text = f'{value:.{digits}f}'
    text = text.rstrip('0').rstrip('.') if '.' in text else text
    text = re.sub(r'^(-?)0\.', r'\1.', text)
    return '0' if text in ('-0', '', '-') else text


# --- paths ---

def commands(text):
    """[(letter, [points])] of a path with absolute commands; None if it has
    others, as what has been written here has."""
    tokens, found, at = TOKEN.findall(text), [], 0
    while at < len(tokens):
        letter = tokens[at].upper() if tokens[at] in 'zZ' else tokens[at]
        if letter not in ARGUMENTS:
            return None
        values = [float(t) for t in tokens[at + 1:at + 1 + ARGUMENTS[letter]]]
        found.append((letter, list(zip(values[::2], values[1::2]))))
        at += 1 + ARGUMENTS[letter]
    return found


def distance(point, a, b):
    """Of a point from the line between two others."""
    (x, y), (ax, ay), (bx, by) = point, a, b
    length2 = (bx - ax) ** 2 + (by - ay) ** 2
    if not length2:
        return math.hypot(x - ax, y - ay)
    along = max(0, min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length2))
    return math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay))


def simplify(points):
    """Douglas and Peucker: the points without which the line would move."""
    keep, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        worst, far = max(((distance(points[n], points[first], points[last]), n)
                          for n in range(first + 1, last)), default=(0, 0))
        if worst > TOLERANCE:
            keep.add(far)
            spans += [(first, far), (far, last)]
    return [points[n] for n in sorted(keep)]


def thinned(path):
    """The commands of a path, its runs of lines simplified."""
    out, run = [], []
    for letter, points in path + [('', [])]:
        if letter == 'L':
            run.append(points[0])
            continue
        if run:
            out += [('L', [p]) for p in simplify([out[-1][1][-1]] + run)[1:]]
            run = []
        if letter:
            out.append((letter, points))
    return out


class Pen:
    """Writes relative commands, and knows where rounding has led it."""

    def __init__(self, digits):
        self.digits, self.text, self.last = digits, '', ''
        self.x = self.y = self.start_x = self.start_y = 0.0

    def write(self, letter, values):
        if letter != self.last:
            self.text += letter
            self.last = {'m': 'l'}.get(letter, letter)
        elif values and not values[0].startswith('-'):
            self.text += ' '
        self.text += re.sub(r' (?=-)', '', ' '.join(values))

    def round(self, value):
        return round(value, self.digits)

    def command(self, letter, points):
        if letter == 'Z':
            self.write('z', [])
            self.x, self.y = self.start_x, self.start_y
            return
        steps = [(self.round(x - self.x), self.round(y - self.y))
                 for x, y in points]
        dx, dy = steps[-1]
        if letter == 'L' and not dx and not dy:
            return
        if letter == 'L' and not (dx and dy):
            self.write('v' if dy else 'h', [number(dx or dy, self.digits)])
        else:
            self.write(letter.lower(), [number(v, self.digits)
                                        for step in steps for v in step])
        self.x, self.y = self.round(self.x + dx), self.round(self.y + dy)
        if letter == 'M':
            self.start_x, self.start_y = self.x, self.y


def small_path(text, digits):
    path = commands(text)
    if not path:
        return text
    pen = Pen(digits)
    for letter, points in thinned(path):
        pen.command(letter, points)
    return pen.text


# --- the tree ---

def tag(element):
    return element.tag.rpartition('}')[2] if isinstance(element.tag, str) else '!'


LETTERS = re.compile(r'translate\(([\d.-]+) ([\d.-]+)\)( rotate\([\d.-]+\))?'
                     r' scale\(([\d.]+) -[\d.]+\)')


def drawn_lines(group):
    """[(what a comment says, the letters behind it)] of a group in which
    matplotlib drew lines of text as marks."""
    tags = [tag(c) for c in group]
    if not tags or tags != ['!', 'g'] * (len(tags) // 2) or any(
            letters.find(f'.//{{{SVG}}}use') is None for letters in group[1::2]):
        return []
    return list(zip(group[::2], group[1::2]))


def restore_texts(root):
    """Letters that were drawn become text: all of them or, where one stands in
    an unknown way, none, because they share marks."""
    groups = [(g, drawn_lines(g)) for g in root.iter(f'{{{SVG}}}g')]
    if not all(LETTERS.fullmatch(letters.get('transform', ''))
               and '$' not in said.text         # a formula
               for _, lines in groups for said, letters in lines):
        return
    for group, lines in groups:
        for said, letters in lines:
            place = LETTERS.fullmatch(letters.get('transform'))
            used = letters.find(f'.//{{{SVG}}}use').get(HREF)
            text = ET.SubElement(group, f'{{{SVG}}}text')
            text.text = said.text.strip()
            size = ('bold ' if 'Bold' in used else '') \
                + number(float(place[4]) * 100, 1)
            text.set('style', f'font: {size}px {FONT};' + letters.get('style', ''))
            text.set('transform',
                     f'translate({place[1]} {place[2]}){place[3] or ""}')
            group.remove(said)
            group.remove(letters)


def small_style(text):
    text = re.sub(r"font: (?:(bold) )?([\d.]+)px [^;]*",
                  lambda m: f'font: {m[1] + " " if m[1] else ""}'
                  f'{float(m[2]):g}px {FONT}', text)
    parts = [p.strip() for p in text.split(';') if p.strip()]
    return ';'.join(p.replace(': ', ':') for p in parts if p not in DEFAULTS)


def small_transform(text):
    text = re.sub(r' ?rotate\(-?0(?: [\d.-]+ [\d.-]+)?\)', '', text)
    return re.sub(r'-?\d+\.\d+', lambda m: number(float(m[0]), 2), text).strip()


def small_element(element, digits):
    for name in ('x', 'y', 'width', 'height'):
        if name in element.attrib and tag(element) != 'svg':
            element.set(name, re.sub(r'^-?[\d.]+$', lambda m: number(
                float(m[0]), 1), element.get(name)))
    if 'd' in element.attrib:
        element.set('d', small_path(element.get('d'), digits))
    for name, small in (('style', small_style), ('transform', small_transform)):
        if name in element.attrib:
            element.set(name, small(element.get(name)))
            if not element.get(name):
                del element.attrib[name]
    if HREF in element.attrib:
        element.set('href', element.attrib.pop(HREF))


def walk(element, digits=DIGITS):
    """Makes everything below an element small, and drops what is empty."""
    if tag(element) == 'defs':
        digits = MARK_DIGITS
    kept = []
    for child in element:
        if tag(child) in ('!', 'metadata'):
            continue
        walk(child, digits)
        if tag(child) == 'g' and not set(child.attrib) - {'id'}:
            kept += list(child)         # a group of nothing in common
        elif tag(child) not in ('g', 'defs') or len(child):
            kept.append(child)
    element[:] = kept
    small_element(element, digits)
    if tag(element) not in ('style', 'text', 'tspan', 'title'):
        element.text = None
    element.tail = None


def name_shortly(root):
    """Ids that nobody names go; the others get short."""
    text = ET.tostring(root, encoding='unicode')
    used = set(re.findall(r'url\(#([^)]+)\)', text)) | set(
        re.findall(r'href="#([^"]+)"', text))
    short = {}
    for element in root.iter():
        name = element.attrib.pop('id', None)
        if name in used:
            short.setdefault(name, f'i{len(short)}')
            element.set('id', short[name])
    for element in root.iter():
        for key, value in element.attrib.items():
            element.set(key, re.sub(
                r'#([\w.-]+)', lambda m: '#' + short.get(m[1], m[1]),
                value) if key in ('href', 'clip-path') else value)


def share_marks(root):
    """One of several marks with the same path and style is enough."""
    first, same = {}, {}
    for defs in root.iter(f'{{{SVG}}}defs'):
        for mark in list(defs):
            name = mark.get('id')
            key = (tag(mark), mark.get('d'), mark.get('style'))
            if tag(mark) != 'path' or not name:
                continue
            if key in first:
                same[name] = first[key]
                defs.remove(mark)
            else:
                first[key] = name
    for use in root.iter(f'{{{SVG}}}use'):
        name = use.get('href', '#')[1:]
        use.set('href', '#' + same.get(name, name))


def share_styles(root):
    """A style that comes again is a class."""
    count = collections.Counter(e.get('style') for e in root.iter()
                                if e.get('style'))
    often = [s for s, n in count.most_common() if n > 1]
    names = {s: f'c{n}' for n, s in enumerate(often)}
    for element in root.iter():
        if element.get('style') in names:
            element.set('class', names[element.attrib.pop('style')])
    style = root.find(f'.//{{{SVG}}}style')
    if style is None:
        style = ET.SubElement(root, f'{{{SVG}}}style')
    style.attrib.pop('type', None)
    rules = re.sub(r'\s*([{};:])\s*', r'\1', (style.text or '').strip())
    style.text = rules + ''.join(f'.{names[s]}{{{s}}}' for s in often)


def share_clips(root):
    """An edge that cuts very many paths is a class, too."""
    style = root.find(f'.//{{{SVG}}}style')
    count = collections.Counter(e.get('clip-path') for e in root.iter()
                                if tag(e) == 'path' and e.get('clip-path'))
    for n, (clip, times) in enumerate(count.most_common()):
        if times < MANY_CLIPS:
            break
        style.text += f'.k{n}{{clip-path:{clip}}}'
        for element in root.iter():
            if tag(element) == 'path' and element.get('clip-path') == clip:
                del element.attrib['clip-path']
                element.set('class', f'{element.get("class", "")} k{n}'.strip())


def join_clips(root):
    """Neighbours cut by the same edge are one group."""
    for parent in list(root.iter()):
        last = None
        for element in list(parent):
            if (last is not None and tag(element) == tag(last) == 'g'
                    and set(element.attrib) == {'clip-path'}
                    and element.attrib == last.attrib):
                last.extend(list(element))
                parent.remove(element)
            else:
                last = element


def grouped(run):
    if len(run) < 4:
        return run
    group = ET.Element(f'{{{SVG}}}g', {'class': run[0].get('class')})
    group[:] = run
    for mark in run:
        del mark.attrib['class']
    return [group]


def share_classes(root):
    """Marks of one class that follow each other: the class once, on a group."""
    faint = set(re.findall(r'\.(c\d+)\{[^}]*(?<![a-z-])opacity', ''.join(
        e.text or '' for e in root.iter() if tag(e) == 'style')))
    for parent in list(root.iter()):
        children, run = [], []
        for child in [*parent, None]:
            name = child.get('class') if child is not None \
                and tag(child) == 'use' else None
            if run and run[0].get('class') != name:
                children += grouped(run)
                run = []
            if name and name not in faint:
                run.append(child)
            elif child is not None:
                children.append(child)
        if len(children) != len(parent):
            parent[:] = children


def end_of(path):
    """Where a small path of lines ends."""
    x = y = 0.0
    for letter, rest in re.findall(r'([mlhv])([^mlhv]*)', path):
        values = [float(v) for v in TOKEN.findall(rest)]
        x += sum(values if letter == 'h' else values[::2] if letter != 'v' else [])
        y += sum(values if letter == 'v' else values[1::2] if letter != 'h' else [])
    return x, y


def join_strokes(root):
    """Lines of one class that follow each other are one path."""
    thin = set(re.findall(r'\.(c\d+)\{fill:none(?![^}]*opacity)', ''.join(
        e.text or '' for e in root.iter() if tag(e) == 'style')))
    for parent in list(root.iter()):
        last = None
        for path in list(parent):
            kind = {k: v for k, v in path.attrib.items() if k != 'd'}
            if (tag(path) != 'path' or set(kind) != {'class'}
                    or not thin & set(kind['class'].split())
                    or not re.fullmatch(r'm[mlhv\d. -]+', path.get('d'))):
                last = None
            elif last is None or last.get('class') != kind['class']:
                last = path
            else:
                x, y = end_of(last.get('d'))
                begin, rest = re.match(r'm([^a-z]+)(.*)', path.get('d')).groups()
                steps = [float(v) for v in TOKEN.findall(begin)]
                steps[0], steps[1] = steps[0] - x, steps[1] - y
                last.set('d', last.get('d') + 'm' + re.sub(r' (?=-)', '', ' '.join(
                    number(v, MARK_DIGITS) for v in steps)) + rest)
                parent.remove(path)


def small_letters(text):
    """Their font is said once, and not that they begin where they stand."""
    text = re.sub(rf'\bfont:([\d.]+px) {FONT}', r'font-size:\1', text)
    text = re.sub(r';text-anchor:start(?=[;}"])', '', text)
    rule = f'text{{font-family:{FONT}}}'
    return text if 'font-size:' not in text or rule in text \
        else text.replace('<style>', '<style>' + rule, 1)


def smaller(text):
    """The same picture; what one step brings together another may share the next time."""
    ET.register_namespace('', SVG)
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))
    root = ET.fromstring(text, parser)
    restore_texts(root)
    walk(root)
    share_marks(root)
    for element in list(root.iter()):           # defs whose marks are shared
        element[:] = [c for c in element if tag(c) != 'defs' or len(c)]
    share_styles(root)
    name_shortly(root)
    share_classes(root)
    share_clips(root)
    join_clips(root)
    join_strokes(root)
    for name in ('width', 'height'):            # the viewBox says it
        if re.fullmatch(r'[\d.]+pt', root.get(name, '')):
            root.set(name, number(float(root.get(name)[:-2]), 1) + 'pt')
    root.attrib.pop('version', None)
    out = small_letters(ET.tostring(root, encoding='unicode').replace(' />', '/>'))
    return re.sub(r'(?<=>)(?=<(?:path|g|text|defs|clipPath|/svg|rect)\b)', '\n',
                  out) + '\n'


def small(text):
    """The same picture, as small as it gets."""
    before = None
    while text != before:
        before, text = text, smaller(text)
    return text


def save(figure, to, **options):
    """Saves a figure of matplotlib, small."""
    import matplotlib
    drawn = io.StringIO()
    with matplotlib.rc_context({'svg.fonttype': 'none'}):
        figure.savefig(drawn, format='svg', metadata={'Date': None}, **options)
    if hasattr(to, 'write'):
        to.write(small(drawn.getvalue()))
    else:
        pathlib.Path(to).write_text(small(drawn.getvalue()), encoding='utf-8')


def main():
    for path in map(pathlib.Path, sys.argv[1:]):
        before = path.read_text(encoding='utf-8')
        after = small(before)
        path.write_text(after, encoding='utf-8')
        print(f'{path}: {len(before)} -> {len(after)}')


if __name__ == '__main__':
    main()
