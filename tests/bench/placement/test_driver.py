"""The driver without a machine: what it plans, keeps, does again and reports; and the memory map of the emulated machine."""

import json
from dataclasses import replace

import pytest

from placement import jobs, machines, run, store, topology
from placement.machines import MeasureError
from placement.subjects import SUBJECTS

from harness.machine import BootRed         # found through placement
from harness.topologies import TOPOLOGIES

GIB = 1 << 30
HEADER = "# title: {0}\n# from: us\n# set: quick full\n# class: partitioned\n"


class Host:
    """Stands for a booted machine; its class attributes say what goes wrong."""
    log, wrong, red_end = [], set(), False

    def __init__(self, subject):
        self.subject = subject

    def boot(self):
        self.log.append(f"boot {self.subject}")
        return self

    def measure(self, job):
        self.log.append(str(job))
        if job.workload in self.wrong:
            raise MeasureError("it went wrong")
        return {"cycles": 1}, None

    def finish(self):
        if self.red_end:
            raise BootRed("the console is not clean")

    def kill(self):
        pass


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """A bench of two workloads and two subjects, on machines that do not exist."""
    scripts = tmp_path / "workloads"
    scripts.mkdir()
    for name in ("a", "b"):
        (scripts / f"{name}.sh").write_text(HEADER.format(name))
    (scripts / "common").write_text("")
    monkeypatch.setattr(jobs, "WORKLOADS", scripts)
    monkeypatch.setattr(store, "WORKLOADS", scripts)
    monkeypatch.setattr(store, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(store, "TIMES", tmp_path / "times.json")
    monkeypatch.setattr(run, "build_plugin", lambda: None)
    monkeypatch.setattr(run, "host", Host)
    monkeypatch.setattr(store, "NUMASIM", tmp_path)
    (tmp_path / "model.c").write_text("1")
    monkeypatch.setattr(store, "IMAGES", tmp_path)
    (tmp_path / "versions").write_text("1")
    monkeypatch.setattr(Host, "log", [])
    monkeypatch.setattr(Host, "wrong", set())
    monkeypatch.setattr(Host, "red_end", False)
    return lambda: run.run("quick", ["stock", "native-interleave"])


ALL = ["boot native-interleave", "native-interleave: a", "native-interleave: b", "boot stock", "stock: a", "stock: b"]


def test_all_is_done_once(bench, capsys):
    results, failed = bench()
    assert (len(results), failed, Host.log) == (4, [], ALL)
    assert "[3/4] stock: a: usually 15 s, 0 min left …" in capsys.readouterr().out
    assert len(bench()[0]) == 4 and Host.log == ALL


def test_a_stopped_bench_goes_on(bench, monkeypatch):
    """A result counts as soon as it is there."""
    monkeypatch.setattr(Host, "finish", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        bench()
    monkeypatch.setattr(Host, "finish", lambda self: None)
    Host.log.clear()
    assert len(bench()[0]) == 4 and Host.log == ALL[3:]


def test_a_job_that_fails_is_told_and_the_others_go_on(bench):
    Host.wrong.add("a")
    results, failed = bench()
    assert failed == ["native-interleave: a: it went wrong", "stock: a: it went wrong"]
    assert [result["workload"] for result in results] == ["b", "b"]
    assert Host.log.count("boot stock") == 2, "the machine was not replaced"


def test_a_report_of_what_there_is(bench):
    assert run.run("quick", ["stock"], measure=False) == ([], ["2 of 2 jobs have yet to be done"])
    bench()
    Host.log.clear()
    results, missing = run.run("quick", measure=False)
    assert (len(results), missing, Host.log) == (4, ["4 of 8 jobs have yet to be done"], [])


def test_what_a_red_boot_measured_is_dropped(bench, monkeypatch):
    monkeypatch.setattr(Host, "red_end", True)
    results, failed = bench()
    assert results == [] and len(failed) == 2


@pytest.mark.parametrize("file, again", [("a.sh", ["a"]), ("common", ["a", "b"])])
def test_a_change_is_measured_again(bench, file, again):
    bench()
    with open(jobs.WORKLOADS / file, "a", encoding="utf-8") as script:
        script.write("# changed\n")
    Host.log.clear()
    bench()
    assert [line for line in Host.log if line.startswith("stock")] == [f"stock: {name}" for name in again]


def test_a_changed_plugin_is_all_again(bench):
    bench()
    (store.NUMASIM / "model.c").write_text("2")
    Host.log.clear()
    bench()
    assert Host.log == ALL


def test_a_workload_without_its_header_is_told(tmp_path):
    (tmp_path / "x.sh").write_text("# title: x\n# set: full\n")
    with pytest.raises(ValueError, match="lacks the header line.* class, from"):
        jobs.read_workloads(tmp_path)


def test_every_pair_is_of_workloads_that_there_are():
    assert {name for pair in jobs.PAIRS for name in pair} <= set(jobs.read_workloads(jobs.WORKLOADS))
    assert set(jobs.PAIR_SUBJECTS) <= set(SUBJECTS)


def test_memory_of_nodes_as_qemu_puts_it():
    told = topology.ranges_of(topology.AMD48)
    assert told[0] == [(0, 2 * GIB), (4 * GIB, 5 * GIB)]
    assert told[1] == [(5 * GIB, 5 * GIB + 1536 * topology.MIB)]
    assert topology.ranges_of(TOPOLOGIES["n1"]) == [[(0, 1536 * topology.MIB)]]
    # a node on both sides of the hole, as a booted Xen told of n8
    assert topology.ranges_of(TOPOLOGIES["n8"])[1] == [(0x50000000, 0x80000000), (0x100000000, 0x110000000)]


SRAT = """(XEN) NUMA: Node 0 PXM 0 [0000000000000000, 000000000009ffff]
(XEN) NUMA: Node 0 PXM 0 [0000000000100000, 000000003fffffff]
(XEN) NUMA: Node 1 PXM 1 [0000000040000000, 000000007fffffff]
"""


def test_a_wrong_memory_map_is_found():
    two = replace(TOPOLOGIES["n2"], mib=(1024, 1024))
    topology.check_srat(two, SRAT)
    with pytest.raises(ValueError, match="node 0 has 0x100000"):
        topology.check_srat(replace(two, mib=(768, 1280)), SRAT)
    with pytest.raises(ValueError, match="node 1 lacks"):
        topology.check_srat(replace(two, mib=(1024, 1025)), SRAT)
    with pytest.raises(ValueError, match="knows memory of the nodes"):
        topology.check_srat(two, "")


def test_linux_tells_the_same():
    topology.check_srat(replace(TOPOLOGIES["n2"], mib=(1024, 1024)), """
[    0.0] ACPI: SRAT: Node 0 PXM 0 [mem 0x00000000-0x0009ffff]
[    0.0] ACPI: SRAT: Node 0 PXM 0 [mem 0x00100000-0x3fffffff]
[    0.0] ACPI: SRAT: Node 1 PXM 1 [mem 0x40000000-0x7fffffff]""")


def test_links_are_amd48s():
    hops = topology.distances()
    for node in range(8):
        assert hops[node].count(topology.ONE_HOP) == 4
        assert all(hops[node][other] == hops[other][node] for other in range(8))


def test_a_workload_must_say_that_it_is_well():
    machines.check_said("a", "noise\nworkload: a ok\r\n")
    for text in ("", "workload: b ok", "workload: a failed: no memory", "workload: a ok\nworkload: a ok"):
        with pytest.raises(MeasureError):
            machines.check_said("a", text)


@pytest.mark.parametrize("records, message", [
    ([], "the plugin saw 0"),
    ([{"region": 1}, {"region": 1}], "the plugin saw 2"),
    ([{"error": "a region has no end"}], "the plugin says: a region has no end"),
])
def test_one_job_is_one_region(tmp_path, monkeypatch, records, message):
    monkeypatch.setattr(machines, "OUT", tmp_path)
    watch = machines.Watch("x")
    watch.path.write_text("".join(json.dumps(record) + "\n" for record in [{"region": 1, "cycles": 7}]))
    assert watch.region()["cycles"] == 7
    with open(watch.path, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    with pytest.raises(MeasureError, match=message):
        watch.region()
