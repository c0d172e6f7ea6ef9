# SPDX-License-Identifier: GPL-2.0-only
"""What the pages of results have in common."""

import json
import subprocess

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot       # noqa: E402  the back-end is chosen first

import places                       # noqa: E402,F401  makes harness importable

from harness.machine import QEMU    # noqa: E402


def table(head, rows, left=1):
    """Markdown; the first columns to the left, the others to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---" * left + "|---:" * (len(head) - left) + "|"]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def versions():
    def first_line(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return {"qemu": first_line(QEMU, "--version"), "gcc": first_line("gcc", "--version")}


def begin_plot(name, **size):
    """A figure and its axes; the same figures give the same file."""
    matplotlib.rcParams.update({"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 10})
    return pyplot.subplots(**size)


def end_plot(figure, axes, path, **legend):
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", fontsize=8, frameon=False, **legend)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def write(name, result, page, plot, directory):
    """NAME.json, NAME.md and NAME.svg: the figures, the page of them and their plot."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / f"{name}.{kind}" for kind in ("json", "md", "svg")]
    paths[0].write_text(json.dumps(result, indent=1) + "\n")
    paths[1].write_text(page(result))
    plot(result, paths[2])
    return paths
