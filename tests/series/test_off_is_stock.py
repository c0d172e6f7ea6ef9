# SPDX-License-Identifier: GPL-2.0-only
"""With CONFIG_NUMA_POLICY=n Xen is stock Xen, function by function, but for what is declared."""
import subprocess
from functools import cache
from pathlib import Path

import objects
import pytest

ROOT = Path(__file__).absolute().parents[2]
OFF, STOCK = (ROOT / f"build/xen-{variant}/objects" for variant in ("off", "stock"))

# why, where, what
DECLARED = (
    ("Xen carries its configuration, which knows the option",
     "common/config_data.o", "xen_config_data xen_config_data_size"),
    ("FLASK: permissions for the domctl, which a policy has with the option on or off",
     "xsm/flask/avc.o", "av_perm_to_string avc_audit selinux_class_perm"),
    ("FLASK: the policy that is built in", "xsm/flask/flask-policy.o", "rodata"),
    ("FLASK: these permissions are asked for", "xsm/flask/hooks.o", "flask_domctl"),
    ("0025, useful without the series: no TLB flush for an entry that waits to be recalculated",
     "arch/x86/mm/hap/hap.o", "hap_write_p2m_entry_post"),
    ("0025, likewise: 512 such entries are written without a flush each", "arch/x86/mm/p2m-pt.o", "do_recalc"),
    ("0042, a mistake in stock Xen", "common/sched/core.o", "sched_wait_rendezvous_in schedule_cpu_rm"),
    ("0054, a mistake in stock Xen: an index was cut to 32 bits", "arch/x86/mm/p2m-pt.o",
     "p2m_next_level.constprop p2m_pt_set_entry p2m_pt_set_recalc_range"),
    ("0056, of use without the series: what a node has, not what it spans", "common/sysctl.o", "do_sysctl"),
    ("whether the access was a write is passed on, and not used", "arch/x86/hvm/svm/svm.o", "svm_vmexit_handler"),
    ("a loop became a function, which is inlined: the same instructions, placed otherwise",
     "arch/x86/mm/p2m-ept.o", "resolve_misconfig"),
    ("code for a reserve is gone, but registers and the order of blocks are chosen otherwise",
     "arch/x86/mm/p2m-pod.o", "guest_physmap_mark_populate_on_demand p2m_pod_cache_get "
     "p2m_pod_demand_populate p2m_pod_offline_or_broken_hit"),
)


@cache
def source(what, file):
    """The lines of a file with the series, or without."""
    def run(*words):
        return subprocess.run(words, capture_output=True, text=True).stdout
    repo, commit = run(ROOT / "tools/patchqueue/pq", "commit", "xen", what).split()
    return run("git", "-c", "safe.directory=*", "-C", repo, "show", f"{commit}:xen/{file}").splitlines()


def same_line_of(file):
    """Whether line n of a source with the series is its line m without; not of a line that gives none away."""
    def same(mine, theirs):
        ours, stock = source("series", file), source("base", file)
        return (0 < mine <= len(ours) and 0 < theirs <= len(stock)
                and ours[mine - 1] == stock[theirs - 1] and "(" in ours[mine - 1])
    return same


def compare(off, stock):
    """{file: what differs}"""
    files = {path.relative_to(off) for path in off.rglob("*.o")}
    assert files == {path.relative_to(stock) for path in stock.rglob("*.o")}
    assert len(files) > 400
    found = {str(file): objects.differences(off / file, stock / file, same_line_of(file.with_suffix(".c")))
             for file in sorted(files)}
    return {file: names for file, names in found.items() if names}


def test_off_is_stock():
    assert OFF.exists() and STOCK.exists(), "make xen-off xen-stock"
    declared = {}
    for why, file, names in DECLARED:
        print(f"{file}: {names}\n    {why}")
        declared[file] = sorted(declared.get(file, []) + names.split())
    assert compare(OFF, STOCK) == declared


CHANGED, FUNCTION = "common/page_alloc.o", "alloc_domheap_pages"


def flip(raw, name, at):
    """A bit in a section."""
    section, = (section for section in objects.Object(OFF / CHANGED).sections if section.name == name)
    raw[section.begin + at] ^= 1


@pytest.mark.parametrize("plant, seen", [
    (lambda raw: flip(raw, f".text.{FUNCTION}", 1), [FUNCTION]),
    (lambda raw: flip(raw, f".rela.text.{FUNCTION}", 12), [FUNCTION]),         # to what the first reference is
    (lambda raw: raw.__setitem__(slice(None), raw.replace(b"Scrubbing", b"Scrabbing")), None),
    (lambda raw: flip(raw, ".altinstructions", 8), None),
], ids=["code", "reference", "string", "alternative"])
def test_planted(tmp_path, plant, seen):
    assert objects.differences(OFF / CHANGED, STOCK / CHANGED, lambda *_: False) == []
    path = tmp_path / "planted.o"
    raw = bytearray((OFF / CHANGED).read_bytes())
    plant(raw)
    path.write_bytes(raw)
    found = objects.differences(path, STOCK / CHANGED, lambda *_: False)
    assert found and seen in (None, found)


def test_a_number_that_is_no_line_is_a_difference():
    part = lambda number: [("text", b"\xbe" + number.to_bytes(4, "little"), [])]
    same = lambda mine, theirs: (mine, theirs) == (300, 280)
    assert objects.only_lines(part(300), part(280), same)
    assert not objects.only_lines(part(301), part(280), same)
    assert not objects.only_lines(part(300), [("text", b"\xbe\x18\x01\0\0\x90", [])], same)
