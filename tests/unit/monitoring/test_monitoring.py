# SPDX-License-Identifier: GPL-2.0-only
"""docs/monitoring: what carrefourd tells is taken by Prometheus' own tools, and each panel and alert finds what is there."""

import json
import re
import subprocess
import time

import pytest
import yaml

import fleet
from fleet import DOCS, ROOT, rules

BOARDS = "dashboard.json", "fleet.json"
SEED = 7


def promtool(*args, **options):
    return subprocess.run(["promtool", *map(str, args)], capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return fleet.build(tmp_path_factory.mktemp("fleet"))


@pytest.fixture(scope="module")
def files(program, tmp_path_factory):
    directory = tmp_path_factory.mktemp("files") / "files"
    fleet.write(program, directory, SEED, fleet.KINDS, 2)
    return sorted(directory.glob("*/*.prom"))


@pytest.fixture(scope="module")
def prometheus(program, tmp_path_factory):
    with fleet.running(program, tmp_path_factory.mktemp("prometheus"), SEED, 2 * fleet.KINDS, 4, "3s") as running:
        yield running


def told(files):
    """Names of metrics, as samples have them, each with its type."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", "".join(path.read_text() for path in files), re.M))


def test_promtool_has_nothing_to_say(files):
    for path in files:
        done = promtool("check", "metrics", input=path.read_text())
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), path
    assert len(files) == 2 * fleet.KINDS - 1


def test_alerts_fire_when_they_should():
    assert promtool("check", "rules", DOCS / "alerts.yml").returncode == 0
    done = promtool("test", "rules", DOCS / "alerts-test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("instead", ["vector(1) > 2", "vector(1)"])
def test_each_alert_has_a_test(instead, tmp_path):
    """One that never fires is noticed, and one that always does."""
    text = yaml.safe_load((DOCS / "alerts.yml").read_text())
    for rule in (rule for group in text["groups"] for rule in group["rules"]):
        rule["expr"] = instead
    (tmp_path / "alerts.yml").write_text(yaml.safe_dump(text))
    (tmp_path / "alerts-test.yml").write_text((DOCS / "alerts-test.yml").read_text())
    done = promtool("test", "rules", tmp_path / "alerts-test.yml")
    assert done.returncode == 1
    assert set(re.findall(r"alertname: (\w+)", done.stdout + done.stderr)) == {rule["alert"] for rule in rules()}


def test_node_exporter_takes_the_file(files, tmp_path):
    text = files[0].read_text()
    (tmp_path / "carrefour.prom").write_text(text)
    port = fleet.free_port()
    with subprocess.Popen(["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                           f"--collector.textfile.directory={tmp_path}", f"--web.listen-address=127.0.0.1:{port}"],
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + 30
            while True:
                try:
                    answer = fleet.fetch(f"http://127.0.0.1:{port}/metrics")
                    break
                except OSError:
                    assert process.poll() is None and time.monotonic() < end
                    time.sleep(0.1)
        finally:
            process.terminate()
            process.communicate()
    assert "\nnode_textfile_scrape_error 0\n" in answer
    assert f'node_textfile_mtime_seconds{{file="{tmp_path}/carrefour.prom"}}' in answer

    def series(of):
        """It sorts labels."""
        found = re.findall(r"^((?:carrefour|xen_numa)\w+)(?:\{(.*)\})? ", of, re.M)
        return sorted((name, sorted(re.findall(r'\w+="[^"]*"', labels))) for name, labels in found)
    assert series(answer) == series(text) and len(series(text)) > 100


def test_prometheus_takes_the_rules(prometheus):
    found = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    assert [rule["name"] for rule in found] == [rule["alert"] for rule in rules()]
    assert {(rule["health"], rule.get("lastError")) for rule in found} == {("ok", None)}
    assert {target["health"] for target in prometheus.ask("targets")["activeTargets"]} == {"up"}


def troubled(prometheus, alert, expression):
    """The kinds of hosts that an alert finds."""
    found = prometheus.query(expression)
    assert found, alert
    return {int(re.match(r"host-(\d+)", sample["metric"]["instance"])[1]) % fleet.KINDS for sample in found}


# By fleet.c's enum trouble.
TROUBLES = {
    "CarrefourMetricsStale": {fleet.STALE}, "CarrefourMetricsMissing": {8}, "CarrefourRestarts": {7},
    "CarrefourReloadFailed": {1}, "CarrefourPeriodsLate": {2}, "CarrefourNotSampled": {3}, "CarrefourSamplesLost": {4},
    "XenNumaMemoryAway": {5}, "XenNumaFallback": {0}, "XenNumaNodeFull": {0},
}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_finds_its_hosts(prometheus, rule):
    kinds = troubled(prometheus, rule["alert"], rule["expr"])
    # that accesses are remote is so at the beginning of any host
    assert kinds == TROUBLES[rule["alert"]] if rule["alert"] in TROUBLES else 6 in kinds


@pytest.mark.parametrize("board, panel", [pytest.param(board, panel, id=f"{board}-{panel['title']}")
                                          for board in BOARDS for panel in fleet.panels(board)])
def test_a_panel_has_data(prometheus, board, panel):
    for target in panel["targets"]:
        found = prometheus.query(fleet.filled(target["expr"]))
        assert found, target["expr"]
        assert not [sample for sample in found if sample["value"][1] == "NaN" and len(found) == 1], target["expr"]
        names = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
        assert all(name in sample["metric"] for name in names for sample in found), target


@pytest.mark.parametrize("board", BOARDS)
def test_a_board_is_whole(board, files):
    document = json.loads((DOCS / board).read_text())
    known = set(told(files)) | {"node_textfile_mtime_seconds"}
    cells = set()
    for panel in document["panels"]:
        place = panel["gridPos"]
        new = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not new & cells and max(new)[0] < 24, panel["title"]
        cells |= new
        for target in panel["targets"]:
            names = set(re.findall(r"\b(?:carrefour|xen_numa|node)_\w+", re.sub(r'"[^"]*"', "", target["expr"])))
            assert {re.sub("_duration_seconds_(sum|count)$", "_duration_seconds", name) for name in names} <= known, target
    assert len({panel["id"] for panel in document["panels"]}) == len(document["panels"])
    assert len({panel["title"] for panel in document["panels"]}) == len(document["panels"])


def test_interfaces_has_each_metric(files):
    """With its type and its labels; and none that there is not."""
    text = (ROOT / "docs/interfaces.md").read_text()
    documented = dict(re.findall(r"^\| `((?:carrefour|xen_numa)_\w+)(?:\{[\w, ]+\})?` \| (\w+) \|", text, re.M))
    assert documented == told(files)
    everything = "".join(path.read_text() for path in files)
    for name, labels in re.findall(r"^\| `((?:carrefour|xen_numa)_\w+)(?:\{([\w, ]+)\})?` \|", text, re.M):
        of_sample = re.search(rf"^{name}(?:_sum)?(?:\{{(.*)\}})? ", everything, re.M)
        assert re.findall(r"(\w+)=\"", of_sample[1] or "") == [word for word in labels.split(", ") if word], name


def test_the_guides_configuration_is_good(tmp_path):
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (DOCS / "README.md").read_text(), re.M | re.S)
    assert blocks
    for block in blocks:
        (tmp_path / "alerts.yml").write_text((DOCS / "alerts.yml").read_text())
        (tmp_path / "prometheus.yml").write_text(block.replace("/etc/prometheus/", f"{tmp_path}/"))
        done = promtool("check", "config", tmp_path / "prometheus.yml")
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_guides_questions_are_answered(prometheus):
    text = (DOCS / "README.md").read_text().partition("## Questions that you can ask\n")[2].partition("\n## ")[0]
    asked = re.findall(r"(?:^    .*\n)+", text, re.M)
    for question in asked:
        prometheus.query(question)
    assert len(asked) == 3


@pytest.mark.soak
def test_a_thousand_hosts(program, tmp_path):
    hosts = 1000
    with fleet.running(program, tmp_path, 1, hosts, 4, "15s") as prometheus:
        assert int(prometheus.query("count(up == 1)")[0]["value"][1]) == hosts
        series = prometheus.count()
        assert series > 100 * hosts
        slowest = 0
        for board in BOARDS:
            for panel in fleet.panels(board):
                for target in panel["targets"]:
                    began = time.monotonic()
                    assert prometheus.query(fleet.filled(target["expr"])), target["expr"]
                    slowest = max(slowest, time.monotonic() - began)
        for rule in rules():
            if rule["alert"] in TROUBLES:
                assert troubled(prometheus, rule["alert"], rule["expr"]) == TROUBLES[rule["alert"]]
        print(json.dumps({"hosts": hosts, "series": series, "slowest_query_s": round(slowest, 3)}))
