# SPDX-License-Identifier: GPL-2.0-only
"""Command lines by chance: none crashes, each that fails says why in a line, and JSON is JSON."""

import json
import os
import random
import time

from fake_machine import example

LINES = 150
SEED = int(os.environ.get("SEED") or time.time_ns() % 10**9)
COMMANDS = ["list", "show", "top", "set", "rebalance", "compact", "where", "explain", "replay", "help"]
DOMAINS = ["guest1", "guest2", "3", "0", "nobody", ""]
WORDS = [
    "round-4k", "round-2m", "none", "first-touch", "default", "first-touch,carrefour", "round-1g,nodes=0-1,weights=2:1",
    "0x10", "0-5", "--json", "--raw", "-v", "-q", "--quiet", "--nodes", "--nodes=0-3", "--nodes=affinity", "0-1",
    "--weights", "--weights=1:2", "3:1", "--max-pause-us", "200", "--rebalance", "--dry-run", "--strict", "--policy",
    "--max-mb-per-s", "100", "--brief", "--sort", "local", "--count", "2", "--seconds", "1", "+carrefour", "-carrefour",
    "+auto", "+auto=advise", "-auto", "--", "-h", "--help", "-V", "-x", "--x=1", "--json=1", "+", "-", "--max", "-qv",
    "\x1b[31m", "\udcff"]


def line(chance):
    first = [chance.choice(COMMANDS), chance.choice(DOMAINS)] if chance.random() < 0.9 else []
    return first + [chance.choice(WORDS) for _ in range(chance.choice([0, 1, 1, 2, 3, 5]))]


def documents(text):
    """Of all that was printed; its objects are in lines, or one is in several."""
    return [json.loads(text)] if text.startswith("{\n") else [json.loads(part) for part in text.splitlines()]


def check(xl, args):
    machine = example()
    machine.memory = [("moved", 4096), ("there", 512), ("no_room", 10)]
    done = xl.run(*args, machine=machine, errors="surrogateescape")
    said = f"SEED={SEED}: {args!r}: {done}"
    assert done.returncode in (0, 1, 2), said
    lines = done.stderr.splitlines()
    own = [one for one in lines if one.startswith("xl numa-policy")]
    assert all(one.isprintable() or "\udcff" in one for one in own), said
    if done.returncode:
        assert len(own) == 1 and own[-1] == lines[-1], said
    if done.returncode == 0 and "--json" in args and "--count" not in args and not done.stdout.startswith(("Usage", "xl-numa")):
        assert all(one["version"] == 1 for one in documents(done.stdout)), said


def test_random_lines(xl):
    print(f"SEED={SEED}")
    chance = random.Random(SEED)
    for _ in range(LINES):
        check(xl, line(chance))
