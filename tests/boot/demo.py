#!/usr/bin/python3
"""The demo: boots the patched stack on an emulated 8-node machine, makes three guests, and shows where their memory is.

It is run by `make demo` when everything is built.  It ends with 0 only if all it tells was found to be true.
"""

import sys
import textwrap
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).absolute().parent))

# pylint: disable=wrong-import-position
from harness import checks, guests
from harness.machine import BootRed, CommandFailed, Machine
from harness.topologies import TOPOLOGIES

# name, policy, home nodes, weights, MiB
GUESTS = [
    ("spread", "round-4k", list(range(8)), None, 256),
    ("weighted", "round-2m", [0, 1, 2, 3], [1, 3, 2, 2], 160),
    ("packed", "round-1g", [5, 6, 7], None, 160),
]

STARTED = time.monotonic()
BOLD, DIM, PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


def say(text):
    print(textwrap.fill(text, 100), end="\n\n", flush=True)


def step(text):
    print(f"{DIM}[{time.monotonic() - STARTED:4.0f} s]{PLAIN} {text}", flush=True)


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
    written = guests.wait_console(machine, "spread", r"round 1: (\d+) pages, (\d+) words wrong")
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


def demo():
    topology = TOPOLOGIES["n8"]
    say(f"This emulates a machine with {topology.nodes} NUMA nodes of one CPU and about 1 GiB each, and boots Xen with the "
        "NUMA policies of this repository on it, then Linux as dom0, then guests. No hardware virtualization is needed.")
    step("booting Xen and dom0 (takes about half a minute)")
    machine = Machine(topology, "release")
    try:
        machine.boot()
        step("dom0 is up")
        create(machine)
        show(machine)
        check(machine)
        for name, *_ in GUESTS:
            guests.destroy(machine, name)
        machine.finish()
    finally:
        machine.kill()
    step("machine powered off in good order, nothing suspicious on its console")
    print(f"\nThe console is kept in {machine.console}\nNext: make test, or docs/.")


def main():
    try:
        demo()
    except (BootRed, CommandFailed, AssertionError) as error:
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
