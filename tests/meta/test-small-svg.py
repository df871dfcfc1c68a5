#!/usr/bin/env python3
"""docs/figures/small_svg.py leaves what the eye sees where it is.

usage: test-small-svg.py SOURCE-ROOT
"""
import math
import pathlib
import random
import re
import sys
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1], 'docs/figures')))
import small_svg                # noqa: E402  after the path

HEAD = ('<svg xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt">')
STEP = re.compile(r'([a-z])([^a-z]*)')
NUMBER = re.compile(r'-?(?:\d+\.?\d*|\.\d+)')


def ends(path):
    """The points that a small path of lines goes through."""
    x = y = 0.0
    points = []
    for letter, rest in STEP.findall(path):
        values = [float(v) for v in NUMBER.findall(rest)]
        assert letter in 'mlhv', path
        if letter == 'h':
            steps = [(v, 0) for v in values]
        elif letter == 'v':
            steps = [(0, v) for v in values]
        else:
            steps = list(zip(values[::2], values[1::2]))
        for dx, dy in steps:
            x, y = x + dx, y + dy
            points.append((x, y))
    return points


def test_a_curve_stays_within_a_fifth_of_a_point():
    rng = random.Random(1)
    for _ in range(20):
        points = [(n / 3, 100 + 30 * math.sin(n / 9) + rng.uniform(-1, 1))
                  for n in range(300)]
        path = 'M ' + ' \nL '.join(f'{x:.6f} {y:.6f}' for x, y in points)
        small = small_svg.small_path(path, 1)
        line = ends(small)
        far = max(min(small_svg.distance(p, a, b) for a, b in zip(line, line[1:]))
                  for p in points)
        assert far <= 0.15 + 0.08, far          # and half a digit in x and y
        assert len(small) < len(path) / 3, (len(small), len(path))


def test_rounding_does_not_add_up():
    path = 'M 0 0 ' + ' '.join(f'L {n * 0.34:.2f} {n % 2}' for n in range(1, 1000))
    x, y = ends(small_svg.small_path(path, 1))[-1]
    assert abs(x - 999 * 0.34) <= 0.051 and y == 1, (x, y)


def test_steps_and_rectangles_keep_their_corners():
    assert small_svg.small_path('M 0 0 \nL 10 0 \nL 10 5 \nL 0 5 \nz', 1) \
        == 'm0 0h10v5h-10z'


def test_letters_become_the_text_that_they_are():
    drawn = (HEAD + '<g id="text_1"><!-- 0.25 --><g style="fill: #fff" '
             'transform="translate(5 6.5) scale(0.09 -0.09)"><defs><path '
             'id="DejaVuSans-Bold-30" d="M 1 2"/></defs>'
             '<use xlink:href="#DejaVuSans-Bold-30"/></g></g></svg>')
    text = ET.fromstring(small_svg.small(drawn))[0]
    assert text.text == '0.25' and 'bold 9px' in text.get('style')
    assert text.get('transform') == 'translate(5 6.5)'
    formula = small_svg.small(drawn.replace('0.25', '$10^2$'))
    assert 'use' in formula and '$' not in formula


def test_the_font_is_said_once():
    drawn = HEAD + ''.join(
        f'<text style="font: {size}px \'DejaVu Sans\'; text-anchor: start">a</text>'
        for size in (8, 9, 9)) + '</svg>'
    text = small_svg.small(drawn)
    assert text.count('DejaVu Sans') == 1 and 'text-anchor' not in text
    assert text.count('font-size:9px') == 1 and text.count('font-size:8px') == 1


def test_marks_are_drawn_where_they_were():
    mark = '<defs><path id="m%d" d="M 0 0 L 0 3.5"/></defs><g><use ' \
        'xlink:href="#m%d" x="%d.04" y="2.5"/></g>'
    drawn = HEAD + ''.join(mark % (n, n, n) for n in range(3)) + '</svg>'
    root = ET.fromstring(small_svg.small(drawn))
    uses = list(root.iter('{http://www.w3.org/2000/svg}use'))
    names = {p.get('id') for p in root.iter('{http://www.w3.org/2000/svg}path')}
    assert [u.get('x') for u in uses] == ['0', '1', '2']
    assert {u.get('href')[1:] for u in uses} == names and len(names) == 1


def test_neighbours_cut_by_one_edge_are_one_group():
    cut = '<g clip-path="url(#e%d)"><path d="M 0 0 L 0 %d"/></g>'
    drawn = HEAD + cut % (1, 3) + cut % (1, 4) + cut % (2, 5) + cut % (1, 6) \
        + '</svg>'
    root = ET.fromstring(small_svg.small(drawn))
    groups = [e for e in root if e.get('clip-path')]
    assert [len(g) for g in groups] == [2, 1, 1]
    assert [e.get('d')[-1] for g in groups for e in g] == list('3456')


def test_lines_of_one_class_are_one_path():
    line = '<path d="M %s L %s L %s" style="fill: none; stroke: #%s"/>'
    points = [(('1 2', '1.5 -3', '9 9'), '00f'), (('4 4', '4 9.5', '4 -1'), '00f'),
              (('0 0', '5 5', '7 1'), 'f00'), (('2 2', '3 3', '4 8'), 'f00'),
              (('2 2', '1 1', '0 8'), '00f')]
    drawn = HEAD + ''.join(line % (*p, colour) for p, colour in points) + '</svg>'
    paths = list(ET.fromstring(small_svg.small(drawn)).iter(
        '{http://www.w3.org/2000/svg}path'))
    assert len(paths) == 3
    through = [tuple(round(v, 3) for v in p) for path in paths
               for p in ends(path.get('d'))]
    assert through == [tuple(float(v) for v in p.split())
                       for line, _ in points for p in line], through
    faint = small_svg.small(drawn.replace('fill: none', 'fill: none; opacity: 0.5'))
    assert faint.count('<path') == 5


def test_what_is_small_stays_as_it_is():
    for figure in sorted(pathlib.Path(sys.argv[1], 'docs').rglob('*.svg')):
        text = figure.read_text(encoding='utf-8')
        if figure.name != 'overview.svg':       # written by hand
            assert small_svg.small(text) == text, figure


def main():
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            test()
            print(f'ok: {name[5:].replace("_", " ")}')


if __name__ == '__main__':
    main()
