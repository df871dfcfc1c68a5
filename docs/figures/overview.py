#!/usr/bin/env python3
"""Draws overview.svg, the picture of the README.

usage: docs/figures/overview.py > docs/figures/overview.svg
"""

WIDTH, HEIGHT = 960, 372
TALKERS = ['#3465a4', '#4e9a06', '#c4a000', '#75507b', '#ce5c00']
INK, PALE, LINE, MIX, TCP = '#2e3436', '#f4f4f1', '#babdb6', '#888a85', '#a40000'
TOP, GAP = 62, 44                       # of the talkers' column
BAR_TOP, BAR_HEIGHT = 84, 132            # of what the streams pass through
SEPARATE = 2                            # talkers that fit through on their own

out = []


def add(tag, text=None, **attributes):
    names = {name.rstrip('_').replace('_', '-'): value
             for name, value in attributes.items()}
    head = f'<{tag} ' + ' '.join(f'{k}="{v}"' for k, v in names.items())
    out.append(f'{head}/>' if text is None else f'{head}>{text}</{tag}>')


def label(x, y, text, size=13, anchor='middle', fill=INK, **more):
    add('text', text, x=x, y=y, font_size=size, text_anchor=anchor, fill=fill,
        **more)


def mono(x, y, text, **more):
    label(x, y, text, font_family='ui-monospace, DejaVu Sans Mono, monospace',
          **{'size': 12, **more})


def box(x, y, width, height, title):
    add('rect', x=x, y=y, width=width, height=height, rx=8, fill=PALE,
        stroke=LINE, stroke_width=1.5)
    label(x + width / 2, y - 9, title, font_weight='bold')


def element(x, y, name, width=92):
    add('rect', x=x, y=y, width=width, height=26, rx=4, fill='white',
        stroke=INK, stroke_width=1.2)
    mono(x + width / 2, y + 17, name)


def bar(x, name):
    """An element that all the streams pass, its name upright."""
    add('rect', x=x, y=BAR_TOP, width=26, height=BAR_HEIGHT, rx=4,
        fill='white', stroke=INK, stroke_width=1.2)
    middle = BAR_TOP + BAR_HEIGHT / 2
    mono(x + 17, middle, name,
         transform=f'rotate(-90 {x + 17} {middle})')


def curve(x0, y0, x1, y1, colour, width=2.5, **more):
    middle = (x0 + x1) / 2
    add('path', d=f'M{x0} {y0} C{middle} {y0} {middle} {y1} {x1} {y1}',
        fill='none', stroke=colour, stroke_width=width, **more)


def person(x, y, colour):
    add('circle', cx=x, cy=y - 6, r=7, fill=colour)
    add('path', d=f'M{x - 11} {y + 15} a11 11 0 0 1 22 0 z', fill=colour)


def talker_y(n):
    return TOP + n * GAP


def link_y(n):
    """Where stream n is inside the link; the mix comes after the others."""
    return 118 + n * 14


def talkers():
    label(74, 24, 'talkers', font_weight='bold')
    for n, colour in enumerate(TALKERS):
        y = talker_y(n)
        person(34, y, colour)
        element(58, y - 13, 'tfrcrate', 76)
        curve(134, y, 220, mixer_y(n), colour)


def mixer_y(n):
    """Where stream n enters the mixer."""
    return 106 + 22 * n


def mixer():
    plus_y = 172
    box(206, 58, 236, 222, 'partial mixer')
    bar(220, 'rtpccfb')
    add('rect', x=262, y=BAR_TOP, width=112, height=BAR_HEIGHT, rx=4,
        fill='white', stroke=INK, stroke_width=1.2)
    mono(318, BAR_TOP + BAR_HEIGHT + 16, 'partialmix')
    for n, colour in enumerate(TALKERS):
        y = mixer_y(n)
        add('path', d=f'M246 {y} H262', stroke=colour, stroke_width=2.5)
        if n < SEPARATE:
            curve(262, y, 392, link_y(n), colour)
        else:
            curve(262, y, 332, plus_y, colour, 1.8)
    curve(332, plus_y, 392, link_y(SEPARATE), MIX, 4)
    add('circle', cx=332, cy=plus_y, r=10, fill=MIX)
    label(332, plus_y + 5.5, '+', 16, fill='white', font_weight='bold')
    bar(392, 'tfrcrate')
    for n in range(SEPARATE + 1):
        colour, width = ((TALKERS[n], 2.5) if n < SEPARATE else (MIX, 4))
        add('path', d=f'M418 {link_y(n)} H442', stroke=colour,
            stroke_width=width)


