# SPDX-License-Identifier: GPL-2.0-only
"""carrefour-replay: recorded traces and what is to be decided for them, --advise, broken traces."""

import csv
import math
import os
import random
import re
import time

import pytest

from carrefour_build import HERE, ROOT, run

TRACES = sorted((HERE / "traces").glob("*.trace"))
AUTO_PAGE = ROOT / "docs" / "auto.md"


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_recorded_decisions(replay, path):
    assert replay("--check", path) == ""
    assert re.search(r"^d ", path.read_text(), re.M)


def test_traces_tell_of_every_action():
    said = {line.split()[1] for path in TRACES for line in path.read_text().splitlines() if line.startswith("d ")}
    assert said == {"migrate", "interleave", "split", "collapse", "freeze"}


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_recorded_by(built, path):
    """The file is what `record` writes."""
    assert run(built / "record", path.stem).stdout == path.read_text()


@pytest.mark.parametrize("old, new", [
    (r"^(d migrate \S+ \S+ 0 \d) (\d)$", lambda m: f"{m[1]} {(int(m[2]) + 1) % 4}"),
    (r"^d migrate .*\n", ""),
    (r"^(d migrate one-node) ", r"\1 1"),
    (r"^decided\n", "decided\nd migrate one-node 1 0 0 1\n"),
    (r"^s (\w+) 0 (\d) [123]", r"s \1 0 \2 0"),
])
def test_check_sees_what_differs(replay, built, tmp_path, old, new):
    text = (HERE / "traces/master-slave-partitioned.trace").read_text()
    path = tmp_path / "trace"
    path.write_text(re.sub(old, new, text, count=20, flags=re.M))
    done = run(built / "lib/carrefour-replay", "-k", path)
    assert done.returncode == 1 and re.search(r"^[-+] period \d+ domain 1: ", done.stdout, re.M) and done.stderr == ""


def test_check_tells_trouble_from_a_difference(replay, trace, tmp_path):
    """As diff and cmp do."""
    assert replay("-k", tmp_path / "none", status=2).endswith("none: cannot open it: No such file or directory")
    assert replay("-k", trace("domain"), status=2).endswith(":3: 'domain' has no place here")
    assert replay("-k", "-c", tmp_path / "none", trace(), status=2).startswith(f"{tmp_path}/none: cannot open it")
    assert replay(trace("domain"), status=1)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_written_again_it_is_the_same(replay, tmp_path, path):
    replay("-o", tmp_path / "copy", path)
    assert (tmp_path / "copy").read_text() == path.read_text()
    said = replay("-o", tmp_path / "copy", path, "-a")
    assert "domain 1: " in said and (tmp_path / "copy").read_text() == path.read_text()


def test_output_is_not_the_trace(replay, trace):
    path = trace("period 1 - 1 1 1 1")
    assert replay("-o", path, path, status=1) == f"{path}: is the trace itself; write to another file"
    assert "period" in path.read_text()


def test_a_line_a_decision(replay):
    path = HERE / "traces/master-slave-partitioned.trace"
    lines = replay(path).splitlines()
    assert len(lines) == sum(line.startswith("d ") for line in path.read_text().splitlines())
    assert re.fullmatch(r"period 0 domain 1: migrate gfn 0x1000\w\w 4K from node 0 to [123]: all of its last \d samples "
                        r"from node [123], \d in this period", lines[0])
    with open(path) as file:
        assert replay("-", stdin=file).splitlines() == lines
    assert replay("-d", "1", path).splitlines() == lines
    assert replay("-d", "2", path) == ""
    periods = [line for line in replay("-p", path).splitlines() if line not in lines]
    assert len(periods) == 12
    assert re.match(r"period 0 domain 1: active: 120 samples, local 2\d\.\d %, imbalance 17\d\.\d %, busiest pair 0-1 "
                    r".*, migrating, interleaving; 29 moves, 116 KiB$", periods[0])


def test_another_configuration(replay, tmp_path):
    (tmp_path / "c").write_text("vm_moves = 3\nmin_samples = 100\n")
    lines = replay("-c", tmp_path / "c", HERE / "traces/master-slave-partitioned.trace").splitlines()
    assert [sum(line.startswith(f"period {n} ") for line in lines) for n in range(3)] == [3, 3, 3]


# What the paper printed.

