# SPDX-License-Identifier: GPL-2.0-only
"""The guest's queue of page events in user space; and proof that these tests notice when it, or a hook, is wrong."""

import os
import re
from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
XEN = "drivers/xen"
# of cmocka, or of KUnit as test-queue.c runs it
COUNT = rf"{ctests.CMOCKA}|^[1-9]\d* tests, 0 failed"
PROGRAMS = ("test-queue", "test-crowded", "test-roomy")

# What is broken (file, from, to), and the program that has to see it.
MUTANTS = {
    "nobody waits for Xen": ("queue.c", "if (wait) {", "if (false) {", "test-crowded"),
    "taken back from the batch Xen has": ("queue.c", "if (n == q->busy) {", "if (false) {", "test-crowded"),
    "not taken back": ("queue.c", "b->event[b->nr++] = event_of(pfn, order);", ";", "test-crowded"),
    "taken back without room": ("queue.c", "discard(q, b);\n\t\t}\n\t}", "}\n\t}", "test-crowded"),
    "taken back from one batch alone": ("queue.c", "pending &= pending - 1", "pending = 0", "test-crowded"),
    "a nonsense mark": ("queue.c", "|| n > q->filling)", ")", "test-queue"),
    "done before Xen is": ("queue.c", "q->busy = number;\n", "q->busy = number; smp_store_release(&q->done, number);\n", "test-crowded"),
    "interrupts on while Xen is told": ("queue.c", "spin_lock_irqsave(&q->told, flags);\n\tspin_lock(&q->lock);\n\tnumber",
                                        "flags = 0; spin_lock(&q->told);\n\tspin_lock(&q->lock);\n\tnumber", "test-crowded"),
    "a batch is used too soon": ("queue.c", "q->done >= PEQ_BATCHES)", "q->done > PEQ_BATCHES)", "test-crowded"),
    "a batch without bounds": ("queue.c", "b->nr >= PEQ_EVENTS - PEQ_RESERVE ||", "", "test-crowded"),
    "too many pages": ("queue.c", "|| b->pages >= PEQ_PAGES", "", "test-queue"),
    "a batch stays open": ("queue.c", "start_batch(q, number + 1);\n\t}\n\t/*", "}\n\t/*", "test-roomy"),
    "open when closed": ("queue.c", "q->open = false;", "", "test-crowded"),
    "closed with events in it": ("queue.c", "discard(q, batch_of(q, number));\n\tq->busy = q->filling;\n\t/* pairs with peq_pending() */\n"
                                 "\tsmp_store_release(&q->done, q->filling);\n\tstart_batch(q, q->filling + 1);", ";", "test-crowded"),
    "no kick for the first": ("queue.c", "if (now || first)", "if (now)", "test-roomy"),
    "no kick for a batch that is worth it": ("queue.c", "now |= b->pages", "now |= false && b->pages", "test-queue"),
    "neighbours that are no buddies": ("queue.c", "(event ^ BIT_ULL(order))", "(event - BIT_ULL(order))", "test-queue"),
    "a block above the largest": ("queue.c", "b->nr && order < MAX_PAGE_ORDER &&", "b->nr &&", "test-queue"),
    "allocated taken for released": ("queue.c", "b->event[b->nr - 1] == (event ^ BIT_ULL(order))",
                                     "(b->event[b->nr - 1] | XENMEM_PAGE_EVENT_RELEASED) == (event ^ BIT_ULL(order))", "test-crowded"),
    "an error counts as told": ("queue.c", "if (rc) {\n\t\tdiscard(q, b);", "if (rc) {\n\t\tq->stats.told += b->pages;", "test-queue"),
    "the older mark is lost": ("queue.h", "newer |=", "older |=", "test-crowded"),
    "the older mark is moved wrong": ("queue.h", "<< behind)", "<< (behind & 3))", "test-queue"),
    "pending one batch short": ("queue.h", "number <= done)", "number <= done + 1)", "test-crowded"),
    "pending for ever": ("queue.h", "if (likely(number <= done))\n\t\treturn 0;\n\treturn mark & PEQ_MARK_MASK &\n"
                         "\t       (BIT(min(number - done, (unsigned long)PEQ_BATCHES)) - 1);", "return mark & PEQ_MARK_MASK & ~(done & 0);", "test-roomy"),
}

