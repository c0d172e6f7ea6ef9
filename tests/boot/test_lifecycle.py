# SPDX-License-Identifier: GPL-2.0-only
"""The policy and the placement stay with a guest through whatever xl does to it, and its memory keeps its content."""

import re

import pytest

from harness import checks, guests

pytestmark = pytest.mark.boot("n8")

HOMES, WEIGHTS = [1, 2, 4, 7], [3, 1, 1, 2]
SPEC = checks.spec("round-4k", HOMES, WEIGHTS)
MEMORY = 160


def check(machine, name="g", policy="round-4k", homes=HOMES, weights=WEIGHTS, memory=MEMORY):
    dump = guests.dump(machine, name, memory)
    checks.check_policy(dump, policy, homes, weights)
    checks.check_books(dump, memory)
    checks.check_every_page(dump, policy, homes, weights)
    return dump


def wait_boots(machine, name, number):
    guests.wait_console(machine, name, rf"(?s)(guest: up.*?){{{number}}}")


def wait_rounds(machine, name, more):
    """Waits for further rounds of memory-pattern, all of them right."""
    seen = guests.console(machine, name).count("memory-pattern: round")
    guests.wait_console(machine, name, rf"(?s)(memory-pattern: round[^\n]*wrong.*?){{{seen + more}}}", timeout=90)
    wrong = [line for line in guests.console(machine, name).splitlines()
             if "words wrong" in line and " 0 words wrong" not in line]
    assert not wrong


@pytest.mark.soak
def test_running_guest_keeps_content(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=200, vcpus=4, policy="round-4k,nodes=0-7", command="memory-pattern")
    guests.wait_console(machine, "g", r"guest: up, 4 CPUs")
    guests.wait_console(machine, "g", r"round 1: \d+ pages, 0 words wrong")
    check(machine, homes=list(range(8)), weights=None, memory=200)


@pytest.mark.soak
def test_reboot(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=MEMORY, policy=SPEC)
    wait_boots(machine, "g", 1)
    before = guests.domid(machine, "g")
    machine.run("xl reboot g")
    wait_boots(machine, "g", 2)
    assert guests.domid(machine, "g") > before
    check(machine)


def test_save_and_restore(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=MEMORY, policy=SPEC, command="memory-pattern hold")
    wait_rounds(machine, "g", 1)
    check(machine)
    machine.run("xl save g /tmp/g.save")
    assert guests.domains(machine) == []
    machine.run("xl restore /tmp/g.save")
    check(machine)
    wait_rounds(machine, "g", 2)


# xl's configuration follows a header of 48 bytes and its own length
REWRITE = r"""
n=$(od -An -tu4 -j48 -N4 FILE)
dd if=FILE bs=1 skip=52 count=$((n - 1)) 2>/dev/null | sed 'EXPRESSION' >/tmp/config
cat /tmp/config
[ $(wc -c </tmp/config) = $((n - 1)) ] && dd if=/tmp/config of=FILE bs=1 seek=52 conv=notrunc 2>/dev/null"""


def save_rewritten(machine, expression):
    """Returns the configuration that is restored from now on."""
    machine.run("xl save g /tmp/g.save")
    return machine.run(REWRITE.replace("FILE", "/tmp/g.save").replace("EXPRESSION", expression)).out


def test_saved_again_by_an_xl_without_policies(machine):
    """It skips numa_policy, as ours does what it never heard of: the policy is there again, but for nodes, which no guest may read."""
    guests.create(machine, "g", paused=False, linux=True, memory=96, policy=f"{SPEC},max-pause-us=900,carrefour")
    wait_boots(machine, "g", 1)
    passed_on = save_rewritten(machine, 's/"numa_policy"/"numa_p0licy"/')
    assert '"numa_p0licy"' in passed_on
    copy = re.search(r'"numa-policy": *"(.*?[^\\])"', passed_on).group(1)
    assert "round_4k" in copy and "nodes" not in copy and "weights" not in copy, copy
    assert "it has its policy again, but no home nodes by name" in machine.run("xl restore /tmp/g.save").err
    assert machine.run("xl numa-policy show g --policy").out == "round-4k --nodes affinity --max-pause-us 900 +carrefour -auto\n"
    assert machine.run("xenstore-exists /local/domain/$(xl domid g)/platform/numa-policy", check=False).status
    assert '"numa-policy"' not in machine.run("xl list -l g").out


