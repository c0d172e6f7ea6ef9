# SPDX-License-Identifier: GPL-2.0-only
"""The series of this project: it is what it says, and each patch of it builds."""
import re
import subprocess
import sys

import pytest
from tiny_tree import PQ, REPO


@pytest.mark.parametrize("name", ["xen", "linux"])
def test_verify(name):
    done = subprocess.run([PQ, "verify", name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def bisect(capfd, *args):
    with capfd.disabled():      # minutes on a cold cache: the progress is for people to see
        print(flush=True)
        done = subprocess.run([PQ, "bisect", *args], stdout=sys.stderr, check=False)
    assert done.returncode == 0, "see above and build/logs/"


@pytest.mark.bisect
@pytest.mark.timeout(3600)      # beside busy guests it gets what they leave
@pytest.mark.parametrize("name", ["xen", "linux"])
def test_what_each_patch_touches_builds(name, capfd):
    bisect(capfd, "--quick", name)


@pytest.mark.soak
@pytest.mark.bisect
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("name", ["xen", "linux"])
def test_every_patch_builds(name, capfd):
    bisect(capfd, name)


def test_help_lists_every_verb():
    said = subprocess.run(["make", "-s", "-C", REPO], capture_output=True, text=True, check=True).stdout
    phony = re.search(r"^\.PHONY: (.*)", (REPO / "Makefile").read_text(), re.M).group(1)
    for verb in set(phony.split()) - {"help", "packages", "$(PRODUCTS)"}:
        assert f"make {verb} " in said, f"make help does not tell of {verb}"
