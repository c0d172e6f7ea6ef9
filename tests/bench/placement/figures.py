# SPDX-License-Identifier: GPL-2.0-only
"""The paper's figures out of the plugin's counts.

Counted are accesses and misses by CPU and node, and so the local ratio and the imbalance.  Modelled is what needs a time:
cycles and the interconnect load.  A workload takes as long as its busiest CPU, whose cycles stand for time: an instruction
of the guest's programs and kernel takes one, and all that waits for memory is added.

Instructions of Xen are told apart and are no part of the time: how many an exit takes is the emulator's affair, too.
"""

from .subjects import FIRST_TOUCH, INTERLEAVE, NATIVE, POLICIES, STOCK, SUBJECTS

# imbalance under first-touch, up to which the paper calls an application low, and moderate
LOW, MODERATE = 0.85, 1.30
# within this share of the better one, two policies are as good as each other: our margin.  In the paper first-touch
# loses up to that much, for ft.C, the worst of the group that it calls low
AS_GOOD = 0.10


def imbalance_class(imbalance):
    return "low" if imbalance < LOW else "moderate" if imbalance <= MODERATE else "high"


def cpu_time(cpu):
    return cpu["instructions"]["user"] + cpu["instructions"]["kernel"] + cpu["memory_cycles"]["contended"]


def memory_cycles(region):
    """Of the CPU that waits longest for memory: its programs', its kernel's and Xen's."""
    return max(cpu["memory_cycles"]["contended"] for cpu in region["cpus"])


class Figures:
    """Of the results of a bench."""

    def __init__(self, results):
        self.alone, self.pairs, self.placements, self.repeats = {}, {}, {}, {}
        for result in results:
            if result["beside"]:
                self.pairs[result["subject"], result["workload"], result["beside"], result["layout"]] = result["region"]
            else:
                self.alone[result["subject"], result["workload"]] = result["region"]
                self.placements[result["subject"], result["workload"]] = result["placement"]
                self.repeats[result["subject"], result["workload"]] = result["repeats"]
        self.workloads = sorted({workload for _, workload in self.alone})
        self.subjects = [name for name in SUBJECTS if any(subject == name for subject, _ in self.alone)]

    def value(self, subject, workload, key):
        """A figure of the plugin's, or None."""
        region = self.alone.get((subject, workload))
        return None if region is None else region[key]

    def time(self, subject, workload):
        region = self.alone.get((subject, workload))
        return max(map(cpu_time, region["cpus"])) if region else None

    def memory_cycles(self, subject, workload):
        region = self.alone.get((subject, workload))
        return memory_cycles(region) if region else None

    def programs(self, subject, workload):
        """Of all programs' misses the share that goes to the own node, the cycles that they take, were there no contention, and
        which part of the programs' time that is, an instruction at one cycle."""
        region = self.alone.get((subject, workload))
        if not region:
            return None, None, None
        machine = region["machine"]
        two_hops = {(route[0], route[-1]) for route in machine["routes"]}
        own = total = cycles = 0
        for cpu in region["cpus"]:
            for node, misses in enumerate(cpu["misses"]["user"]):
                hops = 0 if node == cpu["node"] else 2 if (cpu["node"], node) in two_hops else 1
                own += misses if hops == 0 else 0
                total += misses
                cycles += misses * machine["latency"][hops]
        instructions_of_programs = sum(cpu["instructions"]["user"] for cpu in region["cpus"])
        return own / total if total else None, cycles, cycles / (cycles + instructions_of_programs) if cycles else None

    def best(self, subjects, workload, figure=None):
        """(subject, time) of the fastest, or (None, None); or with the least of another figure."""
        figure = figure or self.time
        values = {name: figure(name, workload) for name in subjects if figure(name, workload)}
        return min(values.items(), key=lambda item: item[1], default=(None, None))

    def best_by_memory(self, subjects, workload):
        return self.best(subjects, workload, self.memory_cycles)

    def best_native(self, workload):
        return self.best([name for name in NATIVE if name in self.subjects], workload)

    def best_policy(self, workload):
        return self.best([name for name in POLICIES if name in self.subjects], workload)

    def overhead(self, subject, workload):
        """How much longer than under the best native policy: 0.5 is half as long again.  The paper's figures 6 and 10."""
        _, best = self.best_native(workload)
        took = self.time(subject, workload)
        return took / best - 1 if took and best else None

    def gain(self, subject, workload):
        """How much faster than under stock Xen: 1 is twice as fast.  The paper's figure 7."""
        base, took = self.time(STOCK, workload), self.time(subject, workload)
        return base / took - 1 if took and base else None

    def measured_class(self, workload):
        imbalance = self.value(FIRST_TOUCH, workload, "imbalance")
        return None if imbalance is None else imbalance_class(imbalance)

    def verdict(self, workload):
        """What the paper expects of a workload of this imbalance, what the model says, and whether they agree."""
        kind = self.measured_class(workload)
        touched, dealt = self.time(FIRST_TOUCH, workload), self.time(INTERLEAVE, workload)
        if not kind or not dealt:
            return None
        ratio = touched / dealt
        expected = {"low": "first-touch no slower", "moderate": "first-touch no slower", "high": "interleave faster"}[kind]
        agrees = ratio > 1 if kind == "high" else ratio <= 1 + AS_GOOD
        return expected, ratio, agrees

    def pair_gain(self, workload, beside, layout, subject, cpus):
        """As gain, of the guest on these CPUs while another one works beside it.  The paper's figures 8 and 9."""
        times = []
        for name in (STOCK, subject):
            region = self.pairs.get((name, workload, beside, layout))
            if region is None:
                return None
            times.append(max(cpu_time(cpu) for cpu in region["cpus"] if cpu["cpu"] in cpus))
        return times[0] / times[1] - 1


def instructions(region, mode):
    """Of all CPUs; the mode is "user", "kernel" or "xen"."""
    return sum(cpu["instructions"][mode] for cpu in region["cpus"])
