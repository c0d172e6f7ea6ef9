# SPDX-License-Identifier: GPL-2.0-only
"""carrefourd: a guest is repaired and then left alone, and whatever ends, nothing is left of it."""

import json
import random
import re
import time

import pytest

from harness import carrefour, first_touch, guests, placement, sampling
from harness.carrefour import Daemon
from harness.memory import leaves_nothing

pytestmark = pytest.mark.heavy

# Within so many samples of each page, on average, a pattern has to be followed: it takes eight to forget another one, up to eight in a row
# to tell one node's pages from chance, and some pages get far fewer than others.  An emulator that has other work takes as many, but longer.
SAMPLES, PATIENCE = 120, 400
QUIET = 8           # periods in which nothing may happen then
MB_PER_S = 8        # of memory that follows what auto has set
# an emulated guest has some 30 pages that could move in a period
VM_MOVES, HOST_MOVES = 8, 12
RECORDINGS = 8      # of 30 s, one of which has to see these used up
REMOTE = 0.05       # of a part that may be elsewhere: what the kernel and the console use, too


def wait_local(daemon, name="g", local=90, imbalance=35):
    """Waits until accesses are local and even."""
    daemon.wait_says(f"{local} % local, imbalance below {imbalance} %", "samples>=64", f"local_percent>={local}",
                     f"imbalance_percent<{imbalance}", name=name, seconds=PATIENCE)


def wait_followed(machine, daemon, parts, since, shifted=0):
    """Waits until each page is where it is used, and that is seen; since: the totals when it was not."""
    daemon.wait_home(1 - REMOTE, shifted, seconds=PATIENCE)
    taken = daemon.show()["totals"]["samples"] - since["samples"]
    assert taken <= SAMPLES * sum(map(len, parts.values()))
    wait_local(daemon)
    daemon.pass_periods(5)      # for the last of them


def check_quiet(machine, daemon, parts, shifted=0):
    """No page that is where it is used leaves it any more; and nothing to speak of moves of the others."""
    before, there = daemon.show()["totals"]["moves"], carrefour.those_at_home(machine, parts, shifted)
    daemon.pass_periods(QUIET)
    after, still = daemon.show()["totals"]["moves"], carrefour.those_at_home(machine, parts, shifted)
    assert {cpu: there[cpu] - still[cpu] for cpu in parts} == {cpu: set() for cpu in parts}
    assert after - before <= REMOTE * sum(map(len, parts.values())), daemon.log()[-2000:]


@pytest.mark.boot("n4")
def test_master_and_slaves_are_repaired_and_a_phase_is_followed(machine):
    parts = carrefour.start_guest(machine, part=2, memory=72)
    assert min(carrefour.at_home(machine, parts)[cpu] for cpu in (1, 2)) < 0.5, "first-touch has put all on one node"
    daemon = Daemon(machine, period_ms=500)
    carrefour.switch(machine, "+auto=advise")
    # the first periods may be a handful of samples, of a guest that starts
    daemon.wait_says("it is seen", "samples>=64", "imbalance_percent>85")
    before = daemon.show()
    assert before["state"] == "off" and before["totals"]["moves"] == 0
    carrefour.switch(machine, "+carrefour", "-auto")
    wait_followed(machine, daemon, parts, before["totals"])
    check_quiet(machine, daemon, parts)
    # each decision is explained, and has its result
    explained = daemon.explain()
    assert any(d["action"] == "migrate" and d["result"] == "moved" for d in explained["decisions"])
    assert re.search(r"\): migrate gfn 0x\w+ \w\w from node 1 to [23]: all of its last .*; moved$", daemon.log(), re.M)
    totals = daemon.show()["totals"]
    # the same phase for long enough, then another
    carrefour.shift(machine)
    wait_followed(machine, daemon, parts, totals, shifted=1)
    assert daemon.show()["totals"]["moves"] > totals["moves"]
    carrefour.check_words(machine)
    assert carrefour.moved_pages(machine) > 0
    carrefour.switch(machine, "-carrefour")
    daemon.wait_says("it is off", "absent")
    assert sampling.get(machine).state == "off"
    daemon.stop()


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_a_pattern_that_alternates_makes_no_storm(machine):
    parts = carrefour.start_guest(machine, every="6000")
    pages = sum(map(len, parts.values()))
    daemon = Daemon(machine)
    carrefour.switch(machine, "+carrefour")
    daemon.wait_says("the detector", "totals.frozen>0", seconds=120)
    daemon.pass_periods(4 * QUIET)
    totals = daemon.show()["totals"]
    assert totals["moves"] < 3 * pages
    assert " (ping-pong), so it stays for " in daemon.log()
    carrefour.check_words(machine)
    daemon.stop()


