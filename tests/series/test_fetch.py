# SPDX-License-Identifier: GPL-2.0-only
"""Sources and packages when the world is not as it should be: one line each, and the way out where there is one."""
import os
import shutil
import subprocess

import pytest
from archive import Archive, apt_conf, debian
from tiny_tree import BUILD, sha256

PINNED = "4.20.9+1-gabc-1"
NAME = "xen_4.20.9+1-gabc.orig.tar.xz"
STAMP = "20261115T000000Z"
# where the pinned tarball is, in the order in which it is to be looked for; the first is where the index leads to
PLACES = ["deb.debian.org/debian/listed", "deb.debian.org/debian/pool/main/x/xen",
          "deb.debian.org/debian-security/pool/updates/main/x/xen", f"snapshot.debian.org/archive/debian/{STAMP}/pool/main/x/xen",
          f"snapshot.debian.org/archive/debian-security/{STAMP}/pool/updates/main/x/xen"]
OTHERS = "deb.debian.org/debian/others"
SECURITY = "deb.debian.org/debian-security"


class World:
    """An archive in which every source is to be had, beside a queue that has none of them in its cache."""

    def __init__(self, queue):
        self.queue = queue
        (queue.cache / "xen-numa-policy/src/xen_4.20.9.orig.tar.xz").unlink()
        self.archive = Archive(queue.root.parent / "hosts")
        self.pinned = [self.archive.put(place, NAME, "pinned") for place in PLACES]
        listed = [("xen", PINNED, "listed", self.pinned[0])]
        for version in ("4.20.8", "4.20.10", "4.20.11", "4.21.1"):
            path = self.archive.put(OTHERS, f"xen_{version}.orig.tar.xz", version)
            listed.append(("xen", f"{version}-1", "others", path))
        self.archive.publish("deb.debian.org/debian", "trixie", listed)
        self.archive.publish("deb.debian.org/debian", "trixie-updates", [])
        self.archive.publish(SECURITY, "trixie-security", [])
        self.write_base(sha256(self.pinned[0]))
        queue.env["PQ_OS_RELEASE"] = debian(queue, "13")
        self.use("deb http://deb.debian.org/debian trixie main\n")

    def write_base(self, digest, series="xen-patches"):
        (self.queue.root / series / "BASE").write_text(
            f"source=xen\nsuite=trixie\nversion={PINNED}\nfile={NAME}\nsha256={digest}\nsnapshot={STAMP}\nnewest=4.20.\n")

    def use(self, sources):
        self.queue.env["APT_CONFIG"] = apt_conf(self.queue, sources, self.archive.proxy)

    def take_away(self, paths, how="gone"):
        for path in paths:
            if how == "gone":
                path.unlink()
            elif how == "damaged":
                path.write_bytes(path.read_bytes()[:-1] + b"x")
            else:
                self.archive.cut.add(str(path.relative_to(self.archive.place)))

    def other(self, version):
        return self.archive.place / OTHERS / f"xen_{version}.orig.tar.xz"

    def fetch(self, series="xen"):
        return self.queue.run(BUILD / "fetch.sh", series)

    def fetched(self):
        """What it said, and the place that the tarball is from."""
        done = self.fetch()
        assert done.returncode == 0, done.stderr + "".join(log.read_text() for log in self.queue.root.glob("build/logs/apt*.log"))
        path, found = self.archive.asked[-1]
        assert found and sha256(done.stdout.strip()) == sha256(self.archive.place / path)
        return done.stderr, path.rpartition("/")[0]


@pytest.fixture
def world(queue):
    made = World(queue)
    yield made
    made.archive.stop()


@pytest.mark.parametrize("place", range(len(PLACES)))
def test_each_place_when_those_before_it_are_gone(world, place):
    world.take_away(world.pinned[:place])
    said, served = world.fetched()
    assert served == PLACES[place]
    assert world.archive.tarballs_asked() == [f"{one}/{NAME}" for one in PLACES[:place + 1]]
    assert "WARNING" not in said
    assert ("the archive's index does not lead to" in said) == (place > 0)
    # what is in the cache needs no archive
    world.archive.stop()
    assert world.fetch().stderr == ""


def test_what_the_index_has_dropped_is_in_the_pool(world):
    world.archive.publish("deb.debian.org/debian", "trixie", [("xen", "4.20.11-1", "others", world.other("4.20.11"))])
    said, served = world.fetched()
    assert served == PLACES[1] and "WARNING" not in said
    assert world.archive.tarballs_asked() == [f"{PLACES[1]}/{NAME}"]


