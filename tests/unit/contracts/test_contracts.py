# SPDX-License-Identifier: GPL-2.0-only
"""Each stand-in for Xen or Linux is in a list, with the contract that it keeps; and the real one is what it was compared with."""

import re
import shutil

import pytest

import contracts
import ctests
import tags

TREES = ctests.ROOT / "build" / "trees"


@pytest.fixture(scope="module", autouse=True)
def trees():
    for name in ("xen", "linux"):
        ctests.tree(name)
    return TREES


@pytest.mark.parametrize("directory", contracts.WHERE)
def test_each_stand_in_is_listed_and_like_the_real_one(directory):
    contracts.compare(directory, TREES)


@pytest.mark.parametrize("directory", contracts.WHERE)
def test_what_was_compared_is_what_is_there(directory):
    lines = list(contracts.changed(TREES, directories=(directory,)))
    assert not lines, "\n".join(lines)


def test_seen_has_no_other():
    listed = {(directory, name) for directory in contracts.WHERE for name in contracts.contracts(directory)}
    assert contracts.seen().keys() == listed


def unlike(place=contracts.HERE, unit=contracts.UNIT, trees=TREES, directory="guest-module"):
    with pytest.raises(contracts.Unlike) as found:
        contracts.compare(directory, trees, unit, place)
    return str(found.value)


def changed_list(tmp_path, old, new):
    shutil.copytree(contracts.HERE, tmp_path / "list", ignore=shutil.ignore_patterns("__pycache__"))
    ctests.plant(tmp_path / "list/guest-module.toml", old, new)
    return tmp_path / "list"


def changed_harness(tmp_path, old, new):
    shutil.copytree(contracts.UNIT / "guest-module", tmp_path / "unit/guest-module")
    ctests.plant(tmp_path / "unit/guest-module/include/harness.h", old, new)
    return tmp_path / "unit"


def test_one_that_nobody_listed(tmp_path):
    unit = changed_harness(tmp_path, "extern unsigned int looked",
                           "#define list_empty(head) ((head)->next == (head))\nextern unsigned int looked")
    assert "list_empty stands for one of include/linux/list.h" in unlike(unit=unit)


def test_one_of_a_test_that_nobody_listed(tmp_path):
    unit = changed_harness(tmp_path, "", "")
    ctests.plant(unit / "guest-module/test-forget.c", "int main(void)",
                 "int __cond_resched(void)\n{\n\treturn 0;\n}\n\nint main(void)")
    assert "__cond_resched stands for one of include/linux/sched.h" in unlike(unit=unit)


def test_one_in_the_list_that_is_none(tmp_path):
    assert "list_move is no stand-in" in unlike(place=changed_list(tmp_path, '"list_add"', '"list_add", "list_move"'))


def test_one_that_is_not_where_the_list_says(tmp_path):
    assert "cond_resched is not in include/linux/list.h" in unlike(place=changed_list(tmp_path, 'file = "include/linux/sched.h"',
                                                                                      'file = "include/linux/list.h"'))


def test_a_contract_that_says_nothing(tmp_path):
    assert "has names, file, keeps" in unlike(place=changed_list(tmp_path, "keeps = \"others run", "promises = \"others run"))


def test_one_with_another_signature(tmp_path):
    unit = changed_harness(tmp_path, "list_add(struct list_head *entry, struct list_head *head)",
                           "list_add(struct list_head *entry, void *head)")
    assert re.search(r"list_add is void \(struct list_head \* entry,void \* head\), the real one void", unlike(unit=unit))


def changed_tree(tmp_path, file, old, new):
    """As much of Linux as the list names."""
    listed = {f for c in contracts.contracts("guest-module").values() for f in c.file}
    for name in sorted({*contracts.WHERE["guest-module"][1], *listed}):
        to = tmp_path / "trees/linux" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREES / "linux" / name, to)
    ctests.plant(tmp_path / "trees/linux" / file, old, new)
    return tmp_path / "trees"


@pytest.mark.parametrize("old, new, seen", [
    ("\tnew->next = next;\n", "\tnew->next = next->next;\n", True),
    ("\tnew->next = next;\n", "\t/* another\n\t * word */\n\tnew->next =\n\t\tnext;\n", False),
])
def test_a_real_one_that_changes_is_named(tmp_path, old, new, seen):
    """list_add() rests on __list_add(); words about it do not count."""
    trees = changed_tree(tmp_path, "include/linux/list.h", old, new)
    lines = list(contracts.changed(trees, directories=("guest-module",)))
    assert [line.split()[1] for line in lines] == ["list_add"] * seen
    assert all("contracts.py seen list_add" in line for line in lines)


def test_a_real_one_that_gets_another_parameter(tmp_path):
    trees = changed_tree(tmp_path, "include/linux/list.h", "void list_add(struct list_head *new, struct list_head *head)",
                         "void list_add(struct list_head *new, struct list_head *head, bool last)")
    assert "list_add is void" in unlike(trees=trees)


def test_a_file_that_is_gone(tmp_path):
    trees = changed_tree(tmp_path, "include/linux/list.h", "", "")
    (trees / "linux/include/linux/list.h").unlink()
    assert unlike(trees=trees) == "guest-module.toml: linux has no include/linux/list.h"


@pytest.mark.parametrize("params, types", [
    ("(void)", []),
    ("(struct domain * d,unsigned int order)", ["struct domain *", "unsigned int"]),
    ("(const mfn_t * mfn,unsigned nr)", ["const mfn_t *", "unsigned int"]),
    ("(uint64_t counts[],unsigned long)", ["uint64_t *", "unsigned long"]),
    ("(void (* fn)(void * data),bool)", ["void(*)(void *)", "bool"]),
    ("(int (* cf_check f)(struct domain *),...)", ["int(*)(struct domain *)", "..."]),
])
def test_types_without_names(params, types):
    assert tags.signature(params) == types
