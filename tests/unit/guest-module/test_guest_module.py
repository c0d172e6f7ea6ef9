# SPDX-License-Identifier: GPL-2.0-only
"""What of the guest's module goes through Linux's free lists, in user space.

And proof that its test notices when that is wrong.
"""

from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
MODULE = ctests.ROOT / "linux-guest-module"
CODE = "forget-reported.h"

# What is broken: from, to.
MUTANTS = {
    "small blocks are looked at": ("order = page_reporting_order;", "order = 0;"),
    "the largest are not": ("order <= MAX_PAGE_ORDER", "order < MAX_PAGE_ORDER"),
    "all is written to": ("if (PageReported(page))", "if (PageReported(page) || true)"),
    "the lock is never left": ("if (++n == FORGET_AT_ONCE) {", "if (n) {"),
    "a list is not gone through to its end": ("&& left)", "&& false)"),
    "it is begun anew each time": ("list_rotate_to_front(&page->buddy_list, list);", ""),
    "what comes meanwhile is in the way": ("list_for_each_entry_reverse", "list_for_each_entry"),
    "the lock is kept": ("		spin_unlock_irqrestore(&zone->lock, flags);\n", ""),
}


def run(module, out):
    ctests.build(HERE, out, "test-forget", flags=[f"MODULE={module}"])
    return ctests.run(out / "test-forget", CMOCKA_TEST_ABORT="1")


def test_forgetting(tmp_path):
    ctests.check_passed(run(MODULE, tmp_path))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(tmp_path, name):
    module = ctests.planted(MODULE, CODE, *MUTANTS[name], tmp_path / "module")
    assert run(module, tmp_path / "out").returncode != 0, f"nobody saw: {name}"
