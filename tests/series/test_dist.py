# SPDX-License-Identifier: GPL-2.0-only
"""make dist: the tarball of a release, on a tiny project."""
import os
import shutil
import subprocess
import tarfile

import pytest
from tiny_tree import BUILD, REPO
from tracked import tracked

TARBALL = "build/xen-numa-policy-1.2.3~dev.tar.gz"


class Project:
    def __init__(self, root, home):
        self.root = root
        self.env = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
        date = "@1700000000 +0000"
        self.env.update(HOME=str(home), GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
        files = {"VERSION": "1.2.3~dev\n", "README.md": "words\n", ".gitignore": "/build/\n"}
        for name, text in files.items():
            (root / name).write_text(text)
        (root / "tools/build").mkdir(parents=True)
        shutil.copy(BUILD / "dist.sh", root / "tools/build")
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", self.root, *who, *words], env=self.env, check=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "work")

    def dist(self, **options):
        return subprocess.run([self.root / "tools/build/dist.sh"], env=self.env, check=False,
                              capture_output=True, text=True, **options)


@pytest.fixture
def project(tmp_path):
    for name in ("project", "home"):
        (tmp_path / name).mkdir()
    return Project(tmp_path / "project", tmp_path / "home")


def test_one_commit_gives_the_same_bytes(project, tmp_path):
    assert project.dist().returncode == 0
    first = (project.root / TARBALL).read_bytes()
    (tmp_path / "home/.gitconfig").write_text("[tar]\numask = 0077\n[core]\nautocrlf = true\n")
    os.utime(project.root / "README.md", (1, 1))
    os.chmod(project.root / "README.md", 0o600)
    done = project.dist(umask=0o077)
    assert done.returncode == 0, done.stderr
    assert (project.root / TARBALL).read_bytes() == first
    assert done.stdout.split()[1] == TARBALL


def test_it_has_what_is_committed_and_no_more(project):
    project.dist()
    project.dist()
    with tarfile.open(project.root / TARBALL) as tar:
        files = {member.name for member in tar if member.isfile()}
        assert not any(member.mtime != 1700000000 for member in tar)
    names = ("VERSION", "README.md", ".gitignore", "tools/build/dist.sh")
    assert files == {f"xen-numa-policy-1.2.3~dev/{name}" for name in names}
    assert os.listdir(project.root / "build") == [TARBALL.partition("/")[2]]


def test_the_tarball_has_the_same_files_for_our_tests(project):
    project.dist()
    (project.root / "tools/__pycache__").mkdir()
    (project.root / "tools/__pycache__/x.pyc").write_text("")
    (project.root / ".gitignore").write_text("/build/\n__pycache__/\n")
    before = tracked(project.root)
    shutil.rmtree(project.root / ".git")
    assert tracked(project.root) == before and "tools/build/dist.sh" in before


@pytest.mark.parametrize("name", ["README.md", "new.md"])
def test_what_is_not_committed_is_named(project, name):
    (project.root / name).write_text("other words\n")
    done = project.dist()
    assert done.returncode == 1 and f"not everything is committed, such as {name}\n" in done.stderr
    assert not (project.root / "build").exists()


@pytest.mark.parametrize("version", ["", "1.2", "1.2.3 ", "../1.2.3", "v1.2.3"])
def test_a_version_that_cannot_be(project, version):
    (project.root / "VERSION").write_text(version + "\n")
    project.commit()
    done = project.dist()
    assert done.returncode == 1
    assert done.stderr.startswith(f"dist: VERSION says '{version}': it must be like")


def test_changelog_begins_with_this_version():
    version = (REPO / "VERSION").read_text().strip().partition("~")[0]
    lines = (REPO / "CHANGELOG.md").read_text().splitlines()
    first = next(line for line in lines if line.startswith("## "))
    assert first.startswith(f"## {version} (")
