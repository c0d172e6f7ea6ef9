# SPDX-License-Identifier: GPL-2.0-only
"""Packages in a root of Debian 13, by apt: installed over Debian's own Xen, kept there, removed, purged, and Debian's again."""

import re

import pytest

# in make test they would be the only ones that need the packages of Xen, which take long to build
pytestmark = pytest.mark.soak

OWN = {"xl-numa-policy", "carrefourd"}


def is_ours(version):
    return "+numa" in version


def of_xen(packages):
    return {name: version for name, version in packages.items() if re.match(r"(lib)?xen", name)}


def new_files(life, stage, before):
    return sorted(life.files(stage).keys() - life.files(before).keys())


def test_debians_xen_becomes_ours(life):
    """All of it: no package of Debian's Xen stays beside ours."""
    before, after = of_xen(life.packages("debian")), of_xen(life.packages("ours"))
    assert before and not any(map(is_ours, before.values()))
    assert before.keys() <= after.keys() and all(map(is_ours, after.values())), after
    assert OWN <= life.packages("ours").keys()


def test_files_are_where_policy_says(life):
    files = life.files("ours")
    for path in ("/usr/sbin/xl-numa-policy", "/usr/sbin/carrefourd", "/usr/bin/carrefour-replay"):
        assert files[path] == "f 755 root"
    for path in ("/usr/share/man/man1/xl-numa-policy.1.gz", "/usr/share/man/man1/carrefour-replay.1.gz",
                 "/usr/share/man/man5/carrefour.conf.5.gz", "/usr/share/man/man8/carrefourd.8.gz",
                 "/usr/lib/systemd/system/carrefourd.service", "/usr/lib/sysusers.d/carrefourd.conf", "/etc/xen/carrefour.conf",
                 "/usr/share/bash-completion/completions/xl-numa-policy", "/usr/share/doc/carrefourd/copyright"):
        assert files[path] == "f 644 root"
    assert not [path for path in new_files(life, "ours", "debian") if path.startswith(("/usr/local", "/opt", "/lib/"))]


def test_programs_run(life):
    for name in ("version", "replay"):
        text, status = life.said(name)
        assert status == 0 and re.search(r" \d+\.\d+\.\d+(~\w+)?$", text), text
    assert life.said("config")[1] == 0, life.said("config")
    assert life.said("unit") == ("", 0)


def test_what_is_enabled(life):
    """The daemon, as a user of its own; it does nothing for VMs that nobody has switched it on for."""
    assert life.said("enabled") == ("enabled", 0)
    text, status = life.said("user")
    assert status == 0 and re.fullmatch(r"carrefour:.*/usr/sbin/nologin", text), text


def test_apt_prefers_ours(life):
    text, _ = life.said("candidate")
    installed, candidate = re.findall(r"(?:Installed|Candidate): (\S+)", text)
    assert installed == candidate and is_ours(candidate), text


def test_debians_newer_xen_does_not_come_by_itself(life):
    """Also without the preference: the command and the daemon need ours."""
    kept = of_xen(life.packages("kept"))
    assert all(is_ours(kept[name]) for name in ("xen-hypervisor-4.20-amd64", "libxenmisc4.20")), kept
    assert OWN <= life.packages("kept").keys()


def test_the_module_for_guests_is_built(life):
    built = [path for path in life.files("guest") if re.search(r"/updates/dkms/xen-page-reporting\.ko", path)]
    assert len(built) == 1, life.said("dkms")
    assert life.said("rules")[1] == 0, life.said("rules")
    left = [path for path in life.files("guest-purged") if "page-reporting" in path or "guest-dkms" in path]
    assert left == []


def test_settings_survive_a_removal(life):
    """And systemd's, whether the unit is enabled."""
    left = [path for path in new_files(life, "removed", "debian") if "carrefour" in path or "numa-policy" in path]
    assert [path for path in left if not re.match(r"/(etc|var/lib)/systemd/", path)] == [
        "/etc/apt/preferences.d/xen-numa-policy.pref", "/etc/apt/sources.list.d/xen-numa-policy.list", "/etc/xen/carrefour.conf"]


def test_nothing_is_left_after_a_purge(life):
    """But the user, which Debian never removes, and what apt was told."""
    left = [path for path in new_files(life, "purged", "debian") if "carrefour" in path or "numa-policy" in path]
    assert left == ["/etc/apt/preferences.d/xen-numa-policy.pref", "/etc/apt/sources.list.d/xen-numa-policy.list"]


def test_the_way_back(life):
    """Debian's packages and files, as before ours came; headers of Linux, which the module was built with, stay."""
    assert of_xen(life.packages("back")) == of_xen(life.packages("debian"))
    before, after = life.files("debian"), life.files("back")
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    changed = [path for path in changed if not re.match(r"/usr/(include|lib/modules|src)/", path)]
    assert [path for path in changed if re.search(r"xen|carrefour|numa", path)] == []
