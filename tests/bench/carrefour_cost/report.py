# SPDX-License-Identifier: GPL-2.0-only
"""The results as JSON, as a page of text and as a plot."""

from pathlib import Path

from pages import begin_plot, end_plot, table
from pages import write as write_results

PAGE = Path(__file__).absolute().parent / "page.md"
AIM = 0.02      # at most, of the guest's instructions
# eight CPUs of AMD48 for a second at one instruction a cycle: 2.2 GHz, section 5.1 of the paper
GUEST_SECOND = 8 * 2.2e9


def shares(figures, off):
    """Of a run's Figures: what is executed for sampling and moving on the guest's CPUs, as parts of the guest's instructions."""
    # others ask for flushes, too
    flushing = max(0, figures.flushing - off.flushing * figures.guest / off.guest)
    return {"sampling_share": figures.sampling / figures.guest, "flushing_share": flushing / figures.guest,
            "guest_share": (figures.sampling + flushing) / figures.guest}


def dom0_second(dom0, what):
    """Instructions more in dom0 in a second with carrefourd."""
    return max(0, sum(dom0[what].values()) - sum(dom0["without"].values())) / dom0["seconds"]


def dom0_sample(dom0):
    """… with each sample, and what is moved by it."""
    return max(0, sum(dom0["work"].values()) - sum(dom0["rest"].values())) / dom0["samples"]


def most_entries(settings):
    """That are marked in a second, of a guest; there are no more samples."""
    return int(settings["sample_entries"]) * 1000 / int(settings["sample_ms"])


def dom0_share(result):
    """Of the guest's instructions on AMD48, with as many samples as there are entries."""
    dom0 = result["dom0"]
    return (dom0_second(dom0, "rest") + dom0_sample(dom0) * most_entries(result["settings"])) / GUEST_SECOND


def entry_share(result, run):
    """The same for what was executed on the guest's CPUs: by what each entry took in this run that was marked, used or not."""
    return run["guest_share"] * run["guest"] / run["marked"] * most_entries(result["settings"]) / GUEST_SECOND


def clock_share(run):
    """The same for what goes by the clock: all that was executed in a second of this run."""
    return run["guest_share"] * run["guest"] / run["seconds"] / GUEST_SECOND


def parts(result, figures):
    """Of the guest's instructions: counted with the settings delivered; and modelled, with as many entries as they allow."""
    modelled = clock_share(figures["delivered"]) + entry_share(result, figures["unlimited"]) + dom0_share(result)
    return figures["delivered"]["guest_share"], modelled


def verdict(met):
    return "met" if met else "**NOT met**"


def percent(share, digits=2):
    return f"{100 * share:.{digits}f} %"


def rows(result):
    for name, figures in result["workloads"].items():
        delivered, unlimited = figures["delivered"], figures["unlimited"]
        counted, modelled = parts(result, figures)
        each = [unlimited[share] * unlimited["guest"] / unlimited["marked"] for share in ("sampling_share", "flushing_share")]
        yield (name, f"{delivered['guest'] / 1e6:,.0f}", f"{figures['off']['sampling']:,}", f"{delivered['faults']:,}",
               f"{clock_share(delivered) * GUEST_SECOND:,.0f}", percent(counted), percent(delivered["disagreement"], 0),
               verdict(counted <= AIM), f"{unlimited['marked']:,}", f"{unlimited['faults']:,}", *(f"{value:,.0f}" for value in each), percent(modelled),
               verdict(modelled <= AIM))


WHEN = {"without carrefourd": "without", "with it, beside a guest at rest": "rest", "beside one that works on 256 MiB": "work"}
AT_MOST = f"at most {percent(AIM, 0)}"
KINDS = (("as delivered, here (counted)", "#3b6ea5"), ("on AMD48, with dom0's (modelled)", "#e0c080"))
HEAD = ("", "million instructions of the guest", "off: instructions", "as delivered: samples", "instructions a second",
        "of the guest's (counted)", "runs differ by", AT_MOST, "without a budget: entries", "samples", "instructions an entry: for sampling", "flushes",
        "on AMD48, with dom0's (modelled)", AT_MOST)


def page(result):
    dom0, settings = result["dom0"], result["settings"]
    worst = [max(values) for values in zip(*(parts(result, figures) for figures in result["workloads"].values()))]
    spent = [(what, *(f"{dom0[key][mode] / 1e6:,.1f}" for mode in ("user", "kernel", "xen"))) for what, key in WHEN.items()]
    return PAGE.read_text().format(
        entries=settings["sample_entries"], ms=settings["sample_ms"], budget=f"{int(settings['sample_permille']) / 10:g}",
        most=f"{most_entries(settings):,.0f}", repeat=result["repeat"], periods=result["periods"]["delivered"],
        periods_unlimited=result["periods"]["unlimited"], aim=percent(AIM, 0),
        counted=percent(worst[0]), modelled=percent(worst[1]), here=verdict(worst[0] <= AIM), there=verdict(worst[1] <= AIM),
        workloads="\n".join(table(HEAD, list(rows(result)))),
        dom0="\n".join(table(("", "programs", "kernel", "Xen on its CPU"), spent)),
        seconds=dom0["seconds"], more=f"{dom0_second(dom0, 'rest') / 1e6:,.2f}", each=f"{dom0_sample(dom0):,.0f}", dom0_share=percent(dom0_share(result)),
        **{what: f"{dom0[what]:,}" for what in ("samples", "moves")}, **result["versions"])


def plot(result, path):
    names = list(result["workloads"])
    both = [parts(result, figures) for figures in result["workloads"].values()]
    figure, axes = begin_plot("carrefour-cost", figsize=(8.5, 1.4 + 0.4 * len(names)))
    for number, (label, colour) in enumerate(KINDS):
        places = [index + (number - 0.5) * 0.36 for index in range(len(names))]
        bars = axes.barh(places, [100 * values[number] for values in both], 0.34, color=colour, label=label)
        axes.bar_label(bars, [percent(values[number]) for values in both], padding=4, fontsize=8)
    axes.axvline(100 * AIM, color="#c0392b", linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("percent of the guest's instructions; the line is the aim")
    end_plot(figure, axes, path)


def write(result, directory):
    return write_results("carrefour-cost", result, page, plot, directory)
