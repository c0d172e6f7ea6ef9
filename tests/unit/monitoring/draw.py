#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws docs/monitoring/host.svg and fleet.svg: expressions of the dashboards, evaluated by a real Prometheus.

draw.py [HOSTS]: of a simulated fleet of 1000 hosts, or of so many.  Takes some minutes, and some GB of memory for 1000.
"""

import contextlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import fleet
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "fleet", "svg.fonttype": "none", "font.size": 8, "axes.titlesize": 9,
                            "legend.fontsize": 7, "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402

SEED, HOST, FILES, KEEP = 7, 5, 90, 8       # HOST has memory away from home, until it is repaired
GIB = 1 << 30


def expressions(board, title):
    return [(target["expr"], target["legendFormat"]) for panel in fleet.panels(board) if panel["title"] == title
            for target in panel["targets"]]


def filled(expression, host):
    return fleet.filled(expression.replace("$instance", host))


def label_of(legend, metric):
    return re.sub(r"\{\{(\w+)\}\}", lambda name: metric.get(name[1], ""), legend)


def write_history(files, began, path):
    """What Prometheus would have kept of one host, for promtool to take: OpenMetrics, each series in the order of time."""
    series = {}
    for number in range(FILES):
        when = began + (number + 1) * fleet.MINUTE
        for line in (files / f"{number}/host-{HOST:04}.prom").read_text().splitlines():
            if line.startswith("#"):
                continue
            name, value = line.rsplit(" ", 1)
            name = re.sub(r"\{|$", lambda at: '{instance="xen-1",' if at[0] else '{instance="xen-1"}', name, count=1)
            series.setdefault(name, []).append(f"{name} {value} {when}\n")
    by_name = sorted(series.items(), key=lambda item: item[0].partition("{")[0])
    path.write_text("".join(line for _, lines in by_name for line in lines) + "# EOF\n")


@contextlib.contextmanager
def history(program, directory):
    began = fleet.write(program, directory / "files", SEED, HOST + 1, FILES)
    write_history(directory / "files", began, directory / "history")
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", directory / "history", directory / "tsdb"],
                   check=True, capture_output=True)
    prometheus = fleet.Prometheus(directory, {"global": {"scrape_interval": "1m"}})
    try:
        yield prometheus, began
    finally:
        prometheus.stop()


def draw_lines(axes, prometheus, began, title, scale=1, stacked=False):
    lines = {}
    for expression, legend in expressions("dashboard.json", title):
        answer = prometheus.ask("query_range", query=filled(expression, "xen-1"), start=began + fleet.MINUTE,
                                end=began + FILES * fleet.MINUTE, step=fleet.MINUTE)["result"]
        for found in answer:
            name = label_of(legend, found["metric"]).removeprefix("xen-1 ")
            lines[name] = ([(float(at) - began) / 60 for at, _ in found["values"]],
                           [float(value) / scale for _, value in found["values"]])
    assert lines, title
    # those that there are, and of these the ones that do most
    shown = sorted(sorted(lines, key=lambda name: -max(lines[name][1]))[:KEEP])
    shown = [name for name in shown if max(lines[name][1]) > 0]
    if stacked:
        axes.stackplot(lines[shown[0]][0], [lines[name][1] for name in shown], labels=shown)
    else:
        for name in shown:
            axes.plot(*lines[name], label=name, linewidth=1)
    axes.set_title(title, loc="left")
    axes.set_ylim(bottom=0)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def draw_host(program):
    with tempfile.TemporaryDirectory() as name, history(program, Path(name)) as (prometheus, began):
        figure, axes = plt.subplots(3, 2, figsize=(11, 7), layout="constrained", sharex=True)
        draw_lines(axes[0, 0], prometheus, began, "Memory at home")
        draw_lines(axes[0, 1], prometheus, began, "Accesses that are local")
        draw_lines(axes[1, 0], prometheus, began, "Memory of VMs by node", GIB, stacked=True)
        axes[1, 0].set_ylabel("GiB")
        draw_lines(axes[1, 1], prometheus, began, "Free memory of nodes", GIB)
        axes[1, 1].set_ylabel("GiB")
        draw_lines(axes[2, 0], prometheus, began, "Memory that moved, or could not", 1 << 20)
        axes[2, 0].set_ylabel("MiB/s")
        draw_lines(axes[2, 1], prometheus, began, "VMs by what Carrefour does")
        for below in axes[2]:
            below.set_xlabel("minutes")
        figure.savefig(fleet.DOCS / "host.svg", metadata={"Date": None})


def draw_bars(axes, title, names, values, unit=""):
    axes.barh(range(len(names)), values, height=0.7)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_title(title, loc="left")
    axes.set_xlabel(unit)


def host_of(metric):
    return metric["instance"].partition(":")[0]


def instant(prometheus, title, name_of, most=12):
    (expression, _), = expressions("fleet.json", title)
    found = prometheus.query(fleet.filled(expression))[:most]
    return [name_of(sample["metric"]) for sample in found], [float(sample["value"][1]) for sample in found]


def draw_shares(axes, prometheus, title, metric):
    """Of all VMs, in the order of their share."""
    shares = sorted(float(sample["value"][1]) for sample in prometheus.query(metric))
    axes.plot([100 * (at + 1) / len(shares) for at in range(len(shares))], shares, linewidth=1)
    axes.set_title(f"{title}: {len(shares)}", loc="left")
    axes.set_xlabel("% of these VMs have no more")
    axes.set_ylim(0, 1.05)


def draw_fleet(program, hosts):
    with tempfile.TemporaryDirectory() as name, fleet.running(program, Path(name), SEED, hosts, 4, "20s") as prometheus:
        figure, axes = plt.subplots(3, 2, figsize=(11, 9), layout="constrained")
        for alert in fleet.rules():
            assert prometheus.query(alert["expr"]), alert["alert"]
        found = {alert["alert"]: len({sample["metric"]["instance"] for sample in prometheus.query(alert["expr"])})
                 for alert in fleet.rules()}
        draw_bars(axes[0, 0], "Hosts on which an alert's expression is true", *zip(*found.items()), "hosts")
        draw_bars(axes[0, 1], "VMs by policy", *instant(prometheus, "VMs by policy", lambda metric: metric["policy"]), "VMs")
        draw_shares(axes[1, 0], prometheus, "Memory at home, of all VMs", "xen_numa_domain_home_ratio")
        draw_shares(axes[1, 1], prometheus, "Local accesses, of the VMs that are sampled", "carrefour_local_ratio")
        draw_bars(axes[2, 0], "VMs with least local accesses",
                  *instant(prometheus, "VMs with least local accesses",
                           lambda metric: f"{metric['domain']} on {host_of(metric)}"), "share of the accesses")
        draw_bars(axes[2, 1], "Fullest nodes",
                  *instant(prometheus, "Fullest nodes",
                           lambda metric: f"node {metric['node']} of {host_of(metric)}"), "share that is free")
        figure.savefig(fleet.DOCS / "fleet.svg", metadata={"Date": None})
        print(json.dumps({"hosts": hosts, "series": prometheus.count(), "domains": len(prometheus.query("xen_numa_domain_info")),
                          "memory_mib": prometheus.memory_mib()}))


def main():
    with tempfile.TemporaryDirectory() as name:
        program = fleet.build(Path(name))
        draw_host(program)
        draw_fleet(program, int(sys.argv[1]) if len(sys.argv) > 1 else 1000)


if __name__ == "__main__":
    main()
