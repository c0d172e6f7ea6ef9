"""What other compilers say of what the series touch: clang of Xen's files, which then compile, and sparse of Linux's, no more than without it."""
import subprocess

import pytest
from tiny_tree import BUILD, REPO


def made(script, record):
    """The record that a script makes of what it has checked, once for the same sources; it sees a planted mistake, or makes none."""
    done = subprocess.run([BUILD / script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return (REPO / "build" / record).read_text().splitlines()


@pytest.mark.timeout(1800)      # beside busy guests it gets what they leave
def test_xen_compiles_with_clang():
    files = {option: {line.split()[1] for line in made("clang.sh", "clang/compiled") if line.startswith(f"{option} ")} for option in ("on", "off")}
    assert files["off"] < files["on"]
    for file in ("arch/x86/mm/p2m-ept.c", "arch/x86/mm/mem_sharing.c", "common/vm_event.c"):
        assert f"xen/{file}" in files["off"]
    for file in ("arch/x86/ibs.c", "common/numa-policy/core.c"):
        assert f"xen/{file}" in files["on"] - files["off"]


@pytest.mark.timeout(1800)
def test_sparse_says_no_more_of_linux():
    checked = made("sparse.sh", "sparse/checked")
    assert {"mm/page_alloc.c", "drivers/xen/numa-policy.c", "drivers/xen/numa-policy-queue.c"} <= set(checked)
