#!/usr/bin/python3
"""Draws the timeline of a party.

usage: timeline.py party.csv party.png

You will see three strips over time: what the link could carry, what the
mixer was allowed to send and what it sent; loss and the link's queue; and how
many talkers came through on their own, how many in the mix.  Where this
machine was too busy to play in real time, or the mixer left half of the link
unused although it mixed, the picture says so.

Needs python3-cairo.
"""
import csv
import sys

import cairo

WIDTH, HEIGHT, SCALE = 900, 666, 1.1
LEFT, RIGHT, TOP, GAP = 70, 840, 76, 26
PANELS = (250, 120, 120)        # heights
BLUE, ORANGE, GREY, GREEN, RED, INK = (
    '#3465a4', '#e08214', '#d3d7cf', '#4e9a06', '#a40000', '#2e3436')
TITLE = 'As many separate voices as the path has room for'


def column(rows, name):
    return [float(row[name]) for row in rows]


def smooth(values, width=4):
    return [sum(values[max(0, i - width + 1):i + 1])
            / len(values[max(0, i - width + 1):i + 1])
            for i in range(len(values))]


def phases(rows):
    """The rows between two changes of the link, one list each."""
    groups = []
    for row in rows:
        if not groups or groups[-1][-1]['link_kbps'] != row['link_kbps']:
            groups.append([])
        groups[-1].append(row)
    return groups


def share_used(group):
    """Of the link, by what came through: what was sent and lost is no use."""
    return sum(column(group, 'used_kbps')) / sum(column(group, 'link_kbps'))


def remarks(rows):
    """What a picture or a table of these rows must not hide, in sentences."""
    if not rows:
        return
    sample_s = float(rows[0]['time_s'])
    busy_s = sum(float(row['busy']) for row in rows) * sample_s
    if busy_s:
        yield (f'This machine was too busy for {busy_s:.0f} of '
               f'{len(rows) * sample_s:.0f} s: what happened then is its doing, '
               'not the link\'s.')
    for group in phases(rows):
        used = share_used(group)
        if used < 0.5 and sum(column(group, 'mixed')) > 0.5 * len(group):
            begin = float(group[0]['time_s']) - sample_s
            yield (f'From {begin:.0f} s to {float(group[-1]["time_s"]):.0f} s only '
                   f'{100 * used:.0f} % of the link was used, although voices were mixed.')


def nice_step(span, most=5):
    """A round distance of ticks, so that there are at most so many."""
    step = 1.0
    while span / step > most:
        step *= 2.5 if str(step)[0] == '2' else 2
    return step


class Panel:
    """One strip: data coordinates, and how they are drawn."""

    def __init__(self, paper, top, height, end_s, most):
        self.paper, self.top, self.height = paper, top, height
        self.end_s, self.most = end_s, most

    def x(self, time_s):
        return LEFT + time_s / self.end_s * (RIGHT - LEFT)

    def y(self, value, most=None):
        return self.top + self.height * (1 - value / (most or self.most))

    def colour(self, text, alpha=1.0):
        self.paper.set_source_rgba(
            *(int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)), alpha)

    def text(self, x, y, text, size=12, align=0.0, colour=INK, bold=False):
        """align: 0 = begins at x, 0.5 = around it, 1 = ends there"""
        self.paper.select_font_face(
            'DejaVu Sans', cairo.FONT_SLANT_NORMAL,
            cairo.FONT_WEIGHT_BOLD if bold else cairo.FONT_WEIGHT_NORMAL)
        self.paper.set_font_size(size)
        self.colour(colour)
        self.paper.move_to(x - align * self.paper.text_extents(text).x_advance, y)
        self.paper.show_text(text)

    def upright(self, x, text, colour=INK):
        self.paper.save()
        self.paper.translate(x, self.top + self.height / 2)
        self.paper.rotate(-1.5707963)
        self.text(0, 0, text, align=0.5, colour=colour)
        self.paper.restore()

    def axes(self, name, colour=INK, times=False):
        step = nice_step(self.most)
        for n in range(int(self.most / step) + 1):
            self.text(LEFT - 8, self.y(n * step) + 4, f'{n * step:g}', 11, 1.0,
                      colour)
        self.upright(18, name, colour)
        if times:
            step = nice_step(self.end_s, 9)
            for n in range(int(self.end_s / step) + 1):
                self.text(self.x(n * step), self.top + self.height + 17,
                          f'{n * step:g}', 11, 0.5)
            self.text((LEFT + RIGHT) / 2, self.top + self.height + 36, 'time, s',
                      align=0.5)
        self.colour(INK)
        self.paper.set_line_width(1)
        self.paper.move_to(LEFT, self.top)
        self.paper.line_to(LEFT, self.top + self.height)
        self.paper.line_to(RIGHT, self.top + self.height)
        self.paper.stroke()

    def line(self, times, values, colour, steps=False, width=1.8, most=None):
        for n, (time_s, value) in enumerate(zip(times, values)):
            point = self.x(time_s), self.y(value, most)
            if n and steps:
                self.paper.line_to(point[0], self.paper.get_current_point()[1])
            self.paper.line_to(*point)
        self.colour(colour)
        self.paper.set_line_width(width)
        self.paper.stroke()

    def bars(self, times, values, colour, base=None, alpha=1.0):
        """Each from the time before to its own."""
        before = 0.0
        self.colour(colour, alpha)
        for n, (time_s, value) in enumerate(zip(times, values)):
            low = base[n] if base else 0
            self.paper.rectangle(self.x(before), self.y(low + value),
                                 self.x(time_s) - self.x(before) + 0.3,
                                 self.y(low) - self.y(low + value))
            before = time_s
        self.paper.fill()

    def legend(self, *entries):
        """Above the panel, where no curve is."""
        x = LEFT
        for colour, text in entries:
            self.colour(colour)
            self.paper.rectangle(x, self.top - 17, 18, 9)
            self.paper.fill()
            self.text(x + 24, self.top - 8, text)
            x += 48 + self.paper.text_extents(text).x_advance


