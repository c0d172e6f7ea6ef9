# SPDX-License-Identifier: GPL-2.0-only
"""Native Linux on an emulated machine, driven like the boot tests' Xen: the same commands, the same verdict."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).absolute().parents[3]
for path in (str(ROOT / "tests"), str(ROOT / "tests" / "boot")):
    if path not in sys.path:
        sys.path.insert(0, path)

from harness.machine import BUILD, Machine      # noqa: E402  the path comes first

WORKLOADS = BUILD / "workloads"
POWER_OFF = re.compile(rb"reboot: Power down")


class NativeMachine(Machine):
    """Linux without a hypervisor, on the image of the workloads; run() runs a command in it."""

    ends_complete = staticmethod(lambda log: bool(POWER_OFF.search(log[-400:])))

    def __init__(self, topology, kernel_options="", qemu_options=()):
        super().__init__(topology, "native", kernel_options, qemu_options)

    def products(self):
        return [BUILD / "linux" / "bzImage", WORKLOADS / "image-id"]

    def image_id(self):
        return (WORKLOADS / "image-id").read_text().strip()

    def payload(self):
        # relative to BUILD, where QEMU runs
        return ["-kernel", "linux/bzImage", "-initrd", "workloads/root.cpio.zst",
                "-append", f"console=ttyS0,115200 panic=1 agent.nonce={self.nonce} {self.xen_options}".rstrip()]
