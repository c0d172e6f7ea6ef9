# SPDX-License-Identifier: GPL-2.0-only
"""carrefourd in dom0, and a guest whose accesses it is to repair: memory-shift."""

import json
import re
import shlex

from . import first_touch, guests

MEMORY, PART = 128, 4       # MiB of the guest, and of them those that each vCPU accesses
# An emulated machine is slow and small: Xen may spend on sampling what it wants, and no node has memory to spare.
SETTINGS = {"period_ms": 1000, "sample_entries": 1024, "sample_ms": 100, "sample_permille": 1000, "node_reserve_mb": 16,
            "cooldown_ms": 3000, "pingpong_ms": 30000, "freeze_ms": 30000, "log_decisions": 8192}
CONFIG, LOG, METRICS = "/tmp/carrefour.conf", "/tmp/carrefourd.log", "/tmp/metrics/carrefour.prom"
TRACE = "/tmp/trace"
NOBODY = 65534              # dom0 of the tests has no names of users


def configure(machine, **settings):
    lines = [f"{key} = {value}" for key, value in (SETTINGS | settings).items()]
    guests.put(machine, CONFIG, "\n".join([*lines, f"metrics = {METRICS}"]) + "\n")


class Daemon:
    """carrefourd, in the background of dom0."""

    def __init__(self, machine, **settings):
        self.machine = machine
        configure(machine, **settings)
        machine.run(f"mkdir -p {METRICS.rpartition('/')[0]} && chown {NOBODY} {METRICS.rpartition('/')[0]}")
        self.pid = int(machine.run(f"carrefourd -c {CONFIG} -u {NOBODY} >{LOG} 2>&1 & echo $!").out)
        self.wait_says("it answers", "period>=0", name="-")

    def log(self):
        return self.machine.run(f"cat {LOG}").out

    def wait(self, what, command, seconds=60):
        """Until a command in dom0 succeeds."""
        try:
            self.machine.until(command, seconds)
        except AssertionError as never:
            raise AssertionError(f"never: {what}\n{never}\n{self.log()[-3000:]}") from None

    def wait_says(self, what, *conditions, name="g", seconds=60):
        """Until what it says of a domain meets all conditions, which carrefour-wait explains."""
        words = " ".join(map(shlex.quote, (name, *conditions)))
        waited = self.machine.patient(f"carrefour-wait $patience {words}", seconds, check=False)
        assert waited.status == 0, f"never: {what}\n{waited.out[-3000:]}{waited.err}\n{self.log()[-3000:]}"

    def wait_home(self, share, shifted=0, only=(), name="g", seconds=60):
        """Until at least that share of each vCPU's part is on its node, when the parts have shifted so often."""
        command = f"d=${{d:-$(xl domid {name})}}; numa-home $d {guests.console_log(name)} {shifted} {round(share * 1000)}"
        self.wait("pages are at home", " ".join([command, *map(str, only)]), seconds)

    def runs(self):
        return self.machine.run(f"kill -0 {self.pid}", check=False).status == 0

    def kill(self):
        self.machine.run(f"kill -9 {self.pid}; while kill -0 {self.pid} 2>/dev/null; do sleep 0.1; done")

    def stop(self):
        """It ends well, and says so."""
        self.machine.run(f"kill {self.pid}; while kill -0 {self.pid} 2>/dev/null; do sleep 0.1; done")
        assert self.log().rstrip().endswith("ends; all sampling has ended"), self.log()[-1000:]

    def show(self, name="g"):
        """What it says of a domain; None: it has nothing on."""
        domains = json.loads(self.machine.run("carrefour-ask show").out)["domains"]
        return next((domain for domain in domains if domain["name"] == name), None)

    def period(self):
        return json.loads(self.machine.run("carrefour-ask show").out)["period"]

    def pass_periods(self, number):
        until = self.period() + number
        self.wait_says(f"period {until}", f"period>={until}", name="-", seconds=4 * number + 30)

    def explain(self, name="g"):
        return json.loads(self.machine.run(f"carrefour-ask 'explain {guests.domid(self.machine, name)}'").out)


def switch(machine, *switches, name="g"):
    """Such as "+carrefour", "-auto"."""
    machine.run(f"xl numa-policy set {name} {' '.join(switches)}")


def start_guest(machine, vcpus=3, part=PART, every="", name="g", **options):
    """A guest whose vCPU i stays on node i + 1, and whose vCPU 0 has touched all: the gfns of each vCPU's part."""
    guests.create(machine, name, paused=False, program=f"memory-shift {part} {every}",
                  **{"memory": MEMORY, "vcpus": vcpus, "cpus": [str(cpu) for cpu in range(1, vcpus + 1)],
                     "policy": f"first-touch,nodes=1-{vcpus}"} | options)
    guests.wait_console(machine, name, r"memory-shift: second [1-9]", timeout=180)
    parts = {cpu: set() for cpu in range(vcpus)}
    for cpu, gfn in first_touch.told_pages(guests.console(machine, name)):
        parts[cpu].add(gfn)
    assert all(len(gfns) == part << 8 for gfns in parts.values())
    return parts


def shift(machine, name="g"):
    """The parts change hands."""
    machine.run(f"echo go >$(xenstore-read /local/domain/$(xl domid {name})/console/tty)")


def check_words(machine, name="g"):
    """No word of memory-shift is another one than was written, and it goes on."""
    # a line that has come as far as that
    last = "/memory-shift: second .* wrong [0-9]/ { pass = $7; wrong = $9; last = $0 } END { print pass + 0, wrong + 0, last }"
    said = machine.until(f"set -- $(awk '{last}' {guests.console_log(name)}); begin=${{begin:-$1}}; echo $*\n"
                         "[ $1 -ge $((begin + 2)) ] || [ $2 != 0 ]")
    assert said.split()[1] == "0", said


def those_at_home(machine, parts, shifted=0, name="g"):
    """The gfns of each vCPU's part that are on its node, when the parts have shifted so often."""
    pages = guests.dump(machine, name, MEMORY).pages
    return {cpu: {gfn for gfn in gfns if pages.get(gfn, (None,))[0] == (cpu - shifted) % len(parts) + 1}
            for cpu, gfns in parts.items()}


def at_home(machine, parts, shifted=0, name="g"):
    """The share of each part."""
    there = those_at_home(machine, parts, shifted, name)
    return {cpu: len(there[cpu]) / len(gfns) for cpu, gfns in parts.items()}


def record(machine, seconds):
    """All guests' samples and decisions to TRACE, by a process in dom0, which is returned."""
    return int(machine.run(f"(carrefour-ask 'record all' {TRACE} {seconds} >/tmp/recorded 2>&1) & echo $!").out)


def wait_recorded(machine, recording):
    machine.until(f"! kill -0 {recording}")
    assert re.search(r'"periods": [1-9]\d+, "samples": [1-9]', machine.run("cat /tmp/recorded").out)


# what Xen has moved of what was ordered, of guest g
MOVED_PAGES = f"""sed -n 's/^carrefour_moves_result_total.*domain="g",result="moved"}} //p' {METRICS} | grep . || echo 0"""


def moved_pages(machine):
    return int(machine.run(MOVED_PAGES).out)
