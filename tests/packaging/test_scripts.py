# SPDX-License-Identifier: GPL-2.0-only
"""The scripts in packaging/: what they make of Debian's packaging, and the line that tells what is wrong."""

import re
import shutil
import subprocess

import pytest

from deb_root import HERE, REPO

PACKAGES = ["xen-hypervisor-4.20-amd64", "libxenmisc4.20", "libxen-dev"]
CONTROL = """Source: xen
Maintainer: Debian Xen Team <team@example.org>
Uploaders:
 A Person <a@example.org>,
Section: admin

Package: xen-hypervisor-4.20-amd64
Provides: xen-hypervisor
Description: Xen

Package: libxen-dev
Description: headers

Package: libxenmisc4.20
Description: libraries
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def debian(tmp_path):
    """(Debian's packaging, our patches, the entry)"""
    place = tmp_path / "debian"
    (place / "patches").mkdir(parents=True)
    (place / "patches/series").write_text("0001-of-debian.patch\n")
    (place / "control").write_text(CONTROL)
    (place / "changelog").write_text("xen (1) trixie; urgency=medium\n")
    (tmp_path / "series").mkdir()
    for name in ("0002-b.patch", "0001-a.patch"):
        (tmp_path / "series" / name).write_text(name)
    entry = "xen (1+numa1) trixie; urgency=medium"
    return place, tmp_path / "series", entry


def test_adapt(debian):
    done = run(REPO / "packaging/xen/adapt", *debian)
    assert (done.returncode, done.stderr) == (0, "")
    place, *_ = debian
    assert (place / "patches/series").read_text().split() == [
        "0001-of-debian.patch", "numa-policy/0001-a.patch", "numa-policy/0002-b.patch"]
    assert (place / "patches/numa-policy/0002-b.patch").read_text() == "0002-b.patch"
    assert (place / "changelog").read_text() == "xen (1+numa1) trixie; urgency=medium\n\nxen (1) trixie; urgency=medium\n"
    source, *packages = (place / "control").read_text().split("\n\n")
    assert re.findall("^Maintainer: (.*)", source, re.M) == ["xen-numa-policy <xen-numa-policy@localhost>"]
    assert "XSBC-Original-Maintainer: Debian Xen Team <team@example.org>\nSection: admin" in source
    found = {name: re.findall("^Provides: (.*)", text, re.M) for text in packages for name in re.findall("^Package: (.*)", text)}
    version = "(= ${binary:Version})"
    assert found == {"xen-hypervisor-4.20-amd64": [f"xen-hypervisor, xen-hypervisor-numa-policy {version}"],
                     "libxen-dev": [f"libxen-numa-policy-dev {version}"], "libxenmisc4.20": [f"xen-numa-policy-libs {version}"]}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_packaging_of_another_xen_is_refused(debian, package):
    control = debian[0] / "control"
    control.write_text(control.read_text().replace(package, "other"))
    done = run(REPO / "packaging/xen/adapt", *debian)
    assert done.returncode == 1
    assert re.fullmatch(rf"adapt: \S+/control has no package {re.escape(package)} to give the role \S+\n", done.stderr)


@pytest.mark.parametrize("changes, date", [
    ("# Changes\n\n## 0.3 (unreleased)\n\n## 0.2 (2026-12-24)\n\n## 0.1 (2026-11-26)\n", "Thu, 24 Dec 2026 00:00:00 +0000"),
    ("# Changes\n\n## 0.1 (2026-11-26)\n", "Thu, 26 Nov 2026 00:00:00 +0000"),
    ("# Changes\n\n## 0.1 (unreleased)\n", None),
])
def test_the_date_is_that_of_the_latest_release(tmp_path, changes, date):
    (tmp_path / "packaging").mkdir()
    shutil.copy(REPO / "packaging/changelog", tmp_path / "packaging")
    (tmp_path / "CHANGELOG.md").write_text(changes)
    done = run(tmp_path / "packaging/changelog", "xen", "1+numa0.2.0~dev", "What it is.")
    if date is None:
        assert done.returncode == 1 and done.stderr == "changelog: CHANGELOG.md has no section with a date, such as: ## 0.1 (2026-11-26)\n"
    else:
        assert done.stdout == (f"xen (1+numa0.2.0~dev) trixie; urgency=medium\n\n  * What it is.\n\n"
                               f" -- xen-numa-policy <xen-numa-policy@localhost>  {date}\n")


def test_what_is_typed(tmp_path):
    """The lines of the how-to, ten at most, and an error if it has none."""
    typed = HERE / "typed"
    before, after = (run(typed, REPO / "docs/howto.md", *option).stdout.splitlines() for option in ((), ("after",)))
    assert len(before) + 1 + len(after) <= 10 and not any("reboot" in line for line in before + after)
    assert before[-1].startswith("apt install ") and after[0].startswith("xl numa-policy ")
    (tmp_path / "howto.md").write_text("## Install on a host\n\n    apt update\n\n## Other\n\n    reboot\n")
    done = run(typed, tmp_path / "howto.md")
    assert done.returncode == 1 and "has no block of code with reboot" in done.stderr
    (tmp_path / "howto.md").write_text("## Install on a host\n\n    one\n    reboot\n\n    two # it\n\nText\n\n    three\n")
    assert run(typed, tmp_path / "howto.md").stdout == "one\n"
    assert run(typed, tmp_path / "howto.md", "after").stdout == "two # it\n"
