# SPDX-License-Identifier: GPL-2.0-only
"""Xen with carrefourd in dom0, which moves pages of the measured guest while it works."""

import re

from places import ROOT     # makes harness importable

from harness import carrefour, guests

from .machines import CLOCK_SLOWED, MeasureError, XenHost
CONFIGURATION = ROOT / "carrefour-user" / "config" / "carrefour.conf"


def delivered_settings():
    """carrefourd's settings as its configuration explains them, but what belongs to the host: metrics and user."""
    found = dict(re.findall(r"^# (\w+) = (\S+)$", CONFIGURATION.read_text(), re.M))
    return {key: value for key, value in found.items() if key not in ("metrics", "user")}


def hastened(settings):
    """By the slow clock as by the host's: as much work of the guest in each of these times, as much memory moved for it."""
    faster = {name: int(value) // CLOCK_SLOWED for name, value in settings.items() if name.endswith("_ms")}
    more = {name: int(value) * CLOCK_SLOWED for name, value in settings.items() if name.endswith("_per_s")}
    return settings | faster | more


# A workload is at work for some seconds here, a real one for so many minutes: auto may make up its mind sooner, but not within a run.
# At a quarter of the times a phase of hpcc-fft was taken for all of it; at all of them pattern-master took more than 20 runs.
AUTO_SOONER = 2


def sooner(settings):
    return settings | {name: int(value) // AUTO_SOONER for name, value in settings.items()
                       if name.startswith("auto_") and name.endswith("_ms")}


# Of the boot tests, else those that are delivered; by the host's clock, as no guest here does in a second what a real one does.
# Little is logged: a bench is long, and dom0's files are in memory.
SETTINGS = sooner(hastened(delivered_settings() | carrefour.SETTINGS)) | {"log_decisions": 16}

# Of a workload for one job: until auto's choice is looked at, which takes a dwell time of work to change; and in which it has to
# come to rest, else the last run counts all the same.
RUNS_AT_ONCE, RUNS_MAX = 3, 24


class CarrefourHost(XenHost):
    """A guest for each job: the daemon remembers what it has seen of a guest, and its pages stay where they were moved."""
    settings = SETTINGS

    def __init__(self, subject):
        super().__init__(subject)
        self.daemon = None

    @property
    def at_once(self):
        return RUNS_AT_ONCE if self.subject.learns else 1

    def boot(self):
        super().boot()
        self.daemon = carrefour.Daemon(self, **self.settings)
        return self

    def finish(self):
        self.daemon.stop()
        super().finish()

    def measure_alone(self, job):
        if self.guest:
            guests.destroy(self, self.guest)
            self.guest = None
        return super().measure_alone(job)

    def choice(self, name):
        """The class of a guest, and whether its memory is where that class wants it."""
        shown = self.daemon.show(name)
        return shown and shown["advice"] and (shown["advice"]["class"], shown["state"] != "following")

    def is_enough(self, runs, before, after):
        """Who chooses by what it has seen has seen enough of the workload, and does not change its mind any more."""
        if not self.subject.learns or runs == RUNS_MAX:
            return True
        return runs > self.at_once and bool(after) and before == after and after[0] != "unknown" and after[1]

    def placement(self, name):
        """And what carrefourd has done to it, which also shows that it was at work."""
        shown = self.daemon.show(name)
        if not shown or shown["sampling"] != "runs" or not shown["totals"]["samples"]:
            raise MeasureError(f"carrefourd was to see what the guest does, and says {shown}")
        totals = {what: shown["totals"][what] for what in ("periods", "samples", "moves", "frozen", "backoffs")}
        return {**super().placement(name), "policy": shown["policy"], "carrefour": shown["carrefour"],
                "class": shown["advice"] and shown["advice"]["class"], **totals}
