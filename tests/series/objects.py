# SPDX-License-Identifier: GPL-2.0-only
"""What a function or a variable of an object file is: its bytes, and what they refer to.

Not part of it are where it lies, the directory of the build, and lines in frames of BUG().
"""
import re
import struct
from collections import defaultdict
from dataclasses import dataclass, field

ELF64 = b"\x7fELF\x02\x01"
ALLOC, STRINGS = 0x2, 0x20
NOBITS, RELA = 8, 4
ABSOLUTE = 0xfff1
# What hangs on functions and is in one section for all of a file: patched code, fix-ups, frames.
ATTACHED = re.compile(r"\.(altinstr|fixup|ex_table|discard|return_sites|call_sites|retpoline)")
FRAMES = re.compile(r"\.bug_frames")
DIRECTORY = re.compile(rb"/\S*/source/xen/")
# functions that were cloned, and static variables of functions, are numbered
NUMBER = re.compile(r"\.\d+$")
PARTS = re.compile(r"^\.(?:text|rodata|data|bss|init)\."
                   r"(?:(?:unlikely|hot|cold|startup|rel\.ro|local|read_mostly|ro_after_init)\.)*")
TAIL = re.compile(r"(\.(str|cst)[\d.]+|\.cold)$")


@dataclass
class Section:
    name: str
    kind: int
    flags: int
    size: int
    data: bytes
    begin: int         # in the file
    references: list = field(default_factory=list)      # (offset, type, symbol's index, addend)


class Object:
    def __init__(self, path):
        raw = path.read_bytes()
        start, = struct.unpack_from("<Q", raw, 40)
        size, count, names = struct.unpack_from("<HHH", raw, 58)
        heads = [struct.unpack_from("<IIQQQQIIQQ", raw, start + i * size) for i in range(count)]
        text = heads[names][4]
        self.sections = [
            Section(string(raw, text + h[0]), h[1], h[2], h[5], b"" if h[1] == NOBITS else raw[h[4]:h[4] + h[5]], h[4])
            for h in heads]
        self.symbols = []
        for head in heads:
            if head[1] == 2:
                text = heads[head[6]][4]
                for at in range(head[4], head[4] + head[5], 24):
                    name, info, _, where, value, length = struct.unpack_from("<IBBHQQ", raw, at)
                    self.symbols.append((string(raw, text + name), info & 15, where, value, length))
        for head in heads:
            if head[1] == RELA:
                for at in range(head[4], head[4] + head[5], 24):
                    offset, info, addend = struct.unpack_from("<QQq", raw, at)
                    reference = offset, info & 0xffffffff, info >> 32, addend
                    self.sections[head[7]].references.append(reference)

    def target(self, kind, index, addend):
        """What a reference is to, said without a number of a section or a line."""
        name, symbol_kind, where, value, _ = self.symbols[index]
        if symbol_kind != 3 and not name.startswith(".L"):
            return NUMBER.sub("", name), addend
        section = self.sections[where]
        offset = value + addend
        if section.flags & STRINGS:
            # a reference relative to its own place is from the end of the four bytes
            offset += 4 if kind == 2 else 0
            text = section.data[offset:section.data.index(b"\0", offset)]
            return "string", DIRECTORY.sub(b"", text)
        return NUMBER.sub("", section.name), offset

    def parts(self):
        """{name: content} of all that is loaded; {section: content} of what hangs on functions."""
        found, attached = defaultdict(list), {}
        for number, section in enumerate(self.sections):
            if not section.flags & ALLOC or section.flags & STRINGS:
                continue
            if FRAMES.match(section.name):
                attached[section.name] = section.size
                continue
            said = [(offset, kind, self.target(kind, index, addend))
                    for offset, kind, index, addend in section.references]
            if ATTACHED.match(section.name):
                attached[section.name] = section.data, sorted(said, key=repr)
            else:
                for name, begin, end in self.divided(number, section):
                    content = section.data[begin:end] if section.kind != NOBITS else end - begin
                    found[name].append((section.name.split(".")[1], content,
                                        [(o - begin, *what) for o, *what in said if begin <= o < end]))
        return {name: sorted(what, key=repr) for name, what in found.items()}, attached

    def divided(self, number, section):
        """(name, begin, end) of what is in a section."""
        own = TAIL.sub("", PARTS.sub("", section.name))
        starts = sorted({value: NUMBER.sub("", name) for name, kind, where, value, _ in self.symbols
                         if where == number and kind < 3 and name and not name.startswith(".L")}.items())
        if section.name != own or len(starts) < 2:
            return [(NUMBER.sub("", own), 0, section.size)] if section.size else []
        bounds = [value for value, _ in starts] + [section.size]
        parts = [(name, begin, end) for (begin, name), end in zip(starts, bounds[1:])]
        return ([(own, 0, bounds[0])] if bounds[0] else []) + parts


def string(raw, at):
    return raw[at:raw.index(b"\0", at)].decode()


def differences(one, other, same_line):
    """Names of what differs between two object files; those in 32 bits are compared as a whole."""
    raw = one.read_bytes(), other.read_bytes()
    if raw[0] == raw[1]:
        return []
    if raw[0][:6] != ELF64:
        return ["all of it"]
    (mine, my_attached), (theirs, their_attached) = Object(one).parts(), Object(other).parts()
    found = {name for name in mine.keys() | theirs.keys()
             if mine.get(name) != theirs.get(name)
             and not only_lines(mine.get(name, []), theirs.get(name, []), same_line)}
    # what hangs on a function that differs does, too
    if not found:
        found = {name for name in my_attached.keys() | their_attached.keys()
                 if my_attached.get(name) != their_attached.get(name)}
    return sorted(found)


def only_lines(mine, theirs, same_line):
    """Whether nothing but line numbers differ: four bytes each, that are those of one line in both sources."""
    shape = [[(kind, what if isinstance(what, int) else len(what), refers) for kind, what, refers in side]
             for side in (mine, theirs)]
    if shape[0] != shape[1]:
        return False
    return all(any(same_line(*(int.from_bytes(side[begin:begin + 4], "little") for side in (my, their)))
                   for begin in range(max(at - 3, 0), at + 1))
               for (_, my, _), (_, their, _) in zip(mine, theirs) if my != their
               for at in range(len(my)) if my[at] != their[at])
