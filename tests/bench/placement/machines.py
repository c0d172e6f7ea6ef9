# SPDX-License-Identifier: GPL-2.0-only
"""The two systems that a job runs on, both with the plugin: Xen with a guest, and Linux on the bare machine."""

import json
import os
import re
import shlex
import subprocess
from dataclasses import replace

from create_cost.instrument import Symbols
from native import NativeMachine
from places import BUILD, ROOT

from harness import guests
from harness.machine import Machine

from .jobs import LAYOUTS
from .topology import AMD48, check_srat, node_options

OUT = BUILD / "bench" / "placement"
NUMASIM = ROOT / "tests" / "numasim"
PLUGIN = BUILD / "numasim" / "numasim.so"
IMAGES = BUILD / "workloads"
# say what a production Xen says; dom0 and its memory keep to node 0
XEN_OPTIONS = "loglvl=info guest_loglvl=none dom0_nodes=0"
# of AMD48's 5 MiB of L3 a node, the share of the CPU in six that is emulated
MODEL = "machine=amd48,watch=1-8,stands-for=6,l2=512K,l3=853K"
WORKLOAD_SECONDS = 900
# An emulated CPU does in a second some hundredth of what a real one does: with slower clocks, timers go off less often for as much
# work.  Boots and pauses take longer by that, so it is no more than this.
CLOCK_SLOWED = 8
# The guest beside the measured one works all the time.  It marks no region: that is the other's.
BESIDE = r"""mkdir /tmp/beside
printf '#!/bin/sh\nshift\nexec "$@"\n' >/tmp/beside/region
chmod 755 /tmp/beside/region
export PATH=/tmp/beside:$PATH
while :; do %s; done"""
# What a guest does that is told its jobs on its console.
LISTEN = 'stty -echo; while read -r job; do eval "$job"; echo; echo "job ended"; done'
SAID = re.compile(r"^workload: (\S+) (ok|failed: .*?)\s*$", re.M)


class MeasureError(Exception):
    """No figure came of a job, and there is no zero in its place."""


def build(what, *make):
    done = subprocess.run(["make", "-s", "-C", *make], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MeasureError(f"{what} cannot be built:\n{done.stderr.strip()}")


def build_plugin():
    build("the plugin", NUMASIM, f"OUT={PLUGIN.parent}", f"HEADERS={BUILD / 'qemu-plugin'}", PLUGIN)


def model_options():
    """What the plugin is told of the machine."""
    return ",".join([MODEL, *node_options(AMD48)])


def workload_command(workload, size, cpus, prefix="", shell="sh"):
    cpus = list(cpus)
    return (f"THREADS={len(cpus)} CPUS={shlex.quote(' '.join(map(str, cpus)))} PREFIX={shlex.quote(prefix)} SIZE={size} "
            f"{shell} /workloads/{workload}.sh")


def shell_on(cpus):
    """On the CPUs that a guest would have: what starts a workload's threads is part of the work, and is counted, too."""
    return f"taskset {sum(1 << cpu for cpu in cpus):#x} sh"


def idle_option(hypervisor):
    """What the plugin is told of this Xen: from the one function to the other, a CPU has nothing to do."""
    symbols = Symbols(hypervisor)
    [(start, end)] = symbols.ranges_of({"idle_loop"})
    [(awake, _)] = [found for found in symbols.ranges_of({"context_switch"}) if found[0] in symbols.entries]
    return f"idle={start:#x}-{end:#x}:{awake:#x}"


class Watch:
    """The plugin's file, read as it grows."""

    def __init__(self, stem, *options):
        self.path = OUT / f"{stem}.jsonl"
        self.lines_read = 0
        self.model = ",".join([model_options(), *options])

    def options(self):
        # relative to where QEMU runs: a path with a comma would be cut there
        return ["-plugin", f"./{PLUGIN.relative_to(BUILD)},out={self.path.relative_to(BUILD)},{self.model}"]

    def _new_lines(self):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        new, self.lines_read = lines[self.lines_read:], len(lines)
        return [json.loads(line) for line in new]

    def regions(self, number):
        """As many as there must have been since the last call."""
        records = self._new_lines()
        for record in records:
            if "error" in record:
                raise MeasureError(f"the plugin says: {record['error']}")
        if len(records) != number:
            raise MeasureError(f"{number} region(s) were to be counted, the plugin saw {len(records)}")
        return records

    def region(self, runs=1):
        """The last one: of a workload that was run more than once."""
        return self.regions(runs)[-1]

    def none(self):
        if self._new_lines():
            raise MeasureError("a region that nobody asked for")


def check_said(workload, text, runs=1):
    """The workload itself says that all went well."""
    said = SAID.findall(text)
    if [(workload, "ok")] * runs != said:
        raise MeasureError(f"{workload} said {said or 'nothing'}, its output ends with:\n{text[-1500:]}")


def output(*command, given=None, **options):
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True, **options).stdout


def dom0_with_guests_image(dom0):
    """dom0's image with the guests' in it, unpacked: an emulated guest takes half a minute to unpack its own."""
    made, guests_image = OUT / "dom0.cpio", OUT / "boot" / "root.cpio"
    guests_image.parent.mkdir(parents=True, exist_ok=True)
    guests_image.write_bytes(output("zstd", "-dcq", IMAGES / "root.cpio.zst"))
    extra = output("cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0", given=b"boot/root.cpio\n", cwd=OUT)
    base = dom0.read_bytes()
    # the kernel takes archives one after the other, at multiples of 4 bytes
    made.write_bytes(base + bytes(-len(base) % 4) + extra)
    return made


