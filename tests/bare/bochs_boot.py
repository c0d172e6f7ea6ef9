# SPDX-License-Identifier: GPL-2.0-only
"""A boot on a machine with EPT, which Bochs emulates: see tests/boot/harness/bochs.py."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from bare_boot import OPTIONS, PANICKED, Boot, BootRed, HostFault
from harness import bochs
from harness.stillness import Stillness
from runner.modest import stay_modest


class BochsBoot(Boot):
    emulator = "Bochs"
    # a reset ends in a triple fault, which may come first
    ended = re.compile(rb"\(XEN\) Hardware Dom0 shutdown: rebooting machine\s+(?:\(XEN\) Resetting with [^\n]*\n)?\Z")

    @staticmethod
    def of_end(status):
        """1 may be anything, a panic or a triple fault of the machine as well, as in harness/bochs.py; a signal is none of these."""
        return HostFault if status < 0 else BootRed

    def _emulate(self, xen, nonce, record):
        with tempfile.TemporaryDirectory(dir=record.parent) as name:
            directory = Path(name)
            options = f"{OPTIONS} {bochs.BOCHS_XEN_OPTIONS} {bochs.numa(self.topology)} {self.xen_options}".rstrip()
            modules = [("xen", xen, options), ("program", self.program, f"{nonce} {self.words}".rstrip())]
            bochs.prepare(directory, self.topology, modules, "mode=file, dev=report")
            (directory / "console").symlink_to(self.console)
            (directory / "log").symlink_to(record.with_suffix(".bochs.log"))
            record.write_text("\n".join([bochs.BOCHS, *(shlex.join(map(str, module)) for module in modules)]) + "\n")
            errors, status = self._run(directory)
            report = directory / "report"
            return report.read_text(errors="replace") if report.exists() else "", errors, status

    def _judge(self, said, nonce, died, of_end=HostFault):
        report = super()._judge(said, nonce, died, of_end)
        missing = bochs.missing_of_ept(self.console.read_text(errors="replace"))
        if missing:
            self._red(f"it does not run with EPT, Xen has not said {missing!r}")
        return report

    def _run(self, directory):
        """Errors, and the status of an end before dom0's."""
        started = time.monotonic()
        emulator = subprocess.Popen(["/bin/sh", "-c", f"{bochs.BOCHS} </dev/null >screen 2>&1"], cwd=directory,
                                    start_new_session=True, preexec_fn=stay_modest)
        stillness = Stillness(emulator.pid)
        try:
            while time.monotonic() < started + self.seconds:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    emulator.wait(timeout=0.5)
                console = self.console.read_bytes()
                if self.ended.search(console) or PANICKED in console:
                    return "", 0
                if emulator.returncode is not None:
                    return "see its log", emulator.returncode or 1
            self._hangs(stillness.longest(started))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(emulator.pid, signal.SIGKILL)
            emulator.wait()
