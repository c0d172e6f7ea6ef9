# SPDX-License-Identifier: GPL-2.0-only
"""One boot of a program that is the whole of dom0: its emulator, its report, the verdict.

The report comes by the second serial line, and each of its lines bears this boot's nonce; a last one, which the program's proper end
alone makes, counts the others.  Without it, or with a red line on the console, nothing that was reported counts.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]
for path in (str(ROOT / "tests"), str(ROOT / "tests" / "boot")):
    if path not in sys.path:
        sys.path.insert(0, path)

from harness import agent, scan                                                                         # noqa: E402  the path comes first
from harness.machine import BUILD, LOGS, STOOD_STILL, XEN_OPTIONS, BootRed, HostFault, emulator, tail    # noqa: E402
from harness.stillness import Stillness                                                                 # noqa: E402
from harness.topologies import Topology, uniform                                                        # noqa: E402,F401  for cases.py
from runner.modest import stay_modest                                                                   # noqa: E402

SECONDS = 240           # measured 2 to 10, and 60 beside twice as many that want the CPUs
EXCUSED = 0.1           # of them, for which the host has to have let the emulator stand still to be to blame for a hang
DOM0_MIB = 64
# flask would ask for labels that no toolstack is there to give
OPTIONS = f"{XEN_OPTIONS} flask=disabled dom0_mem={DOM0_MIB}M,max:{DOM0_MIB}M"
BEGINS = b"bare: begins"
# what failed is what programs tell
REFUSED = r"common/memory\.c:\d+:d\d+v\d+ Could not allocate order="
ENDS = r"\(XEN\) Resetting with "
# a console that the host keeps waiting says so, at any time
ENDED = re.compile(rb"\(XEN\) Hardware Dom0 shutdown: rebooting machine\s+(?:\(XEN\) uart interrupt taking more than [^\n]*\n)?"
                   + ENDS.encode() + rb"[^\n]*\n\Z")
REPORT = re.compile(r"(\w+) (outcome|promise|note|end) (-?\d+) (.+)")
DOWN = re.compile(r"Panic on CPU|Xen BUG at|Assertion '.*' failed|FATAL (TRAP|PAGE FAULT)")
PANICKED = b"Panic on CPU"      # the last that a crash has to tell


class XenDown(BootRed):
    """The hypervisor has crashed."""


@dataclass
class Report:
    """Names and values."""
    outcome: dict = field(default_factory=dict)
    promise: dict = field(default_factory=dict)
    note: dict = field(default_factory=dict)
    seconds: float = 0


def parse(text, nonce):
    """The Report; BootRed, if it is not complete."""
    report, count, ended = Report(), 0, False
    for line in text.splitlines():
        found = REPORT.fullmatch(line)
        if not found or found[1] != nonce:
            raise BootRed(f"no line of a report of boot {nonce}: {line!r}")
        kind, value, name = found[2], int(found[3]), found[4]
        if ended:
            raise BootRed("the report goes on behind its end")
        if kind == "end":
            if value != count:
                raise BootRed(f"the report has {count} lines, its end says {value}")
            ended = True
            continue
        if name in getattr(report, kind):
            raise BootRed(f"twice in the report: {name}")
        getattr(report, kind)[name] = value
        count += 1
    if not ended or not text.endswith("\n"):
        raise BootRed(f"the report has no end, but {count} lines")
    return report


def red_lines(console, expected=(), may_die=()):
    """Of the console: what Xen says while the program runs is known to be harmless, or red."""
    scanner = scan.Scanner()
    scanner.may_die.update(may_die)
    head, begins, rest = console.partition(BEGINS)
    red = scanner.feed(head + begins)
    scanner.dom0_up = True
    red += scanner.feed(rest) + scanner.end()
    return [line for line in red if DOWN.search(line) or not any(re.search(pattern, line) for pattern in (ENDS, REFUSED, *expected))]


@dataclass
class Boot:
    """A program on a machine, with a hypervisor of build/."""
    program: Path
    words: str
    topology: object
    hypervisor: str
    xen_options: str = ""
    expected: tuple = ()        # lines of Xen's, patterns, that are no fault in this program
    may_die: tuple = ()         # domains that Xen ends
    seconds: int = SECONDS
    qemu_options: tuple = ()
    emulator = "QEMU"
    ended = ENDED

    def run(self):
        """The Report.  XenDown, BootRed, or HostFault, if the host is to blame."""
        xen = BUILD / f"xen-{self.hypervisor}" / "xen"
        if not xen.exists():
            raise FileNotFoundError(f"{xen} is missing: run make setup")
        nonce = agent.new_nonce()
        logs = Path(os.environ.get("BOOT_LOGS", LOGS))
        logs.mkdir(parents=True, exist_ok=True)
        stem = "-".join(["bare", self.program.name, *self.words.split(), self.hypervisor, nonce[:6]])
        self.console = logs / f"{stem}.console.log"
        self.console.touch()
        started = time.monotonic()
        said, errors, status = self._emulate(xen, nonce, logs / f"{stem}.command")
        (logs / f"{stem}.report.log").write_text(said)
        report = self._judge(said, nonce, status and f"{self.emulator} ended with {status}: {errors[-500:]}", self.of_end(status))
        report.seconds = time.monotonic() - started
        return report

    @staticmethod
    def of_end(status):
        """Who is to blame for such an end: with -no-reboot no machine makes QEMU end with anything but 0."""
        return HostFault

    def _emulate(self, xen, nonce, record):
        """What the program reports, and what QEMU says at its end: errors, and status."""
        command = [*emulator(self.topology, self.console), *self.qemu_options, "-kernel", str(xen.relative_to(BUILD)),
                   "-initrd", f"{self.program.relative_to(BUILD)} {nonce} {self.words}".rstrip(),
                   "-append", f"{OPTIONS} {self.xen_options}".rstrip()]
        record.write_text(shlex.join(command) + "\n")
        started = time.monotonic()
        qemu = subprocess.Popen(command, cwd=BUILD, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace", start_new_session=True, preexec_fn=stay_modest)
        stillness = Stillness(qemu.pid)
        try:
            while time.monotonic() < started + self.seconds:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return *qemu.communicate(timeout=0.5), qemu.returncode
                if PANICKED in self.console.read_bytes():
                    return "", "", 0
            self._hangs(stillness.longest(started))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(qemu.pid, signal.SIGKILL)
            qemu.wait()

    def _hangs(self, still):
        self._red(f"hang: no end after {self.seconds} s, of which the host let the emulator stand still for {still:.1f} at a time",
                  HostFault if still >= max(STOOD_STILL, self.seconds * EXCUSED) else BootRed)

    def _judge(self, said, nonce, died, of_end=HostFault):
        console = self.console.read_bytes()
        red = red_lines(console, self.expected, self.may_die)
        if red:
            red.sort(key=lambda line: DOWN.search(line) is None)
            self._red("the console is not clean:\n  " + "\n  ".join(red[:20]), XenDown if any(map(DOWN.search, red)) else BootRed)
        if died:
            self._red(died, of_end)
        if not self.ended.search(console):
            self._red("the console does not end with dom0's own end")
        try:
            return parse(said, nonce)
        except BootRed as error:
            self._red(str(error))

    def _red(self, why, red=BootRed):
        raise red(f"{why}\n--- {self.program.name} on {self.hypervisor}, console, last lines ({self.console}):\n{tail(self.console)}")
