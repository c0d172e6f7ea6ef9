# SPDX-License-Identifier: GPL-2.0-only
"""A guest that verifies its own memory while that is moved, who moves it, and what must be true then."""

import json
import re

from . import checks, guests
from .memory import XEN_OWN_PAGES, at_rest
from .placement import GRAIN

MEMORY, WRITTEN = 112, 24       # MiB of the guest, and of them written and verified
BALLOON_SLACK = 2               # MiB: the guest reckons with some pages that Xen counts apart
SAID = r"memory-(?:writer|order|io): second (\d+): (\d+) passes, (\d+) words wrong"


def start_writer(machine, name="g", vcpus=2, command=f"memory-writer {WRITTEN} 300", **options):
    """Creates the guest and waits until every word has been written and verified once."""
    guests.create(machine, name, paused=False, linux=True, command=command,
                  **{"memory": MEMORY, "vcpus": vcpus, "cpus": ["1-7"]} | options)
    wait_passes(machine, name, 2)


def said(machine, name="g"):
    """(passes of the slowest vCPU, wrong words) as the guest said last."""
    console = guests.console(machine, name)
    lines = re.findall(SAID, console)
    assert lines, console[-1000:]
    return int(lines[-1][1]), int(lines[-1][2])


def wait_passes(machine, name, passes, seconds=120):
    """Waits until each vCPU has made so many passes, none of which found a wrong word."""
    enough = f"/ passes, [0-9]+ words wrong/ {{ passes = $4; wrong = $6; last = $0 }} END {{ print last; exit !(passes >= {passes} || wrong) }}"
    last = machine.until(f"awk '{enough}' {guests.console_log(name)}", seconds)
    wrong = int(re.search(SAID, last)[3])
    assert not wrong, f"{wrong} words wrong"


def check_content(machine, name="g"):
    """What is in memory now is what was written: all of it is read twice more."""
    wait_passes(machine, name, said(machine, name)[0] + 2)


def balloon_step(name, mib):
    """What dom0 has to run to have a guest have so much memory, by what Xen counts; fails if it never does."""
    return (f"xl mem-set {name} {mib} && for _ in $(seq 240); do n=$(xl list {name} | awk 'NR == 2 {{ print $3 }}'); "
            f"d=$((n - {mib})); [ ${{d#-}} -le {BALLOON_SLACK} ] && break; sleep 0.5; done; "
            f"[ ${{d#-}} -le {BALLOON_SLACK} ] || {{ echo {name} should have {mib} MiB and has $n >&2; false; }}")


def balloon(machine, name, mib):
    machine.run(balloon_step(name, mib), timeout=240)


ENDLESS = 1 << 40


class Mover:
    """numa-mover in the background of dom0: until so many pages are moved, or until stop()."""

    def __init__(self, machine, name, pages, seed, alone=True, memory=MEMORY):
        self.machine, self.pages = machine, pages
        self.out = f"/tmp/mover-{name}-{seed}"
        domid = guests.domid(machine, name)
        command = f"numa-mover {domid} {memory} {pages} {seed} {'alone' if alone else ''}"
        machine.run(f"({command} >{self.out} 2>&1; echo status $? >>{self.out}) &")

    def text(self):
        return self.machine.run(f"cat {self.out}").out

    def running(self):
        return "status" not in self.text()

    def wait_begun(self):
        """Waits until the first pages have been moved."""
        self.machine.run(f"until grep -q -e begun -e status {self.out}; do sleep 0.2; done")
        assert "begun" in self.text(), self.text()

    def stop(self):
        """Has it come to its end; returns what it counted."""
        assert self.running(), self.text()
        self.machine.run("killall numa-mover")
        return self.finish()

    def finish(self, seconds=240):
        """Waits for its end, which has to be a good one; returns what it counted."""
        said = self.machine.run(f"until grep -q status {self.out}; do sleep 0.2; done; cat {self.out}",
                                timeout=seconds + min(self.pages, 1 << 20) / 200).out
        assert said.endswith("status 0\n"), said
        counts = re.findall(r"(\d+) (moved|times 2 MiB|there|no page|busy|unmovable|no room)", said.splitlines()[-2])
        return {what: int(number) for number, what in counts}


RECEIVED = "g--incoming"        # the name by which the console of a guest that was received is kept


def migrate(machine, pages, seed, memory=MEMORY):
    """The writer g goes, live, to the machine where it is, while more than so many of its pages move.

    Its memory is copied while it runs, and what it writes meanwhile is copied again: log-dirty mode, round after round.
    """
    mover = Mover(machine, "g", ENDLESS, seed, memory=memory)
    machine.run("xl migrate -s '' g 'xl migrate-receive' 2>/tmp/migrate.log || { cat /tmp/migrate.log >&2; false; }", timeout=240)
    wait_passes(machine, RECEIVED, 2)
    assert mover.finish()["moved"] > pages
    check_content(machine, RECEIVED)