def figures():
    lines = [line for line in (HERE / "papers-table-1.csv").read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def counts(imbalance_pct, remote=0, nodes=8):
    """Samples with this imbalance: one node has more than the others, which have all the same.  A part of them is remote."""
    share = (1 + imbalance_pct / 100 * math.sqrt(nodes - 1)) / nodes
    if share > 1:   # more than one node alone can have
        share = 1
    loads = [share] + [(1 - share) / (nodes - 1)] * (nodes - 1)
    return [f"count {by} {on} {round(load * (1 - remote if by == on else remote / (nodes - 1)) * 1_000_000)}"
            for on, load in enumerate(loads) for by in range(nodes)]


def away(row):
    """By the load of the interconnect: interleaved over eight nodes, seven of eight accesses are remote."""
    return min(1, int(row["interconnect_first_touch_pct"]) / int(row["interconnect_round_4k_pct"])) * 7 / 8


def advice(replay, trace, imbalance, remote=0.875, *, policy="first-touch", periods=31, how="static"):
    lines = []
    for _ in range(periods):
        lines += ["period 1000000000 -" + " 0" * 8, f"domain 5 0,1,2,3,4,5,6,7 {policy} {how} 0 0", *counts(imbalance, remote)]
    return replay("--advise", trace(*lines, nodes=8)).splitlines()


@pytest.fixture
def choices(replay, trace):
    """What the daemon chooses for each program of the paper's, by the figures that the paper has of it."""
    assert len(figures()) == 29
    last = {row["app"]: advice(replay, trace, int(row["imbalance_first_touch_pct"]), away(row))[-1] for row in figures()}
    return {app: re.match(r"at the end, domain 5: (\S+): class", line)[1] for app, line in last.items()}


def test_what_the_choice_is_worth(choices):
    """How often the choice is the policy that was best: by its static part, and in full."""
    agree = {}
    for where in ("best_linux", "best_xen"):
        both = [(row[where].partition("/")[::2], choices[row["app"]].partition(",")[::2]) for row in figures()]
        agree[where] = sum(best[0] == chosen[0] for best, chosen in both), sum(best == chosen for best, chosen in both)
    # docs/auto.md names these
    assert agree == {"best_linux": (21, 7), "best_xen": (20, 7)}
    page = " ".join(AUTO_PAGE.read_text().split())
    assert "left out of the comparison, it is the best one under Xen for 20 programs, and under Linux for 21." in page
    assert "With Carrefour counted, it is the best one for 7 and 7." in page


def test_where_the_choice_was_not_the_best_is_told(choices):
    """docs/auto.md has each such program, by the static part of the policy, with a reason, and no other."""
    lines = [line for line in AUTO_PAGE.read_text().partition("| program |")[2].splitlines() if line.startswith("|")][1:]
    told = [[word.strip() for word in line.strip("|").split("|")] for line in lines]
    wrong = [[row["app"], row["imbalance_first_touch_pct"], f"{100 * away(row):.0f}", choices[row["app"]],
              *(row[where].replace("/", ",") for where in ("best_xen", "best_linux"))]
             for row in figures() if choices[row["app"]].partition(",")[0] != row["best_xen"].partition("/")[0]]
    assert [row[:-1] for row in told] == wrong and len(wrong) == 9
    assert all(row[-1] for row in told)


def test_advice_needs_a_policy_that_tells(replay, trace):
    assert advice(replay, trace, 200, policy="round-4k") == [
        "at the end, domain 5: first-touch: class unknown, imbalance not known; under this policy nothing is learnt"]


def test_advice_changes_once(replay, trace):
    lines = advice(replay, trace, 200)
    assert len(lines) == 2 and lines[0].startswith(
        "period 29 domain 5: round-4k,carrefour: class high, imbalance 200.0 %, forecast of memory time 256 % as low, "
        "150 % as moderate, 122 % as high")
    assert lines[0].endswith("; new") and lines[1].endswith("; as before")


def test_advice_weighs_by_all_vcpus(replay, trace, tmp_path):
    """Of eight that no affinity pins one runs, on memory of one node; then all, on all nodes, for half as long."""
    def lines(vcpus):
        found = []
        for n in range(90):
            ran, loads = (1, counts(260, 0.875)) if n % 3 else (8, counts(10))
            found += ["period 1000000000 -" + " 0" * 8, "domain 5 0,1,2,3,4,5,6,7 first-touch static 0 0",
                      f"ran {ran}000000000 {vcpus}", *loads]
        return trace(*found, nodes=8)
    assert ": class moderate, " in replay("--advise", lines(8)).splitlines()[-1]
    assert ": class high, " in replay("--advise", lines(1)).splitlines()[-1]
    replay("-o", tmp_path / "out", lines(8))
    assert "ran 8000000000 8" in (tmp_path / "out").read_text()


def test_metrics(replay, trace, tmp_path):
    out = tmp_path / "x.prom"
    out.write_text("old")
    replay("-m", out, HERE / "traces/alternating.trace")
    text = out.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["x.prom"]
    families = re.findall(r"^# TYPE (\S+) (?:counter|gauge)$", text, re.M)
    assert len(families) == len(set(families)) == 19
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) carrefour_\w+ .+|carrefour_\w+\{domain="1"(,\w+="[\w-]+")?\} [\d.]+', line)
        assert line.split("{")[0].split()[0] in families or line.startswith("# ")
    value = dict(re.findall(r'^carrefour_(\w+)\{domain="1"\} (\S+)$', text, re.M))
    lines = replay(HERE / "traces/alternating.trace").splitlines()
    freezes = sum(": freeze " in line for line in lines)
    assert int(value["move_orders_total"]) == len(lines) - freezes > 0
    assert int(value["pages_frozen_total"]) == freezes > 0
    assert int(value["move_ordered_bytes_total"]) == 4096 * (len(lines) - freezes)
    assert int(value["backoffs_total"]) >= 1 and value["periods_total"] == "16"
    assert re.findall(r'^carrefour_state\{domain="1",state="(.+)"\} 1$', text, re.M) == ["active"]


