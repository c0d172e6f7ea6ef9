# SPDX-License-Identifier: GPL-2.0-only
"""The driver without a machine: what it plans, keeps, does again and reports; and the memory map of the emulated machine."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from placement import carrefour, jobs, machines, repeats, report, run, store, topology
from placement.machines import MeasureError
from placement.subjects import SUBJECTS

from harness.machine import BootRed         # found through placement
from harness.topologies import TOPOLOGIES

GIB = 1 << 30
HEADER = "# title: {0}\n# from: us\n# set: quick full\n# class: partitioned\n"


class Host:
    """Stands for a booted machine; its class attributes say what goes wrong."""
    log, wrong, red_end, cycles = [], set(), False, []

    def __init__(self, subject):
        self.subject = subject

    def boot(self):
        self.log.append(f"boot {self.subject}")
        return self

    def measure(self, job):
        self.log.append(str(job))
        if job.workload in self.wrong:
            raise MeasureError("it went wrong")
        cycles = self.cycles.pop(0) if self.cycles else 100
        return {"cycles": 1, "machine": {"nodes": 8}, "cpus": [{"memory_cycles": {"contended": cycles}}]}, None

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
    monkeypatch.setattr(store, "PUBLISHED", tmp_path / "placement.json")
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


def publish(results):
    store.PUBLISHED.write_text(report.raw({"bench": "quick", "versions": {}, "failed": [], "results": results}))
    for path in store.RESULTS.iterdir():
        path.unlink()


def test_what_is_published_is_not_measured_again(bench):
    results, _ = bench()
    publish(results[:1] + results[2:])
    Host.log.clear()
    again, _ = bench()
    assert Host.log == ["boot native-interleave", ALL[2]]
    unwritten = [{key: value for key, value in result.items() if key != "recipe"} for result in results]
    assert [again[0], *again[2:]] == [unwritten[0], *unwritten[2:]]
    # unless it is to be, or depends on something that has changed
    Host.log.clear()
    run.run("quick", ["stock", "native-interleave"], fresh=True)
    assert Host.log == ALL
    publish(results)
    (store.NUMASIM / "model.c").write_text("2")
    Host.log.clear()
    bench()
    assert Host.log == ALL


def test_what_is_there_of_the_next_page_is_kept_beside_this_one(bench):
    old, _ = bench()
    publish(old)
    page = json.loads(store.PUBLISHED.read_text())
    (store.NUMASIM / "model.c").write_text("2")
    new, _ = bench()
    for part in new[:1], new[:3]:
        assert report.keep(part, store.PUBLISHED.parent) == [store.PUBLISHED]
        kept = json.loads(store.PUBLISHED.read_text())
        assert [row["name"] for row in kept.pop("next")] == [row["name"] for row in part] and kept == page
    for path in store.RESULTS.iterdir():
        path.unlink()
    Host.log.clear()
    again, _ = bench()
    assert Host.log == [ALL[3], ALL[5]] and again[0]["region"] == new[0]["region"]


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


@pytest.mark.parametrize("cycles, counts", [
    ([100, 101], 100),
    ([101, 100], 100),
    ([100, 103, 50], 100),
    ([103, 100, 101], 101),
    ([100, 200, 300], 200),
    ([300, 100, 200], 200),
])
def test_the_middle_run_counts(cycles, counts):
    """And there is no third one where two agree."""
    host = Host("stock")
    host.cycles = [*cycles, 1000]
    region, where, seen = repeats.measure(host, jobs.Job("stock", "a", "full"))
    assert (repeats.memory_cycles(region), where, seen) == (counts, None, cycles)


@pytest.mark.parametrize("job", [jobs.Job("stock", "a", "quick"), jobs.Job("stock", "a", "full", "halved", "b"),
                                 jobs.Job("auto", "a", "full")])
def test_what_is_run_once(job):
    host = Host("stock")
    host.cycles = [100, 200]
    assert repeats.measure(host, job)[2] == [100]


RECIPE = {"subject", "layout", "repeats", "size", "topology", "qemu", "mended", "clock", "model", "plugin", "kernel", "packages",
          "image", "workload"}
NATIVE_RECIPE, STATIC_RECIPE = RECIPE | {"shell"}, RECIPE | {"xen", "options", "guest", "dom0"}
SUBJECT = {"name", "title", "hypervisor", "policy", "prefix", "balancing", "quick"}


def test_what_carrefour_needs_is_no_part_of_what_others_depend_on():
    """Or all that was measured without it would have to be measured again."""
    keep = store.Store()
    keep.content = lambda *paths: "the same"
    workload = next(iter(jobs.read_workloads(jobs.WORKLOADS)))
    recipes = {name: keep.recipe(jobs.Job(name, workload, "full")) for name in SUBJECTS}
    for name, recipe in recipes.items():
        assert set(recipe["subject"]) == SUBJECT
        wanted = NATIVE_RECIPE if SUBJECTS[name].native else STATIC_RECIPE
        wanted = (wanted | {"carrefourd", "settings"}) - {"repeats"} if SUBJECTS[name].dynamic else wanted
        assert set(recipe) == (wanted | {"runs"} if name == "auto" else wanted), name
    assert recipes["auto"]["settings"] == carrefour.SETTINGS
    assert {name: subject.static for name, subject in SUBJECTS.items() if subject.dynamic} == {
        "round-2m-carrefour": "round-2m", "round-4k-carrefour": "round-4k", "first-touch-carrefour": "first-touch", "auto": ""}


def test_all_of_a_native_workload_is_where_a_guest_would_have_it():
    assert machines.workload_command("a", "full", (1, 2, 8), "numactl", machines.shell_on((1, 2, 8))) == (
        "THREADS=3 CPUS='1 2 8' PREFIX=numactl SIZE=full taskset 0x106 sh /workloads/a.sh")


def test_carrefour_is_as_fast_as_by_the_hosts_clock():
    delivered = carrefour.delivered_settings()
    assert {"period_ms": "1000", "vm_mb_per_s": "128", "sample_source": "hint-faults"}.items() <= delivered.items()
    hastened = carrefour.hastened(delivered)
    assert hastened["period_ms"] * machines.CLOCK_SLOWED == 1000 and hastened["vm_mb_per_s"] == 128 * machines.CLOCK_SLOWED
    assert hastened["vm_moves"] == delivered["vm_moves"] and hastened.keys() == delivered.keys()
    sooner = carrefour.sooner(hastened)
    assert {name for name in sooner if sooner[name] != hastened[name]} == {"auto_dwell_ms", "auto_return_ms"}
    assert sooner["auto_dwell_ms"] == 30000 // (carrefour.AUTO_SOONER * machines.CLOCK_SLOWED)


def test_the_parts_that_are_at_work_are_there():
    """A file that is not there would be part of no key, and so would its changes."""
    dom0, daemon = store.dom0_parts(), store.carrefourd_sources()
    assert all(path.is_file() for path in [*dom0, *daemon])
    assert {"xl", "dom0-init", "numa-dump.c"} <= {path.name for path in dom0}
    assert any(path.name.startswith("libxenlight.so") for path in dom0)
    assert {"auto.c", "decide.c", "Makefile"} <= {path.name for path in daemon}
    assert {"svm-intercept.patch", "slow-clock.patch"} <= {path.name for path in store.qemu_patches()}


def test_only_the_guests_cpus_are_watched():
    """dom0, and carrefourd in it, has the other one."""
    assert re.search(r"\bwatch=(\d+)-(\d+),", machines.model_options()).groups() == ("1", "8") == (
        str(topology.GUEST_CPUS[0]), str(topology.GUEST_CPUS[-1]))


class Dom0(carrefour.CarrefourHost):
    """Of a machine that does not exist: what is asked of it, and what carrefourd says."""

    def __init__(self, subject, shown):
        self.subject, self.guest, self.log = SUBJECTS[subject], None, []
        self.daemon = SimpleNamespace(show=lambda name: shown, stop=lambda: self.log.append("stopped"))

    def create(self, name, *_):
        self.log.append("new guest")

    def run(self, command, **_):
        self.log.append(command.partition(" >")[0])
        return SimpleNamespace(out="")


SHOWN = {"sampling": "runs", "state": "active", "policy": "round-4k", "carrefour": True, "advice": {"class": "high"},
         "totals": {"periods": 9, "samples": 7, "moves": 5, "frozen": 3, "backoffs": 1, "results": {}}}


@pytest.fixture
def dom0(monkeypatch):
    def made(subject, policy="round-4k", **shown):
        monkeypatch.setattr(machines.guests, "wait_console", lambda *_, **__: None)
        monkeypatch.setattr(machines.guests, "console", lambda *_: "said")
        monkeypatch.setattr(machines.guests, "console_size", lambda *_: 4)
        monkeypatch.setattr(machines.guests, "domid", lambda *_: 1)
        monkeypatch.setattr(machines.guests, "destroy", lambda machine, _: machine.log.append("gone"))
        dump = SimpleNamespace(policy=policy, usage_pages=lambda: {0: 1}, fallback=0)
        monkeypatch.setattr(machines.guests, "dump", lambda *_: dump)
        return Dom0(subject, SHOWN | shown)
    return made


@pytest.mark.parametrize("subject, runs, at_once", [("round-4k-carrefour", 1, 1), ("auto", 6, 3)])
def test_carrefour_has_a_guest_for_each_job(dom0, subject, runs, at_once):
    """And who chooses by what it has seen has seen the workload."""
    host = dom0(subject)
    for _ in range(2):
        assert host.measure_alone(jobs.Job(subject, "a", "full"))[1:] == (runs, {
            "pages": {0: 1}, "fallback": 0, "policy": "round-4k", "carrefour": True, "class": "high", "periods": 9, "samples": 7,
            "moves": 5, "frozen": 3, "backoffs": 1})
    told = [line for line in host.log if "workloads/a.sh" in line]
    assert len(told) == 2 * runs / at_once and all(f"for run in $(seq {at_once}); do THREADS=" in line for line in told)
    assert [line for line in host.log if line not in told] == ["new guest", "gone", "new guest"]


def says(*classes, state="active"):
    return [SHOWN | {"state": state, "advice": advice and {"class": advice}} for advice in classes]


@pytest.mark.parametrize("shown, runs", [
    (says("low") * 4, 6),                                       # the first time, it has seen nothing
    (says("low", "low", "low", "high", "high", "high"), 9),
    (says(None) * 2 + says("low") * 4, 6),
    (says("low", "high", "high", "low") + says("low") * 2, 9),
    (says("high") * 4 + says("high", state="following") * 2 + says("high") * 2, 6),
    (says("high") * 2 + says("high", state="following") * 2 + says("high") * 2, 9),
    (says(*["unknown"] * 4, *["low"] * 4), 9),
    (says(None) * 16, 24),
    (says(*["unknown"] * 16), 24),
    (says(*["low", "high"] * 8), 24),
])
def test_auto_has_come_to_rest(dom0, shown, runs):
    host = dom0("auto")
    host.daemon.show = lambda name, answers=iter(shown): next(answers)
    assert host.run_job("g", jobs.Job("auto", "a", "full"))[1] == runs


@pytest.mark.parametrize("shown", [{"sampling": "refused"}, {"totals": SHOWN["totals"] | {"samples": 0}}])
def test_a_daemon_that_sees_nothing_is_an_error(dom0, shown):
    with pytest.raises(MeasureError, match="carrefourd was to see"):
        dom0("round-4k-carrefour", **shown).placement("g")


def test_the_static_policy_must_be_in_force(dom0):
    with pytest.raises(MeasureError, match="was to have policy round-4k, it has first-touch"):
        dom0("round-4k-carrefour", policy="first-touch").placement("g")
    # which is nobody's business but its own
    dom0("auto", policy="first-touch").placement("g")


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
    machines.check_said("a", "workload: a ok\nworkload: a ok\n", runs=2)
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


def test_of_two_runs_the_last_one_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(machines, "OUT", tmp_path)
    watch = machines.Watch("x")
    watch.path.write_text('{"cycles": 1}\n{"cycles": 2}\n')
    assert watch.region(2) == {"cycles": 2}