class XenHost(Machine):
    """Xen and dom0, with a guest for all jobs alone and new ones for each pair."""
    clock_slowed, slower = CLOCK_SLOWED, 2
    at_once = 1         # runs of a workload until it is asked whether that is enough

    def __init__(self, subject):
        self.subject = subject
        super().__init__(AMD48, subject.hypervisor, XEN_OPTIONS)
        self.watch = Watch(self.console.name.removesuffix(".console.log"), idle_option(subject.hypervisor))
        self.qemu_options = self.watch.options()
        self.guest = None       # the one for jobs alone
        self.jobs = 0

    def boot(self):
        self.dom0_image = dom0_with_guests_image(BUILD / self.dom0_image).relative_to(BUILD)
        super().boot()
        check_srat(AMD48, self.console.read_text(errors="replace"))
        return self

    def create(self, name, cpus, memory, command):
        guests.create(self, name, paused=False, linux=True, memory=memory, vcpus=len(cpus), policy=self.subject.policy or None,
                      cpus=[str(cpu) for cpu in cpus], ramdisk="/boot/root.cpio", command=command)

    def placement(self, name):
        """Pages by node as the product tells them, which also shows that the policy was in force."""
        if not self.subject.policy:
            return None
        dump = guests.dump(self, name)
        if dump.policy != (self.subject.static or dump.policy):
            raise MeasureError(f"the guest was to have policy {self.subject.static}, it has {dump.policy}")
        return {"pages": dump.usage_pages(), "fallback": dump.fallback}

    def measure(self, job):
        """The region of a job, and where its guest's memory was."""
        self.watch.none()
        said, runs, where = self.measure_pair(job) if job.beside else self.measure_alone(job)
        check_said(job.workload, said, runs)
        self.check_console()
        return self.watch.region(runs), where

    def choice(self, _name):
        """What is chosen for a guest by what was seen of it."""

    def is_enough(self, _runs, _before, _after):
        """So often a workload was run; the choice was this, before the last time and after it."""
        return True

    def run_job(self, name, job):
        """In a guest that listens, as often as it takes, of which the last time counts; (what it said, how often)."""
        command = workload_command(job.workload, job.size, range(len(LAYOUTS[job.layout].cpus)))
        # in the guest: between runs that are asked for one by one it is at rest for some time
        command = f"for run in $(seq {self.at_once}); do {command}; done"
        terminal = f"/local/domain/{guests.domid(self, name)}/console/tty"
        begin, runs = len(guests.console(self, name)), 0
        while not runs or not self.is_enough(runs, before, self.choice(name)):
            known, before = guests.console_size(self, name), self.choice(name)
            self.run(f"echo {shlex.quote(command)} >$(xenstore-read {terminal})")
            guests.wait_console(self, name, r"\njob ended", timeout=WORKLOAD_SECONDS, since=known)
            runs += self.at_once
        return guests.console(self, name)[begin:], runs

    def measure_alone(self, job):
        """In the one guest that runs all such jobs one after the other, as one boot of Linux does."""
        layout = LAYOUTS[job.layout]
        if not self.guest:
            self.guest = "measured"
            self.create(self.guest, layout.cpus, layout.memory, LISTEN)
            guests.wait_console(self, self.guest, "guest: up", timeout=WORKLOAD_SECONDS)
        return *self.run_job(self.guest, job), self.placement(self.guest)

    def measure_pair(self, job):
        layout = LAYOUTS[job.layout]
        if self.guest:
            guests.destroy(self, self.guest)
            self.guest = None
        # names of their own: dom0 keeps the console of a guest that is gone
        self.jobs += 1
        measured, beside = f"measured-{self.jobs}", f"beside-{self.jobs}"
        command = workload_command(job.beside, job.size, range(len(layout.beside)))
        self.create(beside, layout.beside, layout.memory, BESIDE % command)
        guests.wait_console(self, beside, f"workload: {job.beside} ok", timeout=WORKLOAD_SECONDS)
        self.create(measured, layout.cpus, layout.memory, LISTEN)
        guests.wait_console(self, measured, "guest: up", timeout=WORKLOAD_SECONDS)
        (said, runs), where = self.run_job(measured, job), self.placement(measured)
        self.check_beside(job.beside, guests.console(self, beside))
        for name in guests.domains(self):
            guests.destroy(self, name)
        return said, runs, where

    @staticmethod
    def check_beside(workload, text):
        """The guest beside was at work all the time, and well."""
        if "guest: command ended" in text or {said for _, said in SAID.findall(text)} != {"ok"}:
            raise MeasureError(f"beside it, {workload} did not go on, its output ends with:\n{text[-1500:]}")


class NativeHost(NativeMachine):
    """Linux on all nodes; jobs run one after the other, CPU 0 has none of them, as under Xen."""
    clock_slowed, slower = CLOCK_SLOWED, 2

    def __init__(self, subject):
        self.subject = subject
        super().__init__(replace(AMD48, name=f"amd48-{subject.name}"))
        self.watch = Watch(self.console.name.removesuffix(".console.log"))
        self.qemu_options = self.watch.options()

    def boot(self):
        super().boot()
        check_srat(AMD48, self.run("dmesg").out)
        self.run(f"echo {int(self.subject.balancing)} >/proc/sys/kernel/numa_balancing")
        return self

    def measure(self, job):
        self.watch.none()
        cpus = LAYOUTS[job.layout].cpus
        said = self.run(workload_command(job.workload, job.size, cpus, self.subject.prefix, shell_on(cpus)), WORKLOAD_SECONDS, check=False)
        check_said(job.workload, said.out + said.err)
        self.check_console()
        return self.watch.region(), None


def make_ready():
    """Before a machine is made."""
    OUT.mkdir(parents=True, exist_ok=True)
    # a result is known by the sources of its workload, and the guest has an image of them
    build("the workloads' image", ROOT, "workloads")
    # what counts is the emulator's translator
    os.environ["ACCEL"] = "tcg"
