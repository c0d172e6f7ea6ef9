#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: for how long a guest makes Xen hold the locks of its p2m, and not look for softirqs, in instructions.

    tests/bench/hold_time/run.py [--rounds N] [--out DIRECTORY]

Results go to docs/results/hold-time.{md,json}.
"""

import argparse
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from create_cost.instrument import InstrumentError                      # noqa: E402  the path comes first
from hold_time import instrument, report                                # noqa: E402
from pages import versions                                              # noqa: E402
from places import RESULTS, ROOT                                        # noqa: E402

from harness.machine import BootRed                                     # noqa: E402

MOST_ROUNDS = 3     # that the guest has room for
VCPUS = (1, 8)
# subject -> hypervisor, words of the program
SUBJECTS = {
    report.STOCK: ("stock", "pod"),
    report.PLAIN: ("stock", ""),
    "none": ("release", "none pod"),
    "round-4k": ("release", "round-4k pod"),
    "round-2m": ("release", "round-2m pod"),
    "first-touch": ("release", "first-touch"),
}


def measure(subject, vcpus, rounds):
    longest, answers = instrument.count(*SUBJECTS[subject], vcpus, rounds)
    worst = {what: max(step[what].instructions for step in longest.values()) for what in instrument.WHAT}
    print(f"  {subject:12} {vcpus} vCPUs  " + "  ".join(f"{what} {worst[what]:,}" for what in worst), flush=True)
    return {step: {"answer": answers[step], **{what: asdict(one) for what, one in all_of.items()}} for step, all_of in longest.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, choices=range(1, MOST_ROUNDS + 1), default=2, help="of all steps, with 1 vCPU; with 8 it is one")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default docs/results)")
    options = parser.parse_args()
    print(f"booting Xen {len(VCPUS) * len(SUBJECTS)} times, 10 to 60 s each", flush=True)
    try:
        subjects = {subject: {str(vcpus): measure(subject, vcpus, options.rounds if vcpus == 1 else 1) for vcpus in VCPUS}
                    for subject in SUBJECTS}
    except (InstrumentError, BootRed) as error:
        sys.exit(f"error: nothing was measured: {error}")
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=True).stdout.strip()
    result = {"rounds": options.rounds, "commit": commit, "versions": versions(), "subjects": subjects,
              "machine": {"cpus": list(instrument.MACHINE.cpus), "mib": list(instrument.MACHINE.mib)}}
    for path in report.write(result, options.out):
        print(path)


if __name__ == "__main__":
    main()
