# SPDX-License-Identifier: GPL-2.0-only
"""Free page reporting of the Linux series and the driver on top of it, in user space; and proof that these tests notice mistakes."""

import os
import re
from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
PROGRAMS = ("test-reporting", "test-lists", "test-taken")
REPORTING, HEADER, TAKEN, DRIVER = "mm/page_reporting.c", "mm/page_reporting.h", "mm/page_taken.h", "drivers/xen/numa-policy.c"

# What is broken (file, from, to), and the program that has to see it.
MUTANTS = {
    "Xen is told of what is in the free lists": (REPORTING, "if (!__isolate_free_page(page, order)) {", "if (false) {", "test-reporting"),
    "Xen is told with the lock held": (
        REPORTING, "		/* release lock before waiting on report processing */\n		spin_unlock_irq(&zone->lock);\n", "", "test-reporting"),
    "put back before Xen is done": (
        REPORTING, "	sgl += *offset;\n	err = prdev->report(prdev, sgl, nents);\n\n	spin_lock_irq(&zone->lock);\n"
        "	page_reporting_drain(prdev, sgl, nents, !err);\n	spin_unlock_irq(&zone->lock);\n",
        "	sgl += *offset;\n	struct scatterlist sent[128];\n	memcpy(sent, sgl, sizeof(*sgl) * nents);\n	spin_lock_irq(&zone->lock);\n"
        "	page_reporting_drain(prdev, sgl, nents, true);\n	spin_unlock_irq(&zone->lock);\n	err = prdev->report(prdev, sent, nents);\n",
        "test-reporting"),
    "not put back after an error": (
        REPORTING, "	page_reporting_drain(prdev, sgl, nents, !err);", "	if (!err)\n		page_reporting_drain(prdev, sgl, nents, !err);",
        "test-reporting"),
    "reported after an error": (REPORTING, "page_reporting_drain(prdev, sgl, nents, !err);", "page_reporting_drain(prdev, sgl, nents, true);",
                                "test-lists"),
    "a merged block counts as reported": (REPORTING, "if (PageBuddy(page) && buddy_order(page) == order)", "while (!PageBuddy(page)) page--;\n",
                                          "test-reporting"),
    "the rest is forgotten": (REPORTING, "	if (offset != prdev->capacity)\n		err = page_reporting_flush(prdev, zone, sgl, &offset);\n", "",
                              "test-reporting"),
    "a request during a pass is lost": (REPORTING, "	state = atomic_cmpxchg(&prdev->state, state, PAGE_REPORTING_IDLE);",
                                        "	atomic_set(&prdev->state, PAGE_REPORTING_IDLE);", "test-reporting"),
    "a timer is started by whoever frees": (
        REPORTING, "	irq_work_queue(&prdev->kick);", "	queue_delayed_work(system_freezable_wq, &prdev->work, 1);", "test-reporting"),
    "kicked after the end": (REPORTING, "		irq_work_sync(&prdev->kick);\n", "", "test-lists"),
    "others wait for a whole pass": (REPORTING, "	cond_resched();\n\n	/* reset", "\n	/* reset", "test-lists"),
    "work goes on after the end": (REPORTING, "		cancel_delayed_work_sync(&prdev->work);\n", "", "test-lists"),
    "a report is as large as memory": (REPORTING, "if (*offset && prdev->isolated < prdev->pages) {", "if (*offset) {", "test-lists"),
    "pages in a report are not counted anew": (REPORTING, "	prdev->isolated = 0;\n\n	return err;", "	return err;", "test-lists"),
    "the lock is never left": (REPORTING, "if (++skipped % PAGE_REPORTING_LOOK ||", "if (true ||", "test-lists"),
    "a list is begun anew": (REPORTING, "			list_rotate_to_front(&next->lru, list);\n			spin_unlock_irq", "			spin_unlock_irq",
                             "test-lists"),
    "a list has no end": (REPORTING, "			if (skipped >= most)\n				break;\n", "", "test-lists"),
    "no rest after skipping": (REPORTING, "			prdev->skipped++;\n", "", "test-lists"),
    "the delay is not the driver's": (REPORTING, "			   prdev->delay + usecs", "			   PAGE_REPORTING_DELAY + usecs", "test-lists"),
    "all is not all": (REPORTING, "	WRITE_ONCE(prdev->forget, true);\n", "", "test-lists"),
    "all is told before it is": (REPORTING, "	flush_delayed_work(&prdev->work);\n", "", "test-lists"),
    "forgetting beside a pass": (REPORTING, "	WRITE_ONCE(prdev->forget, true);\n", "	page_reporting_forget_all();\n", "test-lists"),
    "forgetting holds the lock": (REPORTING, "			if (++n == PAGE_REPORTING_LOOK) {", "			if (++n == 1 << 30) {", "test-lists"),
    "all is fine": (REPORTING, "	WRITE_ONCE(prdev->err, err);\n", "", "test-lists"),
    "a block of another order": (DRIVER, "u64 order = get_order(sg->length);", "u64 order = get_order(sg->length) + 1;", "test-reporting"),
    "the page before": (DRIVER, "events[i] = page_to_pfn(sg_page(sg)) |", "events[i] = (page_to_pfn(sg_page(sg)) - 1) |", "test-reporting"),
    "allocated": (DRIVER, " |\n			    XENMEM_PAGE_EVENT_RELEASED;", ";", "test-reporting"),
    "who suspends waits for all of memory": (DRIVER, " || suspending())", ")", "test-reporting"),
    "a host that is short of memory is told no more": (DRIVER, "return !rc || rc == -ENOMEM;", "return !rc;", "test-reporting"),
    "all is reported once, or never": (DRIVER, "	queue_delayed_work(system_unbound_wq, &retry_work, RETRY_DELAY);\n", "", "test-reporting"),
    "what Xen answers does not matter": (DRIVER, "	return rc;\n}\n\nstatic struct page_reporting", "	return 0;\n}\n\nstatic struct page_reporting",
                                         "test-reporting"),
    "nobody asks for all": (DRIVER, "	WRITE_ONCE(asked, true);\n	look_again();", "	look_again();", "test-reporting"),
    "a part of a divided block is taken": (HEADER, "return max(count, taken - 1 + (1UL << (pageblock_order - order)));",
                                           "return max(count, 1UL << (pageblock_order - order - 1));", "test-taken"),
    "a list that is to stay empty": (HEADER, "if (count == 1 || test_bit", "if (test_bit", "test-taken"),
    "taken when memory is short": (HEADER, "count == 1 || test_bit(ZONE_BELOW_HIGH, &zone->flags)", "count == 1", "test-taken"),
    "what was divided before counts": (HEADER, "if (static_branch_unlikely(&page_reporting_first_touch))\n		zone->divided = false;", ";",
                                       "test-taken"),
    "balancing is disturbed": (TAKEN, " &&\n	       nr_online_nodes == 1;", ";", "test-taken"),
    "others are own": (TAKEN, "pcp->others += 1 << order;", ";", "test-taken"),
    "others are never gone": (TAKEN, "		pcp->others = max(pcp->others - (1 << order), 0);", "		;", "test-taken"),
    "more others than pages": (TAKEN, "	pcp->others = min(pcp->others, pcp->count);\n", "", "test-taken"),
    "fewer than none": (TAKEN, "max(pcp->others - (1 << order), 0)", "pcp->others - (1 << order)", "test-taken"),
    "as many as before": (TAKEN, "? min(high, few) : high", "? high : high", "test-taken"),
}

