"""Guests come and go, and leave each node's free memory as it was, to the page."""

import itertools

import pytest

from harness import guests, memory

SPECS = ["round-4k,nodes=0-7", "round-2m,nodes=1-3,weights=1:2:1", "round-1g", "none", "round-4k,nodes=5"]
AT_ONCE = 10


def generation(machine):
    """Ten guests, all of them destroyed again; every other one has its policy changed meanwhile."""
    script = []
    for number in range(AT_ONCE):
        text = guests.config(f"g{number}", memory=20 + number, policy=SPECS[number % len(SPECS)])
        script.append(f"cat >/tmp/g{number}.cfg <<'END-OF-FILE'\n{text}END-OF-FILE\nxl create -p /tmp/g{number}.cfg || exit 1")
        if number % 2:
            script.append(f"xl numa-policy set g{number} round-4k --nodes 2,4 || exit 1")
    script += [f"xl destroy g{number} || exit 1" for number in range(AT_ONCE)]
    machine.run("\n".join(script), timeout=240)


@pytest.mark.boot("n8")
def test_fifty_guests(machine):
    generation(machine)         # what Xen keeps for itself when it first has so many guests
    memory.leaves_nothing(machine, lambda: [generation(machine) for _ in range(5)])
    assert guests.domains(machine) == []


@pytest.mark.boot("n8")
def test_destroyed_while_being_built(machine):
    """A guest that is killed in the middle of its building gives everything back, too."""
    text = guests.config("g", memory=900, policy="round-4k,nodes=0-7")
    guests.put(machine, "/tmp/g.cfg", text)
    attempt = ("for delay in 0.1 0.2 0.3 0.5 0.8; do\n"
               "xl create -p /tmp/g.cfg >/dev/null 2>&1 & sleep $delay; kill -9 $! 2>/dev/null; wait $! 2>/dev/null\n"
               "for id in $(xl list | awk 'NR > 2 { print $2 }'); do xl destroy $id; done\ndone\ntrue")
    machine.run(attempt, timeout=240)
    memory.leaves_nothing(machine, lambda: machine.run(attempt, timeout=240))


@pytest.mark.boot("n8")
def test_a_planted_leak_is_seen(machine):
    """A guest that is not destroyed stands for what it would take if Xen forgot it."""
    numbers = itertools.count()
    with pytest.raises(AssertionError, match="free pages by node were"):
        memory.leaves_nothing(machine, lambda: guests.create(machine, f"g{next(numbers)}", memory=20))
    assert len(guests.domains(machine)) == memory.ROUNDS
