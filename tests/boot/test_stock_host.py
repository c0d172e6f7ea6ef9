# SPDX-License-Identifier: GPL-2.0-only
"""A rolling upgrade: a host with stock Xen 4.20 and its own xl takes VMs of ours, and gives them back."""

from contextlib import contextmanager

import pytest

from harness import first_touch, guests, moving
from harness.carrying import CarryingMachine
from harness.parts import Parts
from harness.topologies import TOPOLOGIES

pytestmark = [pytest.mark.heavy, pytest.mark.soak]

# MiB of each VM; one has never heard of policies
MEMORY = {"plain": 96, "asked": 160}
POLICY = "first-touch,nodes=0-1,weights=3:1,max-pause-us=900,carrefour"
# a guest learns nothing of nodes, not even where stock xl puts what was asked for
NAMED, NOT_NAMED = "--nodes 0-1 --weights 3:1", "--nodes affinity"
WRITER = "memory-writer 4 300"
TOLD, UNTOLD = "Xen is told of free pages", "Xen is no longer told of free pages"


def policy(machine, name):
    """As it is typed to set it again."""
    return machine.run(f"xl numa-policy show {name} --policy").out.strip()


def start(machine):
    """All VMs; of one with first-touch most pages are not there."""
    for name, own in (("plain", {}), ("asked", {"policy": POLICY, "extra_kernel": "loglevel=7"})):
        moving.start_writer(machine, name, memory=MEMORY[name], command=WRITER, cpus=["all"], **own)
    guests.wait_console(machine, "asked", TOLD)
    dump = guests.dump(machine, "asked")
    assert dump.policy == "first-touch" and dump.touches["untouched"] > 64 << 8, dump
    return {name: policy(machine, name) for name in MEMORY}


def goes_on(machine, name):
    """It has its memory, and every word that it has written."""
    moving.wait_passes(machine, name, 1)
    moving.check_content(machine, name)


def is_as_it_was(machine, asked):
    """But for home nodes that were named."""
    assert NAMED in asked["asked"], asked
    assert {name: policy(machine, name) for name in MEMORY} == asked | {"asked": asked["asked"].replace(NAMED, NOT_NAMED)}
    assert guests.dump(machine, "asked").homes == {0: 1, 1: 1}
    for name in MEMORY:
        assert machine.run(f"xenstore-exists /local/domain/$(xl domid {name})/platform/numa-policy", check=False).status
        assert '"numa-policy"' not in machine.run(f"xl list -l {name}").out


@contextmanager
def booted(hypervisor, carried=()):
    topology = TOPOLOGIES["n2-stock"]
    lack = Parts.given().lacks(topology, hypervisor)
    if lack:
        pytest.skip(lack)
    machine = CarryingMachine(topology, hypervisor)
    machine.carried = carried
    try:
        yield machine.boot()
        machine.run("destroy-all 10")
        machine.finish()
    finally:
        machine.kill()


def save(machine, xl, to):
    """All VMs, to files of the host."""
    files = [to / f"{name}.save.gz" for name in MEMORY]
    for name, file in zip(MEMORY, files):
        machine.run(f"{xl} save {name} /tmp/{name}.save", timeout=240)
        machine.fetch(f"/tmp/{name}.save", file)
        machine.run(f"rm /tmp/{name}.save")
    return files


def restore(machine, xl):
    """What xl said of each VM."""
    said = {}
    for name in MEMORY:
        machine.run(f"gunzip -c /boot/{name}.save.gz >/tmp/{name}.save && rm /boot/{name}.save.gz", timeout=240)
        said[name] = machine.run(f"{xl} restore /tmp/{name}.save && rm /tmp/{name}.save", timeout=240).err
        goes_on(machine, name)
    return said


@pytest.mark.timeout(3600)
def test_saved_for_a_stock_host_and_back(tmp_path):
    """Three machines, one after the other: ours, one that has nothing of the series, and ours again."""
    with booted("debug") as machine:
        asked = start(machine)
        files = save(machine, "xl", tmp_path)

    with booted("stock", files) as machine:
        assert machine.run("stock-xl numa-policy", check=False).err == "command not implemented\n"
        restore(machine, "stock-xl")
        for name, mib in MEMORY.items():
            # xl rounds down, and of a VM that was restored some pages are not counted
            assert mib - 2 <= int(machine.run(f"stock-xl list {name} | awk 'NR == 2 {{ print $3 }}'").out) <= mib
        guests.wait_console(machine, "asked", UNTOLD)
        files = save(machine, "stock-xl", tmp_path)

    with booted("debug", files) as machine:
        said = restore(machine, "xl")
        assert "NUMA" not in said["plain"] and "no home nodes by name" in said["asked"], said
        is_as_it_was(machine, asked)
        guests.wait_console(machine, "asked", TOLD)


# stock-xl hands its own libraries on to whom it starts
OURS = "env -u LIBXL_SAVE_HELPER LD_LIBRARY_PATH=/usr/local/lib xl"


def migrate(machine, sender, receiver):
    for name in MEMORY:
        command, log = f"{sender} migrate -s '' {name} '{receiver} migrate-receive'", "/tmp/migrate.log"
        machine.run(f"{command} 2>{log} || {{ cat {log} >&2; false; }}", timeout=240)
        goes_on(machine, f"{name}--incoming")


@pytest.mark.boot("n2-stock", "release", "")
def test_live_to_a_stock_xl_and_back(machine):
    """Of a stock host only xl: it keeps what it has understood of the configuration, and makes the VM of that when it reboots."""
    asked = start(machine)
    migrate(machine, "xl", "stock-xl")
    assert guests.dump(machine, "asked").policy == "none"
    before, size = guests.domid(machine, "asked"), guests.console_size(machine, "asked")
    machine.run("stock-xl reboot asked")
    guests.wait_console(machine, "asked", "guest: up", timeout=120, since=size)
    assert guests.domid(machine, "asked") > before
    migrate(machine, "stock-xl", OURS)
    is_as_it_was(machine, asked)