# A hook or a hint that is missing, too early or forgotten, or the partition of the paper, which knows pages of one size only.
WITHOUT = ["PARTITION_BY_LOWEST_BITS", "WITHOUT_SPLIT", "WITHOUT_MERGED", "WITHOUT_CAPTURE", "WITHOUT_CLEARING", "WITHOUT_FORGETTING",
           "WITHOUT_HINT", "HINT_TOO_EARLY", "WITHOUT_OVER"]

# Chance may hide a mistake, so it is left out where one has to be seen: the same rounds each time.
SAME_ROUNDS = {"SEED": os.environ.get("SEED", "1"), "ROUNDS": "200"}
@pytest.fixture(scope="module")
def tree():
    return ctests.tree("linux")


@pytest.fixture(scope="module")
def built(tree, tmp_path_factory):
    out = tmp_path_factory.mktemp("guest-queue")
    ctests.build(HERE, out, *PROGRAMS, flags=[f"LINUX={tree}"])
    return out


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_queue(built, program):
    ctests.check_passed(ctests.run(built / program), COUNT)


def test_a_seed_replays(built):
    one, two, other = (ctests.run(built / "test-crowded", SEED=seed).stdout for seed in ("17", "17", "18"))
    assert "SEED=17" in one and one == two != other.replace("SEED=18", "SEED=17")


def test_memory_order(tree, tmp_path):
    """The same without an order, on real CPUs, for ThreadSanitizer."""
    ctests.build(HERE, tmp_path, "test-crowded", flags=[f"LINUX={tree}", "HOW=thread"])
    ctests.check_passed(ctests.run(tmp_path / "test-crowded", ROUNDS="300"))


def seen(tree, built, place, file, old, new, program):
    linux = ctests.planted(tree, f"{XEN}/numa-policy-{file}", old, new, place / "linux")
    broken = ctests.rebuild(HERE, built, place / "out", program, flags=[f"LINUX={linux}"]) / program
    return ctests.run(broken, **SAME_ROUNDS).returncode != 0


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(tree, built, tmp_path, name):
    assert seen(tree, built, tmp_path, *MUTANTS[name]), f"nobody saw: {name}"


def hook_missed(tree, built, place, define):
    guest = ctests.planted(HERE, "guest.c", "", define, place / "guest-queue")
    broken = ctests.rebuild(guest, built, place / "out", "test-crowded", flags=[f"LINUX={tree}"]) / "test-crowded"
    return ctests.run(broken, **SAME_ROUNDS).returncode != 0


@pytest.mark.parametrize("what", WITHOUT)
def test_a_missing_hook_is_seen(tree, built, tmp_path, what):
    assert hook_missed(tree, built, tmp_path, f"#define {what}\n"), f"nobody saw: {what}"


def test_without_a_mistake_nothing_is_seen(tree, built, tmp_path):
    for program in ("test-queue", "test-roomy"):
        place = tmp_path / program
        place.mkdir()
        assert not seen(tree, built, place, "queue.h", "", "", program)
    assert not hook_missed(tree, built, tmp_path, "")


def test_the_sanitizer_sees_the_stacks_of_cpus(tree, built, tmp_path):
    guest = ctests.planted(HERE, "guest.c", "bool seen[NR_PAGES]", "bool seen[8]", tmp_path / "guest-queue")
    done = ctests.run(ctests.rebuild(guest, built, tmp_path / "out", "test-crowded", flags=[f"LINUX={tree}"]) / "test-crowded", SEED="1")
    assert done.returncode and re.search(r"SUMMARY: AddressSanitizer: stack-buffer-overflow .* in tell$", done.stderr, re.M), done.stderr