@pytest.mark.parametrize("how", ["damaged", "cut"])
def test_a_bad_file_is_not_taken_anywhere(world, how):
    newest = world.other("4.20.11")
    world.take_away([*world.pinned, newest], how)
    said, served = world.fetched()
    assert served == OTHERS
    # each was sent, and none was taken
    asked = list(dict.fromkeys(world.archive.tarballs_asked()))
    assert asked == [f"{place}/{NAME}" for place in PLACES] + [f"{OTHERS}/xen_{v}.orig.tar.xz" for v in ("4.20.11", "4.20.10")]
    assert all(found for path, found in world.archive.asked if ".orig.tar." in path)
    assert f"WARNING: xen cannot be had as {PINNED}, 4.20.11-1; 4.20.10-1 is used instead" in said


def test_newest_of_the_branch_that_can_be_had(world):
    world.take_away([*world.pinned, world.other("4.20.11")])
    said, served = world.fetched()
    assert served == OTHERS
    assert f"WARNING: xen cannot be had as {PINNED}, 4.20.11-1; 4.20.10-1 is used instead, and BASE does not match" in said
    said = world.queue.pq("import", "xen")
    assert "not what xen-patches/BASE names" in said
    assert (world.queue.tree / "README").read_text() == "4.20.10\n"


@pytest.mark.parametrize("series", ["xen", "linux"])
def test_nothing_is_to_be_had(world, series):
    if series == "linux":
        world.archive.publish("deb.debian.org/debian", "trixie", [])
        world.write_base(sha256(world.pinned[0]), "linux-guest-patches")
    world.take_away([*world.pinned, *(world.other(version) for version in ("4.20.8", "4.20.10", "4.20.11"))])
    done = world.fetch(series)
    assert done.returncode == 1 and done.stdout == ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    others = ", 4.20.11-1, 4.20.10-1, 4.20.8-1" if series == "xen" else ""
    assert len(errors) == 1 and errors[0] == done.stderr.splitlines()[-1]
    assert errors[0].startswith(f"error: cannot download {series}, tried {PINNED}{others}: {series.upper()}_SRC=DIR takes a local ")


def test_debians_packaging_is_found_as_sources_are(world):
    """Where the pool keeps it; no other version will do."""
    place, name = "deb.debian.org/debian/pool/main/x/xen", NAME.replace(".orig.", "-1.debian.")
    path = world.archive.put(place, name, "packaging")
    (world.queue.root / "packaging/xen").mkdir(parents=True)
    world.write_base(sha256(path), "packaging/xen")
    base = world.queue.root / "packaging/xen/BASE"
    base.write_text(base.read_text().replace(NAME, name).replace("newest=4.20.\n", ""))
    done = world.fetch("xen-packaging")
    assert done.returncode == 0 and sha256(done.stdout.strip()) == sha256(path), done.stderr
    (world.queue.cache / "xen-numa-policy/src" / name).unlink()
    path.unlink()
    done = world.fetch("xen-packaging")
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith(
        f"error: cannot download xen-packaging, tried {PINNED}: without Debian's packaging there are no packages of Xen")


def test_same_version_with_another_hash_is_not_the_pinned_one(world):
    world.write_base("0" * 64)
    said, served = world.fetched()
    assert served == OTHERS and "4.20.11-1 is used instead" in said
    # a listed version is told from BASE's by what is in it
    world.take_away([world.other(version) for version in ("4.20.8", "4.20.10", "4.20.11")])
    said, served = world.fetched()
    assert served == PLACES[0] and f"WARNING: xen cannot be had as {PINNED}, 4.20.11-1, 4.20.10-1; {PINNED} is used" in said
    assert "not what xen-patches/BASE names" in world.queue.pq("import", "xen")


@pytest.mark.parametrize("mirror, has", [("ftp.de.debian.org", True), ("mirror.example", False)])
def test_snapshot_archive_is_that_of_debian(world, mirror, has):
    shutil.copytree(world.archive.place / "deb.debian.org", world.archive.place / mirror)
    for place in PLACES[:3]:
        shutil.rmtree(world.archive.place / place.replace("deb.debian.org", mirror))
    world.use(f"deb http://{mirror}/debian trixie main\n")
    said, served = world.fetched()
    assert served == (PLACES[3] if has else OTHERS.replace("deb.debian.org", mirror))
    assert (f"the mirror {mirror} has no snapshot archive" in said) != has


def test_mirror_that_is_a_directory(world):
    world.use(f"deb file:{world.archive.place}/deb.debian.org/debian trixie main\n")
    done = world.fetch()
    assert done.returncode == 0 and not world.archive.asked, done.stderr
    path = world.queue.cache / "xen-numa-policy/src" / NAME
    assert done.stdout.strip() == str(path) and not path.is_symlink() and sha256(path) == sha256(world.pinned[0])


