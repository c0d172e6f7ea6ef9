#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes docs/results/hardware/README.md of the reports beside it: page.py [--check] [DIRECTORY]

A report is a file NAME.report, as the kit writes it.  One that says what no key of ours allows is refused: nothing gets onto the
page that the kit would not have let through.  With --check, nothing is written, and the status is 1 if the page is another one.
"""

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).absolute().parent
POLICIES = ["none", "round-4k", "round-2m", "round-1g", "first-touch"]
HEAD = "numa-policy hardware report 1"
INTRO = """# On real hardware

Made by `hardware-kit/page.py` of the reports in this directory. Whoever has a NUMA host can make
one, by [the kit](../../../hardware-kit/README.md).

"""
BENCH = [("create_s", "create, s"), ("passes", "passes/s"), ("freed", "pages freed/s")]
CHECKS = [("Xen", "xen"), ("CPU (family/model/stepping)", "cpu"), ("CPUs", "cpus"), ("nested paging", "paging"),
          ("IOMMU", "iommu"), ("nodes", "nodes"), ("memory of each, MiB", "node_mib"), ("distances from the first", "distances"),
          ("dom0", "dom0"), ("Xen's default policy", "default_policy")]


class BadReport(Exception):
    """Its text names file, line, and what would be right."""


def read_keys():
    rows = [line.split("\t") for line in (HERE / "keys").read_text().splitlines() if line and not line.startswith("#")]
    policies = "(" + "|".join(POLICIES) + ")"
    return [(re.compile(key.replace(".", r"\.").replace("POLICY", policies)), re.compile(form)) for key, form, _ in rows]


def read_report(path, keys):
    lines = path.read_text(errors="replace").splitlines()
    if not lines or lines[0] != HEAD:
        raise BadReport(f"{path.name}:1: no report; the first line is '{HEAD}'")
    if len(lines) < 2 or lines[-1] != f"end: {len(lines) - 2}":
        raise BadReport(f"{path.name}:{len(lines)}: the last line must be 'end: {max(len(lines) - 2, 0)}'; the report is cut off, or changed")
    values = {}
    for number, line in enumerate(lines[1:-1], 2):
        key, _, value = line.partition(": ")
        if not any(name.fullmatch(key) and form.fullmatch(value) for name, form in keys):
            raise BadReport(f"{path.name}:{number}: hardware-kit/keys knows no such line")
        if key in values:
            raise BadReport(f"{path.name}:{number}: {key} is told twice")
        values[key] = value
    if "kit.version" not in values or "check.xen" not in values:
        raise BadReport(f"{path.name}:1: kit.version or check.xen is missing; the kit writes both")
    return values


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def section(name, values):
    text = f"## {name}\n\n"
    steps = {key: value for key, value in values.items() if value in ("pass", "fail", "skip") and not key.endswith(".reason")}
    count = {word: sum(value == word for value in steps.values()) for word in ("pass", "fail", "skip")}
    text += f"{count['pass']} steps passed, {count['fail']} failed, {count['skip']} were skipped"
    text += f"; version {values.get('kit.version', '?')}, commit {values.get('kit.commit', '?')}.\n\n"
    text += table(["", ""], [[what, values[f"check.{key}"]] for what, key in CHECKS if f"check.{key}" in values]) + "\n"
    if steps:
        rows = [[key, value, values.get(f"{key}.wrong", ""), values.get(f"{key}.reason", "")] for key, value in steps.items()]
        text += table(["step", "result", "words wrong", "why"], rows) + "\n"
    if any(key.startswith("bench.") for key in values):
        text += f"A VM of {values.get('bench.mib', '?')} MiB with {values.get('bench.vcpus', '?')} vCPUs over all nodes, in real time:\n\n"
        rows = [[policy, *(values.get(f"bench.{policy}.{key}", "") for key, _ in BENCH)] for policy in POLICIES]
        text += table(["policy", *(title for _, title in BENCH)], rows) + "\n"
    if "bench.rebalance.mib_per_s" in values:
        text += (f"Moving: {values['bench.rebalance.mib_per_s']} MiB a second; a write waited for "
                 f"{values.get('bench.rebalance.longest_pause_us', '?')} us at the longest.\n\n")
    return text


def page(directory):
    reports = sorted(directory.glob("*.report"))
    keys = read_keys()
    if not reports:
        return INTRO + "**No report yet.** Nothing here has run on real hardware.\n"
    return (INTRO + "".join(section(path.stem, read_report(path, keys)) for path in reports)).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description="makes the page of reports from real hosts")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page is another one")
    parser.add_argument("directory", nargs="?", type=Path, default=HERE.parent / "docs/results/hardware")
    options = parser.parse_args()
    try:
        text = page(options.directory)
    except BadReport as error:
        sys.exit(f"page.py: {error}")
    target = options.directory / "README.md"
    if options.check:
        if not target.is_file() or target.read_text() != text:
            sys.exit(f"page.py: {target} is not what its reports make; run hardware-kit/page.py")
        return
    target.write_text(text)


if __name__ == "__main__":
    main()
