# SPDX-License-Identifier: GPL-2.0-only
"""How long the host has let an emulator stand still: a clock that jumps, or a hang, is none of the hypervisor's faults then."""

import math
import threading
import time
from pathlib import Path

INTERVAL = 0.5      # seconds; an idle machine takes several ticks of CPU in them, as Xen's own clocks go on
ASLEEP = set("SIZX")


class Stillness(threading.Thread):
    """Looks at a process until it ends.  One that spins takes CPU, and one whose CPUs are all halted sleeps of its own accord:
    only what got none, and wanted some or was stopped, stood still."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.process = Path(f"/proc/{pid}")
        self.used = self.cpu_ticks()
        self.last_seen = self.looked = time.monotonic()
        self.stood = []         # (from, to) of each standstill that is over
        self.start()

    @staticmethod
    def fields(stat):
        """Of a process' or a thread's stat, from its state on."""
        return stat.read_text().rpartition(")")[2].split()

    def cpu_ticks(self):
        """CPU that the process has had, all threads; None when it has ended."""
        try:
            state, *fields = self.fields(self.process / "stat")
        except OSError:
            return None
        return None if state == "Z" else int(fields[10]) + int(fields[11])

    def sleeps(self):
        """Whether no thread wants the CPU, and none is stopped."""
        try:
            return {self.fields(task / "stat")[0] for task in (self.process / "task").iterdir()} <= ASLEEP
        except OSError:         # a thread, or the process, has ended just now
            return False

    def run(self):
        while (used := self.cpu_ticks()) is not None:
            now = time.monotonic()
            # not at once after this thread itself was kept from looking
            if used != self.used or (now - self.looked < 2 * INTERVAL and self.sleeps()):
                self.is_over(now)
            self.used, self.looked = used, now
            time.sleep(INTERVAL)
        self.is_over(time.monotonic())
        self.last_seen = math.inf

    def is_over(self, now):
        if now - self.last_seen > 2 * INTERVAL:
            self.stood.append((self.last_seen, now))
        self.last_seen = now

    def longest(self, since=0):
        """Seconds, of what was after a moment of time.monotonic(); of the host as a whole, too, as this thread then comes as late."""
        spans = [*self.stood, (self.last_seen, time.monotonic())]
        return max(0, *(end - max(start, since) for start, end in spans))