# Chance may hide a mistake, so it is left out where one has to be seen: the same rounds each time.
SAME_ROUNDS = {"SEED": os.environ.get("SEED", "1"), "ROUNDS": "40", "CMOCKA_TEST_ABORT": "1"}


@pytest.fixture(scope="module")
def tree():
    return ctests.tree("linux")


@pytest.fixture(scope="module")
def built(tree):
    with ctests.steady("guest-reporting") as out:
        ctests.build(HERE, out, *PROGRAMS, flags=[f"LINUX={tree}"])
        yield out


@pytest.mark.parametrize("program", PROGRAMS)
def test_reporting(built, program):
    ctests.check_passed(ctests.run(built / program))


def test_a_seed_replays(built):
    one, two, other = (ctests.run(built / "test-reporting", SEED=seed).stdout for seed in ("17", "17", "18"))
    assert "SEED=17" in one and one == two != other


def seen(tree, place, file, old, new, program):
    linux = ctests.planted(tree, file, old, new, place / "linux")
    out = place / "out"
    # without warnings, as a mistake may make some; and of the sanitizers, the one that costs no time to compile
    ctests.build(HERE, out, program, flags=[f"LINUX={linux}", "EXTRA_CFLAGS=-w -g0 -O0 -fno-sanitize=undefined"])
    return ctests.run(out / program, **SAME_ROUNDS).returncode != 0


# of which one is seen by its never ending
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak) if name == "a list has no end" else name for name in MUTANTS])
def test_a_mistake_is_seen(tree, place, name):
    assert seen(tree, place, *MUTANTS[name]), f"nobody saw: {name}"


@pytest.mark.parametrize("program", PROGRAMS)
def test_without_a_mistake_nothing_is_seen(tree, place, program):
    assert not seen(tree, place, REPORTING, "", "", program)


def test_the_sanitizer_sees_the_stacks_of_cpus(tree, place):
    """The driver's events lie on the stack of a CPU."""
    linux = place / "linux"
    old = "	u64 events[CAPACITY], begin;"
    assert seen(tree, place, DRIVER, old, "	u64 events[1], begin;", "test-reporting")
    done = ctests.run(linux.parent / "out" / "test-reporting", **SAME_ROUNDS)
    assert re.search(r"SUMMARY: AddressSanitizer: stack-buffer-overflow .* in report$", done.stderr, re.M), done.stderr
