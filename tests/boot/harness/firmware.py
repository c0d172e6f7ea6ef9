# SPDX-License-Identifier: GPL-2.0-only
"""What the firmware of a machine says of its nodes, where QEMU's -numa cannot say it: SRAT and SLIT, as files for -acpitable.

Their forms are those of the ACPI specification 6.5, sections 5.2.16 and 5.2.17; QEMU adds the header.
"""

import struct
from dataclasses import dataclass

ENABLED, HOT_PLUG, NON_VOLATILE = 1, 2, 4       # of a range of memory
MIB = 1 << 20


@dataclass(frozen=True)
class Firmware:
    """QEMU has `low_mib` of the machine's memory at 0, and the rest at 4 GiB."""
    low_mib: int
    cpus: tuple             # the proximity domain of each CPU
    ranges: tuple           # (proximity domain, first MiB, MiB, flags)
    distances: tuple        # matrix of proximity domains

    def srat(self):
        cpus = [struct.pack("<BBBBIB3sI", 0, 16, domain, apic, ENABLED, 0, b"", 0) for apic, domain in enumerate(self.cpus)]
        ranges = [struct.pack("<BBIHQQIIQ", 1, 40, domain, 0, first * MIB, mib * MIB, 0, flags, 0)
                  for domain, first, mib, flags in self.ranges]
        return struct.pack("<IQ", 1, 0) + b"".join(cpus + ranges)

    def slit(self):
        return struct.pack("<Q", len(self.distances)) + b"".join(map(bytes, self.distances))

    def options(self, beside):
        """QEMU's; the tables are files beside this one."""
        words = []
        for signature, body, revision in (("SRAT", self.srat(), 3), ("SLIT", self.slit(), 1)):
            path = beside.with_suffix(f".{signature.lower()}")
            path.write_bytes(body)
            words += ["-acpitable", f"sig={signature},rev={revision},oem_id=NUMA,data={str(path).replace(',', ',,')}"]
        return words
