# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of packages share."""

import os
import subprocess

import pytest

from deb_root import BUILD, HERE, REPO, Life, in_root, packages_in


@pytest.fixture(scope="session")
def deb():
    """The repository of our packages."""
    if os.environ.get("XEN_SRC"):
        pytest.skip("packages are made of the Xen that BASE names, not of XEN_SRC")
    assert (BUILD / "deb").exists(), "build/deb is missing: run make deb"
    return (BUILD / "deb").resolve()


@pytest.fixture(scope="session")
def debs(deb):
    """{(package, version): file}"""
    return packages_in(deb)


@pytest.fixture(scope="session")
def life(deb, tmp_path_factory):
    place = tmp_path_factory.mktemp("life")
    files, out = place / "files", place / "out"
    files.mkdir()
    (files / "life").write_text((HERE / "life").read_text())
    typed = [HERE / "typed", REPO / "docs/howto.md"]
    (files / "typed-lines").write_text(subprocess.run(typed, capture_output=True, text=True, check=True).stdout)
    debian = (BUILD / "debian-root").resolve() / "debs"
    in_root(f"copy-in {files} /", 'mkdir -p "$1/srv/xen-numa-policy" "$1/srv/debian"', f"sync-in {deb} /srv/xen-numa-policy",
            f"sync-in {debian} /srv/debian", 'chroot "$1" sh -eux /files/life', f"sync-out /out {out}")
    return Life(out)
