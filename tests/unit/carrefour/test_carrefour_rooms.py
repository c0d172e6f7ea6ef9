# SPDX-License-Identifier: GPL-2.0-only
"""The rooms of carrefour-user: what each may know, and that a name is one thing."""

import re
from collections import defaultdict

import pytest

from carrefour_build import ROOT, SOURCE

# A room, and the rooms that it may include; itself always. The first is beside carrefour-user, as xl numa-policy has it, too.
ROOMS = {
    "common": (),
    "command": (),
    "process": ("common",),
    "config": ("common",),
    "decide": ("common", "config"),
    "heal": ("common", "decide"),
    "trace": ("common", "config", "decide"),
    "xen": ("common", "config", "decide"),
    "store": ("common", "decide", "process"),
    "guests": ("common", "config", "decide", "process", "store", "xen", "heal"),
    "metrics": ("common", "config", "decide", "guests", "store", "xen"),
    "control": ("common", "config", "decide", "guests", "heal", "process", "trace", "xen"),
    "daemon": ("command", "common", "config", "control", "decide", "guests", "heal", "metrics", "process", "store",
               "trace", "xen"),
    "replay": ("command", "common", "config", "decide", "guests", "metrics", "trace"),
}
# Pure: a recorded trace gives the same decisions. explain.c and auto.c write to a buffer, which is all that they need stdio for.
PURE = ("assert", "inttypes", "math", "stdarg", "stdbool", "stddef", "stdint", "stdlib", "string", "stdio")
IMPURE = r"\b(time|clock_gettime|gettimeofday|rand|random|printf|fprintf|puts|fopen|open|read|write|getenv)\("


def sources(room=None, suffix="[ch]"):
    paths = [*SOURCE.glob(f"*/*.{suffix}"), *ROOT.glob(f"common/*.{suffix}")]
    return sorted(path for path in paths if room in (None, path.parent.name))


def named(path):
    """As it is included."""
    return f"{path.parent.name}/{path.name}"


def included(path, mark='"'):
    return re.findall(rf"^#include [{mark}]([^>\"]+)", path.read_text(), re.M)


def test_each_file_is_in_a_room():
    assert {path.parent.name for path in sources()} == set(ROOMS)
    assert not [path for path in SOURCE.iterdir() if path.suffix in (".c", ".h")]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_knows_what_is_below_it(room):
    wrong = [(path.name, name) for path in sources(room) for name in included(path)
             if name.split("/")[0] not in (room, *ROOMS[room]) or name not in map(named, sources())]
    assert wrong == []


def test_rooms_are_no_circle():
    floor = {}
    while len(floor) < len(ROOMS):
        new = [room for room, below in ROOMS.items() if room not in floor and all(other in floor for other in below)]
        assert new, f"a circle among {set(ROOMS) - set(floor)}"
        floor |= dict.fromkeys(new)


def test_headers_are_no_circle():
    below = {named(path): included(path) for path in sources(suffix="h")}
    while below:
        free = [name for name, others in below.items() if not any(other in below for other in others)]
        assert free, f"a circle among {sorted(below)}"
        for name in free:
            del below[name]


@pytest.mark.parametrize("room", ["decide", "heal"])
def test_what_decides_is_pure(room):
    for path in sources(room):
        assert {name.removesuffix(".h") for name in included(path, "<")} <= set(PURE), path
        assert not re.search(IMPURE, path.read_text()), path


def test_only_two_rooms_know_xens_libraries():
    knows = {path.parent.name for path in sources() for name in included(path, "<") if name.startswith("xen")}
    assert knows == {"xen", "store"}


def test_a_tag_is_one_thing():
    found = defaultdict(list)
    for path in sources():
        for kind, tag in re.findall(r"^(?:static const |static )?(struct|enum|union) (\w+) \{", path.read_text(), re.M):
            found[tag].append(path.name)
    assert len(found) > 60
    assert {tag: names for tag, names in found.items() if len(names) > 1} == {}
