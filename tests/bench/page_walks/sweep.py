# SPDX-License-Identifier: GPL-2.0-only
"""Loads at random, by each size of page and nested page: what a load costs that walks (tests/numasim/sweep.c)."""

import json
import subprocess

from placement.machines import NUMASIM, OUT, PLUGIN, MeasureError, build

from harness.machine import FIRMWARE, QEMU

from .measure import MODELS

NODES, NODE_MIB = 8, 320
SETS = (4, 32, 256)                             # MiB
BELOW = ("native", "4K", "2M", "1G", "4K, far", "2M, far", "1G, far")
PAGES = ("4K", "2M")
SECONDS = 600


def run(model):
    """{region: its record}"""
    program, out = OUT / "sweep", OUT / f"sweep-{model}.jsonl"
    build("the sweep", NUMASIM, f"OUT={OUT}", program)
    out.unlink(missing_ok=True)
    nodes = [f"node={node}@{node * NODE_MIB << 20:#x}-{(node + 1) * NODE_MIB << 20:#x}" for node in range(NODES)]
    words = [f"out={out}", MODELS[model].replace("watch=1-8", "watch=0"), *nodes]
    memory = [word for node in range(NODES) for word in (
        "-object", f"memory-backend-memfd,id=m{node},size={NODE_MIB}M",
        "-numa", f"node,nodeid={node},cpus={node},memdev=m{node}")]
    done = subprocess.run(
        [QEMU, *FIRMWARE, "-accel", "tcg", "-machine", "q35", "-cpu", "EPYC-v2,+svm,+npt", "-smp", f"{NODES},sockets={NODES}",
         "-m", f"{NODES * NODE_MIB}M", *memory, "-vga", "none", "-display", "none", "-monitor", "none", "-serial", "none",
         "-nic", "none", "-no-reboot", "-kernel", program, "-plugin", f"{PLUGIN},{','.join(words)}"],
        capture_output=True, text=True, timeout=SECONDS, check=False)
    records = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    wanted = len(SETS) * len(BELOW) * len(PAGES)
    if done.returncode or len(records) != wanted or any("error" in record for record in records):
        raise MeasureError(f"the sweep on {model} ended with {done.returncode} and {len(records)} of {wanted} regions:\n"
                           f"{done.stderr}")
    return {record["region"]: record for record in records}


def figures(model):
    """[of each region, what a load takes]; cycles are modelled, without contention: one CPU is at work."""
    regions, rows = run(model), []
    for number, record in sorted(regions.items()):
        size, below, working_set = number % 10, number // 10 % 10, number // 100 - 1
        [cpu] = record["cpus"]
        loads, missed = cpu["accesses"]["user"], sum(cpu["walk_misses"]["user"])
        rows.append({"mib": SETS[working_set], "page": PAGES[size], "below": BELOW[below], "loads": loads,
                     "walks": cpu["walks"]["user"],
                     "references": cpu["walk_l2_hits"]["user"] + cpu["walk_l3_hits"]["user"] + missed, "missed": missed,
                     "cycles": cpu["memory_cycles"]["uncontended"] / loads, "walk_cycles": cpu["memory_cycles"]["walks"] / loads})
    return rows
