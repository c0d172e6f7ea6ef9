# SPDX-License-Identifier: GPL-2.0-only
"""The instrument measured: its parts in unit tests, the plugin in a QEMU on streams known by hand, and what checks are worth."""

import json
import subprocess
from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
HEADERS = HERE.parents[1] / "build" / "qemu-plugin"
UNITS = ("test-cache", "test-epochs", "test-machine", "test-memory", "test-model", "test-report", "test-sharing", "test-sim",
         "test-streaming", "test-tlb", "test-walk")
NODES = 8
LINES = 65536       # of the streams
PLUGIN = "numasim.so"    # inside QEMU, on the streams

# What is broken (file, from, to), and who has to see it.
MUTANTS = {
    "newest goes first": ("cache.c", "moved = here;", "", "test-cache"),
    "a full set grows a hole": ("cache.c", "set(&entry[way], get(&entry[way + 1]))", ";", "test-cache"),
    "dirty forgotten": ("cache.c", "cache_put(cache, line << 1 | DIRTY)", "cache_put(cache, line << 1)", "test-cache"),
    "filter hits another line": (
        "cache.h", "(moved ^ wanted) >> LINE_IN_FILTER == 0)\n\t\t\tbreak", "true)\n\t\t\tbreak", "test-cache"),
    "first store unnoticed": ("cache.h", "if (!store || moved & DIRTY)", "if (true)", "test-cache"),
    "all memory on node 0": ("sim.c", "node + 1, (r->to", "1, (r->to", "test-sim"),
    "L3 a copy of the L2": (
        "sim.c", "found = cache_take(cpu->l3, line);",
        "found = cache_take(cpu->l3, line);\n\tcache_put(cpu->l3, line << 1);", "test-sim"),
    "a message is none": ("sim.c", "if (sim->sharing)\n\t\tothers", "if (false)\n\t\tothers", "test-sharing"),
    "readers take lines": ("sim.c", "store ? sharing_write(sim", "true ? sharing_write(sim", "test-sharing"),
    "a writer's line stays dirty": ("sharing.c", "filter_clean(s->cpu[i]->l1, line);", ";", "test-sharing"),
    "the others' L1 keeps it": ("sharing.c", "filter_lose(other->l1, line);", "", "test-sharing"),
    "the others' L2 keeps it": ("sharing.c", "cache_take(other->l2, line);", "", "test-sharing"),
    "the others' L3 keeps it": ("sharing.c", "if (other->l3 != cpu->l3)", "if (false)", "test-sharing"),
    "a node's L3 loses what it shares": ("sharing.c", "if (other->l3 != cpu->l3)", "if (true)", "test-sharing"),
    "whoever wrote, it was another": ("sharing.c", "return take(s, cpu, line, mine) & WRITTEN", "return true", "test-sharing"),
    "a stream is somebody's": ("sharing.c", "take(s, cpu, line, 0)", "take(s, cpu, line, cpu->bit | WRITTEN)", "test-sharing"),
    "sharers outlive a region": ("sim.c", "sharing_clear(sim->sharing);", ";", "test-sharing"),
    "a hole drives out": ("cache.h", "if (moved == NO_ENTRY)", "if (false)", "test-cache"),
    "what is behind a hole is lost": ("cache.h", "moved = filter_take(set, way, filter->ways, wanted);", "", "test-cache"),
    "lines are searched in one set": ("cache.c", "set += FILTER_PAGE", "set += filter->set_mask + 1", "test-cache"),
    "a clean line is lost": ("cache.c", "keep ? here & ~(uint64_t)DIRTY : NO_ENTRY", "NO_ENTRY", "test-cache"),
    "a lost line stays": ("cache.c", "keep ? here & ~(uint64_t)DIRTY : NO_ENTRY", "here & ~(uint64_t)DIRTY", "test-cache"),
    "lines are searched by virtual address": ("cache.c", "| machine_part(line);", "| 0;", "test-cache"),
    "a hole is memory of its own": (
        "memory.c", "for (uint64_t at = node->range[i].from; at", "for (uint64_t at = node->range[0].from; at", "test-memory"),
    "any file is memory": ("memory.c", "if (link && g_str_has_prefix(link, MEMFD))", "if (link)", "test-memory"),
    "memory of any size": ("memory.c", "(uint64_t)stat.st_size != bytes_of(node)", "false", "test-memory"),
    "five levels": ("walk.h", "#define LEVELS 4", "#define LEVELS 5", "test-walk"),
    "the top level has pages": ("walk.c", " || (!level && entry & LARGE))\n\t\t\treturn false;\n\t\tif (is_page(entry, level, address, &found",
                                ")\n\t\t\treturn false;\n\t\tif (is_page(entry, level, address, &found", "test-walk"),
    "what is not present is followed": ("walk.c", "!(entry & PRESENT) ||", "", "test-walk"),
    "what the guest has not is followed": (
        "walk.c", "walk->entry[level], &entry) || !(entry & PRESENT)", "walk->entry[level], &entry)", "test-walk"),
    "a page begins where it is asked": ("walk.c", "| (address & offset)", "", "test-walk"),
    "the guest's page size counts": ("walk.c", "walk->size = MIN(walk->size, walk->last.size);", "", "test-walk"),
    "a guest without paging is not translated": ("walk.c", "if (!to_machine(memory, paging, found, &walk->last))", "if (false)", "test-walk"),
    "the guest's tables are the machine's, too": (
        "walk.c", "if (paging->nested_root != NOT_NESTED)", "if (paging->nested_root != NOT_NESTED && address >> 30)", "test-walk"),
    "the last entry is cached": ("tlb.c", "uint64_t tag, bool last)\n{", "uint64_t tag, bool last)\n{\n\tlast = false;", "test-tlb"),
    "nothing is cached": ("tlb.c", "\tif (!last)\n\t\ttags_put", "\tif (false)\n\t\ttags_put", "test-tlb"),
    "no nested TLB": ("tlb.c", "if (is_table && tlb->nested_tlb)", "if (false)", "test-tlb"),
    "the nested TLB holds data": ("tlb.c", "if (is_table && tlb->nested_tlb)", "if (tlb->nested_tlb)", "test-tlb"),
    "a cached table is translated again": ("tlb.c", "if (!first || level > first)", "if (true)", "test-tlb"),
    "a walk begins at the top": ("tlb.c", "return level + 1;", "return 0;", "test-tlb"),
    "address spaces are one": ("tlb.c", "tlb->space = tlb->nested_space = i;", "tlb->space = tlb->nested_space = 0;", "test-tlb"),
    "spaces without end": ("tlb.c", "tlb_empty(tlb);\n\t\ti = 0;", "i = 0;", "test-tlb"),
    "nothing goes to the second level": ("tlb.c", "put(tlb, &tlb->shape->l2, tlb->l2, address, found.size);", "", "test-tlb"),
    "nothing goes to the first level": (
        "tlb.c", "\tput(tlb, &tlb->shape->l1, tlb->l1, address, found.size);\n", "", "test-tlb"),
    "the second level leaves the first alone": ("tlb.c", "put(tlb, &tlb->shape->l1, tlb->l1, address, size);", "", "test-tlb"),
    "one TLB for all sizes": ("translation.c", "{ 0, 1, 2 } },\n\t\t.l2_hit = 5", "{ 0, 0, 0 } },\n\t\t.l2_hit = 5", "test-tlb"),
    "one level is recent for ever": ("tags.c", "memmove(entry + 1, entry, way * sizeof(*entry));", "return true;", "test-tlb"),
    "walks miss on node 0": ("sim.c", "walk_misses[mode][node]", "walk_misses[mode][0]", "test-tlb"),
    "walks are a user's": ("sim.c", "walk_l2_hits[mode]", "walk_l2_hits[USER]", "test-tlb"),
    "a lost walk is none": ("sim.c", "count(&cpu->counts.walks_lost, 1);", "", "test-tlb"),
    "walks are no work": ("region.c", "look_at_walks(now, last, mode, work);", ";", "test-report"),
    "TLBs cost nothing": ("model.c", "work->tlb_hits * m->translation->l2_hit", "0", "test-report"),
    "epochs lose hits in TLBs": ("epochs.c", "to->tlb_hits += from->tlb_hits * share;", "", "test-report"),
    "lost walks are no error": ("report.c", "walks(&cpu->counts) * LOST_MOST", "1e9", "test-report"),
    "L3 not shared": ("sim.c", "if (!sim->l3[node])", "if (true)", "test-sim"),
    "clean lines written back": ("sim.c", "if (out != NO_LINE && out & DIRTY)", "if (out != NO_LINE)", "test-sim"),
    "a store to a cached line fetches": ("sim.c", "if (hit == HIT_CLEAN) {", "if (false) {", "test-sim"),
    "modes mixed": ("sim.c", "misses[mode][node]", "misses[USER][node]", "test-sim"),
    "looks over and over": (
        "sim.c", "return told / sim->window != (told - REPORT) / sim->window",
        "return told >= sim->window", "test-sim"),
    "streaming stores are not combined": ("sim.c", "if (line != cpu->streamed)", "if (true)", "test-sim"),
    "combined across regions": (
        "sim.c", "cpu->unreported = 0;\n\t\tcpu->streamed = NO_LINE;",
        "cpu->unreported = 0;", "test-sim"),
    "the first line is combined with none": ("sim.c", "cpu->streamed = NO_LINE;\n\t\tcpu->l1", "cpu->l1", "test-sim"),
    "streaming stores go to node 0": (
        "sim.c", "write_backs[node], 1);\n\tcpu->streamed",
        "write_backs[0], 1);\n\tcpu->streamed", "test-sim"),
    "combined ones drop nothing": (
        "sim.c", "\tcache_take(cpu->l2, line);",
        "\tif (line == cpu->streamed)\n\t\treturn;\n\tcache_take(cpu->l2, line);", "test-sim"),
    "the L2 keeps what was streamed": ("sim.c", "\tcache_take(cpu->l2, line);", "", "test-sim"),
    "the L3 keeps what was streamed": ("sim.c", "\tcache_take(cpu->l3, line);", "", "test-sim"),
    "the L3 keeps what the L2 has": (
        "sim.c", "\tcache_take(cpu->l2, line);\n",
        "\tif (cache_take(cpu->l2, line) == NO_LINE)\n", "test-sim"),
    "the L1 keeps what was streamed": ("numasim.c", "\tfilter_drop(cpu->l1, address);\n", "", PLUGIN),
    "the L1 drops another line": ("cache.c", "if ((set[way] ^ wanted) >> LINE_IN_FILTER == 0)", "if (true)", "test-cache"),
    "the L1 drops nothing": ("cache.c", "set[way] = NO_ENTRY;\n\t\t\treturn", "return", "test-cache"),
    "prefixes not skipped": ("streaming.c", "while (bytes < end && is_prefix(*bytes))", "while (false)", "test-streaming"),
    "LOCK is no prefix": ("streaming.c", "byte, 11)", "byte, 10)", "test-streaming"),
    "one prefix only": ("streaming.c", "while (bytes < end && is", "if (bytes < end && is", "test-streaming"),
    "REX not skipped": ("streaming.c", "(*bytes & 0xf0) == 0x40", "false", "test-streaming"),
    "any map": ("streaming.c", "(bytes[1] & 0x1f) == 1", "true", "test-streaming"),
    "VEX unknown": ("streaming.c", "*bytes == VEX2", "false", "test-streaming"),
    "long VEX unknown": ("streaming.c", "*bytes == VEX3", "false", "test-streaming"),
    "MOVNTI with VEX": ("streaming.c", "0xc3 && *bytes == ESCAPE", "0xc3", "test-streaming"),
    "MOVNTPS unknown": ("streaming.c", "*opcode == 0x2b ||", "", "test-streaming"),
    "MOVNTDQ unknown": ("streaming.c", "*opcode == 0xe7 ||", "", "test-streaming"),
    "MOVNTI unknown": ("streaming.c", "*opcode == 0xc3 &&", "false &&", "test-streaming"),
    "read behind the end": ("streaming.c", "if (opcode >= end)", "if (false)", "test-streaming"),
    "streaming stores are ordinary ones": ("numasim.c", "streams(insn) ? on_streaming_store : on_store", "on_store", PLUGIN),
    "idle accesses count": ("numasim.c", "cpu->idle ? &cpu->counts.idle :", "", PLUGIN),
    "idle accesses go to caches": ("numasim.c", "return cpu->idle ? NULL : cpu", "return cpu", PLUGIN),
    "idle for ever": ("numasim.c", "|| address == machine.idle.awake", "", PLUGIN),
    "idle only in the loop itself": ("numasim.c", "if (idle || address", "if (true || address", PLUGIN),
    "idle behind the loop": ("numasim.c", "address < machine.idle.to", "true", PLUGIN),
    "idle in the next region": ("sim.c", "cpu->idle = false;", "", PLUGIN),
    "own load counts": ("model.c", "e->own[cpu].node[node] = read;", "", "test-model"),
    "no queue at controllers": ("model.c", "e->model->queue[r->class] * queue(rho) +", "", "test-model"),
    "no queue at links": ("model.c", "cycles += service(", "cycles += 0 * service(", "test-model"),
    "data flows the other way": (
        "model.c", "add_route(&e->all, &m->route[node][here], m->stands_for * read)",
        "add_route(&e->all, &m->route[here][node], m->stands_for * read)", "test-model"),
    "write-backs cost nothing": ("model.c", "(read + written)", "(read)", "test-model"),
    "a CPU is one of AMD48's": ("model.c", "e->all.node[node] += m->stands_for", "e->all.node[node] += 1", "test-model"),
    "duration of the first guess": ("model.c", "step < STEPS", "step < 1", "test-model"),
    "bandwidth without end": (
        "model.c", "if (needed(e, low) <= low)\n\t\treturn low;",
        "if (needed(e, low) <= low)\n\t\treturn needed(e, low);", "test-model"),
    "links of another machine": ("presets.c", "(b - a) % 2 == 0", "(b - a) % 2", "test-machine"),
    "routes by the wrong neighbour": (
        "machine.c", "#define CLOSER(a, b, to) (ABS((a) - (to)) <",
        "#define CLOSER(a, b, to) (ABS((a) - (to)) >", "test-machine"),
    "sockets are one": ("presets.c", "a / 4 == b / 4 ? 1 : 2", "1", "test-machine"),
    "links are all near": ("machine.c", "{ direct }, m->link[direct].class }", "{ direct }, 1 }", "test-machine"),
    "overlapping memory": ("machine.c", "o->from < r->to && r->from < o->to", "false", "test-machine"),
    "a CPU in two nodes": ("machine.c", "if (m->node_of_cpu[cpu] != NO_NODE)\n", "if (false)\n", "test-machine"),
    "imbalance of a sample": ("report.c", "squares / n", "squares / (n - 1)", "test-report"),
    "local is where it is not": (
        "report.c", "if ((int)node == m->node_of_cpu[cpu])",
        "if ((int)node != m->node_of_cpu[cpu])", "test-report"),
    "the last window is lost": ("region.c", "\tregion_look(region);\n\tepochs", "\tepochs", "test-report"),
    "the order of the host believed": ("epochs.c", "if (!start[i])\n\t\t\tcontinue;", "", "test-epochs"),
    "a master initializes with the others": ("epochs.c", "start[i] = true;", "", "test-epochs"),
    "a first access is coming in": ("epochs.c", "#define COMES_IN 0.02", "#define COMES_IN 1e-9", "test-epochs"),
    "one epoch a segment": ("epochs.c", "MAX(1, round(misses(w, from, to) / model->machine->epoch))", "1", "test-epochs"),
    "parts of unequal size": ("epochs.c", "MIN(left, (now + 1) * size - at)", "MIN(left, size)", "test-epochs"),
    "windows lost when there are too many": (
        "epochs.c", "add_work(window(w, i / 2) + cpu, window(w, i + 1) + cpu, 1);",
        ";", "test-epochs"),
    "a window counted twice": ("region.c", "*last = now;", "", "test-report"),
    "what Xen executes is time": ("region.c", "if (mode == XEN)", "if (false)", "test-report"),
    "caches outlive a region": ("region.c", "sim_clear(region->sim);", "", "test-report"),
    "loads not seen": (
        "numasim.c", "on_load, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R",
        "on_load, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W", PLUGIN),
    "stores are loads": (
        "numasim.c", "on_access(vcpu, info, address, GPOINTER_TO_UINT(mode), true)",
        "on_access(vcpu, info, address, GPOINTER_TO_UINT(mode), false)", PLUGIN),
    "counting before the region": ("numasim.c", "qemu_plugin_u64_set(instruction_counter(mode), cpu, 0);", ";", PLUGIN),
    "counting after the region": (
        "numasim.c", "\tqemu_plugin_reset(plugin_id, on_reset);",
        "\tif (!(marker & IS_END))\n\t\tqemu_plugin_reset(plugin_id, on_reset);", PLUGIN),
    "no end unnoticed": (
        "numasim.c", "if (current != NO_REGION)\n\t\tfprintf(out, \"{\\\"error\\\": \\\"region %u has",
        "if (false)\n\t\tfprintf(out, \"{\\\"error\\\": \\\"region %u has", PLUGIN),
}


