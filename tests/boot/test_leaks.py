# SPDX-License-Identifier: GPL-2.0-only
"""Guests come and go, and leave each node's free memory as it was, to the page."""

import contextlib

import pytest

from harness import guests, memory, sampling

SPECS = ["round-4k,nodes=0-7", "round-2m,nodes=1-3,weights=1:2:1", "round-1g", "none", "round-4k,nodes=5"]
HALF_BUILT = 600        # MiB of a guest that is killed meanwhile


def generation(machine, number_of_guests):
    """All of them destroyed again; every other one has its policy changed meanwhile."""
    script = []
    for number in range(number_of_guests):
        text = guests.config(f"g{number}", memory=20 + number, policy=SPECS[number % len(SPECS)])
        script.append(f"cat >/tmp/g{number}.cfg <<'END-OF-FILE'\n{text}END-OF-FILE\nxl create -p /tmp/g{number}.cfg || exit 1")
        if number % 2:
            script.append(f"xl numa-policy set g{number} round-4k --nodes 2,4 || exit 1")
    script += [f"xl destroy g{number} || exit 1" for number in range(number_of_guests)]
    machine.run("\n".join(script), timeout=240)


@pytest.mark.boot("n8")
@pytest.mark.parametrize(("generations", "at_once"), [(1, len(SPECS)), pytest.param(5, 10, marks=pytest.mark.soak)])
def test_guests_come_and_go(machine, generations, at_once):
    generation(machine, at_once)        # what Xen keeps for itself when it first has so many guests
    memory.leaves_nothing(machine, lambda: [generation(machine, at_once) for _ in range(generations)])
    assert guests.domains(machine) == []


# Its builder is killed as soon as the domain is there, or has so many pages; says how many it has then.
KILL_BUILDER = """\
pages() { numa-dump $1 2>/dev/null | awk '/^usage / { n += $3 + 512 * $4 + 262144 * $5 } END { print n + 0 }'; }
xl create -p /tmp/g.cfg >/dev/null 2>&1 &
until id=$(xl list | awk 'NR > 2 { print $2 }'); [ -n "$id" ] && [ $(pages $id) -ge %d ]; do kill -0 $! || break; done 2>/dev/null
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
pages $id
xl destroy $id
"""


@pytest.mark.boot("n8")
def test_destroyed_while_being_built(machine):
    """A guest that is killed in the middle of its building gives everything back, too."""
    guests.put(machine, "/tmp/g.cfg", guests.config("g", memory=HALF_BUILT, policy="round-4k,nodes=0-7"))
    built = []

    def attempts():
        for share in (0, 0.001, 0.1, 0.3, 0.6):
            built.append(int(machine.run(KILL_BUILDER % (share * HALF_BUILT * 256)).out))

    memory.leaves_nothing(machine, attempts)
    # what was finished before it was killed is no disturbance
    half = [pages for pages in built if pages < HALF_BUILT << 8]
    assert any(half), built


@contextlib.contextmanager
def impatient():
    """For who knows that what is missing does not come back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "PATIENCE", 2)
        yield


@pytest.mark.soak
@pytest.mark.boot("n8")
def test_a_planted_leak_is_seen(machine):
    """A guest that is not destroyed stands for what it would take if Xen forgot it."""
    with impatient(), pytest.raises(AssertionError, match="free pages by node were"):
        memory.leaves_nothing(machine, lambda: guests.create(machine, "g", memory=20))
    assert guests.domains(machine) == ["g"]


@pytest.mark.boot("n8")
@pytest.mark.parametrize("each_time", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_a_leak_of_one_page_is_seen(machine, each_time):
    """dom0's balloon stands for whoever keeps it.  What is kept once in a boot is Xen's own."""
    target = "/sys/devices/system/xen_memory/xen_memory0/target_kb"
    kib = int(machine.run(f"cat {target}").out)
    memory.warm_up(machine)
    free, kept = memory.at_rest(machine), []

    def keeps():
        kept.extend([1] if each_time or not kept else [])
        machine.run(f"echo {kib + 4 * len(kept)} >{target}")

    seen = pytest.raises(AssertionError, match="free pages by node were") if each_time else contextlib.nullcontext()
    try:
        with impatient(), seen:
            memory.leaves_nothing(machine, keeps)
        assert sum(free.values()) - sum(memory.at_rest(machine).values()) == len(kept) == (memory.ROUNDS if each_time else 1)
    finally:
        machine.run(f"echo {kib} >{target}")
    # which of its pages dom0 gives back, and so the node of that, is its own choice
    total = sum(free.values())
    assert sum(memory.at_rest(machine, lambda now: sum(now.values()) == total).values()) == total


@pytest.mark.boot("n8")
def test_a_dead_domain_that_is_kept_is_seen(machine):
    """By a process of dom0, which has pages of it mapped."""
    def kept():
        guests.create(machine, "g", memory=20)
        sampling.start(machine, reader="hold")
        holder.enter_context(sampling.held(machine))
        guests.destroy(machine, "g")

    memory.warm_up(machine)
    before = memory.at_rest(machine)
    with contextlib.ExitStack() as holder, impatient(), pytest.raises(AssertionError, match="is dead and still there"):
        memory.leaves_nothing(machine, kept)
    assert memory.at_rest(machine, before.__eq__) == before
