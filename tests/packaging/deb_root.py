# SPDX-License-Identifier: GPL-2.0-only
"""What packages say of themselves; a root of Debian 13 to try them in, and what one life there tells of them."""

import subprocess
from pathlib import Path

REPO = Path(__file__).absolute().parents[2]
BUILD = REPO / "build"
HERE = REPO / "tests" / "packaging"
IN_ROOT = 'set -eu; . "$0/lib.sh"; . "$0/roots.sh"; in_root "$@"'


def in_root(*hooks):
    """Runs mmdebstrap's hooks in a root of Debian 13."""
    root = (BUILD / "debian-root").resolve() / "root.tar.zst"
    done = subprocess.run(["bash", "-c", IN_ROOT, REPO / "tools/build", root, "/dev/null", *map(str, hooks)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def packages_in(directory):
    """{(package, version): file}"""
    names = [path.name.removesuffix(".deb").split("_") for path in directory.glob("*.deb")]
    return {(package, version): directory / f"{package}_{version}_{kind}.deb" for package, version, kind in names}


def control(path, field):
    return subprocess.run(["dpkg-deb", "--field", path, field], capture_output=True, text=True, check=True).stdout.strip()


def check_roles(found):
    """The command and the daemon need a Xen with the series; found: {package: file}"""
    for package in ("xl-numa-policy", "carrefourd"):
        assert "xen-numa-policy-libs" in control(found[package], "Depends")
    assert "xen-hypervisor-numa-policy" in control(found["xl-numa-policy"], "Depends")


class Life:
    """What the script `life` has left in its /out."""

    def __init__(self, out):
        self.out = out

    def packages(self, stage):
        """{package: version} of those that are installed."""
        rows = [line.split("\t") for line in (self.out / stage / "packages").read_text().splitlines()]
        return {package: version for status, package, version in rows if status.startswith("ii")}

    def files(self, stage):
        """{path: kind, mode and owner}"""
        return dict(line.split("\t") for line in (self.out / stage / "files").read_text().splitlines())

    def said(self, name):
        """(text, status)"""
        *lines, status = (self.out / name).read_text().splitlines()
        return "\n".join(lines), int(status.removeprefix("status "))
