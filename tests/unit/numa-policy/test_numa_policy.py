# SPDX-License-Identifier: GPL-2.0-only
"""Xen's policy code in user space, under sanitizers; and proof that these tests notice when it is wrong."""

import os
from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
PROGRAMS = ("test-core", "test-event-list", "test-first-touch", "test-interleave", "test-oom", "test-oom-calls", "test-page-events",
            "test-populate", "test-rebalance", "test-sample-budget", "test-sample-hints", "test-sample-marks", "test-sample-regions", "test-sample-ring", "test-ibs-op",
            "test-ibs-nmi")
IBS = "../../arch/x86/ibs-op.c"
IBS_NMI = "../../arch/x86/ibs.c"
PIECE = "../../include/xen/numa-piece.h"
POLICY = "xen/common/numa-policy"

# What is broken (file, from, to), and the program that has to see it.
MUTANTS = {
    "ties go to the highest node": ("interleave.c", "credit[i] > credit[best]", "credit[i] >= credit[best]", "test-interleave"),
    "grain ignored": ("interleave.c", ">> il->grain", ">> 0", "test-interleave"),
    "turn one short": ("interleave.c", "% il->nr_slots", "% (il->nr_slots - (il->nr_slots > 2))", "test-interleave"),
    "no memory unnoticed": ("core.c", "if ( !new->state )", "if ( false )", "test-core"),
    "a weight of 0": ("core.c", "!weight[i] ||", "", "test-core"),
    "weights go to as many others": ("core.c", "home->weight[i++] = np->weight[n];\n        weighted &= !!np->weight[n];", "home->weight[i] = np->weight[i];\n        weighted &= !!np->weight[i++];", "test-core"),
    "a node that was given no weight gets nothing": ("core.c", "weighted &= !!np->weight[n];", "", "test-core"),
    "one that was given none weighs 1": ("core.c", "home->weight[i++] = np->weight[n];\n        weighted &= !!np->weight[n];", "home->weight[i++] = np->weight[n] ?: 1;",
                                         "test-core"),
    "weights of home nodes only, in order": ("core.c", "new->weight[n] = weight[i++];", "new->weight[i] = weight[i], i++;", "test-core"),
    "the memory closest to the first of them": ("core.c", "        for_each_node_mask ( n, from )\n", "        n = first_node(from);\n", "test-core"),
    "home nodes do not follow vCPUs": ("core.c", "    if ( d->auto_node_affinity )\n        return;", "    return;", "test-core"),
    "home nodes that no vCPU is to run on": ("core.c", "    nodes_and(*nodes, *nodes, *vcpus);", "", "test-core"),
    "nodes without memory": ("core.c", "node_online(node) && node_present_pages(node)", "node_online(node)", "test-core"),
    "affinity not followed": ("core.c", "if ( nodes_equal(np->asked, affinity) )", "if ( true )", "test-core"),
    "a policy without asking": ("core.c", "__ro_after_init default_policy;", "__ro_after_init default_policy = &round_4k_ops;", "test-core"),
    "vNUMA changes nothing": ("core.c", "    np->ops = NULL;\n    np->state = NULL;", "", "test-core"),
    "its state stays": ("core.c", "    if ( state )\n        ops->destroy(state);", "", "test-core"),
    "weights of before": ("core.c", "    memset(np->home.weight, 1, np->home.nr);", "", "test-core"),
    "a policy beside vNUMA": ("core.c", "!version && new->ops && d->vnuma", "false", "test-core"),
    "no policy is one, too": ("core.c", "!version && new->ops && d->vnuma", "!version && d->vnuma", "test-core"),
    "who asks is refused": ("core.c", "!version && new->ops && d->vnuma", "new->ops && d->vnuma", "test-core"),
    "the policy of before comes back": ("core.c", "    state = np->state;\n    np->version++;", "    state = np->state;", "test-core"),
    "vNUMA is not told": ("core.c", "conf->vnuma = !!d->vnuma;", "conf->vnuma = 0;", "test-core"),
    "farthest node": ("core.c", "rank < best_rank", "rank > best_rank || best_rank == UINT_MAX", "test-populate"),
    "distance before home": ("core.c", "(!nodemask_test(n, preferred) << 16) |\n               (__node_distance(node, n) << 8)",
                             "(__node_distance(node, n) << 9) |\n               (!nodemask_test(n, preferred) << 8)", "test-populate"),
    "home nodes alike": ("core.c", "(__node_distance(node, n) << 8) |", "(!!nodemask_test(n, preferred) * 10 + !nodemask_test(n, preferred) * __node_distance(node, n)) << 8 |",
                         "test-populate"),
    "single home node divided": ("core.c", "np->home.nr > 1", "np->home.nr", "test-populate"),
    "colours in step": (PIECE, "gfn_x(gfn) & (p->nr - 1)", "0", "test-populate"),
    "a page given twice": (PIECE, "__set_bit(i, p->taken);", "", "test-populate"),
    "no page behind the last": (PIECE, "if ( i >= p->nr )", "if ( false )", "test-populate"),
    "a piece used longer than it lasts": (PIECE, "p->left--;", "", "test-populate"),
    "cursor kept": ("populate.c", "np->cursor.active = more;", "", "test-populate"),
    "cursor shared by CPUs": ("populate.c", "else if ( c->running ||", "else if (", "test-populate"),
    "cursor shared by domains": ("populate.c", "c->caller != caller ||", "", "test-populate"),
    "cursor of another extent": ("populate.c", "!gfn_eq(c->gfn, gfn) ||", "", "test-populate"),
    "cursor of another order": ("populate.c", "!gfn_eq(c->gfn, gfn) ||\n              c->order != order", "!gfn_eq(c->gfn, gfn)", "test-populate"),
    "flush forgotten": ("populate.c", "note_flush(p, mfn_to_page(mfns[i]));", ";", "test-populate"),
    "never at once": ("populate.c", "if ( nr == BLOCK_PAGES && !p->on_touch )", "if ( false )", "test-populate"),
    "left mapped after a failure": ("populate.c", "for ( ; i--; mfns[i]", "for ( ; false; mfns[i]", "test-populate"),
    "left allocated after a failure": ("populate.c", "free_page(p->d, mfn_to_page(mfns[i]));", ";", "test-populate"),
    "freed twice after a failure": ("populate.c", "mfns[i] = INVALID_MFN )\n        take_back", "(void)0 )\n        take_back", "test-populate"),
    "the last page mapped is freed twice": ("populate.c", "mfns[--i] = INVALID_MFN;", "--i;", "test-populate"),
    "the last reference dropped": ("populate.c", "    if ( get_page(pg, d) )\n    {\n        put_page_alloc_ref(pg);\n        put_page(pg);\n    }",
                                   "    put_page_alloc_ref(pg);", "test-populate"),
    "a page of somebody else's is freed": ("populate.c", "if ( get_page(pg, d) )", "if ( get_page(pg, pg->owner) )", "test-populate"),
    "a page that is mapped is freed": ("populate.c", "             INVALID_M2P_ENTRY )\n            free_page", "             INVALID_M2P_ENTRY || 1 )\n            free_page",
                                       "test-populate"),
    "what was mapped in part stays": ("populate.c", "if ( mapped &&", "if ( false &&", "test-populate"),
    "a gfn is never unlocked": ("populate.c", "    put_gfn(p->d, gfn_x(gfn));\n\n    return rc;", "    return rc;", "test-populate"),
    "a large entry is divided": ("populate.c", "order >= BLOCK_ORDER &&", "false &&", "test-populate"),
    "counted although it was taken back": ("populate.c", "if ( !rc && !p.on_touch )", "if ( !p.on_touch )", "test-populate"),
    "what devices need is taken first": ("populate.c", "alloc_near_from(p, node, order, MEMF_no_dma, pg)", "alloc_near_from(p, node, order, 0, pg)", "test-populate"),
    "... in small pieces": ("populate.c", "alloc_on(p, node, order, MEMF_no_dma)", "alloc_on(p, node, order, 0)", "test-populate"),
    "... by who finds no large piece": ("populate.c", "no_dma ? avail_node_no_dma_pages(n) :", "false ? 0 :", "test-populate"),
    "what is claimed is looked for in pieces": ("populate.c", "order && avail_unclaimed_pages(p->d) >= pieces &&", "order &&", "test-populate"),
    "one's own claim is not for oneself": ("populate.c", "avail_unclaimed_pages(p->d) >= pieces", "avail_unclaimed_pages(NULL) >= pieces", "test-populate"),
    "what devices need is never taken": ("populate.c", "rc == -ENOMEM ?", "false ?", "test-populate"),
    "low addresses are not to be had": ("populate.c", "if ( p->memflags >> _MEMF_bits )", "if ( false )", "test-populate"),
    "a count forgotten when preempted": ("populate.c", "c->placed = p->placed;", ";", "test-populate"),
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
    "a round goes on whatever waits": ("page-events.c", "if ( softirq_pending(smp_processor_id()) )", "if ( false )", "test-page-events"),
    "a continuation begins anew": ("page-events.c", "page_event_list_skip(list, *progress);", "", "test-page-events"),
    "a piece that found no room is left out": ("page-events.c", "while ( more && p2m_numa_release(&r, _gfn(gfn), nr) )\n        {\n            ++*progress;\n            more",
                                               "while ( more && (p2m_numa_release(&r, _gfn(gfn), nr) || r.pages[0] > 100) )\n        {\n            ++*progress;\n            more",
                                               "test-page-events"),
    "never preempted": ("page-events.c", "if ( more && hypercall_preempt_check() )", "if ( false )", "test-page-events"),
    "mapped when populated": ("populate.c", "if ( p->on_touch && IS", "if ( false && IS", "test-first-touch"),
    "filled when populated": ("populate.c", "nr == BLOCK_PAGES && !p->on_touch", "nr == BLOCK_PAGES", "test-first-touch"),
    "untouched pages left after a failure": ("populate.c", "if ( p2m_pod_decrease_reservation(d, gfn, BLOCK_ORDER) == BLOCK_PAGES )", "if ( true )",
                                             "test-first-touch"),
    "a refusal ignored": ("core.c", "rc = p2m_numa_untouched_init(d);\n    if ( !rc )", "p2m_numa_untouched_init(d);\n    if ( !rc )", "test-first-touch"),
    "no other default": ("core.c", "if ( rc == -EXDEV || rc == -EOPNOTSUPP )", "if ( false )", "test-first-touch"),
    "a large piece on one home node": ("core.c", "(np->home.nr > 1 || np->ops->on_touch)", "np->home.nr > 1", "test-first-touch"),
    "the toucher does not matter": ("core.c", "np->ops->place(np->state, gfn, toucher)", "np->ops->place(np->state, gfn, NULL)", "test-first-touch"),
    "everybody is a toucher": ("core.c", "current->domain == d ? current : NULL;\n    nodeid_t", "current;\n    nodeid_t", "test-first-touch"),
    "not on a home node": ("first-touch.c", "return ft->nearest[node];", "return node;", "test-first-touch"),
    "what waits is never divided": ("core.c", "*grain = grain_of(np);", "*grain = MAX_ORDER;", "test-first-touch"),
    "a touch counted wrongly": ("core.c", "np->fallback += nr;", "np->placed += nr;", "test-first-touch"),
    "a large touch counted as a small one": ("core.c", "np->touches.large++", "np->touches.small++", "test-first-touch"),
    "a small touch counted as a large one": ("core.c", "np->touches.small++", "np->touches.large++", "test-first-touch"),
    "touches of others counted as its own": ("core.c", "+= current->domain != d", "+= current->domain == d", "test-first-touch"),
    "counted when populated, and again": ("populate.c", "if ( !rc && !p.on_touch )", "if ( !rc )", "test-first-touch"),
    "fallback counted as placed": ("populate.c", "p->fallback +=", "p->placed +=", "test-populate"),
    "a full ring is written over": ("sample-ring.c", "ring->prod - cons >= ring->size", "false", "test-sample-ring"),
    "room for one more": ("sample-ring.c", "cons >= ring->size", "cons > ring->size", "test-sample-ring"),
    "drops are not counted": ("sample-ring.c", "++ring->dropped", "ring->dropped", "test-sample-ring"),
    "the reader's prod is believed": ("sample-ring.c", "[ring->prod++ &", "[((ring->prod = ring->head->prod + 1) - 1) &", "test-sample-ring"),
    "the reader's size is believed": ("sample-ring.c", "(ring->size - 1)]", "(ring->head->size - 1)]", "test-sample-ring"),
    "an empty ring is not read": ("sample-ring.c", "cons == ring->prod || ", "", "test-sample-ring"),
    "an order that is not found": ("sample-marks.c", "i < SAMPLE_MARK_ORDERS", "i < SAMPLE_MARK_ORDERS - 1", "test-sample-marks"),
    "the rest of a chain is lost": ("sample-marks.c", "*chain(ms, m->gfn, m->order) = m->next;", "*chain(ms, m->gfn, m->order) = 0;", "test-sample-marks"),
    "what is gone is found": ("sample-marks.c", " && !m->gone", "", "test-sample-marks"),
    "marks left in what was divided": ("sample-hints.c", "m->gone = order >= m->order;", "m->gone = true;", "test-sample-hints"),
    "only the first of 512 is looked at": ("sample-hints.c", "return h->cleared >> m->order;", "return true;", "test-sample-hints"),
    "marks in TLBs": ("sample-hints.c", "p2m_hints_unlock(h->s->d, set);", "p2m_hints_unlock(h->s->d, false);", "test-sample-hints"),
    "marks are forgotten": ("sample-hints.c", "if ( !m->gone && !clear_entry(h, m) )", "if ( false )", "test-sample-hints"),
    "a list of marks is cleared at once": ("sample-hints.c", "!= NULL && i < BATCH &&\n            (!i || i % GLANCE || NOW() < until) )", "!= NULL )",
                                           "test-sample-hints"),
    "512 parts of a mark are cleared at once": ("sample-hints.c", "        i++;\n        if ( !m->gone && !clear_entry(h, m) )\n            continue;",
                                                "        if ( !m->gone && !clear_entry(h, m) )\n            continue;\n        i++;", "test-sample-hints"),
    "nothing is done when time is up": ("sample-hints.c", "(!i || i % GLANCE", "(i % GLANCE", "test-sample-hints"),
    "as many tries under log-dirty mode": ("sample-hints.c", "            h->tries = 1;\n", "", "test-sample-hints"),
    "what is not looked at gets cold": ("sample-hints.c", "if ( h->looked )", "if ( true )", "test-sample-hints"),
    "regions never adapt": ("sample-hints.c", "h->looked = true;", "", "test-sample-hints"),
    "an endless search": ("sample-hints.c", "i < nr && h->tries; i++, h->tries--", "i < nr; i++", "test-sample-hints"),
    "flushes cost other CPUs nothing": ("sample-hints.c", "numa_sample_spent(h->s, (NOW() - start) * others);", "(void)others;", "test-sample-hints"),
    "debts are forgiven": ("sample-budget.c", "min(b->allowance + (int64_t)", "min(max(b->allowance, (int64_t)0) + (int64_t)", "test-sample-budget"),
    "sleeping makes debts": ("sample-budget.c", "b->empty > 1 && spent > earned", "false", "test-sample-budget"),
    "saved without end": ("sample-budget.c", "min(b->allowance + (int64_t)(earned - spent),", "max(b->allowance + (int64_t)(earned - spent),", "test-sample-budget"),
    "too little can be saved": ("sample-budget.c", "max(b->saved, (int64_t)(2 * worth * b->entry_ns))", "b->saved", "test-sample-budget"),
    "what it costs is not learnt": ("sample-budget.c", "(b->entry_ns + b->spent / b->marked) / 2", "b->entry_ns", "test-sample-budget"),
    "once expensive, never tried again": ("sample-budget.c", "nr < worth && b->empty >= MAX_BACKOFF", "false", "test-sample-budget"),
    "one entry is worth a period": ("sample-budget.c", "worth = min(b->entries, WORTH)", "worth = 1", "test-sample-budget"),
    "as many as can be at once": ("sample-budget.c", "max(2 * (uint64_t)b->last, (uint64_t)worth)", "(uint64_t)b->entries", "test-sample-budget"),
    "more than was asked for": ("sample-budget.c", "min(min(nr, (uint64_t)b->entries),", "min(nr,", "test-sample-budget"),
    "empty periods follow at once": ("sample-budget.c", "b->period << min(b->empty, MAX_BACKOFF)", "b->period", "test-sample-budget"),
    "empty periods last for ever": ("sample-budget.c", "min(b->period << min(b->empty, MAX_BACKOFF),\n                              MAX_BACKOFF_TIME)",
                                    "b->period << b->empty % 32", "test-sample-budget"),
    "a share in 1/100": ("sample-budget.c", "ran * b->share / 1000", "ran * b->share / 100", "test-sample-budget"),
    "a sample of the order that was marked": ("sample-hints.c", ".order = order,", ".order = m ? m->order : 0,", "test-sample-hints"),
    "more marks than were asked for": ("sample-hints.c", "min(h->wanted, h->tries)", "h->tries", "test-sample-hints"),
    "regions are never divided": ("sample-regions.c", "        divide(rs, mean);", "", "test-sample-regions"),
    "regions are never joined": ("sample-regions.c", "        join(rs, mean);", "", "test-sample-regions"),
    "heat is not forgotten": ("sample-regions.c", "forget(&rs->r[i]);", ";", "test-sample-regions"),
    "cold is taken for a hole": ("sample-regions.c", "return !r->seen && r->absent >= 4;", "return !r->hits;", "test-sample-regions"),
    "holes cost as much as memory": ("sample-regions.c", "return !r->seen && r->absent >= 4;", "return false;", "test-sample-regions"),
    "a region too many": ("sample-regions.c", "rs->nr < SAMPLE_REGIONS; )", "true; )", "test-sample-regions"),
    "heat does not matter": ("sample-regions.c", "region_heat(rs, i) * WEIGHT / heat", "0 * heat", "test-sample-regions"),
    "a count that is not jittered": (IBS, "% (interval / JITTER * 2)", "% 1", "test-ibs-op"),
    "a count beyond its bits": (IBS, "interval - interval / JITTER +", "interval +", "test-ibs-op"),
    "the count's high bits are lost": (IBS, "          (count & IBS_OP_CTL_MAX_CNT_EXT);", "          0;", "test-ibs-op"),
    "the count begins where it must not": (IBS, "if ( caps & IBS_CAPS_COUNT_WRITABLE )", "if ( true )", "test-ibs-op"),
    "not enabled": (IBS, "ctl = IBS_OP_CTL_ENABLE |", "ctl =", "test-ibs-op"),
    "a random number that stays 0": (IBS, "seed ?: 1", "seed", "test-ibs-op"),
    "writes are reads": (IBS, "sample->write = access & IBS_DATA3_STORE", "sample->write = access & IBS_DATA3_LOAD", "test-ibs-op"),
    "an address that is not valid": (IBS, "!(regs->data3 & IBS_DATA3_PHYSAD_VALID)", "false", "test-ibs-op"),
    "what the CPU had in its cache": (IBS, "!(regs->data3 & IBS_DATA3_DC_MISS)", "false", "test-ibs-op"),
    "device memory": (IBS, "(IBS_DATA3_UC | IBS_DATA3_WC)", "IBS_DATA3_WC", "test-ibs-op"),
    "a RIP that is not valid": (IBS, "(caps & IBS_CAPS_RIP_INVALID) &&", "false &&", "test-ibs-op"),
    "a RIP that cannot be invalid": (IBS, "(caps & IBS_CAPS_RIP_INVALID) && (regs", "(regs", "test-ibs-op"),
    "no access at all": (IBS, "!access ||", "", "test-ibs-op"),
    "room for all that is granted": (IBS, "min(nr, room)", "nr", "test-ibs-op"),
    "a handler that writes over samples": (IBS, "if ( sample && ring->prod - read_atomic(&ring->cons) < ring->size )", "if ( sample )", "test-ibs-op"),
    "the grant is gone before the room": (
        IBS, "    /* No more were granted than there is room for. */",
        "    write_atomic(&ring->taken, ring->taken + 1);\n    smp_wmb();\n    write_atomic(&ring->taken, ring->taken - 1);", "test-ibs-op"),
    "one too many": (IBS, "return ring->taken < read_atomic(&ring->until);", "return ring->taken <= read_atomic(&ring->until);", "test-ibs-op"),
    "what is no access takes no grant": (IBS, "    write_atomic(&ring->taken, ring->taken + 1);", "    if ( sample )\n        write_atomic(&ring->taken, ring->taken + 1);",
                                         "test-ibs-op"),
    "a sample twice": (IBS, "write_atomic(&ring->cons, ring->cons + 1);", "", "test-ibs-op"),
    "an interval without end": (IBS, "(uint64_t)IBS_OP_LONGEST(caps))", "(uint64_t)UINT32_MAX)", "test-ibs-op"),
    "the same interval for ever": (IBS, "next = rate->interval * rate->demand / aim;", "next = rate->interval;", "test-ibs-op"),
    "all of what is granted is aimed at": (IBS, "entries - entries / SPARE", "entries", "test-ibs-op"),
    "as many for each vCPU": (IBS, "DIV_ROUND_UP(for_all, nr)", "rate->granted", "test-ibs-op"),
    "nothing for some vCPUs": (IBS, "DIV_ROUND_UP(for_all, nr)", "for_all / nr", "test-ibs-op"),
    "half for those that do nothing": (IBS, "#define FOR_ALL 8U", "#define FOR_ALL 2U", "test-ibs-op"),
    "nothing by what they did": (IBS, "(rate->granted - for_all) * ring->demand", "rate->granted / 64 * ring->demand", "test-ibs-op"),
    "who has enough is forgotten": (IBS, "taken < ring->until ? mine : 2 * mine", "mine", "test-ibs-op"),
    "a period without samples is learnt of": (IBS, "bool learns = rate->granted;", "bool learns = true;", "test-ibs-op"),
    "who sleeps is forgotten": (IBS, "else if ( rate->interval > IBS_OP_FIRST )", "else if ( false )", "test-ibs-op"),
    "who sleeps is interrupted all the time": (IBS, "max(rate->interval / CHANGE, IBS_OP_FIRST)", "IBS_OP_SHORTEST", "test-ibs-op"),
    "a slice begins at the end of an interval": (IBS, "    if ( begins )\n", "    if ( false )\n", "test-ibs-op"),
    "a count that is undefined": (IBS, "IBS_OP_LEAST + (uint32_t)", "(uint32_t)", "test-ibs-op"),
    "regions do not grow": ("sample-regions.c", "rs->end = max(rs->end, end);", ";", "test-sample-regions"),
    "a domain that is not made leaves its policy": ("core.c", "        xvfree(np);\n    else", "        ;\n    else", "test-oom"),
    "a policy that is not set is kept": ("core.c", "install(d, d->numa_policy, new, &nodes, NULL);\n\n    xvfree(new);",
                                         "install(d, d->numa_policy, new, &nodes, NULL);\n\n    if ( !rc )\n        xvfree(new);", "test-oom"),
    "half a first-touch is kept": ("first-touch.c", "        xvfree(ft);\n        return NULL;", "        return NULL;", "test-oom"),
    "its list is kept when an extent is not populated": ("populate.c", "    xvfree(mfns);", "    if ( !rc )\n        xvfree(mfns);", "test-oom"),
    "blocks stay of an extent that failed": ("populate.c", "            take_back_block(p->d, gfn_add(gfn, c->done));", "            ;", "test-oom"),
    "an extent that failed goes on": ("populate.c", "            cursor_put(np, false);\n            return rc ==", "            cursor_put(np, true);\n            return rc ==",
                                      "test-oom"),
    "the other node's pages are lost": ("populate.c", "        if ( rc )\n            break;\n    }", "        if ( rc )\n        {\n            xvfree(mfns);\n"
                                        "            return rc;\n        }\n    }", "test-oom"),
    "a gfn stays locked that was not mapped": ("populate.c", "        give_back(p->d, gfn, pg, order);\n\n",
                                               "    {\n        give_back(p->d, gfn, pg, order);\n        return rc;\n    }\n\n", "test-oom"),
    "a page that was not mapped is freed twice": ("populate.c", "        give_back(p->d, gfn, pg, order);\n\n",
                                                  "    {\n        give_back(p->d, gfn, pg, order);\n        put_page(pg);\n    }\n\n", "test-oom"),
    "rebalanced as if nothing had changed": ("rebalance.c", "    if ( rc )\n        return rc;\n\n    if ( compact &&", "    if ( compact &&", "test-oom-calls"),
    "2 MiB on any node": ("compact.c", "        count[node]++;\n", "", "test-rebalance"),
    "2 MiB that are on several nodes alike, on one": ("compact.c", "*nr * 3 && !turn-- )", "*nr * 3 && (turn = 1) )", "test-rebalance"),
    "2 MiB of pages that others touched": ("compact.c", "    if ( on_touch && i < b->nr )", "    if ( false )", "test-rebalance"),
    "2 MiB with holes": ("compact.c", "    if ( part || block_has_hole(b) )", "    if ( part )", "test-rebalance"),
    "2 MiB that are one are made one": ("compact.c", "    if ( b->is[0].order >= BLOCK_ORDER )\n    {", "    if ( false )\n    {", "test-rebalance"),
    "2 MiB that are divided again": ("rebalance.c", "    if ( compact && numa_policy_divides(d) )", "    if ( false )", "test-rebalance"),
    "2 MiB are made one in a dry run": ("compact.c", "        result = XEN_NUMA_MOVE_THERE;\n    else if ( !dry )", "        result = XEN_NUMA_MOVE_THERE;\n    else",
                                        "test-rebalance"),
    "a batch is all of a block": ("rebalance.c", "    for ( i = 0; i < nr; )\n", "    for ( i = 0; i < nr; i = nr )\n", "test-rebalance"),
    "what a batch leaves is left": ("rebalance.c", "            b->nr = b->move[i].gfn - gfn_x(b->gfn);\n", "", "test-rebalance"),
    "nobody gets a CPU from a block": ("rebalance.c", "if ( i < nr && !divide && hypercall_preempt_check() )", "if ( false )", "test-rebalance"),
    "half of a superpage is divided": ("rebalance.c", "if ( i < nr && !divide && hypercall_preempt_check() )", "if ( i < nr && hypercall_preempt_check() )", "test-rebalance"),
    "others are counted in each call": ("rebalance.c", "    nr = list_block(b, divide);\n", "    nr = list_block(b, divide);\n    count_others(b, divide, pages);\n", "test-rebalance"),
    "a limit is not set": ("rebalance.c", "        p2m_numa_batch_limit(w->batch,\n                             ACCESS_ONCE(d->numa_policy->moves.max_pause_us));\n", "        ;\n",
                           "test-rebalance"),
    "a limit is forgotten": ("core.c", "    new->moves.max_pause_us = conf->max_pause_us;\n", "", "test-rebalance"),
    "pauses of before count": ("core.c", "        np->moves.cost.pause_ns = np->moves.cost.exceeded = 0;\n", "", "test-rebalance"),
    "work without a batch is kept": ("rebalance.c", "        numa_work_free(w);\n        w = NULL;", "        w = NULL;", "test-oom-calls"),
    "events without a list": ("page-events.c", "    if ( !list )\n        return -ENOMEM;", "", "test-oom-calls"),
    "frames of half a ring are lost": ("sample-pages.c", " err:\n    put_pages(pages, pages->nr);", " err:", "test-oom-calls"),
    "half a ring is kept": ("sample-pages.c", "    xvfree(pages);\n\n    return NULL;", "    return NULL;", "test-oom-calls"),
    "a START that failed goes on": ("sample-control.c", "    np->samples.starting = false;\n    if", "    np->samples.starting = rc;\n    if", "test-oom-calls"),
    "its ring stays": ("sample-control.c", "    numa_sample_pages_free(pages);\n\n    return rc;", "    return rc;", "test-oom-calls"),
    "the ring of before goes": ("sample-control.c", "    if ( pages == np->samples.pages )\n        pages = NULL;\n", "", "test-oom-calls"),
    "its counts are kept": ("sample-control.c", "        xvfree(s->samples);\n        xvfree(s);\n        return", "        xvfree(s);\n        return", "test-oom-calls"),
    "its counts are freed twice": ("sample-control.c", "        xvfree(s->samples);\n        xvfree(s);\n        return",
                                   "        xvfree(s->samples);\n        xvfree(s->samples);\n        xvfree(s);\n        return", "test-oom-calls"),
    "hints without marks are kept": ("sample-hints.c", "            sample_marks_free(h->marks);\n        xvfree(h);", "            sample_marks_free(h->marks);",
                                     "test-oom-calls"),
    "marks without chains are kept": ("sample-marks.c", "        xvfree(ms);\n        return NULL;", "        return NULL;", "test-oom-calls"),
    "IBS stays reserved": ("sample-ibs.c", "        ibs_release();\n        return -ENOMEM;", "        return -ENOMEM;", "test-oom-calls"),
    "some rings of IBS are kept": ("sample-ibs.c", "        free_ibs(ibs);\n        return NULL;", "        return NULL;", "test-oom-calls"),
    # what only a stand-in as strict as Xen sees
    "a type is kept": ("sample-pages.c", "        put_page_and_type(pg);", "        put_page(pg);", "test-oom-calls"),
    "a ring shows what was in it": ("sample-pages.c", "        clear_domain_page(page_to_mfn(pg));\n", "", "test-oom-calls"),
    "a ring counts as the guest's": ("sample-pages.c", "MEMF_no_refcount", "0", "test-oom-calls"),
    "what nobody touched is not taken back": ("populate.c", "    if ( p2m_pod_decrease_reservation(d, gfn, 0) )\n        return;\n\n", "", "test-oom"),
    "its end is waited for with its lock held": ("sampling.c", "    kill_timer(&s->timer);\n    tasklet_kill(&s->tasklet);\n",
                                                 "    spin_lock(&s->lock);\n    kill_timer(&s->timer);\n    tasklet_kill(&s->tasklet);\n"
                                                 "    spin_unlock(&s->lock);\n", "test-oom-calls"),
    "two locks the other way round": ("sampling.c", "    if ( !s->ended )\n        end(s);\n}",
                                      "    spin_lock(&s->lock);\n    spin_lock(&s->d->numa_policy->lock);\n    spin_unlock(&s->d->numa_policy->lock);\n"
                                      "    spin_unlock(&s->lock);\n    if ( !s->ended )\n        end(s);\n}", "test-oom-calls"),
    "the p2m is looked at with a lock held": ("domctl.c", "    p2m_numa_usage(d, counts, nr);\n",
                                              "    spin_lock(&d->numa_policy->lock);\n    p2m_numa_usage(d, counts, nr);\n"
                                              "    spin_unlock(&d->numa_policy->lock);\n", "test-oom-calls"),
    "any NMI may be a late one": (IBS_NMI, "#define LATE MICROSECS(100)", "#define LATE MILLISECS(10)", "test-ibs-nmi"),
    "each time that a vCPU goes something is late": (IBS_NMI, "    if ( this_cpu(armed) )\n        this_cpu(stopped) = rdtsc();", "    this_cpu(stopped) = rdtsc();",
                                                     "test-ibs-nmi"),
    "late ones without end": (IBS_NMI, "    this_cpu(stopped) = 0;\n", "", "test-ibs-nmi"),
    "what is no sample is one": (IBS_NMI, "this_cpu(armed) && (ctl & IBS_OP_CTL_VALID) )", "this_cpu(armed) )", "test-ibs-nmi"),
    "the firmware's entry is written over": (IBS_NMI, "        if ( !(lvt & APIC_LVT_MASKED) )\n            return;\n", "", "test-ibs-nmi"),
    "... and reserved": (IBS_NMI, "    if ( lvt != APIC_DM_NMI && !(lvt & APIC_LVT_MASKED) )\n        return -EBUSY;", "", "test-ibs-nmi"),
    "a sample of before stays": (IBS_NMI, "        wrmsrl(MSR_IBS_OP_CTL, 0);\n        is_late = true;", "        is_late = true;", "test-ibs-nmi"),
    "who stops goes on": (IBS_NMI, "        wrmsrl(MSR_IBS_OP_CTL, IBS_OP_CTL_ENABLE);\n    wrmsrl(MSR_IBS_OP_CTL, 0);", "        wrmsrl(MSR_IBS_OP_CTL, IBS_OP_CTL_ENABLE);",
                          "test-ibs-nmi"),
    "counts do not go by gfn": ("domctl.c", "    if ( op->gfn || op->pad )", "    if ( op->pad )", "test-oom-calls"),
    "nodes for which there is no memory": ("core.c", "    rc = xenctl_bitmap_to_bitmap(nodes->bits, bitmap, MAX_NUMNODES);\n    if ( rc )\n        return rc;\n",
                                           "    nodes_clear(*nodes);\n    xenctl_bitmap_to_bitmap(nodes->bits, bitmap, MAX_NUMNODES);\n", "test-core"),
    "a list to be moved that nobody can read": ("rebalance.c", "        if ( copy_from_guest_offset(move, op->list, op->done, nr) )\n            break;\n",
                                                "        if ( copy_from_guest_offset(move, op->list, op->done, nr) )\n            memset(move, 0, sizeof(*move));\n",
                                                "test-oom-calls"),
}


