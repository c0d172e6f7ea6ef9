# SPDX-License-Identifier: GPL-2.0-only
"""Walks of page tables, in a QEMU: programs of walks.c, whose references are known by hand, and what these checks are worth."""

import json
import subprocess

import pytest

from test_numasim import NODES, PLUGIN, build, mistake, words

PROGRAM = "walks"
ROUNDS = 2
ENTER = 5       # a guest's run from VMRUN to its exit
CHANGE = 4      # a page, by one table and by another that has the same tables below: a walk cache may know these
PAGES = {1: 1024, 2: 256, 3: 64}       # by the last digit of a region: 4K, 2M, 1G; the first is the nested page's
GUEST, NESTED, DATA = 3, 5, 2          # nodes of the tables, and of the one page
# lines of memory with entries: eight share one, and each higher table has one
GUEST_LINES = {1: 1024 // 8 + 3, 2: 256 // 8 + 2, 3: 64 // 8 + 1}
# each higher table one; 4K and 2M: one each for the 2 MiB with the tables and the 2 MiB with the page
NESTED_LINES = {0: 0, 1: 6, 2: 4, 3: 2}

# region: (walks, references, hits in the second level of TLB)
#
# The first walk of a region costs what test-tlb.c says, each other one two references, or one natively.  The second table of
# 4K pages costs more when it is first needed.  On amd48 no page outlives a round.  On xeon the second round hits, unless large
# pages of the guest's are on smaller ones: those are small ones, so far apart that they share one set.
AMD48 = {
    1: (2048, 4 + 1022 + 2 + 1024, 0),
    11: (2048, 13 + 1022 * 2 + 4 + 2048, 0),
    21: (2048, 8 + 1022 * 2 + 3 + 2048, 0),
    31: (2048, 7 + 1022 * 2 + 3 + 2048, 0),
    2: (512, 3 + 255 + 256, 0),
    12: (512, 11 + 255 * 2 + 512, 0),
    22: (512, 7 + 255 * 2 + 512, 0),
    32: (512, 6 + 255 * 2 + 512, 0),
    3: (128, 2 + 63 + 64, 0),
    13: (128, 9 + 63 * 2 + 128, 0),
    23: (128, 6 + 63 * 2 + 128, 0),
    33: (128, 5 + 63 * 2 + 128, 0),
}
XEON = {
    1: (1024, 4 + 1022 + 2, 1024),
    11: (1024, 13 + 1022 * 2 + 4, 1024),
    21: (1024, 11 + 1022 * 2 + 4, 1024),
    31: (1024, 10 + 1022 * 2 + 4, 1024),
    2: (256, 3 + 255, 256),
    12: (512, 11 + 255 * 2 + 512, 0),
    22: (256, 9 + 255 * 2, 256),
    32: (256, 8 + 255 * 2, 256),
    3: (64, 2 + 63, 64),
    13: (128, 9 + 63 * 2 + 128, 0),
    23: (128, 7 + 63 * 2 + 128, 0),
    33: (64, 6 + 63 * 2, 64),
}
TLBS = {"amd48": (AMD48, 5), "xeon": (XEON, 7)}

# What is broken (file, from, to); each is seen by what walks.c comes to, with tlb=amd48.
MUTANTS = {
    "the guest's table is the machine's": ("registers.c", "if (r->guest && of_vmcb", "if (false && of_vmcb"),
    "a VMRUN before the region is none": ("numasim.c", "registers_watch(tb, false);", ";"),
    "a guest for ever": ("registers.c", "registers[vcpu].guest = false;", ""),
    "tables never change": ("registers.c", "if (writes_control_register(bytes, size))", "if (false)"),
    "the first tables for ever": ("registers.c", "\t\tregisters[cpu].stale = true;", ";"),
    "VMRUN's own accesses are the guest's": ("numasim.c", "if (machine.translation && registers_vmrun(insn))", "if (false)"),
    "memory in disorder": ("memory.c", "fd = next_file(fd);", "fd = next_file(number ? fd : next_file(fd));"),
    "walks cost nothing": ("sim.c", "i < cpu->tlb->references", "i < 0"),
    "all tables are on node 0": ("sim.c", "walk_misses[mode][node]", "walk_misses[mode][0]"),
    "tables of the last region": ("sim.c", "\t\tif (cpu->tlb)\n\t\t\ttlb_empty(cpu->tlb);\n", ""),
    "streams of one page": ("tlb.h", "(address & tlb->recent_mask) == tlb->recent", "true"),
    "what walks hit is no time": ("region.c", "work->l2_hits += since(&now->walk_l2_hits", "(void)(since)(&now->walk_l2_hits"),
}


def run_walks(plugin, out, *more, memory="memory-backend-memfd"):
    """All that the plugin said."""
    nodes = [word for node in range(NODES) for word in (
        "-object", f"{memory},id=m{node},size=64M", "-numa", f"node,nodeid={node},cpus={node},memdev=m{node}")]
    done = subprocess.run(
        ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "EPYC-v2,+svm,+npt",
         "-smp", f"{NODES},sockets={NODES}", "-m", "512M", *nodes, "-vga", "none", "-display", "none", "-monitor", "none",
         "-serial", "none", "-nic", "none", "-no-reboot", "-kernel", plugin / PROGRAM,
         "-plugin", f"{plugin}/numasim.so,{words(out, 'watch=0', *more)}"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def regions_of(records):
    assert not [record for record in records if "error" in record], records
    return {record["region"]: record for record in records}


def check_walks(regions, tlb):
    truths, hit = TLBS[tlb]
    assert sorted(regions) == sorted([*truths, CHANGE, ENTER])
    [cpu] = regions[ENTER]["cpus"]
    assert cpu["walks_lost"] == 0 and cpu["walk_misses"]["user"][NESTED] > 0 and cpu["misses"]["user"][DATA] == 1
    [cpu] = regions[CHANGE]["cpus"]
    found = cpu["walks"]["user"], cpu["walk_misses"]["user"][GUEST], cpu["walk_l2_hits"]["user"]
    assert found == {"amd48": (2, 5, 1), "xeon": (2, 5, 3)}[tlb]
    for region, (walks, references, tlb_hits) in truths.items():
        nested, size = divmod(region, 10)
        [cpu] = regions[region]["cpus"]
        assert cpu["accesses"]["user"] == ROUNDS * PAGES[size]
        assert cpu["misses"]["user"] == [int(node == DATA) for node in range(NODES)]
        assert (cpu["walks"]["user"], cpu["tlb_hits"]["user"], cpu["walks_lost"]) == (walks, tlb_hits, 0), region
        missed = [{GUEST: GUEST_LINES[size], NESTED: NESTED_LINES[nested]}.get(node, 0) for node in range(NODES)]
        assert cpu["walk_misses"]["user"] == missed, region
        assert cpu["walk_l2_hits"]["user"] == references - sum(missed), region
        assert cpu["walk_l3_hits"]["user"] == 0
        # both are two hops away
        cycles = tlb_hits * hit + (references - sum(missed)) * 16 + sum(missed) * 383
        assert cpu["memory_cycles"]["walks"] == cycles, region
        assert cpu["memory_cycles"]["uncontended"] == cycles + cpu["l2_hits"]["user"] * 16 + 276, region


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    out = tmp_path_factory.mktemp("walks")
    build(out, PLUGIN, PROGRAM)
    return out


@pytest.mark.parametrize("tlb", TLBS)
def test_walks_in_qemu(plugin, tmp_path, tlb):
    check_walks(regions_of(run_walks(plugin, tmp_path / "out.jsonl", f"tlb={tlb}")), tlb)


def test_without_tlbs_nothing_is_walked(plugin, tmp_path):
    regions = regions_of(run_walks(plugin, tmp_path / "out.jsonl"))
    for region in AMD48:
        [cpu] = regions[region]["cpus"]
        assert "walks" not in cpu and cpu["memory_cycles"]["uncontended"] == cpu["l2_hits"]["user"] * 16 + 276


def test_memory_that_cannot_be_read_is_an_error(plugin, tmp_path):
    records = run_walks(plugin, tmp_path / "out.jsonl", "tlb=amd48", memory="memory-backend-ram")
    errors = [record["error"] for record in records if "error" in record]
    assert "region 1: tlb=amd48: the memory of node 0 is no memory-backend-memfd" in errors
    assert "region 1: CPU 0: 2048 walks of page tables that lead nowhere" in errors


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(plugin, tmp_path, name):
    broken = mistake(plugin, tmp_path, *MUTANTS[name], PLUGIN, PROGRAM)
    with pytest.raises((AssertionError, KeyError)):
        check_walks(regions_of(run_walks(broken, tmp_path / "out.jsonl", "tlb=amd48")), "amd48")
