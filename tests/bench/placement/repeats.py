# SPDX-License-Identifier: GPL-2.0-only
"""A job of the full bench is done more than once, as a single time may be chance; and which of them counts."""

from statistics import median_low

from .figures import memory_cycles
from .subjects import SUBJECTS

# of the lesser: two runs that differ by less have the middle one of three between them, or as one of them
AGREE = 0.02
MOST = 3


def most(job):
    """Pairs take minutes each, and so does what carrefourd learns from; the quick bench holds nothing against an aim."""
    return MOST if job.size == "full" and not job.beside and not SUBJECTS[job.subject].dynamic else 1


def spread(cycles):
    """By how much of the least the figures of all runs differ."""
    return max(cycles) / min(cycles) - 1


def measure(host, job):
    """(region, placement) of the run with the middle memory cycles, of two the one with less; and memory cycles of all runs."""
    runs, cycles = [], []
    while len(runs) < most(job) and not (len(runs) > 1 and spread(cycles) <= AGREE):
        runs.append(host.measure(job))
        cycles.append(round(memory_cycles(runs[-1][0])))
    return *runs[cycles.index(median_low(cycles))], cycles
