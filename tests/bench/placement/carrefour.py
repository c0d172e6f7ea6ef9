"""Xen with carrefourd in dom0, which moves pages of the measured guest while it works."""

import places               # noqa: F401  makes harness importable

from harness import carrefour, guests

from .machines import MeasureError, XenHost

# Of the boot tests, and: little is logged, as a bench is long and dom0's files are in memory. auto's settings are those that are
# delivered: in less than its half a minute, a phase of a program is taken for the program.
SETTINGS = carrefour.SETTINGS | {"log_decisions": 16}

# of a workload for one job, in which auto has to come to rest; else the last one counts all the same
RUNS_MAX = 6


class CarrefourHost(XenHost):
    """A guest for each job: the daemon remembers what it has seen of a guest, and its pages stay where they were moved."""
    settings = SETTINGS

    def __init__(self, subject):
        super().__init__(subject)
        self.daemon = None

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
        return runs > 1 and bool(after) and before == after and after[0] != "unknown" and after[1]

    def placement(self, name):
        """And what carrefourd has done to it, which also shows that it was at work."""
        shown = self.daemon.show(name)
        if not shown or shown["sampling"] != "runs" or not shown["totals"]["samples"]:
            raise MeasureError(f"carrefourd was to see what the guest does, and says {shown}")
        totals = {what: shown["totals"][what] for what in ("periods", "samples", "moves", "frozen", "backoffs")}
        return {**super().placement(name), "policy": shown["policy"], "carrefour": shown["carrefour"],
                "class": shown["advice"] and shown["advice"]["class"], **totals}
