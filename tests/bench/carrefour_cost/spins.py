# SPDX-License-Identifier: GPL-2.0-only
"""Where Xen waits for another CPU: loops around PAUSE, as of locks and of answers to an IPI.

On hardware the other one is at work.  An emulated CPU shares those of the host, and who waits for one that stands still meanwhile spins
for as long as the host likes: 93 % of what Xen executed on a CPU at rest was seen to be that.
"""

import bisect
import re

from create_cost.instrument import WAITING, InstrumentError, tool

# of such a loop, in bytes and in instructions
LENGTH, AHEAD = 64, 16
INSTRUCTION = re.compile(r"^([0-9a-f]+):\s+(\S+)\s*([0-9a-f]*)")


def loops(listing):
    """[(from, to)], in order, from what objdump -d says; the last jump is in it."""
    code = [(int(found[1], 16), found[2], found[3]) for found in map(INSTRUCTION.match, listing) if found]
    found = set()
    for index, (pause, what, _) in enumerate(code):
        if what != "pause":
            continue
        for number in range(index + 1, min(index + AHEAD, len(code) - 1)):
            _, jump, target = code[number]
            if jump.startswith("j") and target and pause - LENGTH <= int(target, 16) <= pause:
                found.add((int(target, 16), code[number + 1][0]))
                break
    return sorted(found)


class Spins:
    """The loops of a hypervisor that are not in functions which do nothing but wait: all of those is left out anyway."""

    def __init__(self, symbols):
        found = loops(tool("objdump", "-d", "--no-show-raw-insn", symbols.file).splitlines())
        self.ranges = [(start, end) for start, end in found if symbols.function(start) not in WAITING]
        self.starts = [start for start, _ in self.ranges]
        if not self.ranges:
            raise InstrumentError(f"{symbols.file} waits for nobody")

    def __contains__(self, address):
        index = bisect.bisect(self.starts, address) - 1
        return index >= 0 and address < self.ranges[index][1]

    def count(self, record, cpu):
        """Instructions that a CPU spent so in a record of the plugin."""
        return sum(counts[cpu] * instructions for address, instructions, counts in record["blocks"] if address in self)
