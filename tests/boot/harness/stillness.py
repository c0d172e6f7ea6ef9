"""How long the host has let an emulator stand still: a clock that jumps is none of the hypervisor's faults then."""

import math
import threading
import time
from pathlib import Path

INTERVAL = 0.5      # seconds; an idle machine takes several ticks of CPU in them, as Xen's own clocks go on


class Stillness(threading.Thread):
    """Looks at a process until it ends.  One that hangs takes CPU all the same: only what got none stood still."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.stat = Path(f"/proc/{pid}/stat")
        self.used = self.cpu_ticks()
        self.last_seen = time.monotonic()
        self.longest_seen = 0.0
        self.start()

    def cpu_ticks(self):
        """CPU that the process has had, all threads; None when it has ended."""
        try:
            state, *fields = self.stat.read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if state == "Z" else int(fields[10]) + int(fields[11])

    def run(self):
        while (used := self.cpu_ticks()) is not None:
            if used != self.used:
                self.longest_seen = self.longest()
                self.used, self.last_seen = used, time.monotonic()
            time.sleep(INTERVAL)
        self.last_seen = math.inf

    def longest(self):
        """Seconds; of the host as a whole, too, as this thread then comes as late."""
        return max(self.longest_seen, time.monotonic() - self.last_seen)