@pytest.mark.boot("n4")
@pytest.mark.parametrize("deaths", [1, pytest.param(5, marks=pytest.mark.soak)])
def test_killed_at_any_point(machine, deaths):
    """The one death that there is time for in make test is among moves."""
    seed = int(time.time())
    print(f"seed {seed}")
    chance = random.Random(seed)

    def lives():
        carrefour.start_guest(machine, every="4000")
        carrefour.switch(machine, "+carrefour")
        moved = []
        # where chance lets none live until it moves pages, it goes on
        while len(moved) < deaths or not any(moved):
            assert len(moved) < 20
            daemon = Daemon(machine, period_ms=200)
            if deaths == 1:
                daemon.wait_says("it moves", "moves>0")
            machine.run(f"sleep {chance.uniform(0, 6 if deaths > 1 else 1):.2f}")
            daemon.kill()
            moved.append("; moved" in daemon.log())
        # Xen sees that nobody has the ring
        if sampling.get(machine).state != "off":
            sampling.wait_ended(machine, "unread")
        # one after the other takes over what the one before has left
        daemon = Daemon(machine)
        daemon.wait_says("sampled again", "samples>0")
        carrefour.check_words(machine)
        daemon.stop()
        assert sampling.get(machine).state == "off"
        guests.destroy(machine, "g")

    leaves_nothing(machine, lives)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_a_domain_goes_while_its_pages_move(machine):
    def lives():
        carrefour.start_guest(machine, every="2000")
        daemon = Daemon(machine, period_ms=200, cooldown_ms=0)
        carrefour.switch(machine, "+carrefour")
        daemon.wait_says("it moves", "moves>0")
        guests.destroy(machine, "g")
        daemon.wait_says("it is gone", "absent")
        assert daemon.runs()
        daemon.stop()

    leaves_nothing(machine, lives)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_a_calm_guest_is_left_alone(machine):
    parts = carrefour.start_guest(machine)
    guests.create(machine, "calm", paused=False, program=f"memory-access {carrefour.PART} 1", memory=carrefour.MEMORY, vcpus=3,
                  cpus=["1", "2", "3"], policy="first-touch,nodes=1-3")
    guests.wait_console(machine, "calm", r"memory-access: pass [1-9]", timeout=180)
    told = guests.console(machine, "calm").split("memory-access: ready")[0]

    def where_used():
        """Its pages that one vCPU alone uses, which are on its node."""
        pages = guests.dump(machine, "calm", carrefour.MEMORY).pages
        return {gfn for cpu, gfn in first_touch.told_pages(told) if pages[gfn][0] == cpu + 1}

    used = where_used()
    assert len(used) > (1 - REMOTE) * 6 * (carrefour.PART << 8)
    daemon = Daemon(machine)
    for name in ("g", "calm"):
        carrefour.switch(machine, "+carrefour", name=name)
    wait_local(daemon)
    daemon.wait_home(0.8, seconds=PATIENCE)
    calm = daemon.show("calm")
    assert calm["totals"]["samples"] > 0 and calm["totals"]["moves"] <= REMOTE * len(used)
    assert used <= where_used()     # the few that were remote may have come home
    daemon.stop()


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_who_provokes_moves_stays_within_the_budget(machine):
    """Two guests whose pages change hands each second, and budgets of one and of both that are soon used up."""
    for name in ("g", "h"):
        carrefour.start_guest(machine, every="1000", name=name)
    daemon = Daemon(machine, cooldown_ms=0, pingpong_ms=0, vm_moves=VM_MOVES, host_moves=HOST_MOVES)
    for name in ("g", "h"):
        carrefour.switch(machine, "+carrefour", name=name)
    # until the budgets are used up, or there is nothing to keep within them
    for _ in range(RECORDINGS):
        carrefour.wait_recorded(machine, carrefour.record(machine, 30))
        # without the samples
        said = machine.run(f"grep -E '^(period|domain|d) ' {carrefour.TRACE} | cut -d ' ' -f 1,2").out
        periods = [[len(re.findall(r"^d (?:migrate|interleave)$", domain, re.M)) for domain in period.split("domain ")[1:]]
                   for period in said.split("period ")[1:]]
        assert max(max(moves, default=0) for moves in periods) <= VM_MOVES
        assert max(map(sum, periods)) <= HOST_MOVES
        if max(map(sum, periods)) == HOST_MOVES:
            break
    else:
        pytest.fail(f"no period has used up what may be moved: {periods}")
    for name in ("g", "h"):
        carrefour.check_words(machine, name)
    daemon.stop()