def test_saved_on_a_host_with_other_nodes(machine):
    """It arrives without the nodes that are not here; so it starts again when it reboots."""
    guests.create(machine, "g", paused=False, linux=True, memory=96, policy=SPEC)
    wait_boots(machine, "g", 1)
    config = save_rewritten(machine, rf'/"numa_policy"/,/\]/ s/\b{HOMES[-1]}\b/9/')
    assert re.search(r'"numa_policy".*?"nodes": *\[[^]]*\b9\b', config, re.S), config
    assert "following the node affinity instead" in machine.run("xl restore /tmp/g.save").err
    assert machine.run("xl numa-policy show g --policy").out.startswith("round-4k --nodes affinity ")
    machine.run("xl reboot g")
    wait_boots(machine, "g", 2)
    check(machine, homes=HOMES[:-1], weights=None, memory=96)


def test_a_save_that_fails(machine):
    """The guest goes on. It is to tell of its free memory anew: a Xen that watches it has unmapped nothing."""
    guests.create(machine, "g", paused=False, linux=True, memory=96, policy="first-touch,nodes=0-7")
    wait_boots(machine, "g", 1)
    node = f"/local/domain/{guests.domid(machine, 'g')}/control/page-events"
    machine.run(f"xenstore-rm {node}; mkdir -p /tmp/small; mount -t tmpfs -o size=1M none /tmp/small")
    assert machine.run("xl save g /tmp/small/g.save", check=False).status
    machine.run("umount /tmp/small")
    assert machine.run(f"xenstore-read {node}").out == "1\n"
    assert guests.domains(machine) == ["g"]


@pytest.mark.soak
def test_rename_then_reboot(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=96, policy=SPEC)
    wait_boots(machine, "g", 1)
    machine.run("xl rename g h")
    check(machine, "h", memory=96)
    machine.run("xl reboot h")
    # xenconsoled names its log by the name at the start
    guests.wait_console(machine, "h", r"guest: up")
    check(machine, "h", memory=96)


def test_policy_set_later_survives_reboot(machine):
    """A policy that is set holds for later memory; at the next start it holds for all."""
    guests.create(machine, "g", paused=False, linux=True, memory=96, policy=SPEC)
    wait_boots(machine, "g", 1)
    machine.run("xl numa-policy set g round-2m --nodes 3,6 --weights 2:1")
    dump = guests.dump(machine, "g", 96)
    checks.check_policy(dump, "round-2m", [3, 6], [2, 1])
    assert not checks.misplaced(dump, "round-4k", HOMES, WEIGHTS)
    machine.run("xl reboot g")
    wait_boots(machine, "g", 2)
    check(machine, policy="round-2m", homes=[3, 6], weights=[2, 1], memory=96)


@pytest.mark.soak
def test_ballooned_memory_comes_back_in_place(machine):
    """A page that the guest gave back and gets again is placed by the same rule."""
    guests.create(machine, "g", paused=False, linux=True, memory=MEMORY, policy=SPEC, command="memory-pattern; sleep 1000")
    guests.wait_console(machine, "g", r"round 1: \d+ pages, 0 words wrong")
    full = len(guests.dump(machine, "g", MEMORY).pages)

    def balloon(mib, enough):
        machine.run(f"xl mem-set g {mib}")
        for _ in range(60):
            pages = len(guests.dump(machine, "g", MEMORY).pages)
            if enough(pages):
                return
            machine.run("sleep 0.5")
        raise AssertionError(f"after xl mem-set g {mib} it has {pages} pages of {full}")

    balloon(MEMORY - 60, lambda pages: pages <= full - 50 * 256)
    balloon(MEMORY, lambda pages: pages >= full - 2 * 256)
    dump = guests.dump(machine, "g", MEMORY)
    checks.check_every_page(dump, "round-4k", HOMES, WEIGHTS)
    assert dump.usage_pages() == dump.located_pages()
