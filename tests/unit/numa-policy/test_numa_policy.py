"""Xen's policy code in user space, under sanitizers; and proof that these tests notice when it is wrong."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[2]
TREE = ROOT / "build" / "trees" / "xen"
PROGRAMS = ("test-core", "test-event-list", "test-first-touch", "test-interleave", "test-populate")

# What is broken (file, from, to), and the program that has to see it.
MUTANTS = {
    "ties go to the highest node": ("interleave.c", "credit[i] > credit[best]", "credit[i] >= credit[best]", "test-interleave"),
    "grain ignored": ("interleave.c", ">> il->grain", ">> 0", "test-interleave"),
    "turn one short": ("interleave.c", "% il->nr_slots", "% (il->nr_slots - (il->nr_slots > 2))", "test-interleave"),
    "no memory unnoticed": ("core.c", "if ( !new->state )", "if ( false )", "test-core"),
    "a weight of 0": ("core.c", "!weight[i] ||", "", "test-core"),
    "nodes without memory": ("core.c", "node_online(node) && node_spanned_pages(node)", "node_online(node)", "test-core"),
    "affinity not followed": ("core.c", "if ( !np->follow_affinity ||", "if ( true ||", "test-core"),
    "farthest node": ("core.c", "rank < best_rank", "rank > best_rank || best_rank == UINT_MAX", "test-populate"),
    "single home node divided": ("core.c", "np->home.nr > 1", "np->home.nr", "test-populate"),
    "cursor kept": ("populate.c", "np->cursor.active = more;", "", "test-populate"),
    "cursor shared by CPUs": ("populate.c", "else if ( c->running ||", "else if (", "test-populate"),
    "cursor shared by domains": ("populate.c", "c->caller != caller ||", "", "test-populate"),
    "cursor of another extent": ("populate.c", "!gfn_eq(c->gfn, gfn) ||", "", "test-populate"),
    "cursor of another order": ("populate.c", "!gfn_eq(c->gfn, gfn) ||\n              c->order != order", "!gfn_eq(c->gfn, gfn)", "test-populate"),
    "flush forgotten": ("populate.c", "note_flush(p, mfn_to_page(mfns[i]));", ";", "test-populate"),
    "never at once": ("populate.c", "if ( nr == BLOCK_PAGES && !p->on_touch )", "if ( false )", "test-populate"),
    "left mapped after a failure": ("populate.c", "for ( i--; i--; mfns[i]", "for ( i--; false; mfns[i]", "test-populate"),
    "left allocated after a failure": ("populate.c", "put_page_alloc_ref(mfn_to_page(mfns[i]));", ";", "test-populate"),
    "freed twice after a failure": ("populate.c", "mfns[i] = INVALID_MFN )\n        take_back", "(void)0 )\n        take_back", "test-populate"),
    "superpage before the right node": ("populate.c", "return -EAGAIN;\n\n        node_clear", ";\n\n        node_clear", "test-populate"),
    "block counted twice": ("populate.c", "c->done += BLOCK_PAGES;", "c->done += 2 * BLOCK_PAGES;", "test-populate"),
    "the oldest event wins": ("event-list.c", "age >= list", "age <= list", "test-event-list"),
    "the innermost event wins": ("event-list.c", "list->around[d] = list->around[d - 1];", "list->around[d].age = 0;", "test-event-list"),
    "one level too many": ("event-list.c", "if ( !d || (key ^ list->key[list->pos - 1]) >> KEY_ORDER_SHIFT )", "", "test-event-list"),
    "neighbours apart": ("event-list.c", "if ( ahead != end )", "if ( true )", "test-event-list"),
    "one too many left out": ("event-list.c", "calls -= n;", "calls -= n - (n > 1);", "test-event-list"),
    "all of a range left out": ("event-list.c", "list->left = end - list->gfn;\n        calls", "list->left = 0;\n        calls",
                                "test-event-list"),
    "more than 2 MiB at a time": ("event-list.c", "list->left, BLOCK_PAGES - list->gfn % BLOCK_PAGES", "list->left, BLOCK_PAGES",
                                  "test-event-list"),
    "a digit not sorted": ("event-list.c", "(differ >> shift) & (DIGITS - 1)", "(differ >> shift) & 1", "test-event-list"),
    "smaller ranges first": ("event-list.c", "((XEN_PAGE_EVENT_MAX_ORDER - order) << KEY_ORDER_SHIFT)",
                             "((uint64_t)order << KEY_ORDER_SHIFT)", "test-event-list"),
    "unaligned events": ("event-list.c", "(gfn & ((1UL << order) - 1)) ||", "", "test-event-list"),
    "any order": ("event-list.c", "order > XEN_PAGE_EVENT_MAX_ORDER ||", "", "test-event-list"),
    "reserved bits": ("event-list.c", "(event & XEN_PAGE_EVENT_RESERVED) ||", "", "test-event-list"),
    "any gfn": ("event-list.c", "gfn > max_gfn ||", "false ||", "test-event-list"),
    "a gfn that no key can hold": ("event-list.c", "||\n         gfn >> (64 - KEY_GFN_SHIFT)", "", "test-event-list"),
    "mapped when populated": ("populate.c", "if ( p->on_touch && IS", "if ( false && IS", "test-first-touch"),
    "filled when populated": ("populate.c", "nr == BLOCK_PAGES && !p->on_touch", "nr == BLOCK_PAGES", "test-first-touch"),
    "untouched pages left after a failure": ("populate.c", "if ( p2m_pod_decrease_reservation(d, gfn, 0) )", "if ( true )", "test-first-touch"),
    "a refusal ignored": ("core.c", "rc = p2m_numa_untouched_init(d);\n    if ( !rc )", "p2m_numa_untouched_init(d);\n    if ( !rc )", "test-first-touch"),
    "no other default": ("core.c", "if ( rc == -EXDEV || rc == -EOPNOTSUPP )", "if ( false )", "test-first-touch"),
    "a large piece on one home node": ("core.c", "(np->home.nr > 1 || np->ops->on_touch)", "np->home.nr > 1", "test-first-touch"),
    "the toucher does not matter": ("core.c", "np->ops->place(np->state, gfn, toucher)", "np->ops->place(np->state, gfn, NULL)", "test-first-touch"),
    "everybody is a toucher": ("core.c", "current->domain == d ? current : NULL;\n    nodeid_t", "current;\n    nodeid_t", "test-first-touch"),
    "not on a home node": ("first-touch.c", "return ft->nearest[node];", "return node;", "test-first-touch"),
    "a touch counted wrongly": ("core.c", "np->fallback += nr;", "np->placed += nr;", "test-first-touch"),
    "a large touch counted as a small one": ("core.c", "np->large_touches++", "np->small_touches++", "test-first-touch"),
    "a small touch counted as a large one": ("core.c", "np->small_touches++", "np->large_touches++", "test-first-touch"),
    "touches of others counted as its own": ("core.c", "+= current->domain != d", "+= current->domain == d", "test-first-touch"),
    "counted when populated, and again": ("populate.c", "if ( !p.on_touch )", "if ( true )", "test-first-touch"),
    "fallback counted as placed": ("populate.c", "p->fallback +=", "p->placed +=", "test-populate"),
}


def build(xen, out, *programs, flags=()):
    done = subprocess.run(["make", "-s", "-C", HERE, f"XEN={xen}", f"OUT={out}", *flags, *(f"{out}/{p}" for p in programs)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run(program):
    return subprocess.run([program], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def tree():
    if not TREE.exists():
        subprocess.run([ROOT / "tools/patchqueue/pq", "import", "xen"], check=True)
    return TREE


@pytest.mark.parametrize("program", PROGRAMS)
def test_policy_code(tree, tmp_path, program):
    build(tree, tmp_path, program)
    done = run(tmp_path / program)
    assert done.returncode == 0, done.stdout + done.stderr
    # cmocka's own count, so that a program that runs nothing does not pass
    assert re.search(r"PASSED\s+\] [1-9]\d* test", done.stdout + done.stderr)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(tree, tmp_path, name):
    file, old, new, program = MUTANTS[name]
    copy = tmp_path / "xen"
    for part in ("xen/common/numa-policy", "xen/include", "xen/arch/x86/include/asm"):
        shutil.copytree(tree / part, copy / part)
    source = copy / "xen/common/numa-policy" / file
    text = source.read_text()
    assert old in text, f"{file} has changed: {old!r} is gone"
    source.write_text(text.replace(old, new, 1))
    build(copy, tmp_path, program, flags=["CFLAGS=-std=gnu11 -O1 -w -fsanitize=address"])
    assert run(tmp_path / program).returncode != 0, f"nobody saw: {name}"
