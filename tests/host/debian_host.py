# SPDX-License-Identifier: GPL-2.0-only
"""A host as administrators have it: Debian 13 on a disk, with the packages of `make deb` installed by apt."""

from harness.machine import BUILD, DOM0_OPTIONS, Machine
from harness.topologies import Topology, uniform

TOPOLOGY = Topology("debian-host", (2, 2), (2048, 2048), uniform(2), dom0_mib=1024)
HOST = BUILD / "debian-host"
# on a busy machine systemd's own limits are short
PATIENT = "systemd.default_timeout_start_sec=1800 systemd.default_device_timeout_sec=1800"
# messages of systemd would be most of the console
OPTIONS = f"{DOM0_OPTIONS} root=/dev/sda rw systemd.show_status=error {PATIENT}"


class DebianHost(Machine):
    slower = 6          # systemd and its services: 80 s of CPU, and 7 min on a busy machine, to the agent and off again

    def __init__(self, disk):
        """Boots of a copy of the disk, on which stays what is written."""
        super().__init__(TOPOLOGY, "release")
        self.disk = disk

    def products(self):
        return [HOST / name for name in ("xen", "vmlinuz", "initrd.img", "image-id")] + [self.disk]

    def image_id(self):
        return (HOST / "image-id").read_text().strip()

    def payload(self):
        usual = super().payload()
        options = usual[usual.index("-append") + 1]
        # relative to BUILD, where QEMU runs: a path with a space or a comma would be cut there
        place = HOST.relative_to(BUILD)
        return [
            "-kernel", f"{place}/xen", "-append", options,
            "-initrd", f"{place}/vmlinuz {OPTIONS} agent.nonce={self.nonce},{place}/initrd.img",
            "-drive", f"id=root,if=none,format=raw,file={str(self.disk).replace(',', ',,')}",
            "-device", "ich9-ahci,id=disks", "-device", "ide-hd,drive=root,bus=disks.0",
        ]