@pytest.fixture(scope="module")
def tree():
    return ctests.tree("xen")


@pytest.fixture(scope="module")
def built(tree):
    with ctests.steady("numa-policy") as out:
        ctests.build(HERE, out, *PROGRAMS, flags=[f"XEN={tree}"])
        yield out


@pytest.fixture
def place(request):
    with ctests.steady("numa-policy", request.node.name) as place:
        yield place


@pytest.mark.parametrize("program", PROGRAMS)
def test_policy_code(built, program):
    ctests.check_passed(ctests.run(built / program))


def seen(tree, built, place, file, old, new, program):
    xen = ctests.planted(tree, os.path.normpath(f"{POLICY}/{file}"), old, new, place / "xen")
    broken = ctests.rebuild(HERE, built, place / "out", program, flags=[f"XEN={xen}"]) / program
    # Chance may hide a mistake, so it is left out here: the same seeds each time.
    return any(ctests.run(broken, SEED=str(seed), CMOCKA_TEST_ABORT="1").returncode for seed in range(1, 6))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(tree, built, place, name):
    assert seen(tree, built, place, *MUTANTS[name]), f"nobody saw: {name}"


@pytest.mark.parametrize("file, program", [("core.c", "test-core"), (PIECE, "test-first-touch"), (IBS, "test-ibs-op")])
def test_without_a_mistake_nothing_is_seen(tree, built, place, file, program):
    assert not seen(tree, built, place, file, "", "", program)
