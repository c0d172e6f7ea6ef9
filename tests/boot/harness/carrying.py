# SPDX-License-Identifier: GPL-2.0-only
"""Files that go from one emulated machine to the next: what xl saved there is restored here."""

import re
import shutil
import struct
from pathlib import Path

from . import agent, parts
from .machine import Machine

PAGE = 4096
CHUNK = 16 << 20
HEADER = struct.Struct("<16sIIQ")       # as programs/label-pages.c writes it
WORDS = struct.Struct("<508Q")


def hash_of(data):
    value = 0xCBF29CE484222325
    for word in WORDS.unpack(data):
        value = (value ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def memory_of(process):
    """All of its memory that may be written, in chunks."""
    maps = (Path("/proc") / str(process) / "maps").read_text()
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for first, end in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps, re.M):
            for at in range(int(first, 16), int(end, 16), CHUNK):
                memory.seek(at)
                yield memory.read(min(CHUNK, int(end, 16) - at))


def labelled(chunks, label):
    """{number: data} of the pages with this label, and how many there should be."""
    found, pages = {}, None
    for chunk in chunks:
        at = chunk.find(label)
        while at >= 0:
            page = chunk[at:at + PAGE]
            # others may have half of one, as what is left of a buffer
            if at % PAGE == 0 and len(page) == PAGE:
                _, number, of, value = HEADER.unpack_from(page)
                if hash_of(page[HEADER.size:]) == value:
                    found[number], pages = page[HEADER.size:], of
            at = chunk.find(label, at + 1)
    return found, pages


class CarryingMachine(Machine):
    """A machine whose dom0 finds files of this host as /boot/NAME."""

    carried = ()

    def loaded(self):
        xen, kernel, image = super().loaded()
        whole = self.workspace() / "dom0-and-carried"
        shutil.copyfile(image, whole)
        with open(whole, "ab") as file:
            for path in self.carried:
                # each archive begins at a multiple of four
                file.write(bytes(-file.tell() % 4) + parts.archive(self.workspace(), [f"boot/{path.name}"], path))
        return [xen, kernel, whole]

    def fetch(self, path, to):
        """A file of dom0, compressed, to the host: out of the emulator's memory, as the agent's line takes 5 KB a second."""
        label = agent.new_nonce()
        self.run(f"gzip -c {path} >/tmp/fetched && label-pages {label} </tmp/fetched >/tmp/labelled", timeout=240)
        size, digest = self.run("wc -c </tmp/fetched; sha256sum </tmp/fetched").out.split()[:2]
        found, pages = labelled(memory_of(self.qemu.pid), label.encode())
        assert pages and sorted(found) == list(range(pages)), f"{len(found)} of {pages} pages are found"
        to.write_bytes(b"".join(found[number] for number in range(pages))[:int(size)])
        assert parts.sha256(to) == digest
        self.run("rm /tmp/fetched /tmp/labelled")
