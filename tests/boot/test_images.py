# SPDX-License-Identifier: GPL-2.0-only
"""The identity of the images: nothing that goes into them can change without it, and no image of other inputs passes for one."""

import shutil
import subprocess
from pathlib import Path

import pytest

BOOT = Path(__file__).absolute().parent
PARTS = ["base", "debian", "stock", "demo"]
TOOLS = [f"xen-tools/usr/local/{file}" for file in (
    "sbin/xl", "sbin/xenstored", "sbin/xenconsoled", "lib/xen/bin/xen-init-dom0", "lib/xen/bin/libxl-save-helper")]
OF_STOCK = "xen-tools-stock/xl"
OF_DEBIAN = ["debian-kernel/vmlinuz", "debian-kernel/versions", "guest-module/module.ko"]


@pytest.fixture
def clone(tmp_path):
    """As much of a clone as the identity is of, with products that are no products."""
    for directory in ("images", "programs"):
        shutil.copytree(BOOT / directory, tmp_path / "tests" / "boot" / directory)
    for file in (*TOOLS, "bin/xl-numa-policy", "linux/bzImage", "linux/vmlinux", OF_STOCK, *OF_DEBIAN):
        place = tmp_path / "build" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy("/bin/true", place)
    return tmp_path


def make_images(clone, *arguments):
    program = clone / "tests" / "boot" / "images" / "make-images"
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def identities(clone):
    made = {part: make_images(clone, "--id", part) for part in PARTS}
    assert all(done.returncode == 0 for done in made.values()), made
    return {part: done.stdout.strip() for part, done in made.items()}


def test_the_same_inputs_have_one_identity(clone):
    before = identities(clone)
    assert before == identities(clone)
    assert len(set(before.values())) == len(PARTS)


# what an input is a part of
COUNTS = dict.fromkeys(["tests/boot/images/agent", "tests/boot/images/make-images", "tests/boot/programs/memory-gfns.h", f"build/{TOOLS[0]}",
                        "build/bin/xl-numa-policy"], PARTS) | {
    "build/linux/vmlinux": ["base", "debian", "stock"], f"build/{OF_STOCK}": ["stock"], "build/debian-kernel/vmlinuz": ["debian", "demo"],
    "build/debian-kernel/versions": ["debian", "demo"], "build/guest-module/module.ko": ["debian"]}


@pytest.mark.parametrize("file", COUNTS)
def test_each_input_counts_for_the_parts_that_have_it(clone, file):
    before = identities(clone)
    with open(clone / file, "a", encoding="ascii") as changed:
        changed.write("\n")
    after = identities(clone)
    assert [part for part in PARTS if before[part] != after[part]] == COUNTS[file]


@pytest.mark.parametrize("file", [OF_STOCK, *OF_DEBIAN])
def test_what_is_missing_is_missed_by_the_parts_that_have_it(clone, file):
    before = identities(clone)
    shutil.rmtree((clone / "build" / file).parent)
    for part in PARTS:
        made = make_images(clone, "--id", part)
        assert made.returncode == (part in COUNTS[f"build/{file}"])
        assert made.returncode or made.stdout.strip() == before[part]


def test_a_product_of_the_cache_counts_by_its_key(clone):
    found = []
    for key in ("0" * 24, "1" * 24):
        place = clone / "xen-numa-policy" / "products" / "linux" / key
        shutil.copytree(clone / "build" / "linux", place)
    shutil.rmtree(clone / "build" / "linux")
    for key in ("0" * 24, "1" * 24):
        (clone / "build" / "linux").unlink(missing_ok=True)
        (clone / "build" / "linux").symlink_to(clone / "xen-numa-policy" / "products" / "linux" / key)
        found.append(identities(clone))
    assert all((found[0][part] != found[1][part]) == (part in COUNTS["build/linux/vmlinux"]) for part in PARTS)


def test_debian_is_not_put_on_a_stale_base(clone):
    base = clone / "build" / "images-base"
    base.mkdir()
    (base / "image-id").write_text("0" * 64 + "\n")
    made = make_images(clone, clone / "out", "debian")
    assert made.returncode == 1 and "images-base is missing or stale" in made.stderr
    assert not (clone / "out" / "image-id").exists()


@pytest.mark.parametrize("arguments", [[], ["--id"], ["--id", "all"], ["out", "base", "debian"]])
def test_wrong_usage(clone, arguments):
    refused = make_images(clone, *arguments)
    assert refused.returncode == 2 and refused.stderr.startswith("usage: make-images OUTDIR PART"), refused
