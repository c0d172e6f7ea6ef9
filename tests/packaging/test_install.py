# SPDX-License-Identifier: GPL-2.0-only
"""make install of the whole, as a packager of another distribution calls it."""

import subprocess

from deb_root import BUILD, REPO

MODULE = "usr/src/xen-page-reporting-1"


def make(root, verb, *args):
    command = ["make", "-C", REPO, verb, f"DESTDIR={root}", "PREFIX=/usr", f"XEN_TOOLS={BUILD / 'xen-tools'}", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() or path.is_file()}


def test_all_parts(tmp_path):
    """What is put below DESTDIR, and nothing where the sources are; all but the configuration goes again."""
    before = files(REPO / "tools") | files(REPO / "carrefour-user") | files(REPO / "linux-guest-module")
    make(tmp_path, "install")
    assert files(tmp_path) == {
        "etc/xen/carrefour.conf", "usr/bin/carrefour-replay",
        "usr/lib/systemd/system/carrefourd.service", "usr/lib/sysusers.d/carrefourd.conf", "usr/sbin/carrefourd", "usr/sbin/xl-numa-policy",
        "usr/share/bash-completion/completions/xl-numa-policy", "usr/share/man/man1/carrefour-replay.1",
        "usr/share/man/man1/xl-numa-policy.1", "usr/share/man/man5/carrefour.conf.5", "usr/share/man/man8/carrefourd.8",
        *(f"{MODULE}/{name}" for name in ("Makefile", "dkms.conf", "forget-reported.h", "page-events.h", "xen-page-reporting.c"))}
    unit = (tmp_path / "usr/lib/systemd/system/carrefourd.service").read_text().splitlines()
    assert "ExecStart=/usr/sbin/carrefourd" in unit
    # who starts xenstored and mounts /proc/xen: Xen's own units, or Debian's one
    after, = [set(line.partition("=")[2].split()) for line in unit if line.startswith("After=")]
    assert after == {"proc-xen.mount", "xenstored.service", "xen.service"}
    make(tmp_path, "uninstall")
    assert files(tmp_path) == {"etc/xen/carrefour.conf"}
    assert before == files(REPO / "tools") | files(REPO / "carrefour-user") | files(REPO / "linux-guest-module")


def test_a_part_that_fails_fails_the_whole(tmp_path):
    command = ["make", "-C", REPO, "install", f"DESTDIR={tmp_path}", f"XEN_TOOLS={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "no xenlight.pc below XEN_TOOLS" in done.stderr