def draw_rates(panel, rows, times):
    panel.bars(times, column(rows, 'link_kbps'), GREY)
    panel.line(times, [min(v, panel.most) for v in column(rows, 'target_kbps')],
               ORANGE, steps=True)
    panel.line(times, [min(v, panel.most)
                       for v in smooth(column(rows, 'sent_kbps'))], BLUE)
    panel.axes('kbit/s on the wire')
    panel.legend((GREY, 'the link carries'), (ORANGE, 'target'),
                 (BLUE, 'sent (1 s mean)'))


def draw_trouble(panel, rows, times, loss):
    queue = column(rows, 'queue_ms')
    most_ms = max(100.0, 1.1 * max(queue))
    panel.bars(times, loss, RED)
    panel.line(times, queue, GREEN, width=1.2, most=most_ms)
    panel.axes('loss, %', RED)
    step = nice_step(most_ms)
    for n in range(int(most_ms / step) + 1):
        panel.text(RIGHT + 8, panel.y(n * step, most_ms) + 4, f'{n * step:g}', 11,
                   colour=GREEN)
    panel.upright(RIGHT + 52, 'queue, ms', GREEN)


def draw_streams(panel, rows, times):
    separate = column(rows, 'separate')
    panel.bars(times, separate, BLUE)
    panel.bars(times, column(rows, 'mixed'), GREY, base=separate)
    panel.axes('talkers', times=True)
    panel.legend((BLUE, 'on their own'), (GREY, 'in the mix'))


def draw(csv_path, picture_path):
    with open(csv_path, newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    times = column(rows, 'time_s')
    packets, lost = (smooth(column(rows, name))
                     for name in ('packets', 'lost_packets'))
    loss = [100 * a / b if b else 0 for a, b in zip(lost, packets)]
    talkers = [a + b for a, b in zip(column(rows, 'separate'),
                                     column(rows, 'mixed'))]
    said = list(remarks(rows))
    top = TOP + 18 * len(said)
    surface = cairo.ImageSurface(cairo.FORMAT_RGB24, int(WIDTH * SCALE),
                                 int((HEIGHT + 18 * len(said)) * SCALE))
    paper = cairo.Context(surface)
    paper.scale(SCALE, SCALE)
    paper.set_source_rgb(1, 1, 1)
    paper.paint()
    panels = []
    for height, most in zip(PANELS, (1.25 * max(column(rows, 'link_kbps')),
                                     max(10.0, 1.1 * max(loss)),
                                     1.35 * max(talkers) + 0.1)):
        panels.append(Panel(paper, top, height, times[-1], most))
        top += height + GAP
    draw_rates(panels[0], rows, times)
    draw_trouble(panels[1], rows, times, loss)
    draw_streams(panels[2], rows, times)
    for panel in panels:                        # where the machine was too busy
        panel.bars(times, [float(row['busy']) * panel.most for row in rows], RED,
                   alpha=0.15)
    panels[0].text((LEFT + RIGHT) / 2, 34, TITLE, 16, 0.5, bold=True)
    for n, sentence in enumerate(said):
        panels[0].text((LEFT + RIGHT) / 2, 58 + 18 * n, sentence, 12, 0.5, RED)
    surface.write_to_png(str(picture_path))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(*sys.argv[1:])
