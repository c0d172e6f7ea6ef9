# SPDX-License-Identifier: GPL-2.0-only
"""The rooms of the source: which may include which, and where the libraries of others are known."""

import re
from pathlib import Path

import pytest

from numapolicy_build import HERE, ROOT, SOURCE

# A file may include what is in its own room and in those before it. The first is carrefourd's, too, and not beside the others.
ROOMS = ["common", "base", "ask", "print", "cmd", ""]
LIBRARIES = {r"libxl|xen|xentoollog": "ask", r"yajl/": "ask", r"libsmartcols": "print", r"getopt": ""}


def files_in(*places):
    """By the names that they are included with."""
    return {path.relative_to(top): path for top, below in places for path in sorted(below.rglob("*.[ch]"))}


FILES = files_in((ROOT, ROOT / "common"), (SOURCE, SOURCE))


def room(name):
    return "" if str(name.parent) == "." else str(name.parent)


def includes(path, form):
    return re.findall(rf"^#include {form}", path.read_text(), re.M)


def complaints(files):
    bad = []
    for name, path in files.items():
        for target in map(Path, includes(path, r'"([^"]+)"')):
            if target not in files:
                bad.append(f"{name}: there is no {target}; name its room")
            elif ROOMS.index(room(target)) > ROOMS.index(room(name)):
                bad.append(f"{name}: {target} is in a later room")
        for target in includes(path, "<([^>]+)>"):
            bad += [f"{name}: <{target}> is for {where or 'the top'} only" for library, where in LIBRARIES.items()
                    if re.match(library, target) and room(name) != where]
    return bad + [f"{name}: in a circle of includes" for name in files if name in reached(name, files)]


def reached(start, files):
    """By its includes, and theirs; a .c file goes with its header, so that two of them make a circle, too."""
    def after(name):
        other = name.with_suffix(".c")
        for one in {name, other} if other in files else {name}:
            yield from (target for target in map(Path, includes(files[one], r'"([^"]+)"')) if target != name)

    seen, left = set(), [start] if start.suffix == ".h" else []
    while left:
        for target in after(left.pop()):
            if target not in seen and target in files:
                seen.add(target)
                left.append(target)
    return seen


def test_rooms():
    assert len(FILES) > 60 and not complaints(FILES)


@pytest.mark.parametrize("files, words", [
    ({"base/a.c": '#include "print/b.h"\n', "print/b.h": ""}, "base/a.c: print/b.h is in a later room"),
    ({"common/a.c": '#include "base/b.h"\n', "base/b.h": ""}, "common/a.c: base/b.h is in a later room"),
    ({"ask/a.h": '#include "ask/b.h"\n', "ask/b.h": "", "ask/b.c": '#include "ask/b.h"\n#include "ask/a.h"\n'},
     "ask/a.h: in a circle"),
    ({"cmd/a.c": "#include <libxl.h>\n"}, "cmd/a.c: <libxl.h> is for ask only"),
    ({"print/a.c": '#include "b.h"\n', "print/b.h": ""}, "there is no b.h"),
])
def test_what_it_sees(tmp_path, files, words):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert any(words in line for line in complaints(files_in((tmp_path, tmp_path))))


def test_no_file_is_too_long():
    for path in FILES.values():
        assert len(path.read_text().splitlines()) < 400, path


TESTS = files_in((HERE, HERE)) | {path.relative_to(HERE): path for path in HERE.glob("*.py")}


@pytest.mark.parametrize("name", FILES | TESTS, ids=str)
def test_lines(name):
    """With tabs of eight."""
    assert not [line for line in (FILES | TESTS)[name].read_text().expandtabs(8).splitlines() if len(line) > 130]
