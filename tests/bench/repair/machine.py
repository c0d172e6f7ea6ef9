# SPDX-License-Identifier: GPL-2.0-only
"""A guest that stock placement has put, and that is repaired while the plugin watches."""

import json
import shlex

from placement import figures
from placement.jobs import LAYOUTS, Job
from placement.machines import MeasureError, XenHost, build_plugin, make_ready
from placement.subjects import Subject

from harness import guests

# as libxl places it, by a hypervisor that can do better
BEFORE = Subject("before-repair", "stock placement", hypervisor="release", policy="none")
GUEST = "measured"
SECONDS = 600
OUTPUT = "/tmp/rebalance"


class RepairHost(XenHost):
    def __init__(self):
        make_ready()
        build_plugin()
        super().__init__(BEFORE)

    def placement(self, name):
        return guests.dump(self, name).usage_pages()

    def workload(self, workload, size):
        """Runs it in the guest: what the plugin saw, and where the guest's memory was at the end."""
        region, where = self.measure(Job(BEFORE.name, workload, size))
        return {"region": region, "placement": where}

    def set_policy(self, policy):
        self.run(f"xl numa-policy set {GUEST} {policy} --nodes {','.join(str(node) for node in range(self.topology.nodes))}")

    def start_rebalance(self):
        self.run(f"(xl numa-policy rebalance {GUEST} --json >{OUTPUT} 2>&1; echo status $? >>{OUTPUT}) &")

    def moved(self):
        [shown] = json.loads(self.run(f"xl numa-policy show {GUEST} --json").out)["domains"]
        return shown["moved_pages"]

    def wait_rebalance(self):
        said = self.run(f"while ! grep -q ^status {OUTPUT}; do sleep 0.2; done; cat {OUTPUT}", timeout=SECONDS).out.splitlines()
        if said[-1] != "status 0":
            raise MeasureError(f"the rebalance failed: {shlex.join(said[-2:])}")
        return json.loads(said[-2])


def pages():
    return LAYOUTS["alone"].memory << 8


def time(measured):
    """Modelled cycles of the busiest CPU."""
    return max(map(figures.cpu_time, measured["region"]["cpus"]))