def migrate_in_vain(machine, mib):
    """A live migration of g breaks off when the other end has got so much; the round of log-dirty mode follows from that.

    The helpers are told to end, and the sender's ends log-dirty mode.  One that dies of a closed pipe does not: nothing is marked then.
    """
    end = "killall libxl-save-helper; while pidof libxl-save-helper; do sleep 0.2; done >&2"
    failed = machine.run(f"xl migrate -s '' g '{{ head -c {mib << 20}; {end}; }} | xl migrate-receive' >/tmp/migrate.log 2>&1",
                         timeout=240, check=False)
    log = machine.run(f"until ! xl domid {RECEIVED} >/dev/null 2>&1; do sleep 0.2; done; cat /tmp/migrate.log").out
    assert failed.status and "xc: error: Save failed" in log, log


IN_USE = 60         # pages of a running guest that others have mapped: console, xenstore, shared information
REPEATS = 5         # a page in use, if only for the moment, keeps its 2 MiB where they are: "repeat the command later"


def under_fire(machine, pages, seed, homes, memory=MEMORY, policies=tuple(GRAIN)):
    """Moves so many pages of the writer g back and forth, then all by each policy: it goes on, and nothing changes but where it is."""
    owned = sum(guests.dump(machine, "g").usage_pages().values())
    before = said(machine)[0]
    counted = Mover(machine, "g", pages, seed, memory=memory).finish()
    assert counted["moved"] >= pages
    assert counted["times 2 MiB"] > 0
    for policy in policies:
        assert rebalance(machine, "g", policy, homes)["moved"] > 0
        for _ in range(REPEATS):
            dump = guests.dump(machine, "g", memory)
            assert dump.usage_pages() == dump.located_pages()
            wrong = checks.misplaced(dump, policy, homes)
            if len(wrong) <= IN_USE:
                break
            result(machine, "rebalance g")
        assert len(wrong) <= IN_USE, f"{len(wrong)} pages are elsewhere, (gfn, node, wanted): {wrong[:8]}"
    assert said(machine)[0] > before, "the guest has stood still"
    check_content(machine)
    assert sum(guests.dump(machine, "g").usage_pages().values()) == owned


def result(machine, command):
    """What a rebalancing command says at its end, in pages."""
    end = json.loads(machine.run(f"xl numa-policy {command} --json", timeout=300).out.splitlines()[-1])
    assert end["event"] == "result" and end["complete"]
    return {what: end[f"{what}_bytes"] >> 12 for what in ("moved", "there", "in_use", "unmovable", "no_room")}


def stopped(machine, command, signal, when, name="g"):
    """Ends a command by a signal as soon as `when`, a condition of the shell on domain $d, is true.

    It runs in the foreground: to what is in the background a shell gives no SIGINT.
    """
    end = f"d=$(xl domid {name}); until {when}; do sleep 0.1; done; kill -{signal} $(pidof xl-numa-policy)"
    return machine.run(f"({end}) >/dev/null 2>&1 &\nxl numa-policy {command} --json -q", timeout=180, check=False)


def rebalance(machine, name, policy, homes, weights=None):
    """Sets a policy and has the memory follow."""
    nodes = "--nodes " + ",".join(map(str, homes))
    if weights:
        nodes += " --weights " + ":".join(map(str, weights))
    return result(machine, f"set {name} {policy} {nodes} --rebalance")


def through_policies(machine, ways, memory, **options):
    """A guest that stock placement has placed goes all ways, (policy, home nodes, weights): its dumps before and after."""
    guests.create(machine, "g", memory=memory, policy="none", **options)
    stock = guests.dump(machine, "g", memory)
    free = sum(at_rest(machine).values())
    # a policy may take tables of small pages that stock placement did without
    may_take = XEN_OWN_PAGES + memory // 2
    for policy, homes, weights in ways:
        moves = rebalance(machine, "g", policy, homes, weights)
        dump = guests.dump(machine, "g", memory)
        checks.check_policy(dump, policy, homes, weights)
        checks.check_books(dump, memory)
        assert len(dump.pages) == len(stock.pages)
        # xl's pages for xenstore and the console are mapped by dom0
        assert len(checks.misplaced(dump, policy, homes, weights)) == moves["in_use"] <= 8
        assert moves["unmovable"] == moves["no_room"] == 0
        checks.check_orders(dump, policy, homes)
    left = sum(at_rest(machine, lambda now: abs(sum(now.values()) - free) <= may_take).values())
    assert abs(left - free) <= may_take, f"{free - left} pages are lost"
    return stock, dump
