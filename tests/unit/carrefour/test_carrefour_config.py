# SPDX-License-Identifier: GPL-2.0-only
"""The configuration: what is installed, and one clear line for whatever is wrong."""

import re

import pytest

from carrefour_build import SOURCE

SETTING = re.compile(r"^# ([a-z_0-9]+) = (\S+)$", re.M)


@pytest.fixture
def check(replay, trace, tmp_path):
    """Reads a configuration with these lines."""
    def read(*lines, status=1, raw=None):
        path = tmp_path / "c.conf"
        path.write_bytes(raw if raw is not None else ("\n".join(lines) + "\n").encode())
        said = replay("--config", path, trace(), status=status)
        return said.replace(str(path), "c.conf")
    return read


def test_good(check):
    assert check("# comment", "", "  vm_moves=7  ", "host_moves = 9", "\tmetrics = /run/x.prom", status=0) == ""


def test_empty(check):
    assert check(status=0) == ""


@pytest.mark.parametrize("lines, said", [
    (["vm_moves = 0"], "c.conf:1: '0' is no value for vm_moves; give a whole number from 1 to 8192"),
    (["", "vm_moves = 8193"], "c.conf:2: '8193' is no value for vm_moves; give a whole number from 1 to 8192"),
    (["local_pct = 80%"], "c.conf:1: '80%' is no value for local_pct; give a whole number from 1 to 100"),
    (["local_pct = -1"], "c.conf:1: '-1' is no value for local_pct; give a whole number from 1 to 100"),
    (["local_pct = 0x10"], "c.conf:1: '0x10' is no value for local_pct; give a whole number from 1 to 100"),
    (["local_pct ="], "c.conf:1: '' is no value for local_pct; give a whole number from 1 to 100"),
    (["local_pct = 99999999999999999999"],
     "c.conf:1: '99999999999999999999' is no value for local_pct; give a whole number from 1 to 100"),
    (["vm_moves 7"], "c.conf:1: 'vm_moves 7' is no setting; write KEY = VALUE, or # before a comment"),
    (["[daemon]"], "c.conf:1: '[daemon]' is no setting; write KEY = VALUE, or # before a comment"),
    (["vm_movs = 7"], "c.conf:1: there is no setting 'vm_movs'; carrefour.conf(5) lists all"),
    (["= 7"], "c.conf:1: there is no setting ''; carrefour.conf(5) lists all"),
    (["vm_moves = 7", "#", "vm_moves = 7"], "c.conf:3: vm_moves was set in line 1; set it once"),
    (["metrics = x.prom"], "c.conf:1: 'x.prom' is no path for metrics; give an absolute one of less than 256 characters"),
    (["metrics = /a", "metrics = /b"], "c.conf:2: metrics was set in line 1; set it once"),
    (["#", "imbalance_stop_pct = 36"],
     "c.conf:2: imbalance_stop_pct is 36 and imbalance_pct is 35; the first may not be above the second"),
    (["#", "imbalance_pct = 19"],
     "c.conf:2: imbalance_stop_pct is 20 and imbalance_pct is 19; the first may not be above the second"),
    (["local_stop_pct = 79"], "c.conf:1: local_pct is 80 and local_stop_pct is 79; the first may not be above the second"),
    (["cooldown_ms = 60001"], "c.conf:1: cooldown_ms is 60001 and pingpong_ms is 60000; the first may not be above the second"),
    (["backoff_max_ms = 1"], "c.conf:1: backoff_ms is 5000 and backoff_max_ms is 1; the first may not be above the second"),
    (["vm_mb_per_s = 1"],
     "c.conf:1: vm_mb_per_s is 1, less than a page of 2 MiB in a period of 1000 ms; give 2 or more"),
    (["", "host_mb_per_s = 19", "period_ms = 100"],
     "c.conf:2: host_mb_per_s is 19, less than a page of 2 MiB in a period of 100 ms; give 20 or more"),
])
def test_wrong(check, lines, said):
    assert check(*lines) == said


def test_bytes_that_are_no_text(check):
    assert check(raw=b"vm_moves = 7\0\n") == "c.conf:1: a byte of value 0; this is to be a text file"
    assert check(raw=b"\xff\xfe = 7")


def test_no_file(replay, trace, tmp_path):
    assert replay("-c", tmp_path / "none", trace(), status=1) == f"{tmp_path}/none: cannot open it: No such file or directory"
    assert replay("-c", tmp_path, trace(), status=1).startswith(f"{tmp_path}: cannot read it: ")


def defaults():
    """Of numbers."""
    return {key: value for key, value in SETTING.findall((SOURCE / "config/carrefour.conf").read_text())
            if key not in ("heal", "metrics", "sample_source", "user")}


def test_installed_file_tells_each_default(check, replay, trace, tmp_path):
    """A trace names the settings that are not the default: with all that the file says, none."""
    values = defaults()
    keys = re.findall(r"SETTING\((\w+), \d", (SOURCE / "config/config.c").read_text())
    assert len(keys) > 25 and set(values) == set(keys)
    config, out = tmp_path / "all.conf", tmp_path / "out"
    config.write_text("".join(f"{key} = {value}\n" for key, value in values.items()))
    replay("-c", config, "-o", out, trace())
    assert "set" not in out.read_text().split()
    config.write_text("vm_moves = 4095\n")
    replay("-c", config, "-o", out, trace())
    assert "set vm_moves 4095" in out.read_text()


def test_installed_file_is_good(replay, trace):
    assert replay("-c", SOURCE / "config/carrefour.conf", trace()) == ""


@pytest.mark.parametrize("key", sorted(defaults()))
def test_each_setting_decides_something(key):
    """It is looked at elsewhere than where it is read."""
    others = "".join(path.read_text() for path in SOURCE.glob("*/*.c") if path.name != "config.c")
    assert re.search(rf"(->|\bconfig\.){key}\b", others)
