# SPDX-License-Identifier: GPL-2.0-only
"""What is to be measured: a workload under a subject, alone or beside a second guest."""

import re
from dataclasses import dataclass
from pathlib import Path

from .subjects import STOCK, SUBJECTS
from .topology import GUEST_CPUS

WORKLOADS = Path(__file__).absolute().parents[1] / "workloads"
HEADER = re.compile(r"^# (title|from|set|class): (.+)$", re.M)


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    origin: str
    sets: frozenset     # of "quick", "full"
    expected: str       # the class that it is written for, in the paper's words
    path: Path


def read_workload(path):
    header = dict(HEADER.findall(path.read_text()))
    missing = {"title", "from", "set", "class"} - header.keys()
    if missing:
        raise ValueError(f"{path} lacks the header line(s) {', '.join(sorted(missing))}")
    return Workload(path.stem, header["title"], header["from"], frozenset(header["set"].split()), header["class"], path)


def read_workloads(directory):
    return {path.stem: read_workload(path) for path in sorted(directory.glob("*.sh"))}


@dataclass(frozen=True)
class Layout:
    """CPUs of the guest that is measured and, should there be one, of the guest beside it."""
    cpus: tuple
    beside: tuple = ()
    memory: int = 3072      # MiB of each


LAYOUTS = {
    "alone": Layout(GUEST_CPUS),
    "halved": Layout(GUEST_CPUS[:4], GUEST_CPUS[4:], 2048),
    "overcommitted": Layout(GUEST_CPUS, GUEST_CPUS),
}

# (measured, beside it): one that wants locality with one that wants balance, as the pair that the paper's text names (cg.C
# and sp.C).  hpcc marks its region itself and cannot be kept from it, so it is never the one beside.
PAIRS = (
    ("pattern-master", "pattern-partitioned"),
    ("hpcc-stream", "pattern-master"),
)
# The paper's figures 8 and 9 compare the default and the best policy.
PAIR_SUBJECTS = (STOCK, "round-4k", "first-touch", "round-4k-carrefour", "first-touch-carrefour", "auto")


@dataclass(frozen=True)
class Job:
    subject: str
    workload: str
    size: str
    layout: str = "alone"
    beside: str = ""

    def __str__(self):
        beside = f" beside {self.beside}, {self.layout}" if self.beside else ""
        return f"{self.subject}: {self.workload}{beside}"


def plan(bench, workloads, subjects=None, only=None):
    """Jobs of a bench ("quick" or "full"), those of one boot together; what says most comes first, should it be stopped."""
    chosen = [subject for subject in sorted(SUBJECTS.values(), key=lambda subject: not subject.quick)
              if (bench == "full" or subject.quick) and (not subjects or subject.name in subjects)]
    jobs = [Job(subject.name, workload.name, bench) for subject in chosen for workload in workloads.values()
            if bench in workload.sets and (not only or workload.name in only)]
    if bench == "full":
        jobs += [Job(subject.name, measured, bench, layout, beside) for subject in chosen if subject.name in PAIR_SUBJECTS
                 for layout in ("halved", "overcommitted") for measured, beside in PAIRS if not only or measured in only]
    return jobs