def build(out, *targets, flags=()):
    ctests.build(HERE, out, *targets, flags=[f"HEADERS={HEADERS}", *flags])


def words(out, *more):
    """Node n has CPU n and the 64 MiB from n * 64 MiB on."""
    return ",".join([f"out={out}", *(f"node={n}@{n << 26:#x}-{n + 1 << 26:#x}" for n in range(NODES)), *more])


def qemu(directory, plugin_words):
    return subprocess.run(
        ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-machine", "q35", "-smp", f"{NODES},sockets={NODES}", "-m", "576M",
         "-display", "none", "-monitor", "none", "-serial", "none", "-nic", "none", "-no-reboot",
         "-device", "isa-debug-exit,iobase=0xf4", "-kernel", directory / "streams",
         "-plugin", f"{directory}/numasim.so,{plugin_words}"], capture_output=True, text=True, timeout=60, check=False)


def run_streams(plugin, out, *more):
    """{region: its record} and [errors] of the streams, with the plugin in this directory."""
    symbols = {name: address for address, _, name in map(str.split, subprocess.run(
        ["nm", plugin / "streams"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())}
    idle = "idle=0x{idle}-0x{idle_end}:0x{awake}".format_map(symbols)
    done = qemu(plugin, words(out, "watch=0", "l3=853K", idle, *more))
    assert done.returncode == 1, done.stderr       # isa-debug-exit: what was written, times 2, plus 1
    records = [json.loads(line) for line in out.read_text().splitlines()]
    return {record["region"]: record for record in records if "region" in record}, \
           [record["error"] for record in records if "error" in record]


def check_streams(regions, errors):
    """The truths about streams.S; test-sim says where the write-backs come from."""
    held = (512 + 853) * 16        # lines of L2 and L3
    #      node, lines missed, accesses, instructions, L2 hits, L3 hits, write-backs
    truths = {
        1: (2, LINES, LINES, 4 * LINES + 2, 0, 0, 0),
        2: (3, LINES, LINES, 4 * LINES + 2, 0, 0, LINES - held),
        3: (1, 512, 4 * 8192, 4 * (4 * 8192 + 2), 0, 0, 0),
        4: (5, 4096, 2 * 4096, 2 * (4 * 4096 + 2), 4096, 0, 0),
        5: (6, 12288, 2 * 12288, 2 * (4 * 12288 + 2), 0, 12288, 0),
        6: (7, LINES, 2 * LINES, 4 * LINES + 2, 0, 0, LINES - held),
        13: (2, 1000, 1000, 2 * (4 * 1000 + 2) + 8, 0, 0, 0),
        15: (2, 1000, 1000, 4 * 1000 + 2, 0, 0, 0),
        12: (4, 2 * 512, 2 * 512 + 8192, 4 * (2 * 512 + 8192) + 6, 0, 0, 512),
    }
    for region, (node, misses, accesses, instructions, l2_hits, l3_hits, write_backs) in truths.items():
        [cpu] = regions[region]["cpus"]
        at = [n == node for n in range(NODES)]
        assert cpu["misses"] == {"user": [misses * here for here in at], "kernel": [0] * NODES, "xen": [0] * NODES}, region
        assert cpu["write_backs"] == [write_backs * here for here in at], region
        assert cpu["accesses"] == {"user": accesses, "kernel": 0, "xen": 0}, region
        # beside the stream there is the jump that ends a marker's block, twice, in or out
        assert cpu["idle_accesses"] == (1000 if region == 13 else 0)
        assert 0 <= cpu["instructions"]["user"] - instructions <= 2, region
        assert (cpu["l2_hits"], cpu["l3_hits"]) == tuple({"user": n, "kernel": 0, "xen": 0} for n in (l2_hits, l3_hits)), region
        latency = {1: 276, 2: 276, 3: 383}[1 if node in (2, 4, 6, 1) else 3]
        assert cpu["memory_cycles"]["uncontended"] == l2_hits * 16 + l3_hits * 48 + misses * latency, region
        assert cpu["cycles"] == cpu["memory_cycles"]["contended"] + cpu["instructions"]["user"]
        assert regions[region]["local_ratio"] == 0 and abs(regions[region]["imbalance"] - 7 ** 0.5) < 1e-4
    # of regions in disorder, the last one counts, from its own beginning
    assert sorted(regions) == [1, 2, 3, 4, 5, 6, 9, 10, 12, 13, 14, 15]
    assert regions[9]["local_ratio"] is None
    assert regions[14]["local_ratio"] is None
    assert regions[14]["cpus"][0]["idle_accesses"] == 1000 and not any(regions[14]["cpus"][0]["accesses"].values())
    assert errors == ["region 7 ends, but did not begin", "region 9 begins inside region 8",
                      "region 10: CPU 0: 10 accesses to memory of no node, the last at 0x20000240", "region 11 has no end"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("numasim")
    build(out, *UNITS)
    return out


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    out = tmp_path_factory.mktemp("plugin")
    build(out, PLUGIN, "streams")
    return out


@pytest.mark.parametrize("program", UNITS)
def test_unit(built, program):
    ctests.check_passed(ctests.run(built / program))


def test_streams_in_qemu(plugin, tmp_path):
    check_streams(*run_streams(plugin, tmp_path / "out.jsonl"))


def test_epochs_in_qemu(plugin, tmp_path):
    regions, errors = run_streams(plugin, tmp_path / "out.jsonl", "epoch=10000")
    # 6.55 of them in the first two
    assert [regions[region]["epochs"] for region in (1, 2, 3)] == [7, 7, 1]
    check_streams(regions, errors)


def test_cpus_that_are_not_watched_count_nowhere(plugin, tmp_path):
    out = tmp_path / "out.jsonl"
    assert qemu(plugin, words(out, "watch=1-7")).returncode == 1
    first = json.loads(out.read_text().splitlines()[0])
    assert [cpu["cpu"] for cpu in first["cpus"]] == list(range(1, 8))
    assert not any(sum(map(sum, cpu["misses"].values())) + sum(cpu["accesses"].values()) for cpu in first["cpus"])


@pytest.mark.parametrize("more, complaint", [
    (["nonsense=1"], "numasim: nonsense=: unknown parameter"),
    (["watch=8"], "numasim: watch=8: are not CPUs of 0-7"),
    (["out=/nonexistent/x"], "numasim: /nonexistent/x: No such file or directory"),
    (["controller=8"], "numasim: loaded=: these latencies need 8.12 of a controller's 8 GiB/s"),
])
def test_bad_parameters_stop_qemu(plugin, tmp_path, more, complaint):
    done = qemu(plugin, words(tmp_path / "out.jsonl", *more))
    assert done.returncode == 1 and complaint in done.stderr.splitlines()
    assert "streams" not in done.stdout and not (tmp_path / "out.jsonl").exists()


def mistake(built, directory, file, old, new, who, *more):
    """Where what has to see it is built with this mistake."""
    source = ctests.planted(HERE, file, old, new, directory / "source")
    return ctests.rebuild(source, built, directory / "built", who, *more, flags=[f"HEADERS={HEADERS}"])


@pytest.mark.parametrize("name", [name for name, (*_, who) in MUTANTS.items() if who != PLUGIN])
def test_a_mistake_is_seen(built, tmp_path, name):
    broken = mistake(built, tmp_path, *MUTANTS[name]) / MUTANTS[name][-1]
    assert ctests.run(broken, CMOCKA_TEST_ABORT="1").returncode != 0, f"nobody saw: {name}"


@pytest.mark.parametrize("file, program", [("cache.h", "test-cache"), ("sim.c", "test-sim")])
def test_without_a_mistake_nothing_is_seen(built, tmp_path, file, program):
    ctests.check_passed(ctests.run(mistake(built, tmp_path, file, "", "", program) / program, CMOCKA_TEST_ABORT="1"))


@pytest.mark.parametrize("name", [name for name, (*_, who) in MUTANTS.items() if who == PLUGIN])
def test_a_mistake_in_the_plugin_is_seen(plugin, tmp_path, name):
    regions, errors = run_streams(mistake(plugin, tmp_path, *MUTANTS[name], "streams"), tmp_path / "out.jsonl")
    with pytest.raises((AssertionError, KeyError)):
        check_streams(regions, errors)
