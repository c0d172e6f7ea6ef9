# SPDX-License-Identifier: GPL-2.0-only
"""Xen's code that exchanges a domain's frames, in user space, under sanitizers; and proof that these tests notice when it is wrong."""

from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
PROGRAMS = ("test-reserve", "test-touch", "test-release", "test-mover", "test-oom", "test-usage")
MM = "xen/arch/x86/mm"

# What is broken (file, from, to), and the program that has to see it.
MUTANTS = {
    "nobody's when it goes to the heap": (
        "p2m-reserve.c", "        free_replaced_pages(pg, t->order);",
        "    {\n        for ( i = 0; i < (1U << t->order); i++ )\n            page_set_owner(pg + i, NULL);\n"
        "        free_domheap_pages(pg, t->order);\n    }", "test-reserve"),
    "a page less owned for each that goes to the heap": ("p2m-reserve.c", "free_replaced_pages(pg, t->order)", "free_domheap_pages(pg, t->order)",
                                                         "test-reserve"),
    "what goes offline shows what it had": ("p2m-reserve.c", "            if ( !(pg->count_info & PGC_broken) )\n                clear(pg, PAGE_ORDER_4K);\n",
                                            "", "test-reserve"),
    "what is broken is written to": ("p2m-reserve.c", "            if ( !(pg->count_info & PGC_broken) )\n", "", "test-reserve"),
    "refused, and for any time all the same": ("p2m-reserve.c", "            p2m->pod.reserve->any_time = had;", "            ;", "test-reserve"),
    "for any time, until asked again": ("p2m-reserve.c", "any_time = had || any_time;", "any_time = any_time;", "test-reserve"),
    "what waits is in nobody's way": ("p2m-reserve.c", "p2m->pod.entry_count || p2m->pod.count ||\n           p2m", "p2m", "test-reserve"),
    "first-touch is in nobody's way": ("p2m-reserve.c", "p2m->pod.count ||\n           p2m->pod.reserve->any_time", "p2m->pod.count", "test-reserve"),
    "nobody is made for altp2m": ("p2m-reserve.c", "!= XEN_ALTP2M_disabled", "> XEN_ALTP2M_mixed", "test-reserve"),
    "a page in use goes to the heap": ("p2m-reserve.c", "if ( cmpxchg(&pg->count_info, PGC_allocated | 1, 0) != (PGC_allocated | 1) )",
                                       "pg->count_info = 0;\n    if ( false )", "test-reserve"),
    "a page with stale caches goes to the heap": ("p2m-reserve.c", "(PGT_count_mask | PGT_non_coherent)) )\n        return true;", "PGT_count_mask) )\n        return true;",
                                           "test-reserve"),
    "a page that stays has no reference": ("p2m-reserve.c", "    rejoin(pg);\n\n    return false;", "    return false;", "test-reserve"),
    "its neighbours have no reference": ("p2m-reserve.c", "            rejoin(pg + i);\n        }\n\n    ASSERT", "            ;\n        }\n\n    ASSERT", "test-reserve"),
    "owned before it is scrubbed": ("p2m-reserve.c", "MEMF_no_owner | MEMF_no_dma", "MEMF_no_owner | MEMF_no_scrub | MEMF_no_dma", "test-reserve"),
    "not cleared": ("p2m-reserve.c", "    clear(pg, order);\n", "", "test-reserve"),
    "cleared under the locks": ("p2m-touch.c", "    bool done = p2m_reserve_prepare(p2m->domain, t);\n\n    p2m_lock(p2m);\n    pod_lock(p2m);\n",
                                "    bool done;\n\n    p2m_lock(p2m);\n    pod_lock(p2m);\n    done = p2m_reserve_prepare(p2m->domain, t);\n", "test-touch"),
    "2 MiB are taken under the locks": ("p2m-reserve.c", "    if ( t && order == PAGE_ORDER_2M )\n    {\n        INIT", "    if ( false )\n    {\n        INIT",
                                        "test-touch"),
    "exchanged under the locks": ("p2m-reserve.c", "    if ( t && order == PAGE_ORDER_2M )\n    {\n        if ( !t->maps", "    if ( false )\n    {\n        if ( !t->maps",
                                  "test-touch"),
    "2 MiB are not cleared": ("p2m-reserve.c", "    if ( done && t->maps )", "    if ( false )", "test-touch"),
    "nobody looks again": ("p2m-touch.c", "    if ( !p2m_pod_populate_2m(p2m, t->gfn, pg) )\n        page_list_add(pg, &t->pages);",
                           "    if ( !p2m_pod_populate_2m(p2m, t->gfn, pg) )\n        ;", "test-touch"),
    "what is not mapped is counted": ("p2m-touch.c", "    else if ( t->wanted != NUMA_NO_NODE )", "    if ( t->wanted != NUMA_NO_NODE )", "test-touch"),
    "taken before it is ready": ("p2m-reserve.c", "        while ( !ACCESS_ONCE(t->is_ready) )\n            cpu_relax();", "", "test-touch"),
    "taken, and used all the same": ("p2m-reserve.c", "        put_back(p2m, t);\n        t->is_out = false;", "        put_back(p2m, t);", "test-touch"),
    "a touch finds nothing": ("p2m-reserve.c", "    } while ( order == PAGE_ORDER_4K && recall(p2m) );\n\n    return NULL;", "    } while ( false );\n\n    return NULL;",
                              "test-touch"),
    "ballooning finds nothing": ("p2m-reserve.c", "    } while ( !n && order == PAGE_ORDER_4K && recall(p2m) );", "    } while ( false );", "test-touch"),
    "offlining finds nothing": ("p2m-reserve.c", "    ASSERT(pod_locked_by_me(p2m));\n\n    recall(p2m);\n", "    ASSERT(pod_locked_by_me(p2m));\n", "test-touch"),
    "pages on their way are not counted": ("p2m-reserve.c", "        recall(p2m);\n        *exchanged", "        *exchanged", "test-touch"),
    "all clear the same 2 MiB": ("p2m-reserve.c", "        if ( t->maps ? gfn_eq(t->gfn, gfn) : t->node == node )", "        if ( !t->maps && t->node == node )", "test-touch"),
    "all get 2 MiB to be broken": ("p2m-reserve.c", "        if ( t->maps ? gfn_eq(t->gfn, gfn) : t->node == node )", "        if ( t->maps && gfn_eq(t->gfn, gfn) )", "test-touch"),
    "who is late does not wait": ("p2m-touch.c", "    if ( t->is_late )\n        p2m_reserve_wait(p2m, t);", "", "test-touch"),
    "a node is tried for ever": ("p2m-reserve.c", "!node_test_and_set(node, t->tried) && choose", "choose", "test-touch"),
    "broken although the heap has none": ("p2m-reserve.c", "        if ( t->order && !t->is_busy )", "        if ( false )", "test-touch"),
    "a superpage in use stays one": ("p2m-reserve.c", "        t->is_busy = !parted;\n", "", "test-touch"),
    "an exchange is not counted": ("p2m-reserve.c", "    t->is_out = false;\n    count_exchanged(r, t);", "    t->is_out = false;", "test-touch"),
    "allocated for nothing": ("p2m-reserve.c", "    if ( !choose(r, &here, order) )\n        return false;\n\n    here.node = node;",
                              "    choose(r, &here, order);\n    here.node = node;", "test-touch"),
    "takes the last tables": ("p2m-numa-move.c", "    if ( !may_take_table(b->d) )\n        return -ENOMEM;\n", "", "test-mover"),
    "what is left is an eighth of what is left": ("p2m-numa-move.c", "+\n                        ACCESS_ONCE(d->arch.paging.p2m_pages);", ";", "test-mover"),
    "a claim is taken for a full node": ("p2m-numa-move.c", "avail_unclaimed_pages(NULL) < nr &&", "false &&", "test-mover"),
    "a full node is taken for a claim": ("p2m-numa-move.c", "avail_node_no_dma_pages(node) >= nr ?", "true ?", "test-mover"),
    "moved in spite of vNUMA": ("p2m-numa-batch.c", "    if ( d->vnuma )\n        return -EEXIST;\n", "", "test-mover"),
    "owned before it is copied": ("p2m-numa-batch.c", "        copy_domain_page(mfn_add(new, i), mfn_add(old, i));", "        ;", "test-mover"),
    "D is not cleared": ("p2m-numa-batch.c", "    clear_in_entries(b, NPT_DIRTY_BIT);\n", "", "test-mover"),
    "CPUs go on believing that D is set": ("p2m-numa-batch.c", "    clear_in_entries(b, NPT_DIRTY_BIT);\n    flush(b);\n", "    clear_in_entries(b, NPT_DIRTY_BIT);\n", "test-mover"),
    "copied before D is cleared": (
        "p2m-numa-batch.c", "    clear_in_entries(b, NPT_DIRTY_BIT);\n    flush(b);\n\n    start = NOW();\n    for ( i = 0; i < b->nr; i++ )\n        if ( b->m[i].frozen )\n"
        "            copy(b, &b->m[i]);\n", "    start = NOW();\n    for ( i = 0; i < b->nr; i++ )\n        if ( b->m[i].frozen )\n            copy(b, &b->m[i]);\n"
        "    clear_in_entries(b, NPT_DIRTY_BIT);\n    flush(b);\n", "test-mover"),
    "what was written is not copied again": ("p2m-numa-batch.c", "(!early || is_written(b, m))", "!early", "test-mover"),
    "all is copied again": ("p2m-numa-batch.c", "(!early || is_written(b, m))", "true", "test-mover"),
    "EPT's D bits are believed": ("p2m-numa-batch.c", "b->pages >= COPY_FIRST && numa_batch_copies_first()", "b->pages >= COPY_FIRST", "test-mover"),
    "a few pages are copied first": ("p2m-numa-batch.c", "b->pages >= COPY_FIRST && numa_batch_copies_first()", "numa_batch_copies_first()", "test-mover"),
    "copied again while it is written": ("p2m-numa-batch.c", "b->known_ns / b->pages);\n    flush(b);\n", "b->known_ns / b->pages);\n", "test-mover"),
    "writes go on": ("p2m-numa-batch.c", "    clear_in_entries(b, ENTRY_WRITE_BIT);\n", "", "test-mover"),
    "writable before the last flush": ("p2m-numa-batch.c", "raw = (m->raw & ~ENTRY_WRITE) ^", "raw = m->raw ^", "test-mover"),
    "moved, and not counted": ("p2m-numa-batch.c", "        p2m_numa_count(b->p2m, m->raw, raw, 1 + m->order / PAGETABLE_ORDER);\n", "", "test-mover"),
    "2 MiB are counted as 4 KiB": ("p2m-numa-batch.c", "1 + m->order / PAGETABLE_ORDER", "1", "test-mover"),
    "what is in a table stays counted": ("p2m-numa-usage.c", "            count_out_table(p2m, old, level - 1);", "            ;", "test-usage"),
    "tables in a table stay counted": ("p2m-numa-usage.c", "            count_out_table(p2m, table[i], level - 1);", "            ;", "test-usage"),
    "what was divided is gone": ("p2m-numa-usage.c", "+= 1UL << (levels", "+= 0UL << (levels", "test-usage"),
    "1 GiB is divided into 2 MiB, never further": ("p2m-numa-usage.c", "level - divided_to(new, level)", "1", "test-usage"),
    "what is divided counts as a superpage, too": ("p2m-numa-usage.c", "    else if ( (count = counter(p2m, old, level)) )\n        count_out(count);",
                                                   "    else if ( (count = counter(p2m, old, level)) && !is_table(new, level) )\n        count_out(count);",
                                                   "test-usage"),
    "a filled table counts for its place": ("p2m-numa-usage.c", "    if ( !is_table(new, level) )\n    {", "    if ( true )\n    {", "test-usage"),
    "Xen's own pages count": ("p2m-numa-usage.c", "!mfn_valid(mfn) || is_xen_heap_mfn(mfn)", "!mfn_valid(mfn)", "test-usage"),
    "a frame that is none counts": ("p2m-numa-usage.c", "!mfn_valid(mfn) || is_xen_heap_mfn(mfn)", "is_xen_heap_mfn(mfn)", "test-usage"),
    "all counts as RAM": ("p2m-numa-usage.c", "         !p2m_is_ram(P2M_NUMA_TYPE(raw)) )", "         false )", "test-usage"),
    "what a filled table has is not all counted": ("p2m-numa-usage.c", "    while ( nr-- )", "    while ( --nr )", "test-usage"),
    "any other type is RAM, too": ("p2m-numa-usage.c", "p2m_is_ram(P2M_NUMA_TYPE(old)) && p2m_is_ram(P2M_NUMA_TYPE(new)) )\n        return;",
                                   "p2m_is_ram(P2M_NUMA_TYPE(old)) )\n        return;", "test-usage"),
    "an empty entry of EPT counts": ("p2m-numa-usage.c", "!(raw << 1) ||", "!raw ||", "test-usage"),
    "nobody looks whether all was counted": ("p2m-numa-usage.c", "        ASSERT(!entries[i]);", "        ;", "test-usage"),
    "nobody waits for who changes entries": ("p2m-numa-usage.c", "    p2m_read_lock(p2m);\n", "", "test-usage"),
    "a limit is not looked at": ("p2m-numa-pace.h", "return p->limit && NOW()", "return false && NOW()", "test-mover"),
    "the other flush comes on top": ("p2m-numa-pace.h", "p->flush + copies * p->copy", "copies * p->copy", "test-mover"),
    "copies come on top": ("p2m-numa-pace.h", "p->flush + copies * p->copy", "p->flush", "test-mover"),
    "changes come on top": ("p2m-numa-pace.h", "pace_changes(p, pages) > p->limit", "0 > p->limit", "test-mover"),
    "a change is what is cheap": ("p2m-numa-pace.h", "pages * 8 * p->stop", "pages", "test-mover"),
    "a batch is as large as without a limit": ("p2m-numa-pace.h", "return fit >= nr ? nr : fit ?: 1;", "return nr;", "test-mover"),
    "no time for what is written": ("p2m-numa-pace.h", "fit = left / 2 / (", "fit = left / (", "test-mover"),
    "slow is not believed": ("p2m-numa-pace.h", "? took + 1", "? *known + 1", "test-mover"),
    "slow once is slow for ever": ("p2m-numa-pace.h", "*known - (*known - took) / 8", "*known", "test-mover"),
    "what cannot be is tried": ("p2m-numa-batch.c", "    return pace_allows_any(&b->pace);", "    return true;", "test-mover"),
    "given up, and read-only": ("p2m-numa-batch.c", "    if ( m->raw & ENTRY_WRITE )\n        set_bit", "    if ( false )\n        set_bit", "test-mover"),
    "given up, and frozen": ("p2m-numa-batch.c", "    numa_batch_thaw(m);\n    m->frozen = false;", "    m->frozen = false;", "test-mover"),
    "a part of what is to be 2 MiB": ("p2m-numa-batch.c", "if ( late && b->whole )", "if ( false )", "test-mover"),
    "given up, and said to have moved": ("p2m-numa-move.c", "            move[i].result = XEN_NUMA_MOVE_LATE;\n            return", "            return", "test-mover"),
    "given up for good": ("p2m-numa-move.c", "return i ?: 1;", "return b->nr;", "test-mover"),
    "who breaks the limit is not counted": ("p2m-numa-batch.c", "b->cost.exceeded += b->pace.limit && ns > b->pace.limit;", "", "test-mover"),
    "the first copy takes what it takes": ("p2m-numa-batch.c", "late = done < nr || is_late(b, 0);", "late = done < nr;", "test-mover"),
    "what copies take is not known": ("p2m-numa-batch.c", "    pace_note(&b->pace.copy, ns / copied);\n", "", "test-mover"),
    "what devices need is exchanged": ("p2m-reserve.c", "MEMF_no_owner | MEMF_no_dma", "MEMF_no_owner", "test-reserve"),
    "what devices need counts as free": ("p2m-reserve.c", "avail_node_no_dma_pages(node)", "avail_node_heap_pages(node)", "test-reserve"),
    "a node is emptied": ("p2m-reserve.c", "avail - min(avail, low)", "avail", "test-reserve"),
    "what is claimed counts as free": ("p2m-reserve.c", "return min(avail - min(avail, low), avail_unclaimed_pages(NULL));",
                                       "return avail - min(avail, low);", "test-reserve"),
    "shared meanwhile": ("p2m-reserve.c", "        smp_mb();\n        rc = p2m_numa_may_move(d);\n", "", "test-reserve"),
    "refused, with a reserve": ("p2m-reserve.c", "if ( rc && fresh )", "if ( false )", "test-reserve"),
    "what devices need is for moving": ("p2m-numa-move.c", "MEMF_no_dma |", "", "test-mover"),
    "nobody's when it has been moved": ("p2m-numa-batch.c", "page_list_del(old, &d->page_list);",
                                        "page_list_del(old, &d->page_list);\n        page_set_owner(old, NULL);", "test-mover"),
    "a page less owned for each that was moved": ("p2m-numa-batch.c", "free_replaced_pages(", "free_domheap_pages(", "test-mover"),
    "a page with stale caches is moved": ("p2m-numa-batch.c", "if ( pg->u.inuse.type_info & PGT_non_coherent )", "if ( false )", "test-mover"),
    "dividing costs nothing": ("p2m-numa-release.c", "r->work += P2M_NUMA_DIVISION;", ";", "test-release"),
    "1 GiB is divided once": ("p2m-numa-release.c", "    for ( i = order; i < entry; i += PAGETABLE_ORDER )", "    if ( order < entry )", "test-release"),
    "pages cost nothing": ("p2m-numa-release.c", "r->work += nr;", ";", "test-release"),
    "a round has no end": ("p2m-numa-release.c", "if ( r->work + nr + 2 * P2M_NUMA_DIVISION > P2M_NUMA_ROUND_WORK )", "if ( false )", "test-release"),
    "what is divided comes on top": ("p2m-numa-release.c", "r->work + nr + 2 * P2M_NUMA_DIVISION >", "r->work + nr >", "test-release"),
    "no table, 512 times": ("p2m-numa-release.c", "if ( result != P2M_NUMA_NO_ROOM )", "if ( true )", "test-release"),
    "a page in use is released": ("p2m-numa-release.c", "pg->count_info != (PGC_allocated | 1) ||", "", "test-release"),
    "a page in use keeps its neighbours": ("p2m-numa-release.c", "                if ( result != P2M_NUMA_NO_ROOM )\n                    n = 1;", "", "test-release"),
    "what is there stays in what is divided": ("p2m-numa-move.c", "if ( there && !renew )", "if ( there )", "test-mover"),
    "what is there always moves": ("p2m-numa-move.c", "if ( there && !renew )", "if ( false )", "test-mover"),
    "copied although nothing comes free": ("p2m-numa-move.c", "renew = renew && has_all_pages(b);", "", "test-mover"),
    "in use where it should be": ("p2m-numa-move.c", "    else if ( there )\n        result = XEN_NUMA_MOVE_THERE;\n", "", "test-mover"),
    "a page that stays loses its mark": ("p2m-numa-batch.c", "    } while ( y != x );", "    } while ( false );\n    pg->count_info = PGC_allocated | 1;", "test-reserve"),
    "marked between a look and a change": ("p2m-numa-batch.c", "        y = cmpxchg(&pg->count_info, x, x | PGC_allocated | 1);", "        y = x;\n        pg->count_info |= PGC_allocated | 1;",
                                           "test-mover"),
    "what is broken is copied": ("p2m-numa-batch.c", " || (y & PGC_broken) )", " )", "test-mover"),
    "a new page loses its mark": ("p2m-numa-batch.c", "        numa_thaw_page(new);", "        new->count_info = PGC_allocated | 1;", "test-mover"),
    "a new page that goes offline is used": ("p2m-reserve.c", "        if ( pg[i].count_info )\n            return true;", "", "test-reserve"),
    "a page in use is moved": ("p2m-numa-batch.c", "    } while ( (y & (PGC_count_mask | PGC_allocated)) == (PGC_allocated | 1) );",
                               "    } while ( true );", "test-mover"),
    "a new page that is not used is lost": ("p2m-numa-move.c", "            free_domheap_page(b->m[i].page);", "            ;", "test-oom"),
    "a new page that is used is freed": ("p2m-numa-move.c", "if ( b->m[i].page && !b->m[i].frozen )", "if ( b->m[i].page )", "test-oom"),
    "moved without a new page": ("p2m-numa-move.c", "if ( !m->page )", "if ( false )", "test-oom"),
    "moved out of an entry that was not divided": ("p2m-numa-move.c", "if ( divide(b, m) )", "if ( divide(b, m), false )", "test-oom"),
    "2 MiB can be written to before all CPUs have them": ("p2m-numa-move.c", "PAGE_ORDER_2M, p2m_ram_ro,", "PAGE_ORDER_2M, m->old.type,", "test-mover"),
    "no flush for 2 MiB that were 512 pages": ("p2m-numa-move.c", "    b->cost.rounds++;\n    p2m_tlb_flush_sync(b->p2m);\n", "", "test-mover"),
    "512 that stay 512 are where they were": ("p2m-numa-move.c", "        numa_batch_map(b);\n        return;", "        return;", "test-oom"),
    "the p2m stays locked": ("p2m-numa-batch.c", "    p2m_unlock(b->p2m);\n\n    b->cost.batches++;", "    b->cost.batches++;", "test-oom"),
    "a batch is written to that is not there": ("p2m-numa-batch.c", "    if ( b )\n", "    if ( true )\n", "test-oom"),
    "released without a table": ("p2m-numa-release.c", "        return P2M_NUMA_NO_ROOM;", "        ;", "test-oom"),
    "without a table it is released the more": ("p2m-numa-release.c", "        r->pages[result] += n;", "        r->pages[result == P2M_NUMA_NO_ROOM ? 0 : result] += n;",
                                                "test-oom"),
    "what was not exchanged is given": ("p2m-reserve.c", "    if ( !new )\n        return false;", "    if ( !new )\n        return true;", "test-oom"),
    "a touch has one node to ask": ("p2m-reserve.c", "            node_clear(node, left);\n        }", "            break;\n        }", "test-oom"),
    "a reserve that is not there": ("p2m-reserve.c", "    if ( !r )\n        return -ENOMEM;", "", "test-oom"),
}


