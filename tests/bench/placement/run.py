#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The second half of make bench: where each policy puts memory, and what that costs by the model of AMD48.

    BENCH=quick|full tests/bench/placement/run.py [--subjects NAME…] [--workloads NAME…] [--out DIRECTORY] [--report] [--fresh]

Finished jobs are kept in build/bench/placement/results/, published ones in docs/results/placement.json, and not done again as long
as nothing changes that they depend on.  Results go to docs/results/placement*.
"""

import argparse
import os
import shutil
import sys
import time
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from pages import versions                                          # noqa: E402  the path comes first
from places import RESULTS                                          # noqa: E402
from placement import jobs, repeats, report, store                           # noqa: E402
from placement.hosts import host                                    # noqa: E402
from placement.machines import OUT, MeasureError, build_plugin      # noqa: E402
from placement.subjects import SUBJECTS                             # noqa: E402

from harness.machine import BootRed, CommandFailed                  # noqa: E402

BOOT_SECONDS = 15
# what a job that went wrong may raise; the others go on after it
WRONG = (MeasureError, BootRed, CommandFailed, AssertionError, ValueError)


class Progress:
    """One line a job: which, how far, how long it usually takes and what is left."""

    def __init__(self, todo, keep):
        self.todo, self.keep, self.number = list(todo), keep, 0

    def next(self, job):
        self.number += 1
        left = sum(self.keep.usual(other) for other in self.todo[self.number - 1:])
        usual = self.keep.usual(job)
        print(f"[{self.number}/{len(self.todo)}] {job}: usually {usual:.0f} s, {left / 60:.0f} min left …", flush=True)


def run_boot(subject, batch, keep, progress):
    """The jobs of one subject.  A machine that went wrong is replaced for the next job.  Returns what failed."""
    failed, machine = [], None
    try:
        for job in batch:
            progress.next(job)
            started = time.monotonic()
            try:
                if machine is None:
                    machine = host(subject).boot()
                    started = time.monotonic()
                region, where, cycles = repeats.measure(machine, job)
            except WRONG as error:
                print(f"error: {job}: {error}", file=sys.stderr, flush=True)
                failed.append(f"{job}: {str(error).splitlines()[0]}")
                if machine is not None:
                    machine.kill()
                machine = None
                continue
            keep.put(job, {"region": region, "placement": where, "repeats": cycles,
                           "wall_seconds": round(time.monotonic() - started, 1)})
        if machine is not None:
            try:
                machine.finish()
            except WRONG as error:
                # a boot with a red end proves nothing that it measured
                print(f"error: {subject}: {error}", file=sys.stderr, flush=True)
                failed.append(f"{subject}: {str(error).splitlines()[0]}")
                for job in batch:
                    keep.path(job).unlink(missing_ok=True)
    finally:
        if machine is not None:
            machine.kill()
    return failed


def run(bench, subjects=None, workloads=None, measure=True, fresh=False):
    """Does what is not done yet.  ([results], [what failed])"""
    if fresh:
        shutil.rmtree(store.RESULTS, ignore_errors=True)
    keep, planned = store.Store(fresh), jobs.plan(bench, jobs.read_workloads(jobs.WORKLOADS), subjects, workloads)
    if not planned:
        raise MeasureError("nothing is to be done: no workload or subject has that name")
    todo = [job for job in planned if keep.get(job) is None]
    print(f"{bench} bench: {len(planned)} jobs, {len(planned) - len(todo)} of them are done", flush=True)
    if todo and not measure:
        return list(filter(None, map(keep.get, planned))), [f"{len(todo)} of {len(planned)} jobs have yet to be done"]
    build_plugin()
    progress, failed = Progress(todo, keep), []
    for subject, batch in groupby(todo, key=lambda job: job.subject):
        failed += run_boot(subject, list(batch), keep, progress)
    return list(filter(None, map(keep.get, planned))), failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="+", metavar="NAME", choices=SUBJECTS, help=f"only these: {', '.join(SUBJECTS)}")
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="only these: names of files in tests/bench/workloads")
    parser.add_argument("--out", type=Path, help="where the results go (default docs/results; of a part of the bench "
                        "build/bench/placement)")
    parser.add_argument("--report", action="store_true", help="only write again what has been measured so far")
    parser.add_argument("--incomplete", action="store_true", help="write the whole page although jobs are missing")
    parser.add_argument("--fresh", action="store_true", help="forget what has been measured")
    options = parser.parse_args()
    bench = os.environ.get("BENCH", "full")
    if bench not in ("quick", "full"):
        sys.exit(f"error: BENCH={bench}: should be quick or full")
    whole = bench == "full" and not options.subjects and not options.workloads
    out = options.out or (RESULTS if whole else OUT)
    try:
        results, failed = run(bench, options.subjects, options.workloads, not options.report, options.fresh)
    except MeasureError as error:
        sys.exit(f"error: nothing was measured: {error}")
    if results:
        # a page of which a part is of other sources would compare what cannot be compared
        if whole and failed and not options.incomplete and (out / "placement.json").exists():
            made = report.keep(results, out)
            failed.append(f"the page stays as it is, {len(results)} results for the next one are kept with it")
        else:
            made = report.write({"bench": bench, "versions": versions(), "failed": failed, "results": results}, out)
        for path in made:
            print(path)
    if failed:
        sys.exit("error: not everything was measured:\n  " + "\n  ".join(failed))


if __name__ == "__main__":
    main()