@pytest.mark.parametrize("series", ["xen", "linux"])
def test_no_network(world, series):
    # the lists of a better day are there, and are not taken for the archive
    world.fetched()
    (world.queue.cache / "xen-numa-policy/src" / NAME).unlink()
    world.write_base(sha256(world.pinned[0]), "linux-guest-patches")
    world.archive.stop()
    done = world.fetch(series)
    assert done.returncode == 1 and done.stdout == ""
    assert "snapshot archive is not reachable" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(
        f"error: cannot download {series} (no network?), tried {PINNED}: {series.upper()}_SRC=DIR takes")


def test_no_apt_source(world):
    world.use("")
    done = world.fetch()
    assert done.returncode == 1
    assert "no apt source for Debian trixie" in done.stderr


def download_qemu(world):
    """What it said; the tarball of an earlier time is no more."""
    shutil.rmtree(world.queue.cache / "xen-numa-policy/products/qemu-source", ignore_errors=True)
    done = world.queue.run(BUILD / "qemu-source.sh")
    return done, sha256(world.queue.root / "build/qemu-source/tarball") if done.returncode == 0 else None


def test_source_of_qemu(world):
    """The installed version, else the newest of its major version that can be had, else a line."""
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}", "qemu-system-x86"], check=True,
                               capture_output=True, text=True).stdout
    major = installed.partition(":")[2].partition(".")[0]
    versions = [installed, f"1:{major}.99+ds-1", f"1:{major}.98+ds-1", "1:999.0+ds-1"]
    paths = [world.archive.put(OTHERS, f"qemu_{version[2:].rpartition('-')[0]}.orig.tar.xz", version) for version in versions]
    world.archive.publish("deb.debian.org/debian", "trixie", [("qemu", version, "others", path)
                                                              for version, path in zip(versions, paths)])
    assert download_qemu(world)[1] == sha256(paths[0])
    world.take_away([paths[0]], "damaged")
    world.take_away([paths[1]], "gone")
    done, taken = download_qemu(world)
    assert f"WARNING: the source of QEMU cannot be had as {installed}, {versions[1]}; {versions[2]} is taken" in done.stderr
    assert taken == sha256(paths[2])
    world.take_away([paths[2]], "cut")
    done, taken = download_qemu(world)
    assert done.returncode == 1 and not taken
    tried = ", ".join(versions[:3])
    assert done.stderr.splitlines()[-1].startswith(f"error: cannot download the source of QEMU, tried {tried} (")
    world.archive.stop()
    assert "no network?" in download_qemu(world)[0].stderr


@pytest.mark.parametrize("name, version", [("debian", "11"), ("debian", "14"), ("ubuntu", "24.04")])
@pytest.mark.parametrize("script", ["packages.sh", "fetch.sh"])
def test_unsupported_distribution(queue, name, version, script):
    (queue.cache / "xen-numa-policy/src/xen_4.20.9.orig.tar.xz").unlink()
    done = queue.run(BUILD / script, *(["xen"] if script == "fetch.sh" else []), PQ_OS_RELEASE=debian(queue, version, name))
    assert done.returncode == 1
    assert done.stderr.strip().startswith("error: this runs on Debian 12 and 13") and name in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def wanting(queue):
    """The package script, wanting a package that nobody has."""
    scripts = queue.root / "tools" / "build"
    shutil.copytree(BUILD, scripts)
    (scripts / "packages.list").write_text("# only this\nxen-numa-policy-no-such-package\n")
    return queue, scripts / "packages.sh"


def test_no_root_and_no_sudo(wanting):
    queue, script = wanting
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody else")
    path = queue.root
    while path != path.parent and path.stat().st_uid == 0 and str(path).startswith("/tmp/"):
        path.chmod(0o777 if path != path.parent else 0)
        path = path.parent
    for place in (queue.root, queue.cache, queue.home):
        queue.run("chown", "-R", "65534:65534", place)
    done = queue.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", script)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: installing packages needs root or")


def test_a_package_that_cannot_be_had(wanting):
    queue, script = wanting
    if os.geteuid() != 0:
        pytest.skip("needs root")
    conf = apt_conf(queue, "", extra=f'Dir::State::Lists "{queue.home}";\n')
    done = queue.run(script, APT_CONFIG=conf)
    assert done.returncode == 1
    assert "Unable to locate package xen-numa-policy-no-such-package" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: installing packages failed, all of it is in")
