# SPDX-License-Identifier: GPL-2.0-only
"""HVM guests with a device model: Debian 13's QEMU runs in dom0, and keeps a part of their memory mapped.

A guest gets its kernel by QEMU's -kernel, its console is Xen's; it has no disk and no network.
"""

import pytest

from harness import carrefour, checks, first_touch, guests, moving
from harness.carrefour import Daemon
from harness.placement import GRAIN

pytestmark = [pytest.mark.heavy, pytest.mark.boot("n4-hvm", "release")]

MODEL = "/usr/lib/device-model"
HVM = {"type": "hvm", "kernel": "/boot/bzImage", "device_model_override": "/bin/device-model", "vnc": 0, "videoram": 8,
       "firmware_override": f"{MODEL}/hvmloader", "bios_path_override": f"{MODEL}/share/bios-256k.bin"}
MEMORY = 160
# video memory and ROMs are behind RAM until the guest maps them below 4 GiB
RANGES = "0 0x12000 0xe0000 0x101000"
VIDEO = 8 << 8              # pages of it, which QEMU draws from
OTHERS = 64                 # that QEMU shares with the guest, and what any running guest has in use
debug_too = pytest.mark.parametrize((), [pytest.param(id="release"), pytest.param(marks=pytest.mark.boot("n4-hvm", "debug"), id="debug")])


def dump(machine, name="g"):
    """All memory of it."""
    return guests.parse_dump(machine.run(f"numa-dump $(xl domid {name}) {RANGES}").out)


def start_writer(machine, **options):
    moving.start_writer(machine, **HVM | {"memory": MEMORY, "cpus": ["1-3"]} | options)


def check(machine, policy, homes, elsewhere=0):
    """What dom0 tells is what is there, and all but so many pages are where the policy wants them."""
    there = dump(machine)
    checks.check_policy(there, policy, homes)
    assert there.usage_pages() == there.located_pages()
    wrong = checks.misplaced(there, policy, homes)
    assert len(wrong) <= elsewhere, f"{len(wrong)} of {len(there.pages)}, such as {wrong[:8]}"
    return there


@pytest.mark.soak
@pytest.mark.parametrize("policy", GRAIN)
def test_every_page(machine, policy):
    """Of RAM and video memory, by toolstack and by device model, before the guest runs."""
    guests.create(machine, "g", linux=True, policy=f"{policy},nodes=1-3", **HVM | {"memory": MEMORY})
    assert check(machine, policy, [1, 2, 3]).fallback == 0


def test_it_moves_but_for_what_its_device_model_has(machine):
    """Case C14: that is told, the same each time, and the guest goes on."""
    start_writer(machine, policy="round-4k,nodes=1-2")
    check(machine, "round-4k", [1, 2])
    machine.run("xl numa-policy set g round-4k --nodes 2-3")
    first = moving.result(machine, "rebalance g")
    assert VIDEO <= first["in_use"] <= VIDEO + OTHERS and first["unmovable"] == first["no_room"] == 0, first
    assert first["moved"] > (MEMORY << 8) * 2 // 3
    check(machine, "round-4k", [2, 3], elsewhere=first["in_use"])
    moving.check_content(machine)
    again = machine.run("xl numa-policy rebalance g").out
    assert "what the VM's device model keeps mapped stays until the VM is restarted" in again, again
    moving.check_content(machine)


@pytest.mark.soak
@debug_too
def test_restored_and_migrated(machine):
    """The new device model finds all memory, which is where the policy wants it."""
    start_writer(machine, policy="round-4k,nodes=1-2")
    machine.run("xl save g /tmp/g.save && xl restore /tmp/g.save && rm /tmp/g.save", timeout=240)
    moving.check_content(machine)
    check(machine, "round-4k", [1, 2])
    machine.run("xl migrate -s '' g 'xl migrate-receive' 2>/tmp/migrate.log || { cat /tmp/migrate.log >&2; false; }", timeout=240)
    moving.check_content(machine, moving.RECEIVED)


@pytest.mark.soak
@debug_too
def test_first_touch(machine):
    """Each page is on the node of the vCPU that touched it first."""
    guests.create(machine, "g", paused=False, linux=True, policy="first-touch", command="memory-touch 24", vcpus=3, cpus=["1", "2", "3"],
                  extra_kernel="xen_privcmd.unrestricted=1 initcall_blacklist=xen_numa_policy_init", **HVM | {"memory": MEMORY})
    guests.wait_console(machine, "g", "memory-touch: ready", timeout=180)
    before = dump(machine)
    assert before.touches["untouched"] > 3 * 24 << 8
    first_touch.go(machine)
    pages = first_touch.touched(machine)
    after = dump(machine)
    first = first_touch.first_touchers(pages, before)
    assert len(first) > len(pages) * 3 // 4
    wrong = {gfn: (after.pages.get(gfn), cpu) for gfn, cpu in first.items() if after.pages.get(gfn, (None,))[0] != cpu + 1}
    assert not wrong, f"{len(wrong)} of {len(first)}: {list(wrong.items())[:8]}"


@pytest.mark.soak
def test_carrefour(machine):
    """Memory comes to the only vCPU that uses it, but for what its device model has."""
    start_writer(machine, vcpus=1, cpus=["1"], policy="round-4k,nodes=1-2")
    daemon = Daemon(machine)
    carrefour.switch(machine, "+carrefour")
    daemon.wait_says("90 % local", "samples>=64", "local_percent>=90", seconds=400)
    moving.check_content(machine)
    daemon.stop()


def balloon(machine, mib):
    """To what xl calls so much, of which it takes off the video memory."""
    machine.run(f"xl mem-set g {mib}")
    machine.until(f"n=$(($(xl list g | awk 'NR == 2 {{ print $3 }}') + {VIDEO >> 8} - {mib})); echo $n; [ ${{n#-}} -le 3 ]", 120)


@pytest.mark.soak
def test_balloon_and_populate_on_demand(machine):
    """A guest that begins with a part of its memory gives some back and gets it again."""
    start_writer(machine, policy="round-4k,nodes=1-2", maxmem=MEMORY + 64)
    assert check(machine, "round-4k", [1, 2]).touches["untouched"] > 16 << 8
    balloon(machine, MEMORY - 24)
    moving.check_content(machine)
    balloon(machine, MEMORY)
    moving.check_content(machine)
    check(machine, "round-4k", [1, 2])


@pytest.mark.soak
def test_ovmf(machine):
    """UEFI starts in it, whatever it does then."""
    guests.create(machine, "g", paused=False, policy="round-2m,nodes=1-3",
                  **HVM | {"memory": MEMORY, "bios": "ovmf", "bios_path_override": f"{MODEL}/share/OVMF.fd"})
    machine.until("[ $(xl list g | awk 'NR == 2 { print int($6) }') -ge 5 ]", 120)
    there = dump(machine)
    checks.check_policy(there, "round-2m", [1, 2, 3])
    # what firmware has mapped elsewhere has stayed on its node
    wrong = [where for where in checks.misplaced(there, "round-2m", [1, 2, 3]) if where[0] < MEMORY << 8]
    assert len(there.pages) > 128 << 8 and not wrong, wrong[:8]
