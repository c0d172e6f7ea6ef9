"""Sources and packages when the world is not as it should be: one line each, and the way out where there is one.

The archive here is a directory (apt's file: method), reached through the user's apt configuration as any mirror is.
"""
import os
import shutil

import pytest
from tiny_tree import BUILD, SOURCE, sha256, tarball


def apt_conf(queue, sources, extra=""):
    """The user's apt configuration, with nothing in it but these sources."""
    parts = queue.home / "sources"
    parts.mkdir(exist_ok=True)
    (parts / "user.list").write_text(sources)
    conf = queue.home / "apt.conf"
    conf.write_text(f'Dir::Etc::SourceList "/dev/null"; Dir::Etc::SourceParts "{parts}"; Acquire::Retries "0";\n'
                    'Acquire::http::Proxy "http://127.0.0.1:9"; Acquire::https::Proxy "http://127.0.0.1:9";\n' + extra)
    return str(conf)


@pytest.fixture
def archive(queue):
    """An archive that has moved on: it holds 4.20.10 and 4.21.1, not the pinned 4.20.9."""
    (queue.cache / "xen-numa-policy/src/xen_4.20.9.orig.tar.xz").unlink()
    place = queue.root.parent / "debian"
    index = ""
    for version in ("4.20.10", "4.21.1"):
        pool = place / "pool"
        pool.mkdir(parents=True, exist_ok=True)
        path = tarball(pool / f"xen_{version}.orig.tar.xz", dict(SOURCE, README=("0644", f"{version}\n")))
        dsc = pool / f"xen_{version}-1.dsc"
        dsc.write_text(f"Format: 3.0 (quilt)\nSource: xen\nVersion: {version}-1\n")
        index += (f"Package: xen\nFormat: 3.0 (quilt)\nBinary: xen\nArchitecture: any\nVersion: {version}-1\nDirectory: pool\n"
                  f"Checksums-Sha256:\n {sha256(dsc)} {dsc.stat().st_size} {dsc.name}\n {sha256(path)} {path.stat().st_size} {path.name}\n\n")
    for suite in ("trixie", "trixie-updates", "trixie-security", "bookworm"):
        where = place / "dists" / suite / "main" / "source"
        where.mkdir(parents=True)
        (where / "Sources").write_text(index if suite == "trixie" else "")
        release = f"Suite: {suite}\nCodename: {suite}\nComponents: main\nArchitectures: amd64\nDate: Sat, 21 Nov 2026 00:00:00 UTC\nSHA256:\n"
        sources = where / "Sources"
        release += f" {sha256(sources)} {sources.stat().st_size} main/source/Sources\n"
        (place / "dists" / suite / "Release").write_text(release)
    queue.env["PQ_OS_RELEASE"] = str(debian(queue, "13"))
    queue.env["APT_CONFIG"] = apt_conf(queue, f"deb file:{place} trixie main\n", (
        'Acquire::AllowInsecureRepositories "true"; APT::Get::AllowUnauthenticated "true"; Acquire::Check-Date "false";\n'))
    shutil.copytree(place, f"{place}-security")
    return queue


def debian(queue, version, name="debian"):
    path = queue.home / f"os-release-{name}-{version}"
    path.write_text(f'PRETTY_NAME="{name} {version}"\nID={name}\nVERSION_ID="{version}"\n')
    return path


def test_newest_of_the_branch_with_a_warning(archive):
    done = archive.run(BUILD / "fetch.sh", "xen")
    assert done.returncode == 0, done.stderr + (archive.root / "build/logs/apt.log").read_text()
    assert "WARNING: xen 4.20.9-1 is gone from the archive; 4.20.10-1 is used instead" in done.stderr
    assert done.stdout.strip().endswith("/xen_4.20.10.orig.tar.xz")
    said = archive.pq("import", "xen")
    assert "not what xen-patches/BASE names" in said
    assert (archive.tree / "README").read_text() == "4.20.10\n"


