# SPDX-License-Identifier: GPL-2.0-only
"""Every file has a licence, by its own line or by REUSE.toml, and each licence has its text."""
import fnmatch
import re
import tomllib

import pytest
from tiny_tree import REPO
from tracked import tracked

LINE = re.compile(r"SPDX-License-Identifier: ([\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*)")
LINES = 5       # of a file's first, where a line is looked for


def licence(root, name, annotations):
    """The expression that holds for a file, or None."""
    head = (root / name).read_bytes()[:1000].decode(errors="replace").splitlines()[:LINES]
    own = [found.group(1) for found in map(LINE.search, head) if found]
    given = [one["SPDX-License-Identifier"] for one in annotations if covers(one["path"], name)]
    return next(iter(own + given), None)


def covers(paths, name):
    """For such patterns as REUSE.toml has: "**" is any characters, here as "*" is to fnmatch."""
    paths = [paths] if isinstance(paths, str) else paths
    return any(fnmatch.fnmatchcase(name, path.replace("**", "*")) for path in paths)


def complaints(root, names):
    annotations = tomllib.loads((root / "REUSE.toml").read_text())["annotations"]
    annotations = [one for one in annotations if "SPDX-License-Identifier" in one]
    names = [name for name in names if not name.startswith("LICENSES/")]
    used = {name: licence(root, name, annotations) for name in names}
    bad = [f"{name}: no licence" for name, found in used.items() if not found]
    known = {path.stem for path in (root / "LICENSES").glob("*.txt")}
    wanted = {one for found in used.values() if found
              for one in re.split(r" (?:AND|OR|WITH) ", found)}
    return bad + [f"LICENSES/{one}.txt: no such text" for one in sorted(wanted - known)] + [
        f"LICENSES/{one}.txt: nothing has this licence" for one in sorted(known - wanted)]


def test_every_file_has_one():
    assert not complaints(REPO, tracked())


@pytest.fixture
def place(tmp_path):
    (tmp_path / "LICENSES").mkdir()
    (tmp_path / "LICENSES/MIT.txt").write_text("The text.\n")
    (tmp_path / "REUSE.toml").write_text(
        'version = 1\n[[annotations]]\npath = "**.md"\nSPDX-License-Identifier = "MIT"\n')
    (tmp_path / "a.md").write_text("# Words\n")
    (tmp_path / "a.c").write_text("/* SPDX-License-Identifier: MIT */\n")
    return tmp_path


def test_content(place):
    assert not complaints(place, ["a.md", "a.c"])


@pytest.mark.parametrize("name, text, complaint", [
    ("b.c", "int x;\n", "b.c: no licence"),
    ("cache.date.0", "", "cache.date.0: no licence"),
    ("b.c", "\n" * 9 + "/* SPDX-License-Identifier: MIT */\n", "b.c: no licence"),
    ("b.c", "/* SPDX-License-Identifier: GPL-2.0 */\n", "LICENSES/GPL-2.0.txt: no such text"),
    ("LICENSES/ISC.txt", "The text.\n", "LICENSES/ISC.txt: nothing has this licence"),
])
def test_planted(place, name, text, complaint):
    (place / name).write_text(text)
    assert complaints(place, ["a.md", "a.c", name]) == [complaint]
