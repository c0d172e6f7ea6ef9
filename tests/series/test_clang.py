# SPDX-License-Identifier: GPL-2.0-only
"""What other compilers say of what the series touch: clang of Xen's files, and sparse of Linux's."""
import subprocess

import pytest
from tiny_tree import BUILD, REPO


def made(script, record):
    """The record of what a script has checked, once for the same sources.

    It makes none if it does not see the mistake that it plants.
    """
    done = subprocess.run([BUILD / script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return (REPO / "build" / record).read_text().splitlines()


@pytest.mark.bisect
@pytest.mark.timeout(1800)      # beside busy guests it gets what they leave
def test_xen_compiles_with_clang():
    files = {"on": set(), "off": set()}
    for line in made("clang.sh", "clang/compiled"):
        option, file = line.split()
        files[option].add(file)
    assert files["off"] < files["on"]
    for file in ("arch/x86/mm/p2m-ept.c", "arch/x86/mm/mem_sharing.c", "common/vm_event.c"):
        assert f"xen/{file}" in files["off"]
    for file in ("arch/x86/ibs.c", "common/numa-policy/core.c"):
        assert f"xen/{file}" in files["on"] - files["off"]


@pytest.mark.bisect
@pytest.mark.timeout(1800)
def test_sparse_says_no_more_of_linux():
    checked = made("sparse.sh", "sparse/checked")
    for file in ("mm/page_alloc.c", "mm/page_reporting.c", "drivers/xen/numa-policy.c"):
        assert file in checked
