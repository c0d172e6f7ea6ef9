# SPDX-License-Identifier: GPL-2.0-only
"""The kit: what it runs, what it finds, and that its report tells nothing private."""

import os
import re
import signal
import subprocess
import time

import pytest
from kit_place import KIT  # makes page importable

import page

POLICIES = ["none", "round-4k", "round-2m", "round-1g", "first-touch"]
CONTENT = [*(f"content.{policy}" for policy in POLICIES), "content.writer", "content.churn", "content.carrefour", "content.save",
           "content.leak"]
HOSTILE = [f"hostile.{name}" for name in ("domctl", "garbage", "flood", "errors", "probe", "witness")]
BENCH = [*(f"bench.{policy}" for policy in POLICIES), "bench.rebalance"]
PRIVATE = ["secret", "alice", "example", "10.1.2.3", "5eab12f0", "numa-kit-", "/tmp"]
SHELLS = [("dash",), ("busybox", "sh")]


def verdicts(report):
    return {key: value for key, value in report.items() if value in ("pass", "fail", "skip")}


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_all_is_well(kit, shell):
    if shell[0] == "busybox" and os.getuid():
        pytest.skip("its id says who we are: run this as root")
    done = kit.run("--quick", shell=shell)
    assert (done.returncode, done.stderr) == (0, ""), done
    report = kit.report()
    assert verdicts(report) == dict.fromkeys([*CONTENT, *HOSTILE, *BENCH], "pass"), done.stdout
    assert (report["check.nodes"], report["check.node_mib"], report["check.distances"]) == ("2", "32768 32768", "10 20")
    assert (report["check.xen"], report["check.debug"]) == ("4.20.3", "yes")
    # the shell of busybox has its own uname, as it has its own sleep and id
    assert re.fullmatch(r"\d+\.\d+" if shell[0] == "busybox" else "6[.]12", report["check.linux"])
    assert report["content.round-4k.pages"] == "1000" and report["content.round-4k.moved_mib"] == "256"
    assert report["bench.round-2m.passes"] == "40.0" and report["bench.round-2m.freed"] == "1000"
    assert (report["bench.rebalance.mib_per_s"], report["bench.rebalance.longest_pause_us"]) == ("128", "123")
    assert kit.domains() == [] and kit.left() == []
    assert page.read_report(kit.path, page.read_keys()) == report
    unused = [name.pattern for name, _ in page.read_keys() if not any(name.fullmatch(key) for key in report)]
    assert all(name.endswith("reason") for name in unused) and "left out" not in done.stdout
    text = kit.path.read_text()
    assert not [word for word in PRIVATE if word in text.lower()]


def test_memory_moves_to_and_fro(kit):
    kit.run("--quick", "--only", "content", nodes=5)
    nodes = [re.search(r"-writer round-4k --nodes (\S+)", call) for call in kit.calls()]
    assert [found[1] for found in nodes if found] == ["0,1,2", "3,4"]


@pytest.mark.parametrize("fault, part, bad", [
    ("wrong", "content", {f"content.{policy}": "words were wrong" for policy in POLICIES}),
    ("wrong memory-writer", "content", {"content.writer": "words were wrong", "content.carrefour": "words were wrong"}),
    ("create", "content", {"content.none": "xl create failed", "content.save": "xl create failed"}),
    ("killed", "bench", {"bench.none": "xl create failed"}),
    ("policy,idle,leak", "content", {"content.round-2m": "the vm has another policy", "content.save": "the vm has another policy",
                                     "content.carrefour": "carrefourd moved nothing", "content.leak": "memory is missing"}),
    ("allowed,answer,wrong", "hostile", {"hostile.domctl": "calls were not denied", "hostile.witness": "words were wrong",
                                         "hostile.errors": "xen answered otherwise than it should"}),
    ("create witness", "hostile", {"hostile.witness": "the vm could not be made"}),
    ("wrong", "bench", {"bench.round-1g": "words were wrong", "bench.rebalance": "words were wrong"}),
])
def test_what_goes_wrong_is_seen(kit, fault, part, bad):
    done = kit.run("--quick", "--only", part, fault=fault)
    assert done.returncode == 1, done.stdout
    report = kit.report()
    for name, reason in bad.items():
        assert (report[name], report[f"{name}.reason"]) == ("fail", reason)
    assert kit.domains() == []
    place, = kit.left()     # what was said is kept, for whoever owns the host
    assert "stays in " in done.stdout and place in done.stdout
    text = kit.path.read_text()
    assert not [word for word in PRIVATE if word in text.lower()]


def test_on_one_node(kit):
    done = kit.run("--quick", "--only", "bench", nodes=1)
    assert done.returncode == 0 and "one node" in done.stdout
    assert {key for key, value in verdicts(kit.report()).items() if value == "skip"} == {"bench.rebalance"}


def test_a_node_without_cpus_and_a_host_without_carrefourd(kit):
    """No vCPU is sent there: the stand-in would not make such a VM."""
    assert kit.run("--quick", "--only", "content", nodes=3, env={"STUB_BARE": "1"}, fault="daemon").returncode == 0
    assert kit.report()["check.nodes"] == "3"
    assert (kit.report()["content.carrefour"], kit.report()["content.carrefour.reason"]) == ("skip", "carrefourd does not run")


