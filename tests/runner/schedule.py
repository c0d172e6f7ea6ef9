# SPDX-License-Identifier: GPL-2.0-only
"""Which worker runs what next: the longest first, and beside a machine whose guests are busy only what steps back behind it.

Such a machine has work for all cores of the host: four emulated CPUs, of which each waits for the others.  Beside the other worker the
tests of first-touch took 19 minutes and one did not end; alone, with that one made shorter, all of them took 4.

A unit is what stays together in one worker, in its order: the tests of one machine, or those of one file that need none.  Its
name is behind the `@` of a test's id, where xdist keeps it.  Units of one machine follow each other, which saves boots.
"""

from dataclasses import dataclass, field

# first words of the name of a unit
HEAVY = "heavy"     # its guests keep several emulated CPUs at work
MODEST = "modest"   # it runs when nobody else wants the host's CPUs: see modest.py
EARLY = "early"     # it takes seconds or half an hour, by what has changed
KINDS = HEAVY, MODEST, EARLY


def unit_name(machine, file, *kinds):
    """Machine: words, or nothing.  Heavy units are divided by file, so that none is too long to come last."""
    words = [kind for kind in KINDS if kind in kinds] + list(machine or ())
    return "!".join(words + ([file] if HEAVY in kinds or not machine else [])).replace("@", "-")


@dataclass
class Unit:
    name: str
    tests: list = field(default_factory=list)       # indices of the collection
    seconds: float = 0

    heavy = property(lambda self: HEAVY in self.name.split("!"))
    modest = property(lambda self: MODEST in self.name.split("!"))
    early = property(lambda self: EARLY in self.name.split("!"))

    @property
    def machine(self):
        """What two units have to have in common to share a boot."""
        return tuple(word for word in self.name.split("!") if word not in KINDS and ".py" not in word)


def in_order(units):
    """Longest machine first, of it the longest unit first; before them what nobody knows the length of."""
    of_machine = {}
    for unit in units:
        of_machine[unit.machine, unit.heavy] = of_machine.get((unit.machine, unit.heavy), 0) + unit.seconds
    # tests without a machine share nothing: each counts alone
    return sorted(units, key=lambda unit: (not unit.early, -(of_machine[unit.machine, unit.heavy] if unit.machine else unit.seconds),
                                           unit.machine, -unit.seconds, unit.name))


class Schedule:
    """What pytest-xdist asks of a scheduler.  seconds_of(test id, unit) is how long a test is known, or thought, to take.

    A worker begins a test only when it knows the one after it, or that there is none.  So it is given more when it has one left.
    """

    def __init__(self, config, log, seconds_of):
        self.numnodes = len(config.getvalue("tx") or [])
        self.seconds_of = seconds_of
        self.log = log
        self.collection = None
        self.collected = {}         # worker -> its collection
        self.pending = {}           # worker -> [(index, unit)], the first of which it runs
        self.queue = []             # units that no worker has

    nodes = property(lambda self: list(self.pending))
    collection_is_completed = property(lambda self: len(self.collected) >= self.numnodes)
    has_pending = property(lambda self: bool(self.queue or any(self.pending.values())))

    @property
    def tests_finished(self):
        return self.collection_is_completed and not self.queue and all(len(pending) < 2 for pending in self.pending.values())

    def add_node(self, node):
        self.pending[node] = []

    def add_node_collection(self, node, collection):
        self.collected[node] = list(collection)

    def schedule(self):
        if self.collection is None:
            self.collection = next(iter(self.collected.values()))
            if any(other != self.collection for other in self.collected.values()):
                raise RuntimeError("workers found different tests")
            self.queue = in_order(self._units(range(len(self.collection))))
        self._feed()

    def _units(self, indices, name=None):
        units = {}
        for index in indices:
            test, _, unit = self.collection[index].rpartition("@")
            unit = units.setdefault(name or unit, Unit(name or unit))
            unit.tests.append(index)
            unit.seconds += self.seconds_of(test, unit)
        return list(units.values())

    def mark_test_complete(self, node, item_index, duration=0):
        self.pending[node] = [one for one in self.pending[node] if one[0] != item_index]
        self._feed()

    def mark_test_pending(self, item):
        """A test that took its worker with it is not tried again: it would do so again."""

    def remove_pending_tests_from_node(self, node, indices):
        """Nobody asks for that but with --dist worksteal."""
        raise NotImplementedError

    def remove_node(self, node):
        """The test that a worker died of, if one; what it had not begun goes to others."""
        died_of, *left = self.pending.pop(node) or [None]
        if left:
            self.queue = self._units([index for index, _ in left]) + self.queue
        self._feed()
        return self.collection[died_of[0]] if died_of else None

    def _next_for(self, node):
        """Heavy first, if no other worker has anything that would disturb it; nothing that would, if another one has any; else the first."""
        beside = [unit for other, pending in self.pending.items() if other is not node for _, unit in pending]
        may = [unit for unit in self.queue if unit.modest or not any(other.heavy for other in beside)
               and not (unit.heavy and not all(other.modest for other in beside))]
        return next((unit for unit in may if unit.heavy), may[0] if may else None)

    def _feed(self):
        """Who has less is given first: a unit that waits behind another one cannot be given back."""
        hungry = True
        while hungry:
            hungry = False
            for node in sorted(self.pending, key=lambda node: len(self.pending[node])):
                unit = self._next_for(node) if len(self.pending[node]) < 2 and not node.shutting_down else None
                if unit:
                    self.queue.remove(unit)
                    self.pending[node] += [(index, unit) for index in unit.tests]
                    node.send_runtest_some(unit.tests)
                    hungry = True
                    break
        # a worker may die before anybody knows what there is to run
        if self.collection is not None and not self.queue:
            for node in self.pending:
                if not node.shutting_down:
                    node.shutdown()