# What only a stand-in as strict as Xen sees: the domain's list of pages, and what Xen leaves of a list.
LISTED = """    nrspin_lock(&b->d->page_alloc_lock);

    for ( i = 0; i < b->nr; i++ )
        if ( b->m[i].frozen )
            exchange(b->d, &b->m[i], &list);
    page_list_splice(&list, &b->d->page_list);

    nrspin_unlock(&b->d->page_alloc_lock);
"""
UNLISTED = """    nrspin_lock(&r->d->page_alloc_lock);
    for ( i = 0; i < (1U << order); i++ )
    {
        page_list_del(pg + i, &r->d->page_list);
        set_gpfn_from_mfn(mfn_x(mfn) + i, INVALID_M2P_ENTRY);
    }
    nrspin_unlock(&r->d->page_alloc_lock);
"""


def without_lock(code):
    return "".join(line for line in code.splitlines(keepends=True) if "nrspin" not in line)


MUTANTS |= {
    "the domain's pages change without their lock": ("p2m-numa-batch.c", LISTED, without_lock(LISTED), "test-mover"),
    "the domain's pages become fewer without their lock": ("p2m-numa-release.c", UNLISTED, without_lock(UNLISTED), "test-release"),
    "what was spliced is spliced again": ("p2m-numa-batch.c", "    page_list_splice(&list, &b->d->page_list);\n",
                                          "    page_list_splice(&list, &b->d->page_list);\n" * 2, "test-mover"),
    "divided without the p2m's lock": ("p2m-numa-release.c", "    if ( p2m_set_entry(p2m, gfn, INVALID_MFN, order, p2m_populate_on_demand,\n"
                                       "                       p2m->default_access) )\n        return P2M_NUMA_NO_ROOM;",
                                       "    p2m_unlock(p2m);\n    i = p2m_set_entry(p2m, gfn, INVALID_MFN, order, p2m_populate_on_demand, p2m->default_access);\n"
                                       "    pod_unlock(p2m);\n    p2m_lock(p2m);\n    pod_lock(p2m);\n    if ( i )\n        return P2M_NUMA_NO_ROOM;",
                                       "test-release"),
    "flushed without the p2m's lock": ("p2m-numa-release.c", "    p2m_tlb_flush_sync(p2m);\n    p2m_reserve_admit(p2m);\n",
                                       "    pod_unlock(p2m);\n    p2m_unlock(p2m);\n    p2m_tlb_flush_sync(p2m);\n    p2m_lock(p2m);\n    pod_lock(p2m);\n"
                                       "    p2m_reserve_admit(p2m);\n", "test-release"),
}


@pytest.fixture(scope="module")
def tree():
    return ctests.tree("xen")


@pytest.fixture(scope="module")
def built(tree):
    with ctests.steady("numa-frames") as out:
        ctests.build(HERE, out, *PROGRAMS, flags=[f"XEN={tree}"])
        yield out


@pytest.mark.parametrize("program", PROGRAMS)
def test_frames(built, program):
    ctests.check_passed(ctests.run(built / program))


def seen(tree, built, place, file, old, new, program):
    xen = ctests.planted(tree, f"{MM}/{file}", old, new, place / "xen")
    broken = ctests.rebuild(HERE, built, place / "out", program, flags=[f"XEN={xen}"]) / program
    return ctests.run(broken, CMOCKA_TEST_ABORT="1").returncode != 0


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(tree, built, place, name):
    assert seen(tree, built, place, *MUTANTS[name]), f"nobody saw: {name}"


@pytest.mark.parametrize("file, program", [("p2m-reserve.c", "test-reserve"), ("p2m-touch.c", "test-touch"), ("p2m-numa-batch.c", "test-mover")])
def test_without_a_mistake_nothing_is_seen(tree, built, place, file, program):
    assert not seen(tree, built, place, file, "", "", program)
