# SPDX-License-Identifier: GPL-2.0-only
"""What Linux's own checkpatch says of our code for Linux: nothing, but for lines that it does not understand."""
import re
import subprocess

import pytest
from tiny_tree import PQ, REPO

TREE = REPO / "build/trees/linux"
MODULE = REPO / "linux-guest-module"
PATCHES = sorted((REPO / "linux-guest-patches").glob("0*.patch"))
CODE = sorted(MODULE.glob("*.[ch]"))
# type of complaint -> the lines that may bring it
ACCEPTED = {
    "SPACING": r"GUEST_HANDLE\(uint64_t\) events;",             # no cast
    "PARENTHESIS_ALIGNMENT": r"TP_PROTO\(",                    # the form that all trace events have
    "OPEN_ENDED_LINE": r"TP_(STRUCT__entry|fast_assign)\($",
    "CAMELCASE": r"__ClearPageReported\(",                      # Linux's name
}


@pytest.fixture(scope="module")
def checkpatch():
    if not TREE.exists():
        subprocess.run([PQ, "import", "linux"], check=True)

    def check(path, *options):
        done = subprocess.run([TREE / "scripts/checkpatch.pl", "--strict", "--terse", "--show-types", "--no-signoff", "--ignore", "FILE_PATH_CHANGES",
                               *options, path], capture_output=True, text=True, cwd=TREE, check=False)
        lines = path.read_text().splitlines()
        # it says nothing when it has nothing to complain about
        *complaints, summary = done.stdout.splitlines() or [""]
        assert re.fullmatch(r"total: .* lines checked", summary) if complaints else done.returncode == 0, done.stdout + done.stderr
        left = []
        for complaint in complaints:
            number, kind = re.match(r"[^:]*:(\d+): [A-Z]+:([A-Z_]+):", complaint).groups()
            # some are about what ends in this line, some about what begins after it
            seen = "\n".join(lines[int(number) - 1:int(number) + 1])
            if not re.search(ACCEPTED.get(kind, "(?!)"), seen, re.M):
                left.append(f"{complaint}\n{seen}")
        return left

    return check


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.name[:4])
def test_patch(checkpatch, patch):
    assert not checkpatch(patch)


@pytest.mark.parametrize("file", CODE, ids=lambda path: path.name)
def test_module(checkpatch, file):
    assert not checkpatch(file, "--no-tree", "-f")


def test_a_complaint_is_seen(checkpatch, tmp_path):
    broken = tmp_path / "broken.c"
    broken.write_text((MODULE / "xen-page-reporting.c").read_text().replace("if (rc == -EBUSY)", "if(rc == -EBUSY)"))
    assert len(checkpatch(broken, "--no-tree", "-f")) == 1