@pytest.mark.parametrize("policy, order, moves", [
    ("round-4k", "4K", 200), pytest.param("round-4k", "4K", 2000, marks=pytest.mark.soak),
    pytest.param("round-2m", "2M", 40, marks=pytest.mark.soak)])
@pytest.mark.boot("n4")
def test_content_is_kept_at_full_speed(machine, policy, order, moves):
    """The parts change hands again and again, and all that may move does: no word is wrong.  Large pages go whole."""
    carrefour.start_guest(machine, every="4000", policy=f"{policy},nodes=1-3")
    daemon = Daemon(machine, period_ms=100, sample_ms=10, cooldown_ms=0, pingpong_ms=0, freeze_ms=0, backoff_ms=0,
                    backoff_max_ms=0, efficiency_pct=0, vm_mb_per_s=1000, host_mb_per_s=1000)
    carrefour.switch(machine, "+carrefour")
    daemon.wait("many moves", f"[ $({carrefour.MOVED_PAGES}) -gt {moves} ]", 240)
    assert re.search(rf": (migrate|interleave) gfn 0x\w+ {order} from .*; moved$", daemon.log(), re.M)
    carrefour.check_words(machine)
    daemon.stop()


@pytest.mark.heavy(False)
@pytest.mark.boot("n4")
def test_signals_and_a_configuration_that_is_wrong(machine):
    daemon = Daemon(machine)
    # root's alone, as it may be
    machine.run(f"chmod 600 {carrefour.CONFIG}; echo vm_movs = 1 >>{carrefour.CONFIG}; kill -HUP {daemon.pid}")
    daemon.wait("it says so", f"""grep -F "there is no setting 'vm_movs'" {carrefour.LOG}""")
    assert "the configuration stays as it was" in daemon.log() and daemon.runs()
    carrefour.configure(machine, period_ms=500)
    machine.run(f"chmod 600 {carrefour.CONFIG}; kill -HUP {daemon.pid}")
    daemon.wait("it is read", f"grep -F '{carrefour.CONFIG}: read again' {carrefour.LOG}")
    second = machine.run(f"carrefourd -c {carrefour.CONFIG} -u {carrefour.NOBODY}", check=False)
    assert second.status == 1 and "another carrefourd is running" in second.err
    uid = machine.run(f"grep Uid: /proc/{daemon.pid}/status").out.split()
    assert uid[1:] == [str(carrefour.NOBODY)] * 4
    assert machine.run(f"grep NoNewPrivs: /proc/{daemon.pid}/status").out.split()[1] == "1"
    daemon.stop()


