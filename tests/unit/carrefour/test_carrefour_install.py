# SPDX-License-Identifier: GPL-2.0-only
"""The build as a user makes it, what it installs, and the manual."""

import re
import shutil
import subprocess

import pytest

from carrefour_build import HERE, ROOT, SOURCE, make as make_anywhere, make_with_xen as make, run, run_daemon


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    build, root = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("root")
    done = make(SOURCE, f"BUILD={build}", f"DESTDIR={root}", "PREFIX=/opt/x", "install")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return root


@pytest.fixture(scope="module")
def manual(installed):
    return (installed / "opt/x/share/man/man1/carrefour-replay.1").read_text().replace("\\-", "-").replace("\\", "")


def test_files(installed):
    assert {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()} == {
        "opt/x/bin/carrefour-replay", "opt/x/share/man/man1/carrefour-replay.1",
        "opt/x/share/man/man5/carrefour.conf.5", "etc/xen/carrefour.conf",
        "opt/x/sbin/carrefourd", "opt/x/share/man/man8/carrefourd.8", "opt/x/lib/systemd/system/carrefourd.service",
        "opt/x/lib/sysusers.d/carrefourd.conf"}
    assert run(installed / "opt/x/bin/carrefour-replay", "-k", next((HERE / "traces").iterdir())).returncode == 0


def test_settings_survive_an_upgrade(tmp_path):
    """What is installed anew takes nothing away that an administrator has set."""
    conf = tmp_path / "etc/xen/carrefour.conf"
    args = [f"BUILD={tmp_path}", f"DESTDIR={tmp_path}", "install"]
    assert make(SOURCE, *args).returncode == 0 and conf.read_text() == (SOURCE / "config/carrefour.conf").read_text()
    conf.write_text("period_ms = 500\n")
    done = make(SOURCE, *args)
    assert done.returncode == 0 and conf.read_text() == "period_ms = 500\n"
    assert f"{conf} is there and stays as it is" in done.stdout


def test_builds_in_place(tmp_path):
    """Without Xen, and what is made there is what git ignores."""
    for name in "carrefour-user", "common":
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in "VERSION", ".gitignore":
        shutil.copy(ROOT / name, tmp_path)
    run("git", "init", "-q", tmp_path)
    run("git", "add", ".", cwd=tmp_path)
    done = make_anywhere(tmp_path / "carrefour-user", "CFLAGS=-O0", "carrefour-replay")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert run(tmp_path / "carrefour-user/carrefour-replay", "-V").stdout.startswith("carrefour-replay ")
    assert run("git", "status", "--short", "--untracked-files=all", cwd=tmp_path).stdout.count("??") == 0


def test_uninstall(tmp_path):
    """All but what the administrator may have written."""
    args = [f"BUILD={tmp_path / 'build'}", f"DESTDIR={tmp_path / 'root'}"]
    assert make(SOURCE, *args, "install").returncode == 0 and make(SOURCE, *args, "uninstall").returncode == 0
    assert [path.name for path in (tmp_path / "root").rglob("*") if path.is_file()] == ["carrefour.conf"]


def test_manual_of_the_configuration(installed, tmp_path):
    """Made of carrefour.conf and of the table: each setting with its default, its range and what it does."""
    done = run("perl", SOURCE / "man/conf.pl", SOURCE / "config/config.c", SOURCE / "config/carrefour.conf")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "conf.pod").write_text(done.stdout)
    check = run("podchecker", "-warnings", "-warnings", tmp_path / "conf.pod")
    assert check.returncode == 0 and "WARNING" not in check.stderr, check.stderr
    table = re.findall(r"SETTING\((\w+), (\d+), (\d+), (\w+)\)", (SOURCE / "config/config.c").read_text())
    assert len(table) > 30
    bounds = dict(re.findall(r"#define (\w+_MAX) (\d+)", (SOURCE / "config/config.h").read_text()))
    for key, value, least, most in table:
        assert f"=item B<{key}>: by default I<{value}>, from {least} to {bounds.get(most, most)}\n" in done.stdout
    for key in ("heal", "metrics", "user", "sample_source"):
        assert f"=item B<{key}>: " in done.stdout
    for section in re.findall(r"^=head1 (.+)$", done.stdout, re.M):
        assert section == section.upper()
    text = (installed / "opt/x/share/man/man5/carrefour.conf.5").read_text()
    assert all(key in text for key, *_ in table)


@pytest.mark.parametrize("name", ["carrefour-replay", "carrefourd"])
def test_manual_source(name):
    done = subprocess.run(["podchecker", "-warnings", "-warnings", SOURCE / f"man/{name}.pod"], capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr


def test_manual_names_everything(installed, manual):
    text = run(installed / "opt/x/bin/carrefour-replay", "--help").stdout
    words = set(re.findall(r"--[a-z]+", text))
    words |= set(re.findall(r'= "([a-z-]+)"', (SOURCE / "decide/explain.c").read_text().split("states[")[0]))
    assert {"--advise", "migrate", "came-from"} <= words and len(words) > 20
    assert [word for word in sorted(words) if word not in manual] == []


def test_manual_of_the_daemon_names_its_options(installed):
    manual = (installed / "opt/x/share/man/man8/carrefourd.8").read_text().replace("\\-", "-")
    options = re.findall(r"--[a-z-]+", run_daemon(installed / "opt/x/sbin/carrefourd", "--help").stdout)
    assert len(options) > 5 and [word for word in options if word not in manual] == []


def test_unit_and_user_fit_together(installed):
    unit = (installed / "opt/x/lib/systemd/system/carrefourd.service").read_text()
    assert re.findall(r"^Exec\w+=(/opt\S+)", unit, re.M) == ["/opt/x/sbin/carrefourd"]
    assert set(re.findall(r"@[\w-]*", unit)) == {"@system-service"}
    # what carrefour.conf bounds has no other bound that contradicts it
    assert not re.search(r"^(MemoryMax|MemoryHigh|Limit)", unit, re.M)
    for needed in ("Type=notify", "WatchdogSec=60", "NoNewPrivileges=yes", "ProtectSystem=strict", "DevicePolicy=closed",
                   "RuntimeDirectory=carrefourd", "StartLimitIntervalSec=2min", "StartLimitBurst=10",
                   "ExecCondition=/bin/grep -q control_d /proc/xen/capabilities"):
        assert needed in unit.splitlines()
    user, = re.findall(r"^u (\w+) ", (installed / "opt/x/lib/sysusers.d/carrefourd.conf").read_text(), re.M)
    assert f'strcpy(config.user, "{user}")' in (SOURCE / "config/config.c").read_text()
    assert f"# user = {user}" in (installed / "etc/xen/carrefour.conf").read_text().splitlines()


def test_manual_has_no_date(manual):
    title, = [line for line in manual.splitlines() if line.startswith(".TH ")]
    assert not re.search(r"\d{4}-\d\d-\d\d", title)


def test_makes_again_what_has_changed(tmp_path):
    """Nothing, or what includes the header that is said to be new (make -W)."""
    target = f"BUILD={tmp_path}"
    make(SOURCE, target, "CFLAGS=-O0")
    assert make(SOURCE, target, "-q").returncode == 0
    for header in [*SOURCE.glob("*/*.h"), *ROOT.glob("common/*.h")]:
        assert make(SOURCE, target, "-q", "-W", header).returncode == 1, header


def test_no_file_is_too_long():
    for directory in SOURCE, HERE:
        for path in directory.rglob("*"):
            if path.suffix in (".c", ".h", ".py"):
                lines = path.read_text().splitlines()
                assert len(lines) <= 400 and max(map(len, lines)) <= 130, path
