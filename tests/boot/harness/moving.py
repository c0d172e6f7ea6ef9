"""A guest that verifies its own memory while that is moved, and who moves it."""

import re
import shlex
import time

from . import guests

MEMORY, WRITTEN = 112, 24       # MiB of the guest, and of them written and verified
SAID = r"memory-(?:writer|order|io): second (\d+): (\d+) passes, (\d+) words wrong"


def start_writer(machine, name="g", vcpus=2, command=f"memory-writer {WRITTEN} 300", **options):
    """Creates the guest and waits until every word has been written and verified once."""
    guests.create(machine, name, paused=False, linux=True, command=command,
                  **{"memory": MEMORY, "vcpus": vcpus, "cpus": ["1-7"]} | options)
    wait_passes(machine, name, 2)


def said(machine, name="g"):
    """(passes of the slowest vCPU, wrong words) as the guest said last."""
    lines = re.findall(SAID, guests.console(machine, name))
    assert lines, guests.console(machine, name)[-1000:]
    return int(lines[-1][1]), int(lines[-1][2])


def wait_passes(machine, name, passes, seconds=120):
    """Waits until each vCPU has made so many passes, none of which found a wrong word."""
    end = time.monotonic() + seconds
    while True:
        lines = re.findall(SAID, guests.console(machine, name))
        if lines:
            assert int(lines[-1][2]) == 0, lines[-1]
            if int(lines[-1][1]) >= passes:
                return
        assert time.monotonic() < end, f"no {passes} passes in {seconds} s, but {lines[-1:]}\n{guests.console(machine, name)[-800:]}"
        time.sleep(0.5)


def check_content(machine, name="g"):
    """What is in memory now is what was written: all of it is read twice more."""
    wait_passes(machine, name, said(machine, name)[0] + 2)


ENDLESS = 1 << 40


class Mover:
    """numa-mover in the background of dom0: until so many pages are moved, or until stop()."""

    def __init__(self, machine, name, pages, seed, alone=True, memory=MEMORY):
        self.machine, self.pages = machine, pages
        self.out = f"/tmp/mover-{name}-{seed}"
        domid = guests.domid(machine, name)
        command = f"numa-mover {domid} {memory} {pages} {seed} {'alone' if alone else ''}"
        machine.run(f"({command} >{self.out} 2>&1; echo status $? >>{self.out}) &")

    def text(self):
        return self.machine.run(f"cat {shlex.quote(self.out)}").out

    def running(self):
        return "status" not in self.text()

    def stop(self):
        """Has it come to its end; returns what it counted."""
        assert self.running(), self.text()
        self.machine.run("killall numa-mover")
        return self.finish()

    def finish(self, seconds=240):
        """Waits for its end, which has to be a good one; returns what it counted."""
        end = time.monotonic() + seconds + min(self.pages, 1 << 20) / 200
        while self.running():
            assert time.monotonic() < end, "numa-mover does not come to an end"
            time.sleep(0.5)
        text = self.text()
        assert text.endswith("status 0\n"), text
        return {what: int(number) for number, what in re.findall(r"(\d+) (moved|times 2 MiB|there|no page|busy|unmovable|no room)", text)}
