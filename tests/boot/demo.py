#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The demo: boots the patched stack on an emulated 8-node machine, makes three guests, shows where their memory is, has Carrefour
follow what a fourth one does, and repairs the placement of a running one, whose memory accesses are counted before and after.

demo.py [place|repair]: both halves, or one.  `make demo` shows the first as soon as what it needs is built, and meanwhile builds what
the second needs.  It ends with 0 only if all it tells was found to be true.
"""

import os
import shutil
import signal
import sys
import textwrap
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).absolute().parent), str(Path(__file__).absolute().parents[1] / "bench")]

# pylint: disable=wrong-import-position
import places       # noqa: F401  makes the benches' modules importable
from harness import carrefour, checks, guests
from harness.machine import QEMU, BootRed, CommandFailed, Machine
from harness.topologies import TOPOLOGIES
from placement.machines import MeasureError
from repair.machine import GUEST, RepairHost, time as modelled_time

# name, policy, home nodes, weights, MiB
GUESTS = [
    ("spread", "round-4k", list(range(8)), None, 256),
    ("weighted", "round-2m", [0, 1, 2, 3], [1, 3, 2, 2], 160),
    ("packed", "round-1g", [5, 6, 7], None, 160),
]

IMAGES = "demo"     # with Debian's own kernel for dom0 and guests: nothing that is shown needs another, and ours takes long to build
WORKER = "worker"
LOCAL = 90          # percent of a worker's accesses, and of its pages, that Carrefour is to bring home
PATIENCE = 300      # seconds: a host that builds beside is no reason to fail
PROGRAM = "pattern-master"

# seconds are those since `make demo` began
STARTED = int(os.environ.get("SETUP_STARTED", time.time()))
BOLD, DIM, PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


def say(text):
    print(textwrap.fill(text, 100), end="\n\n", flush=True)


def step(text):
    print(f"{DIM}[{time.time() - STARTED:4.0f} s]{PLAIN} {text}", flush=True)


def typed(machine, command):
    """Shows a command as it is typed in dom0, and its output; the terminal is 120 wide there."""
    output = machine.run(f"COLUMNS=120 {command}").out
    print(f"\n{BOLD}dom0# {command}{PLAIN}\n{output}", flush=True)


def create(machine):
    for name, policy, homes, weights, memory in GUESTS:
        spec = checks.spec(policy, homes, weights)
        step(f'creating "{name}": {memory} MiB, numa_policy="{spec}"')
        linux = name == "spread"
        guests.create(machine, name, memory=memory, policy=spec, paused=not linux, linux=linux, vcpus=4 if linux else 1,
                      command="memory-pattern" if linux else "")


def show(machine):
    typed(machine, "xl numa-policy list")
    say("A guest sees no NUMA at all; where each of its pages lies is decided below it, by the policy in its xl.cfg. "
        "HOME are the nodes its memory belongs on, and N0 to N7 say how much of its memory each node of the machine holds.")
    say('"spread" deals its pages to all eight nodes in turn, so that no memory controller is favoured. '
        '"packed" is what Xen did before: whole GiB, so a small guest is all on one node.')
    typed(machine, "xl numa-policy show weighted")
    say("Weights 1:3:2:2 give node 1 three pieces of 2 MiB for each one on node 0. EXPECTED is what the weights say, "
        "SHARE is what was found; they differ by what does not divide evenly.")
    typed(machine, "xl numa-policy where spread 0x1000-0x1009")
    say("Page by page: neighbours of 4 KiB lie on neighbouring nodes.")


def check(machine):
    """Page by page, recomputed here and not asked: what the tables claim."""
    written = guests.wait_console(machine, "spread", r"round 1: (\d+) pages, (\d+) words wrong", timeout=PATIENCE)
    if written[2] != "0":
        raise AssertionError(f"{written[2]} words of the guest's memory are wrong")
    step(f'"spread" wrote and read back {written[1]} pages of its memory: all right')
    total = 0
    for name, policy, homes, weights, memory in GUESTS:
        dump = guests.dump(machine, name, memory)
        checks.check_books(dump, memory)
        checks.check_policy(dump, policy, homes, weights)
        checks.check_every_page(dump, policy, homes, weights)
        checks.check_orders(dump, policy, homes)
        total += len(dump.pages)
    step(f"checked all {total} pages of the three guests: each is where its policy says")


def until_local(machine, daemon, parts, shifted):
    """A line a period, until the pages are where they are used, and what Xen sees of accesses says so, too."""
    told, home = None, 0
    end = time.monotonic() + PATIENCE
    while home < LOCAL:
        if time.monotonic() > end:
            raise AssertionError(f"after {PATIENCE} s not {LOCAL} % of the accesses are local, and of the pages at home")
        time.sleep(1)
        now = daemon.show(WORKER)
        if not now or not now["samples"] or now["totals"]["periods"] == told:
            continue
        told = now["totals"]["periods"]
        step(f"{now['local_percent']:5.1f} % of {now['samples']} accesses local, imbalance {now['imbalance_percent']:5.1f} %, "
             f"{now['totals']['moves']} pages moved so far")
        # what it shows is of the part before at first
        if now["local_percent"] >= LOCAL:
            home = 100 * min(carrefour.at_home(machine, parts, shifted, WORKER).values())


def follow(machine):
    """Carrefour, in a guest whose parts change hands."""
    say("Policies are rules; Carrefour looks. The next guest has three vCPUs on three nodes. One of them has initialized all that they work "
        "on, so first-touch has put it on its node, and two of three accesses are remote:")
    parts = carrefour.start_guest(machine, name=WORKER)
    daemon = carrefour.Daemon(machine)
    typed(machine, f"xl numa-policy set {WORKER} +carrefour")
    until_local(machine, daemon, parts, 0)
    typed(machine, "xl numa-policy top")
    typed(machine, f"xl numa-policy explain {WORKER} | head -n 14")
    say("Each move has its reason. Now the parts change hands, as when a scheduler inside the guest moves threads. Pages that have moved "
        "stay for some seconds before they may move again:")
    carrefour.shift(machine, WORKER)
    until_local(machine, daemon, parts, 1)
    carrefour.check_words(machine, WORKER)
    step("the guest has verified every word meanwhile: all right")
    daemon.stop()
    guests.destroy(machine, WORKER)


def place():
    topology = TOPOLOGIES["n8"]
    say(f"This emulates a machine with {topology.nodes} NUMA nodes of one CPU and about 1 GiB each, and boots Xen with the "
        "NUMA policies of this repository on it, then dom0 and guests with the kernel that Debian has. No hardware virtualization is needed.")
    step("booting Xen and dom0 (takes about half a minute)")
    # the QEMU of this project is being built then; Debian's is slower with guests, and right
    machine = Machine(topology, "release", qemu=None if QEMU.exists() else shutil.which(QEMU.name)).use_images(IMAGES)
    try:
        machine.boot()
        step("dom0 is up")
        create(machine)
        show(machine)
        check(machine)
        for name, *_ in GUESTS:
            guests.destroy(machine, name)
        follow(machine)
        machine.finish()
    finally:
        machine.kill()
    step("machine powered off in good order, nothing suspicious on its console")
    print(f"\nThe console is kept in {machine.console}\n", flush=True)


def tell_apart(before, after):
    """What the plugin saw, side by side."""
    print(f"{'':34}{'before':>10}{'after':>10}")
    for what, key in (("imbalance of memory controllers", "imbalance"), ("load of the interconnect", "interconnect_load")):
        print(f"{what:34}{100 * before['region'][key]:8.0f} %{100 * after['region'][key]:8.0f} %")
    print(f"{'modelled time, million cycles':34}{modelled_time(before) / 1e6:10,.0f}{modelled_time(after) / 1e6:10,.0f}\n", flush=True)
    faster = modelled_time(before) / modelled_time(after)
    if faster <= 1:
        raise AssertionError(f"the repair made the guest {1 / faster:.2f} times slower")
    step(f"the same program is {faster:.1f} times as fast, by a model of AMD's 48-core machine of the paper")


def repair():
    say("Now a guest that lives where stock Xen puts it, and a program in it whose threads all use what one of them has initialized. "
        "The emulator counts every access to memory, and models what it costs on a machine of eight nodes.")
    step("booting once more, with the counting plugin, and running the program (takes about a minute and a half)")
    machine = RepairHost().use_images(IMAGES)
    try:
        machine.boot()
        before = machine.workload(PROGRAM, "quick")
        typed(machine, "xl numa-policy list")
        say(f'"{GUEST}" has eight vCPUs, one on each node, but its memory is on few nodes. It runs on while one command mends that:')
        typed(machine, f"xl numa-policy set {GUEST} round-4k --nodes 0-7 --rebalance")
        typed(machine, "xl numa-policy list")
        after = machine.workload(PROGRAM, "quick")
        tell_apart(before, after)
        machine.finish()
    finally:
        machine.kill()
    print(f"\nThe console is kept in {machine.console}\nNext: make test, or docs/.")


HALVES = {"place": place, "repair": repair}


def main():
    if not set(sys.argv[1:]) <= set(HALVES):
        print("usage: demo.py [place|repair]", file=sys.stderr)
        return 2
    # as when interrupted: the machine is ended
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for half in sys.argv[1:] or HALVES:
            HALVES[half]()
    except (BootRed, CommandFailed, MeasureError, AssertionError) as error:
        # a bare assert has no words, its line has
        what = str(error) or traceback.extract_tb(error.__traceback__)[-1].line
        print(f"\ndemo: not as promised: {what}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
