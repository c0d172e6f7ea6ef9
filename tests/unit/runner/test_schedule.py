# SPDX-License-Identifier: GPL-2.0-only
"""The scheduler, with workers that only pretend: what each is told to run, when, and beside what."""

import random
import time

import pytest

from runner.schedule import EARLY, HEAVY, MODEST, Schedule, unit_name


class Worker:
    def __init__(self):
        self.told, self.shutting_down = [], False

    def send_runtest_some(self, indices):
        assert not self.shutting_down
        self.told += indices

    def shutdown(self):
        self.shutting_down = True


class Config:
    def __init__(self, workers):
        self.workers = workers

    def getvalue(self, name):
        assert name == "tx"
        return ["popen"] * self.workers


def start(tests, workers=2):
    """tests: {test id with its unit: seconds}"""
    schedule = Schedule(Config(workers), None, lambda test, unit: next(s for name, s in tests.items() if name.split("@")[0] == test))
    nodes = [Worker() for _ in range(workers)]
    for node in nodes:
        schedule.add_node(node)
        schedule.add_node_collection(node, list(tests))
    schedule.schedule()
    return schedule, nodes


def play(tests, workers=2):
    """Runs all in pretended time: [(begin, end, worker, test id)].  A worker runs a test when it knows the one after it, or that none is."""
    schedule, nodes = start(tests, workers)
    names, now, running, begun, log = list(tests), 0, {}, {node: 0 for node in nodes}, []
    while not schedule.tests_finished or running or schedule.has_pending:
        for number, node in enumerate(nodes):
            left = len(node.told) - begun[node]
            if node not in running and left and (left > 1 or node.shutting_down):
                test = node.told[begun[node]]
                begun[node] += 1
                running[node] = (now + tests[names[test]], test)
                log.append((now, now + tests[names[test]], number, names[test]))
        assert running, f"nobody runs anything: {schedule.pending}"
        node = min(running, key=lambda node: running[node][0])
        now, test = running.pop(node)
        schedule.mark_test_complete(node, test)
    assert sorted(name for *_, name in log) == sorted(names)
    return log


def beside_heavy(log):
    heavy = [(begin, end, worker) for begin, end, worker, name in log if "@heavy!" in name]
    return [b for a in heavy for b in log if a[2] != b[2] and a[0] < b[1] and b[0] < a[1]]


def disturb_heavy(log):
    return [entry for entry in beside_heavy(log) if "@modest!" not in entry[3]]


def name(number, machine=None, file="test_a.py", *kinds):
    return f"tests/{file}::test_{number}@{unit_name(machine, file, *kinds)}"


def test_nothing_disturbs_a_busy_machine():
    seed = int(time.time())
    print(f"seed {seed}")
    chance = random.Random(seed)
    beside = []
    for _ in range(200):
        tests = {name(number, chance.choice([None, ("n4", "debug", ""), ("n8", "release", "")]), f"test_{chance.randrange(5)}.py",
                      *chance.choice([[HEAVY], [HEAVY], [MODEST], [MODEST, EARLY], []])): chance.uniform(0.1, 30)
                 for number in range(chance.randrange(3, 40))}
        for workers in (1, 2, 3):
            log = play(tests, workers)
            assert not disturb_heavy(log)
            beside += beside_heavy(log)
    assert len(beside) > 100


def test_what_steps_back_is_run_beside_a_busy_machine():
    tests = {name(number, file=f"test_{number}.py"): 1 for number in range(3)}
    tests |= {name(number, ("n4", "debug", ""), "test_h.py", HEAVY): 2.5 for number in (3, 4)}
    tests |= {name(number, None, f"test_{number % 2}m.py", MODEST): 1 for number in range(5, 12)}
    log = play(tests)
    assert len(beside_heavy(log)) > 3 and all("@modest!" in entry[3] for entry in beside_heavy(log))
    assert min(begin for begin, _, _, test in log if "@modest!" not in test and "@heavy!" not in test) >= 5


def test_the_longest_begins_first_and_none_is_left_to_the_end():
    tests = {name(1, file="test_short.py"): 1, name(2, ("n8", "debug", "")): 10, name(3, file="test_long.py"): 20,
             name(4, ("n4", "debug", ""), "test_h.py", HEAVY): 25, name(5, ("n4", "debug", ""), "test_i.py", HEAVY): 5}
    log = play(tests)
    assert [entry[3] for entry in log if entry[2] == 0][0] == name(4, ("n4", "debug", ""), "test_h.py", HEAVY)
    assert [entry[3] for entry in log if entry[2] == 1][0] == name(2, ("n8", "debug", ""))
    assert max(end for _, end, _, _ in log) <= 30 + 21


def test_what_may_take_long_begins_first_of_what_is_not_heavy():
    tests = {name(1, file="test_long.py"): 20, name(2, ("n8", "debug", "")): 10, name(3, None, "test_b.py", EARLY): 1,
             name(4, ("n4", "debug", ""), "test_h.py", HEAVY): 5}
    log = sorted(play(tests))
    assert log[0][3] == name(4, ("n4", "debug", ""), "test_h.py", HEAVY)
    assert log[1][3] == name(3, None, "test_b.py", EARLY)


def test_tests_of_a_unit_stay_together_and_in_order():
    tests = {name(number, ("n8", "debug", ""), f"test_{number % 2}.py"): 1 for number in range(6)} | {name(9, file="test_x.py"): 1}
    log = play(tests)
    of_machine = [(entry[2], entry[3]) for entry in sorted(log) if "n8" in entry[3]]
    assert len({worker for worker, _ in of_machine}) == 1
    assert [test for _, test in of_machine] == [test for test in tests if "n8" in test]


def test_what_a_dead_worker_has_left_is_run_by_its_successor():
    tests = {name(number, file="test_a.py"): 1 for number in range(4)} | {name(9, file="test_x.py"): 1}
    schedule, (dead, other) = start(tests)
    schedule.mark_test_complete(dead, dead.told[0])
    assert schedule.remove_node(dead) == list(tests)[dead.told[1]]
    assert schedule.queue and not schedule.tests_finished
    heir = Worker()
    schedule.add_node(heir)
    schedule.add_node_collection(heir, list(tests))
    schedule.schedule()
    assert heir.told == dead.told[2:] and heir.shutting_down
    for node in (heir, other):
        for test in node.told:
            schedule.mark_test_complete(node, test)
    assert schedule.tests_finished and not schedule.has_pending


def test_workers_that_found_different_tests():
    schedule = Schedule(Config(2), None, lambda test, unit: 1)
    for tests in (["a::b@u"], ["a::c@u"]):
        node = Worker()
        schedule.add_node(node)
        schedule.add_node_collection(node, tests)
    with pytest.raises(RuntimeError, match="different tests"):
        schedule.schedule()
