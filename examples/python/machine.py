"""Says whether this machine is too busy for sound in real time."""
import os
import pathlib
import threading
import time


def idle_s():
    """For how long processors of this machine had nothing to do, or only what gives
    way (nice), together."""
    fields = pathlib.Path('/proc/stat').read_text(encoding='ascii').split()
    return sum(int(fields[n]) for n in (2, 4, 5)) / os.sysconf('SC_CLK_TCK')


class Stalls(threading.Thread):
    """The longest time for which this machine did not run who was due, and
    whether there was a second in which it had nothing to spare."""
    INTERVAL_S = 0.02
    SPARE = 0.05            # of one processor
    STALL_S = 0.2           # a listener's delay: what comes later is not heard

    def __init__(self):
        super().__init__(daemon=True)
        self.longest_s, self.full = 0.0, False
        self.recent_s = 0.0             # since take()
        self.full_now = False           # the last second

    def run(self):
        before = second = time.monotonic()
        idle = idle_s()
        while True:
            time.sleep(self.INTERVAL_S)
            now = time.monotonic()
            late_s = now - before - self.INTERVAL_S
            self.recent_s = max(self.recent_s, late_s)
            self.longest_s = max(self.longest_s, late_s)
            before = now
            if now - second >= 1:
                self.full_now = idle_s() - idle < self.SPARE * (now - second)
                self.full |= self.full_now
                second, idle = now, idle_s()

    def take(self):
        """(the longest stall since the last call, no spare time now)"""
        longest_s, self.recent_s = self.recent_s, 0.0
        return longest_s, self.full_now

    def why(self):
        """What made this machine too busy to tell; None if nothing did."""
        if self.longest_s >= self.STALL_S:
            return f'it stood still for {self.longest_s * 1e3:.0f} ms'
        return 'it had nothing to spare for a second' if self.full else None