@pytest.mark.boot("n4")
def test_auto_sets_policy_and_says_so(machine):
    carrefour.start_guest(machine, policy="round-4k,nodes=1-3")
    daemon = Daemon(machine, auto_dwell_ms=5000)
    where = f"/libxl/{guests.domid(machine, 'g')}/numa-policy"
    carrefour.switch(machine, "+auto=advise")
    daemon.wait_says("advice", "advice")
    assert guests.dump(machine, "g").policy == "round-4k" and not daemon.show()["advice"]["done"]
    # what is not known yet is looked at under first-touch
    carrefour.switch(machine, "+auto")
    daemon.wait("first-touch", "numa-dump $(xl domid g) | grep '^policy first-touch '")
    assert sorted(guests.dump(machine, "g").homes) == [1, 2, 3]
    assert machine.run(f"xenstore-read /local/domain/{guests.domid(machine, 'g')}/control/page-events").out.strip() == "1"
    daemon.wait("a class", f"xenstore-read {where}/auto-class | grep -E '^(low|moderate|high)$'")
    found = machine.run(f"xenstore-read {where}/auto-class").out.strip()
    assert (machine.run(f"xenstore-read {where}/carrefour").out.strip() == "1") == (found != "low")
    # the next one knows it
    daemon.kill()
    policy = guests.dump(machine, "g").policy
    daemon = Daemon(machine, auto_dwell_ms=5000)
    daemon.wait_says("advice", "advice")
    assert daemon.show()["advice"]["class"] == found and guests.dump(machine, "g").policy == policy
    daemon.stop()


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_auto_waits_until_a_guest_is_built(machine):
    """What it boots with is spread as it is populated, and not on the node of the vCPU that boots."""
    guests.create(machine, "g", program=f"memory-shift {carrefour.PART}", memory=carrefour.MEMORY, vcpus=3, cpus=["1", "2", "3"],
                  policy="auto,nodes=1-3")
    daemon = Daemon(machine)
    daemon.wait_says("it is looked at", "advice")
    daemon.pass_periods(3)
    assert daemon.show()["policy"] == guests.dump(machine, "g").policy == "round-4k"
    machine.run("xl unpause g")
    daemon.wait_says("auto sets what it learns by", "policy=first-touch")
    guests.wait_console(machine, "g", r"memory-shift: second [1-9]", timeout=180)
    carrefour.check_words(machine)
    daemon.stop()


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_memory_follows_what_auto_sets_and_auto_comes_back(machine):
    """All on one node, it is interleaved, with all that it has; as each page is private, auto comes back, and they go home."""
    parts = carrefour.start_guest(machine)
    where = f"/libxl/{guests.domid(machine, 'g')}/numa-policy/auto-follows"
    # nothing but memory that follows is to move
    settings = {"auto_dwell_ms": 5000, "auto_return_ms": 5000, "vm_mb_per_s": MB_PER_S,
                "min_touched_pct": 100}
    daemon = Daemon(machine, **settings)
    carrefour.switch(machine, "+auto")
    daemon.wait_says("its memory follows", "state=following", "moves>0", seconds=120)
    assert machine.run(f"xenstore-read {where}").out.strip() == "1" and daemon.show()["policy"] == "round-4k"
    # the next one goes on
    daemon.kill()
    daemon = Daemon(machine, **settings)
    daemon.wait("it has", f"(carrefour-ask show | tr -d '\\n'; echo) >>/tmp/seen; grep 'its memory has followed ' {carrefour.LOG}", 240)
    assert machine.run(f"xenstore-read {where}").out.strip() == "0"
    # Xen moves what is in a block of 2 MiB as one
    seen = [json.loads(line)["domains"] for line in machine.run("grep domains /tmp/seen").out.splitlines()]
    assert 0 < max(domain["moved_bytes"] for domains in seen for domain in domains) <= MB_PER_S + 2 << 20
    moved, stay = map(int, re.search(r"its memory has followed round-4k: (\d+) MiB moved; (\d+) pages stay", daemon.log()).groups())
    pages, dealt = guests.dump(machine, "g", carrefour.MEMORY).pages, placement.slots([1, 2, 3])
    wrong = [gfn for gfns in parts.values() for gfn in gfns if pages[gfn][0] != placement.node_of(gfn, "round-4k", dealt)]
    assert moved > 0 and len(wrong) <= stay < 100, (moved, stay, len(wrong))
    daemon.wait_says("it comes back", "advice.class=moderate", seconds=240)
    assert re.search(r"auto chooses first-touch,carrefour: class moderate, .* (100\.0|[89]\d\.\d) % of accesses to private pages; new", daemon.log())
    daemon.wait("first-touch", "numa-dump $(xl domid g) | grep '^policy first-touch '")
    daemon.kill()
    daemon = Daemon(machine)
    daemon.wait_home(1 - REMOTE, seconds=PATIENCE)
    assert "has followed" not in daemon.log()
    carrefour.check_words(machine)
    daemon.stop()


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_a_recording_is_replayed(machine):
    """What was decided for a guest from its beginning, carrefour-replay decides for the trace."""
    carrefour.start_guest(machine)
    daemon = Daemon(machine)
    recording = carrefour.record(machine, 20)
    carrefour.switch(machine, "+carrefour")
    carrefour.wait_recorded(machine, recording)
    assert machine.run(f"carrefour-replay --check {carrefour.TRACE}").out == ""
    assert machine.run(f"grep -m 1 '^d migrate ' {carrefour.TRACE}").out
    daemon.stop()
