# SPDX-License-Identifier: GPL-2.0-only
"""docs/ci/: what these files run is there, and what they keep is what a run leaves.  The services themselves are not tried."""
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml
from tiny_tree import REPO

CI = REPO / "docs" / "ci"
KINDS = ("github", "gitlab")
OWN_XEN = re.compile(r"tests/boot/run ")


def parsed(kind):
    return yaml.safe_load((CI / f"{kind}.yml").read_text())


def jobs(kind):
    """Each job: its commands, what it keeps as results, and its limit in minutes."""
    file = parsed(kind)
    made = {}
    if kind == "github":
        for name, job in file["jobs"].items():
            steps = job["steps"]
            kept = [step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]
            lines = [line for step in steps for line in step.get("run", "").splitlines()]
            made[name] = (lines, kept, job["timeout-minutes"])
    else:
        for name, job in file.items():
            if name not in ("default", "variables"):
                artifacts = job["artifacts"]
                kept = [*artifacts["paths"], artifacts["reports"]["junit"]]
                limit = int(file["default"]["timeout"].removesuffix(" minutes"))
                made[name] = (file["default"]["before_script"] + job["script"], kept, limit)
    return made


def commands(kind):
    return list(dict.fromkeys(line for lines, _, _ in jobs(kind).values() for line in lines))


def succeeds(*command, cwd=REPO):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("kind, line", [(kind, line) for kind in KINDS for line in commands(kind)])
def test_command_is_there(kind, line, tmp_path):
    words = shlex.split(line)
    if words[0] == "make":
        succeeds("make", "-n", *words[1:])
    elif words[0] == "tests/boot/run":
        # it reads the whole command line before it lists
        succeeds(*words, "--list")
    elif words[:2] == ["apt-get", "install"]:
        known = (REPO / "tools/build/packages.list").read_text().split()
        assert {word for word in words[2:] if not word.startswith("-")} <= set(known)
    elif words[0] == "install":
        built = [word for word in words if word.startswith("build/")]
        assert built and all(word.split("/")[1] in made_by_make() for word in built)
        if not all((REPO / word).exists() for word in built):
            pytest.skip("nothing is built here: make setup")
        (tmp_path / "build").symlink_to(REPO / "build")
        succeeds(*words, cwd=tmp_path)
        # what it puts there is what the jobs keep and boot
        boots = [word for run in commands(kind) if OWN_XEN.match(run) for word in shlex.split(run) if word.startswith("theirs/")]
        assert len(boots) == 2 and all((tmp_path / word).is_file() for word in boots)
    else:
        assert line in ("apt-get update", 'git config --global --add safe.directory "$GITHUB_WORKSPACE"')


def made_by_make():
    return re.search(r"^PRODUCTS := (.*)", (REPO / "Makefile").read_text(), re.M).group(1).split()


@pytest.mark.parametrize("kind", KINDS)
def test_both_jobs_are_there(kind):
    """The two commands in one, somebody's own Xen in the other, each within its time."""
    (prove, _, limit), (own, _, own_limit) = jobs(kind).values()
    assert [line for line in prove if line.startswith("make")] == ["make demo", "make test"]
    assert any(OWN_XEN.match(line) for line in own)
    assert limit == own_limit == 90


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_is_what_a_run_leaves(kind, tmp_path):
    # a run of our own conftest.py, which finds its place by where it is, and of no test of ours
    shutil.copytree(REPO / "tests/runner", tmp_path / "tests/runner", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPO / "tests/conftest.py", tmp_path / "tests")
    (tmp_path / "tests/series").mkdir()
    (tmp_path / "tests/series/test_one.py").write_text("def test_one():\n    pass\n")
    succeeds(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=tmp_path)
    assert (tmp_path / "build/results/results.ktap").is_file()
    (_, kept, _), (own, own_kept, _) = jobs(kind).values()
    assert kept and all((tmp_path / path).exists() for path in kept if path != "theirs/"), kept
    # tests/boot/run writes the same into the directory that it is given
    results = re.search(r"--results (\S+)", "\n".join(own)).group(1)
    assert own_kept and all(path in (f"{results}/", f"{results}/results.xml") for path in own_kept)


def test_caches_are_kept():
    github = parsed("github")
    steps = [step for job in github["jobs"].values() for step in job["steps"] if "actions/cache" in step.get("uses", "")]
    assert {step["with"]["path"] for step in steps} == {github["env"]["XDG_CACHE_HOME"]}
    gitlab = parsed("gitlab")
    path, = gitlab["default"]["cache"]["paths"]
    assert gitlab["variables"]["XDG_CACHE_HOME"] == f"$CI_PROJECT_DIR/{path.rstrip('/')}"
    # or git would take it for part of the work
    succeeds("git", "-c", "safe.directory=*", "check-ignore", "-q", path)


@pytest.mark.parametrize("kind", KINDS)
def test_no_secrets(kind):
    text = (CI / f"{kind}.yml").read_text()
    assert not re.search("secret|token|password", text, re.I)
    assert all(used.startswith("actions/") for used in re.findall(r"uses: (\S+)", text))
