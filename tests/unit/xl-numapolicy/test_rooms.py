# SPDX-License-Identifier: GPL-2.0-only
"""The rooms of the source: which may include which, and where the libraries of others are known."""

import re

import pytest

from numapolicy_build import SOURCE

# A file may include what is in its own room and in those before it.
ROOMS = ["base", "ask", "print", "cmd", ""]
LIBRARIES = {r"libxl|xen|xentoollog": "ask", r"yajl/": "ask", r"libsmartcols": "print", r"getopt": ""}
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.[ch]"))


def room(path):
    return "" if str(path.parent) == "." else str(path.parent)


def includes(root, path, form):
    return re.findall(rf"^#include {form}", (root / path).read_text(), re.M)


def complaints(root, files):
    bad = []
    for path in files:
        for name in includes(root, path, r'"([^"]+)"'):
            target = root / name
            if not target.is_file():
                bad.append(f"{path}: no {name} below {root.name}; name its room")
            elif ROOMS.index(room(target.relative_to(root))) > ROOMS.index(room(path)):
                bad.append(f"{path}: {name} is in a later room")
        for name in includes(root, path, "<([^>]+)>"):
            bad += [f"{path}: <{name}> is for {where or 'the top'} only" for library, where in LIBRARIES.items()
                    if re.match(library, name) and room(path) != where]
    return bad + [f"{path}: in a circle of includes" for path in files if path in reached(root, path, files)]


def reached(root, start, files):
    """By its includes, and theirs; a .c file goes with its header, so that two of them make a circle, too."""
    def after(path):
        other = path.with_suffix(".c")
        for one in {path, other} if other in files else {path}:
            yield from (root / name for name in includes(root, one, r'"([^"]+)"') if name != str(path))

    seen, left = set(), [start] if start.suffix == ".h" else []
    while left:
        for target in after(left.pop()):
            name = target.relative_to(root)
            if name not in seen and (root / name).is_file():
                seen.add(name)
                left.append(name)
    return seen


def test_rooms():
    assert FILES and not complaints(SOURCE, FILES)


@pytest.mark.parametrize("files, words", [
    ({"base/a.c": '#include "print/b.h"\n', "print/b.h": ""}, "base/a.c: print/b.h is in a later room"),
    ({"ask/a.h": '#include "ask/b.h"\n', "ask/b.h": "", "ask/b.c": '#include "ask/b.h"\n#include "ask/a.h"\n'},
     "ask/a.h: in a circle"),
    ({"cmd/a.c": "#include <libxl.h>\n"}, "cmd/a.c: <libxl.h> is for ask only"),
    ({"print/a.c": '#include "b.h"\n', "print/b.h": ""}, "no b.h below"),
])
def test_what_it_sees(tmp_path, files, words):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    paths = [path.relative_to(tmp_path) for path in sorted(tmp_path.rglob("*.[ch]"))]
    assert any(words in line for line in complaints(tmp_path, paths))


def test_no_file_is_too_long():
    for path in FILES:
        assert len((SOURCE / path).read_text().splitlines()) < 400, path


@pytest.mark.parametrize("path", FILES, ids=str)
def test_lines(path):
    """With tabs of eight."""
    assert not [line for line in (SOURCE / path).read_text().expandtabs(8).splitlines() if len(line) > 130]
