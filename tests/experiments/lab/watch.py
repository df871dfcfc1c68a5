# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether a run still gets on, or only waits for its turn."""
import pathlib
import time

STALL_S = 120           # so long without virtual time passing
LOOK_S = 10             # so often is noted how long it has waited

PROC = pathlib.Path('/proc')


def waited(session):
    """{thread: seconds for which it has waited for a processor} of all processes
    of a session."""
    out = {}
    for process in PROC.glob('[0-9]*'):
        try:
            stat = (process / 'stat').read_text().rpartition(')')[2].split()
            if int(stat[3]) != session:
                continue
            for task in (process / 'task').iterdir():
                wait_ns = (task / 'schedstat').read_text().split()[1]
                out[task.name] = int(wait_ns) * 1e-9
        except (OSError, ValueError, IndexError):
            continue    # it has ended meanwhile
    return out


class Watch:
    """On a busy machine a run may stand still for minutes and be well: the time
    in which its threads wait for a processor does not count.  In virtual time one
    of them runs at a time, so what they wait adds up."""

    def __init__(self, session):
        self.session = session
        self.moved_s = self.looked_s = time.monotonic()
        self.waits = waited(session)

    def moved(self):
        """Virtual time has passed."""
        self.moved_s = time.monotonic()
        if self.moved_s - self.looked_s > LOOK_S:
            self.looked_s = self.moved_s
            self.waits = waited(self.session)

    def stalled(self):
        still_s = time.monotonic() - self.moved_s
        if still_s <= STALL_S:
            return False
        starved_s = sum(s - self.waits.get(thread, 0.0)
                        for thread, s in waited(self.session).items())
        return still_s - starved_s > STALL_S