@pytest.mark.parametrize("by, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_it_can_be_stopped(kit, by, status):
    """Also by a terminal that is gone; and leaves no VM, no file and no report."""
    process = kit.start("--quick", "--only", "content", fault="silent")
    while not kit.domains():
        time.sleep(0.1)
    os.killpg(process.pid, by)
    assert process.wait(timeout=60) == status
    assert kit.domains() == [] and kit.left() == [] and kit.report() is None


def test_lines_of_xen_are_counted(kit):
    """Those that came meanwhile; a guest's are not Xen's."""
    kit.run("--quick", "--only", "hostile", fault="log")
    assert kit.report()["hostile.xen_lines"] == "2"


def test_a_probe_of_another_xen_is_skipped(kit):
    (kit.place / "guest/domctl-probe").write_text("#!/bin/sh\necho error while loading shared libraries >&2; exit 127\n")
    assert kit.run("--quick", "--only", "hostile").returncode == 0
    assert kit.report()["hostile.probe.reason"] == "domctl-probe does not run with these libraries"


def test_dry_run(kit):
    """Looks at the host, and makes no VM and no report."""
    done = kit.run("--dry-run", "--only", "content,bench")
    assert done.returncode == 0 and "Would run, with VMs of 2048 MiB: content bench" in done.stdout
    assert "2 NUMA nodes" in done.stdout and kit.report() is None and kit.left() == []
    assert not [call for call in kit.calls() if call.startswith(("create", "destroy", "numa-policy set"))]


@pytest.mark.parametrize("args, line", [
    (["--only", "content,x"], "no part 'x'"), (["--only"], "--only needs a value"), (["--only", ""], "--only names no part"),
    (["--memory", "1G"], "'1G' is no value for --memory; give MiB, from 256 on"), (["--memory", "100"], "'100' is no value"),
    (["-x"], "unknown word '-x'"),
])
def test_usage(kit, args, line):
    done = kit.run(*args)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"kit: {line}") and "usage: kit [" in done.stderr


@pytest.mark.parametrize("fault, env, line", [
    ("", {"STUB_USER": "1000"}, "run this as root"),
    ("series", {}, "this Xen has no NUMA placement policies (needs CONFIG_NUMA_POLICY)"),
    ("hap", {}, "Xen has no nested paging (hap is not in virt_caps of 'xl info'): policies need it"),
    ("memory", {}, "Xen has 700 MiB of free memory, and two VMs of 512 MiB need 1536; give less by --memory, or less to dom0"),
])
def test_hosts_that_will_not_do(kit, fault, env, line):
    done = kit.run("--quick", fault=fault, env=env)
    assert (done.returncode, done.stderr) == (1, f"kit: {line}\n") and kit.report() is None and kit.left() == []


def test_what_is_not_unpacked(kit):
    (kit.place / "guest/vmlinux").unlink()
    done = kit.run()
    assert done.returncode == 1 and done.stderr.endswith("guest/vmlinux: unpack what make-kit has packed\n")


STRANGE = ["secret-host", "db1.example.org", "10.1.2.3", "fe80::1", "02:00:de:ad:be:ef", "5eab12f0-77c1-4f6e-9a4b-0242ac130003",
           "SN12345X", "alice@host", "/home/alice", "4.20.3-alice", "12 alice", "", "1;2", "pass alice", "yes\nalice"]


def keys():
    """An example of each key, without those of reasons."""
    names = [line.split("\t")[0] for line in (KIT / "keys").read_text().splitlines() if not line.startswith("#")]
    return [re.sub(r"\((\w+)[^)]*\)", r"\1", name.replace("POLICY", "none")) for name in names if not name.endswith(".reason")]


def test_no_form_lets_a_strange_value_through():
    forms = page.read_keys()
    assert len(keys()) > 40 and all(any(name.fullmatch(key) for name, _ in forms) for key in keys())
    assert not [(key, value) for key in keys() for value in STRANGE for name, form in forms
                if name.fullmatch(key) and form.fullmatch(value)]


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_nothing_is_told_that_has_no_form(tmp_path, shell):
    """Whatever is handed to emit(), with the awk of each shell."""
    script = f"here={KIT}; lines={tmp_path}/report; . $here/lib.sh\n" + "".join(
        f"emit {key} '{value}' >/dev/null\n" for key in keys()[::8] for value in STRANGE)
    script += "".join(f"emit {line} >/dev/null\n" for line in ("check.hostname secret", "check.xen 4.20.3", "check.xenx 4.20.3",
                                                               "checkZxen 4.20.3", "content.round-4k pass"))
    subprocess.run([*shell, "-c", script], check=True, timeout=300)
    assert (tmp_path / "report").read_text() == "check.xen: 4.20.3\ncontent.round-4k: pass\n"


def test_reasons_are_our_own_words():
    """No variable of a host gets into one."""
    source = "".join((KIT / name).read_text() for name in ("content.sh", "hostile.sh", "bench.sh", "vm.sh"))
    reasons = re.findall(r'(?:fail|skip) ("[^"]*"|\S+)', source)
    given = [reason for reason in reasons if reason not in ('"$4"', "}", "{")]
    assert len(given) > 20 and not [reason for reason in given if not re.fullmatch('"[a-z0-9 -]+"', reason)]
    assert not re.search(r'wait_said [^\n]*"[^"\n]*\$[^"\n]*"$', source, re.M)


def test_the_command_has_the_columns_that_are_read():
    """By the names that are promised; what has none would be left out of each report."""
    source = "".join(path.read_text() for path in KIT.glob("*.sh"))
    read = set(re.findall(r'field "\$work/\w+" (\w+)', source))
    text = (KIT.parent / "docs/interfaces.md").read_text().split("\n## JSON of xl numa-policy\n")[1].split("\n## ")[0]
    assert len(read) >= 6 and read <= set(re.findall(r"`(\w+)`", text)), read
