# SPDX-License-Identifier: GPL-2.0-only
"""The plots.  Text stays text, the background is white in dark mode, too, and the same figures give the same file."""

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot                           # noqa: E402  the back-end is chosen first
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator   # noqa: E402

from .subjects import FIRST_TOUCH, POLICIES, STOCK, SUBJECTS, XEN    # noqa: E402

# Bad is red, interleaving is blue, Linux grey; a new policy takes the next colour.
COLOURS = {STOCK: "#c0392b", "round-1g": "#9ecae1", "round-2m": "#4292c6", "round-4k": "#08519c", "first-touch": "#2ca02c"}
MORE_COLOURS = ["#8c564b", "#9467bd", "#e6a700", "#17becf"]
LINUX = "#555555"


def colour(subject):
    others = [name for name in SUBJECTS if name not in COLOURS]
    return COLOURS.get(subject) or MORE_COLOURS[others.index(subject) % len(MORE_COLOURS)]


def start(name, rows, width=8.5, least=2.6, each=0.34):
    matplotlib.rcParams.update({"svg.hashsalt": f"placement-{name}", "svg.fonttype": "none", "font.size": 10})
    return pyplot.subplots(figsize=(width, max(least, 1.5 + each * rows)), facecolor="white")


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def times(value):
    return f"{value:g}x"


def dots(axes, figures, subject, rows, step, **looks):
    """The overhead of one system in all rows."""
    values = [figures.overhead(subject, name) for name in rows]
    found = {index + step: 1 + value for index, value in enumerate(values) if value is not None}
    axes.scatter(list(found.values()), list(found), label=SUBJECTS[subject].title, **looks)


def overhead(figures, path):
    """Time of each system against the best native policy, a row a workload, the worst under stock Xen on top."""
    subjects = [name for name in figures.subjects if name in XEN]
    rows = [name for name in figures.workloads if figures.best_native(name)[0]]
    rows.sort(key=lambda name: figures.overhead(STOCK, name) or 0)
    figure, axes = start("overhead", len(rows))
    axes.axvline(1, color="#333333", linewidth=1)
    for index, workload in enumerate(rows):
        known = {name: 1 + figures.overhead(name, workload) for name in subjects if figures.overhead(name, workload) is not None}
        if known:
            axes.plot([min(1, *known.values()), max(1, *known.values())], [index, index], color="#dddddd", linewidth=3, zorder=1)
    for place, name in enumerate(subjects):
        # a step of their own each: equal results stay visible
        step = 0.4 * (0.5 - (place + 0.5) / len(subjects))
        dots(axes, figures, name, rows, step, s=75 if name == STOCK else 48, color=colour(name), zorder=3, edgecolors="white",
             linewidths=0.6)
    dots(axes, figures, FIRST_TOUCH, rows, 0, s=60, marker="|", color=LINUX, linewidths=1.8, zorder=2)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: times(value)))
    axes.xaxis.set_major_locator(FixedLocator((0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("modelled time; 1x is the best policy of native Linux, right is slower")
    axes.set_title("What placement costs a guest on 8 nodes")
    axes.grid(axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.42, -0.9 / (1.5 + 0.34 * len(rows)) * 0.9), ncol=5, fontsize=8.5,
                frameon=False, handletextpad=0.2, columnspacing=1.2)
    save(figure, path)


def bars(axes, groups, series, low=None):
    """Horizontal groups of bars with their values: series is [(label, colour, [value or None])]."""
    height = 0.8 / len(series)
    for place, (label, shade, values) in enumerate(series):
        offset = (place - (len(series) - 1) / 2) * height
        drawn = axes.barh([index + offset for index in range(len(groups))], [100 * (value or 0) for value in values], height,
                          color=shade, label=label)
        axes.bar_label(drawn, ["" if value is None else f"{100 * value:+.0f} %" for value in values], padding=3, fontsize=7)
    axes.set_yticks(range(len(groups)), groups)
    axes.invert_yaxis()
    axes.axvline(0, color="#333333", linewidth=1)
    axes.margins(x=0.12)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+.0f} %"))


def gain(figures, path):
    """What each policy gains against stock Xen."""
    subjects = [name for name in POLICIES if name in figures.subjects]
    rows = [name for name in figures.workloads if figures.time(STOCK, name)]
    rows.sort(key=lambda name: -max([figures.gain(subject, name) or 0 for subject in subjects], default=0))
    figure, axes = start("gain", len(rows) * max(1, len(subjects)), each=0.2)
    if rows and subjects:
        bars(axes, rows, [(SUBJECTS[name].title, colour(name), [figures.gain(name, row) for row in rows]) for name in subjects])
        axes.legend(loc="lower right", fontsize=8.5, frameon=False)
    axes.set_xlabel("modelled speed against stock Xen; +100 % is twice as fast")
    axes.set_title("What a policy gains")
    save(figure, path)


def heat(axes, figures, key, title, most, colours):
    values = [[figures.value(subject, workload, key) for subject in figures.subjects] for workload in figures.workloads]
    known = [[float("nan") if value is None else value for value in row] for row in values]
    axes.imshow(known, aspect="auto", cmap=colours, vmin=0, vmax=most)
    for row, cells in enumerate(values):
        for column, value in enumerate(cells):
            if value is not None:
                dark = min(value / most, 1) > 0.6
                axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=8,
                          color="white" if dark else "black")
    titles = [SUBJECTS[name].title for name in figures.subjects]
    axes.set_xticks(range(len(titles)), titles, rotation=40, ha="right", fontsize=8.5)
    axes.set_title(title, fontsize=10.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def accesses(figures, path):
    """Where accesses go, counted: imbalance and local ratio of each workload under each system."""
    rows = len(figures.workloads)
    matplotlib.rcParams.update({"svg.hashsalt": "placement-accesses", "svg.fonttype": "none", "font.size": 10})
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.5, max(3, 1.9 + 0.32 * rows)), sharey=True, facecolor="white")
    # all accesses on one of eight nodes is an imbalance of 265 %
    heat(left, figures, "imbalance", "imbalance of the nodes, % (dark: one node bears all)", 2.65, "Reds")
    heat(right, figures, "local_ratio", "accesses to the own node, %", 1.0, "Blues")
    left.set_yticks(range(rows), figures.workloads)
    save(figure, path)


PLOTS = {"overhead": overhead, "gain": gain, "accesses": accesses}
