# SPDX-License-Identifier: GPL-2.0-only
"""What make test can tell of packages without Xen's, which take long to build: make soak builds all, and installs them."""

import io
import re
import subprocess
import tarfile

import pytest

from deb_root import BUILD, REPO, check_roles, packages_in

SOURCE = 'set -eu; . "$0/lib.sh"; . "$here/xen-source.sh"'


@pytest.fixture(scope="module")
def quick():
    """{package: file} of our own, as this Debian builds them."""
    assert (BUILD / "deb-quick").exists(), "build/deb-quick is missing: run make deb-quick"
    version = (REPO / "VERSION").read_text().strip()
    found = packages_in((BUILD / "deb-quick").resolve())
    assert {has for _, has in found} == {version}
    return {package: path for (package, _), path in found.items()}


def members(path):
    """{path: tarfile's member}; Debian 12 has udev's rules in /lib, which is /usr/lib."""
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {re.sub("^/lib/", "/usr/lib/", member.name.removeprefix(".")): member for member in archive if not member.isdir()}


def files(path):
    return {name for name in members(path) if not name.startswith("/usr/share/doc/")}


def test_our_packages_have_what_they_must(quick):
    """No more and no less; a setting of the administrator's is one that dpkg knows of."""
    assert {package: files(path) for package, path in quick.items()} == {
        "xl-numa-policy": {"/usr/sbin/xl-numa-policy",
                           "/usr/share/bash-completion/completions/xl-numa-policy", "/usr/share/man/man1/xl-numa-policy.1.gz"},
        "carrefourd": {"/etc/xen/carrefour.conf", "/usr/bin/carrefour-replay", "/usr/lib/systemd/system/carrefourd.service",
                       "/usr/lib/sysusers.d/carrefourd.conf", "/usr/sbin/carrefourd", "/usr/share/man/man1/carrefour-replay.1.gz",
                       "/usr/share/man/man5/carrefour.conf.5.gz", "/usr/share/man/man8/carrefourd.8.gz"},
        "xen-numa-policy-guest-dkms": {
            "/usr/lib/udev/rules.d/60-xen-numa-policy-guest-dkms.rules",
            *(f"/usr/src/xen-page-reporting-1/{name}"
              for name in ("Makefile", "dkms.conf", "forget-reported.h", "page-events.h", "xen-page-reporting.c"))}}
    info = ["dpkg-deb", "--info", quick["carrefourd"], "conffiles"]
    settings = subprocess.run(info, capture_output=True, text=True, check=True).stdout
    assert settings.split() == ["/etc/xen/carrefour.conf"]


def test_owners_modes_and_documents(quick):
    for package, path in quick.items():
        has = members(path)
        assert {(member.uid, member.gid) for member in has.values()} == {(0, 0)}
        assert {name for name, member in has.items() if member.isreg() and member.mode != 0o644} == {
            name for name in has if name.startswith(("/usr/bin/", "/usr/sbin/"))}
        assert {f"/usr/share/doc/{package}/{name}" for name in ("changelog.gz", "copyright")} <= has.keys()


def test_our_packages_need_a_xen_with_the_series(quick):
    check_roles(quick)


def in_bash(script, *args):
    return subprocess.run(["bash", "-c", script, REPO / "tools/build", *args], capture_output=True, text=True, check=False)


def test_the_series_applies_behind_debians_patches(tmp_path):
    """As dpkg applies it, which takes no fuzz."""
    source = in_bash(SOURCE)
    if source.returncode:
        pytest.skip(source.stderr.splitlines()[-1])     # XEN_SRC, or what BASE names cannot be had
    done = in_bash(f'{SOURCE}; unpack_xen "$1"', tmp_path)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["dpkg-source", "--before-build", tmp_path / "source"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    applied = [line.rpartition(" ")[2] for line in done.stdout.splitlines() if " applying " in line]
    ours = [f"numa-policy/{path.name}" for path in sorted((REPO / "xen-patches").glob("*.patch"))]
    assert ours and applied[-len(ours):] == ours and len(applied) > len(ours)
