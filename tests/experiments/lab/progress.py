# SPDX-License-Identifier: LGPL-2.1-or-later
"""A line that says how far it is and how long it will take."""
import sys
import time


def clock(seconds):
    seconds = int(seconds + 0.5)
    if seconds >= 3600:
        return f'{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}'
    return f'{seconds // 60}:{seconds % 60:02}'


class Progress:
    """Total work is in virtual seconds; on a terminal one line is redrawn,
    elsewhere a line appears when another tenth is done."""

    def __init__(self, total, out=sys.stderr):
        self.total = max(total, 1e-9)
        self.out = out
        self.start = time.monotonic()
        self.tenth = -1
        self.width = 0

    def show(self, done, text):
        part = min(done / self.total, 1.0)
        spent = time.monotonic() - self.start
        left = f'{clock(spent * (1 - part) / part)} left' if part > 0.005 \
            else 'starting'
        if self.out.isatty():
            bar = '#' * round(24 * part)
            line = f'[{bar:<24}] {100 * part:3.0f} %  {left}  {text}'[:110]
            print('\r' + line.ljust(self.width), end='', file=self.out,
                  flush=True)
            self.width = len(line)
        elif int(part * 10) > self.tenth:
            self.tenth = int(part * 10)
            print(f'{100 * part:3.0f} %  {left}  {text}', file=self.out,
                  flush=True)

    def say(self, text):
        if self.out.isatty():
            print('\r' + ' ' * self.width + '\r', end='', file=self.out)
        print(text, file=self.out, flush=True)

    def end(self):
        self.say(f'done in {clock(time.monotonic() - self.start)}')
