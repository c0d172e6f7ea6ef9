# SPDX-License-Identifier: GPL-2.0-only
"""Packages as they are built: the same source gives the same bytes, and each package says what it needs."""

import re
import subprocess

import pytest

from deb_root import BUILD, REPO, check_roles, control

pytestmark = pytest.mark.soak       # as in test_life.py


def built_again(name, tmp_path):
    """{file: bytes} of packages that another build has made, at another place."""
    subprocess.run([REPO / f"tools/build/deb-{name}.sh", "again", tmp_path], check=True, capture_output=True, text=True)
    return {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix in (".deb", ".dsc", ".xz")}


def check_same(name, tmp_path):
    again = built_again(name, tmp_path)
    assert [path for path in again if path.endswith(".deb")]
    assert [path for path, data in again.items() if data != (BUILD / f"deb-{name}" / path).read_bytes()] == []


@pytest.mark.usefixtures("deb")
def test_our_packages_are_reproducible(tmp_path):
    check_same("own", tmp_path)


@pytest.mark.usefixtures("deb")
def test_packages_of_xen_are_reproducible(tmp_path):
    check_same("xen", tmp_path)


def test_versions(debs):
    """VERSION is in all of them; those of Xen are above Debian's of the same Xen."""
    version = (REPO / "VERSION").read_text().strip()
    own = {package for package, has in debs if has == version}
    assert {"xl-numa-policy", "carrefourd", "xen-numa-policy-guest-dkms"} <= own
    packaging = re.search(r"^version=(.*)", (REPO / "packaging/xen/BASE").read_text(), re.M)[1]
    xen = {has for package, has in debs if package == "xen-hypervisor-4.20-amd64"}
    assert xen == {f"{packaging}+numa{version}"}
    assert subprocess.run(["dpkg", "--compare-versions", *xen, "gt", packaging], check=False).returncode == 0


def test_packages_need_a_xen_with_the_series(debs):
    found = {package: path for (package, _), path in debs.items()}
    check_roles(found)
    assert "xen-hypervisor-numa-policy" in control(found["xen-hypervisor-4.20-amd64"], "Provides")
    assert "xen-numa-policy-libs" in control(found["libxenmisc4.20"], "Provides")


def test_all_patches_are_in_the_source_package(deb):
    """In the order of the series, behind Debian's own."""
    packaging, = (BUILD / "deb-xen").glob("*.debian.tar.xz")
    unpack = ["tar", "-xJOf", packaging, "debian/patches/series"]
    series = subprocess.run(unpack, capture_output=True, text=True, check=True).stdout.split()
    ours = [f"numa-policy/{path.name}" for path in sorted((REPO / "xen-patches").glob("*.patch"))]
    assert ours and series[-len(ours):] == ours and len(series) > len(ours)