def test_pinned_version_from_the_archive(archive):
    base = archive.series / "BASE"
    path = archive.root.parent / "debian/pool/xen_4.21.1.orig.tar.xz"
    base.write_text(f"source=xen\nsuite=trixie\nversion=4.21.1-1\nfile={path.name}\nsha256={sha256(path)}\nnewest=4.21.\n")
    done = archive.run(BUILD / "fetch.sh", "xen")
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    assert sha256(done.stdout.strip()) == sha256(path)
    # what is in the cache needs no archive
    shutil.rmtree(archive.root.parent / "debian")
    assert archive.run(BUILD / "fetch.sh", "xen").stderr == ""


@pytest.mark.parametrize("where", ["debian/pool/main/x/xen", "debian-security/pool/updates/main/x/xen"])
def test_what_the_index_has_dropped_is_in_the_pool(archive, where):
    base = archive.series / "BASE"
    pool = archive.root.parent / where
    pool.mkdir(parents=True)
    path = tarball(pool / "xen_4.20.8+1-gabc.orig.tar.xz", SOURCE)
    base.write_text(f"source=xen\nsuite=trixie\nversion=4.20.8+1-gabc-1\nfile={path.name}\nsha256={sha256(path)}\nnewest=4.20.\n")
    done = archive.run(BUILD / "fetch.sh", "xen")
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    assert "its pool still has it" in done.stderr
    assert sha256(done.stdout.strip()) == sha256(path)
    # a file of that name that is not the pinned one is not taken
    (archive.cache / "xen-numa-policy/src" / path.name).unlink()
    path.write_bytes(path.read_bytes() + b"x")
    assert "WARNING: xen 4.20.8+1-gabc-1 is gone" in archive.run(BUILD / "fetch.sh", "xen").stderr


def test_a_tarball_with_another_hash_is_not_taken_for_the_pinned_one(archive):
    base = archive.series / "BASE"
    base.write_text("source=xen\nsuite=trixie\nversion=4.20.10-1\nfile=xen_4.20.10.orig.tar.xz\n"
                    f"sha256={'0' * 64}\nnewest=4.20.\n")
    assert "WARNING" in archive.run(BUILD / "fetch.sh", "xen").stderr


def test_no_network(queue):
    (queue.cache / "xen-numa-policy/src/xen_4.20.9.orig.tar.xz").unlink()
    conf = apt_conf(queue, "deb http://nowhere.debian.org/debian trixie main\n")
    done = queue.run(BUILD / "fetch.sh", "xen", APT_CONFIG=conf, PQ_OS_RELEASE=str(debian(queue, "13")))
    assert done.returncode == 1 and done.stdout == ""
    assert "snapshot archive is not reachable" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: cannot download xen 4.20.9-1: no network?")


def test_no_apt_source(queue):
    (queue.cache / "xen-numa-policy/src/xen_4.20.9.orig.tar.xz").unlink()
    done = queue.run(BUILD / "fetch.sh", "xen", APT_CONFIG=apt_conf(queue, ""), PQ_OS_RELEASE=str(debian(queue, "13")))
    assert done.returncode == 1
    assert "no apt source for Debian trixie" in done.stderr


@pytest.mark.parametrize("name, version", [("debian", "11"), ("debian", "14"), ("ubuntu", "24.04")])
@pytest.mark.parametrize("script", ["packages.sh", "fetch.sh"])
def test_unsupported_distribution(queue, name, version, script):
    (queue.cache / "xen-numa-policy/src/xen_4.20.9.orig.tar.xz").unlink()
    done = queue.run(BUILD / script, *(["xen"] if script == "fetch.sh" else []), PQ_OS_RELEASE=str(debian(queue, version, name)))
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
    conf = apt_conf(queue, "", f'Dir::State::Lists "{queue.home}";\n')
    done = queue.run(script, APT_CONFIG=conf)
    assert done.returncode == 1
    assert "Unable to locate package xen-numa-policy-no-such-package" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: installing packages failed, all of it is in")