def test_metrics_that_cannot_be_written(replay, trace, tmp_path):
    assert replay("-m", tmp_path / "no/x", trace(), status=1).endswith("cannot write it: No such file or directory")
    (tmp_path / "d").mkdir()
    assert replay("-m", tmp_path / "d", trace(), status=1).endswith("cannot write it: Is a directory")
    assert not list(tmp_path.glob("d.*"))


def test_metrics_replace_nothing_else(replay, trace, tmp_path):
    """Not a device, a pipe or a link; not the trace, nor the output."""
    path = trace("period 1 - 1 1 1 1", "domain 1 0 x static 0 0")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    (tmp_path / "other").write_text("mine")
    for name in ("pipe", "link"):
        assert replay("-m", tmp_path / name, path, status=1).endswith(f"{name}: is there, and is no regular file")
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink() and (tmp_path / "other").read_text() == "mine"
    text = path.read_text()
    assert replay("-m", path, path, status=1) == f"{path}: is the trace itself; write to another file"
    assert path.read_text() == text
    out = tmp_path / "out"
    assert replay("-m", out, "-o", out, path, status=1) == f"{out}: is for --output, too; write metrics to another file"
    assert "# TYPE carrefour_periods_total counter" in replay("-m", "-", path).splitlines()


def test_metrics_follow_no_link(replay, trace, tmp_path):
    """Others may write in that directory."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "x.prom.new").symlink_to(victim)
    replay("-m", tmp_path / "x.prom", trace("period 1 - 1 1 1 1", "domain 1 0 x static 0 0"))
    assert victim.read_text() == "mine" and (tmp_path / "x.prom").is_file() and (tmp_path / "x.prom.new").is_symlink()


# What is no trace.

PERIOD, DOMAIN = "period 1000 - 1 1 1 1", "domain 5 0,1 first-touch static 0 0"


@pytest.mark.parametrize("lines, line, said", [
    (["domain"], 3, "'domain' has no place here"),
    (["set vm_moves"], 3, "value is missing"),
    (["set vm_moves 0"], 3, "'0' is no value for vm_moves; give a whole number from 1 to 8192"),
    (["set local_pct 96", PERIOD], 4, "local_pct is 96 and local_stop_pct is 95; the first may not be above the second"),
    (["period 1"], 3, "number of accesses per us, or - is missing"),
    (["period 1 x 1 1 1 1"], 3, "'x' is no number of accesses per us"),
    (["period 1 - 1 1 1"], 3, "free bytes of a node is missing"),
    (["period 1 - 1 1 1 1 1"], 3, "'1' is a word too many"),
    (["period 9999999999999 - 1 1 1 1"], 3,
     "'9999999999999' is no length of the period in ns; a number from 0 to 3600000000000 is expected"),
    (["cpus 0,4"], 3, "'4' is no list of nodes; write nodes below 4 with commas"),
    (["cpus"], 3, "a list of nodes is missing"),
    (["cpus 0 1"], 3, "'1' is a word too many"),
    (["distance 4 10 20 20 20"], 3, "'4' is no node; a number from 0 to 3 is expected"),
    (["distance 0 10 20 20"], 3, "distance is missing"),
    (["distance 0 10 20 20 256"], 3, "'256' is no distance; a number from 0 to 255 is expected"),
    (["distance 0 9 20 20 20"], 3, "9 is no distance; 10 is the least"),
    ([PERIOD, "cpus 0"], 4, "'cpus' has no place here"),
    ([PERIOD, "turn x"], 4, "'x' is no turn; a number from 0 to 18446744073709551615 is expected"),
    ([PERIOD, "turn 1", "turn 2"], 5, "'turn' has no place here"),
    ([PERIOD, DOMAIN, "turn 1"], 5, "'turn' has no place here"),
    ([PERIOD, "count 0 0 1"], 4, "'count' has no place here"),
    ([PERIOD, "domain 5 0,4 x static 0 0"], 4, "'4' is no list of nodes; write nodes below 4 with commas"),
    ([PERIOD, "domain 5 0, x static 0 0"], 4, "'' is no list of nodes; write nodes below 4 with commas"),
    ([PERIOD, "domain 5 0 x maybe 0 0"], 4, "'maybe' is neither carrefour nor static"),
    ([PERIOD, "domain 5 0 " + "x" * 40 + " static 0 0"], 4, f"'{'x' * 40}' is no policy"),
    ([PERIOD, "domain 70000 0 x static 0 0"], 4, "'70000' is no domain id; a number from 0 to 65535 is expected"),
    ([PERIOD, DOMAIN, "count 0 4 1"], 5, "'4' is no home; a number from 0 to 3 is expected"),
    ([PERIOD, DOMAIN, "s xyz 0 0 0 0 r"], 5, "'xyz' is no gfn; a number from 0 to 18446744073709551615 is expected"),
    ([PERIOD, DOMAIN, "s -1 0 0 0 0 r"], 5, "'-1' is no gfn; a number from 0 to 18446744073709551615 is expected"),
    ([PERIOD, DOMAIN, "s 1 0 0 0 0 q"], 5, "'q' is no access; r and w are hint faults, R and W are of IBS"),
    ([PERIOD, DOMAIN, "s 1 0 0 0 0"], 5, "r, w, R or W is missing"),
    ([PERIOD, DOMAIN, "s 1 0 0 4 0 r"], 5, "'4' is no node; a number from 0 to 3 is expected"),
    ([PERIOD, DOMAIN, "ran long"], 5,
     "'long' is no ns for which its vCPUs ran; a number from 0 to 9223372036854775807 is expected"),
    ([PERIOD, DOMAIN, "ran 1"], 5, "number of vCPUs is missing"),
    ([PERIOD, DOMAIN, "ran 1 8193"], 5, "'8193' is no number of vCPUs; a number from 0 to 8192 is expected"),
    ([PERIOD, DOMAIN, "vcpu 9000 0"], 5, "'9000' is no vCPU; a number from 0 to 8191 is expected"),
    ([PERIOD, DOMAIN, "d migrate one-node 1 0 0 1"], 5, "'d' has no place here"),
    ([PERIOD, DOMAIN, "decided", "d fly one-node 1 0 0 1"], 6, "'fly' is no action"),
    ([PERIOD, DOMAIN, "decided", "d migrate fun 1 0 0 1"], 6, "'fun' is no reason"),
    (["end", "end"], 0, None),
])
def test_broken(replay, trace, lines, line, said):
    path = trace(*lines)
    if said is None:
        assert replay(path) == ""   # what follows the end is not looked at
    else:
        assert replay(path, status=1) == f"{path}:{line}: {said}"


@pytest.mark.parametrize("text, said", [
    ("", "0: cut: there is no line 'end'"),
    ("# nothing\n", "1: cut: there is no line 'end'"),
    ("ELF\n", "1: 'ELF' is no beginning of a trace; 'carrefour-trace 1' is"),
    ("carrefour-trace 2\n", "1: version 2 is not known here; 1 is"),
    ("carrefour-trace 1\nperiod\n", "2: 'period' has no place here; 'nodes N' is expected"),
    ("carrefour-trace 1\nnodes 65\n", "2: '65' is no number of nodes; a number from 0 to 64 is expected"),
    ("carrefour-trace 1\nnodes 0\nend\n", "2: a machine without nodes"),
    ("carrefour-trace 1\nnodes 1\nperiod 1 - 1\n", "3: cut: there is no line 'end'"),
    ("carrefour-trace 1\nnodes 1\nend\0\n", "3: a byte of value 0; this is no trace"),
    ("carrefour-trace 1\nnodes 1\n\x1b]0;x\x07\n", "3: '?]0;x?' has no place here"),
    ("carrefour-trace 1\n" + "x" * 65536, "2: a line of 65535 bytes and more; this is no trace"),
])
def test_no_trace(replay, tmp_path, text, said):
    path = tmp_path / "t"
    path.write_text(text)
    assert replay(path, status=1) == f"{path}:{said}"


def test_a_long_name_leaves_the_reason(replay, tmp_path):
    (tmp_path / "t").write_text("ELF\n")
    said = replay(f"{tmp_path}/{'./' * 1500}t", status=1)
    assert said.endswith("./t:1: 'ELF' is no beginning of a trace; 'carrefour-trace 1' is") and len(said) < 400


def test_anything_is_read_or_refused(built, tmp_path):
    """Bytes changed, lines left out, doubled and cut: a decision or a line that says why not, and no crash."""
    seed = int(time.time())
    print(f"seed {seed}")
    chance = random.Random(seed)
    whole = (HERE / "traces/fought-over.trace").read_text().splitlines()
    path, refused = tmp_path / "t", 0
    for _ in range(60):
        lines = whole[:chance.randrange(3, 400)] + ["end"]
        for _ in range(chance.randrange(1, 3)):
            i = chance.randrange(len(lines))
            how = chance.choice(["word", "left out", "doubled"])
            if how == "word":
                words = lines[i].split() or ["x"]
                words[chance.randrange(len(words))] = chance.choice(
                    ["", "-1", "9" * 20, "f" * 16, "3", "9", "18", "domain", "decided", "s", "\x01", "0" * 300])
                lines[i] = " ".join(words)
            elif how == "left out" and len(lines) > 1:
                del lines[i]
            else:
                lines.insert(chance.randrange(len(lines)), lines[i])
        path.write_text("\n".join(lines))
        done = run(built / "lib/carrefour-replay", "-p", path)
        assert done.returncode in (0, 1) and "Sanitizer" not in done.stderr, (seed, done.stderr)
        assert done.returncode == 0 or done.stderr.count("\n") == 1, (seed, done.stderr)
        refused += done.returncode
    assert 5 < refused < 55


# The command line.

def test_help(replay):
    text = replay("--help")
    assert text == replay("-h") and text.startswith("Usage: carrefour-replay ")
    assert max(map(len, text.splitlines())) <= 82


@pytest.mark.parametrize("args, said", [
    ([], "which trace?"),
    (["a", "b"], "one trace at a time"),
    (["-x", "a"], "unknown option '-x'"),
    (["--ex", "a"], "unknown option '--ex'"),
    (["a", "--config"], "option '--config' needs a value"),
    (["-d", "x", "a"], "'x' is no domain id; give a number from 0 to 65535"),
    (["-m", "", "a"], "'' is no file; name one for --metrics"),
    (["--output=", "a"], "'' is no file; name one for --output"),
    (["-c", "", "a"], "'' is no file; name one for --config"),
    ([""], "'' is no file; name one for TRACE"),
    (["-a", "-k", "x"], "--advise and --check exclude each other"),
])
def test_usage(replay, args, said):
    assert replay(*args, status=2) == said + "; see 'carrefour-replay --help'"


def test_full_disk(built, trace):
    with open("/dev/full", "w") as full:
        done = run(built / "lib/carrefour-replay", "-p", trace("period 1 - 1 1 1 1", DOMAIN), stdout=full,
                   capture_output=False, stderr=-1)
    assert done.returncode == 1 and done.stderr == "carrefour-replay: cannot write the output: No space left on device\n"


def test_no_such_trace(replay):
    assert replay("/none", status=1) == "/none: cannot open it: No such file or directory"
