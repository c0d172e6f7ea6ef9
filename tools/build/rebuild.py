#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A build by kbuild again, without make: runs the commands that kbuild has kept beside its objects, for what is older than its sources.

    rebuild.py plan OBJECTS GOAL SOURCES <CHANGES   what make itself must do first for these changes, as git diff --name-status tells
                                                    them: "all", or directories, a line each, or nothing
    rebuild.py run OBJECTS GOAL JOBS UNDEFINED      makes GOAL anew; it may leave undefined what the file UNDEFINED lists

A build of Xen by make in which nothing has changed asks the compiler 400 times what it can do, which takes longer than to compile the
few files that a patch touches.
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SAVED = re.compile(r"^(?:saved)?cmd_(\S+) := *(.*)$", re.M)
# what others are generated from, in ways that are not kept; all that is neither a source nor a Makefile is taken for such, too
GENERATES = re.compile(r"(^|/)asm-offsets\.c$|\.lds\.|^(tools|scripts)/|^(include|arch/[^/]*)/Makefile$")


class Target:
    """What kbuild has kept of one file that it made."""

    def __init__(self, place, path, text):
        found = SAVED.search(text)
        self.name, command = found.groups()
        self.path = path
        self.kept = text[:text.index("\ndeps_")] if "\ndeps_" in text else text
        self.deps = None if self.kept == text else re.findall(r"^ +([^ $]\S*) *\\?$", text.split("\ndeps_", 1)[1], re.M)
        source = re.search(rf"^source_{re.escape(self.name)} := (\S+)$", text, re.M)
        self.source = source and source.group(1)
        self.command = command.replace("$(pound)", "#").replace("$$", "$")
        self.words = set(self.command.split())
        self.place = place

    def read(self, targets):
        """The targets among what it is made of."""
        return [targets[name] for name in sorted(self.words) if name in targets and name != self.name] + \
            ([targets[self.source]] if self.source in targets else [])

    def is_old(self, made):
        """Is anything that it is made of younger, or made again in this run?"""
        mine = mtime(self.place / self.name)
        files = [self.source, *(self.deps or []), *(target.name for target in self.needs)]
        return mine is None or any(target in made for target in self.needs) or \
            any((mtime(self.place / name) or mine + 1) > mine for name in files if name)

    def make(self):
        """What the command said, and whether it has failed."""
        done = subprocess.run(["sh", "-ec", self.command], cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        dependencies = self.path.with_suffix(".d")
        if not done.returncode and dependencies.exists():
            if self.deps is not None:
                self.keep(dependencies.read_text())
            dependencies.unlink()
        return f"  {self.name}\n{done.stdout}", done.returncode

    def keep(self, rule):
        """What the compiler said that it has read, as kbuild writes it."""
        # the headers are targets, too, each in a line that follows
        files = rule.replace("\\\n", " ").splitlines()[0].split(":", 1)[1].split()
        files = [path for path in files if path != self.source]
        rows = "".join(f"  {path} \\\n" for path in files)
        self.path.write_text(f"{self.kept}\ndeps_{self.name} := \\\n{rows}\n{self.name}: $(deps_{self.name})\n\n$(deps_{self.name}):\n")


def mtime(path):
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def load(place):
    targets = {}
    for directory, _, names in os.walk(place):
        for name in names:
            if name.startswith(".") and name.endswith(".cmd"):
                path = Path(directory, name)
                text = path.read_text()
                if SAVED.search(text):
                    target = Target(place, path, text)
                    targets[target.name] = target
    for target in targets.values():
        target.needs = target.read(targets)
    return targets


def plan(place, goal, sources, changes):
    """The directories in which make must be run, or None if it must be run in all."""
    targets = load(place)
    if goal not in targets:
        return None
    built = {target for target, _ in in_order(targets[goal])}
    by_source = {}
    for target in targets.values():
        if target.source:
            by_source.setdefault(os.path.join(place, target.source), set()).add(target)
    parts = set()
    for line in changes:
        status, path = line.split("\t")
        if not path.startswith(sources.name + "/"):
            return None
        path = path[len(sources.name) + 1:]
        is_code = path.endswith((".c", ".S"))
        if GENERATES.search(path) or status == "M" and not by_source.get(str(sources / path), set()) <= built:
            return None
        if path.startswith("include/public/"):
            parts.add("include")
        elif os.path.basename(path) == "Makefile" or is_code and status != "M":
            parts.add(os.path.dirname(path))
        elif not (is_code or path.endswith(".h")):
            return None
    if any(not (sources / part / "Makefile").exists() for part in parts) or "" in parts:
        return None
    # Make goes down from one to the others by itself.  What it has not built before is not built, or it comes to it from above.
    parts = {part for part in parts if not any(part.startswith(other + "/") for other in parts)}
    return sorted(part for part in parts if part == "include" or targets.get(f"{part}/built_in.o") in built)


def in_order(goal):
    """Goal and all that it is made of, each after what it is made of, as (depth, target)."""
    depths = {}

    def depth(target):
        if target not in depths:
            depths[target] = 0
            depths[target] = 1 + max((depth(need) for need in target.needs), default=0)
        return depths[target]

    depth(goal)
    return sorted(depths.items(), key=lambda item: (item[1], item[0].name))


def run(place, goal, jobs):
    """Makes anew what is old; False if a command fails."""
    made, order = set(), in_order(load(place)[goal])
    with ThreadPoolExecutor(jobs) as pool:
        for level in sorted({depth for _, depth in order}):
            old = [target for target, depth in order if depth == level and target.is_old(made)]
            good = True
            for said, status in pool.map(Target.make, old):
                print(said, end="", flush=True)
                good = good and not status
            if not good:
                return False
            made.update(old)
    return True


def undefined(place, goal):
    said = subprocess.run(["nm", "-u", place / goal], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1] for line in said.splitlines() if line.split()[0] == "U"}


def main():
    verb, place, goal, rest = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], sys.argv[4:]
    if verb == "plan":
        parts = plan(place, goal, Path(rest[0]).resolve(), sys.stdin.read().splitlines())
        print("".join(f"{part}\n" for part in (["all"] if parts is None else parts)), end="")
        return 0
    jobs, known = rest
    if not run(place, goal, int(jobs)):
        return 1
    missing = undefined(place, goal) - set(Path(known).read_text().split())
    for name in sorted(missing):
        print(f"undefined reference to `{name}'")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