def link():
    left, right, top, bottom = 442, 640, 100, 196
    add('path', fill='#eeeeec', stroke=LINE, stroke_width=1.5,
        d=f'M{left} {top - 26} C{left + 40} {top} {left + 40} {top} '
          f'{left + 70} {top} H{right - 70} '
          f'C{right - 40} {top} {right - 40} {top} {right} {top - 26} '
          f'V{bottom + 26} '
          f'C{right - 40} {bottom} {right - 40} {bottom} {right - 70} {bottom} '
          f'H{left + 70} '
          f'C{left + 40} {bottom} {left + 40} {bottom} {left} {bottom + 26} z')
    label((left + right) / 2, 50, 'a path', font_weight='bold')
    label((left + right) / 2, 67, 'that others use, too', font_weight='bold')
    for n in range(SEPARATE):
        add('path', d=f'M{left} {link_y(n)} H{right}', stroke=TALKERS[n],
            stroke_width=2.5)
    add('path', d=f'M{left} {link_y(SEPARATE)} H{right}', stroke=MIX,
        stroke_width=4)
    add('path', d=f'M{left + 6} 172 H{right - 6}', stroke=TCP,
        stroke_width=3, stroke_dasharray='2 5')
    label((left + right) / 2, 189, 'TCP: an equal share', 11.5, fill=TCP)


def listener():
    box(640, 58, 176, 222, 'listener')
    bar(654, 'rtpccfb')
    add('rect', x=704, y=BAR_TOP, width=98, height=BAR_HEIGHT, rx=4,
        fill='white', stroke=INK, stroke_width=1.2)
    mono(753, BAR_TOP + BAR_HEIGHT + 16, 'partialmix')
    for n in range(SEPARATE + 1):
        colour, width = ((TALKERS[n], 2.5) if n < SEPARATE else (MIX, 4))
        for x0, x1 in ((640, 654), (680, 704)):
            add('path', d=f'M{x0} {link_y(n)} H{x1}', stroke=colour,
                stroke_width=width)
        curve(704, link_y(n), 792, (104, 196, 150)[n], colour, width)
    for y, text in ((104, 'left'), (196, 'right')):
        add('path', d=f'M802 {y} H826', stroke=INK, stroke_width=2)
        label(830, y + 4.5, text, 12, 'start')
    label(888, 24, 'what is heard', font_weight='bold')
    for n, (x, y) in enumerate([(890, 84), (890, 216), (884, 142), (908, 154),
                                (932, 142)]):
        person(x, y, TALKERS[n] if n < SEPARATE else MIX)
    label(908, 184, 'all of them', 12)


def feedback():
    add('path', fill='none', stroke=INK, stroke_width=1.6,
        stroke_dasharray='6 4', marker_end='url(#tip)',
        d='M667 216 V312 H405 V219')
    label(540, 304, 'which packets came, and when', 12.5)
    label(540, 328, '(RTCP, RFC 8888)', 12)
    add('path', fill='none', stroke=INK, stroke_width=1.6,
        marker_end='url(#tip)', d='M396 216 V256 H318 V238')
    label(356, 271, 'target rate', 12)
    label(480, 360, 'The rate that TCP would have decides how many voices '
          'stay separate; the others travel as one mix.', 13.5)


def main():
    for part in (link, mixer, talkers, listener, feedback):
        part()
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
          f'{HEIGHT}" font-family="system-ui, DejaVu Sans, sans-serif">')
    print('<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" '
          'markerWidth="7" markerHeight="7" orient="auto">'
          f'<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>')
    print(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    print('\n'.join(out))
    print('</svg>')


if __name__ == '__main__':
    main()
