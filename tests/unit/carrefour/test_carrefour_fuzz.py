# SPDX-License-Identifier: GPL-2.0-only
"""Any bytes, as a configuration, a trace, a ring and requests: a few thousand of them here, a minute of each in make soak."""

import shutil
import time

import pytest

from carrefour_build import HERE, SOURCE, make, run

TARGETS = {"config": [SOURCE / "config/carrefour.conf"], "trace": sorted((HERE / "traces").glob("*.trace")),
           "ring": [], "socket": []}


@pytest.fixture(scope="module")
def fuzzers(tmp_path_factory):
    out = tmp_path_factory.mktemp("fuzz")
    done = make(HERE, f"OUT={out}", "fuzz")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return out


def drive(fuzzers, tmp_path, target, count, seconds):
    """What has crashed is in the file `input`; the driver tries it again with a COUNT of 0."""
    seed = int(time.time())
    print(f"fuzz-{target} {seed} {count} {seconds}")
    done = run(fuzzers / f"fuzz-{target}", seed, count, seconds, *TARGETS[target], cwd=tmp_path, timeout=seconds + 600)
    kept = tmp_path / "input"
    assert done.returncode == 0, (done.stderr[-3000:], kept.read_bytes()[:4000] if kept.exists() else None)
    return int(done.stdout.split()[0])


@pytest.mark.parametrize("target", TARGETS)
def test_some_thousand(fuzzers, tmp_path, target):
    assert drive(fuzzers, tmp_path, target, 3000, 60) > 100


@pytest.mark.soak
@pytest.mark.parametrize("target", TARGETS)
def test_a_minute(fuzzers, tmp_path, target):
    assert drive(fuzzers, tmp_path, target, 10**9, 60) > 1000


@pytest.mark.soak
@pytest.mark.parametrize("target", TARGETS)
def test_a_minute_by_libfuzzer(tmp_path, target):
    """It knows which code an input has reached, and goes on from there."""
    if not shutil.which("clang"):
        pytest.skip("no clang")
    (tmp_path / "x.c").write_text("int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n ? 0 : 0; }\n")
    if run("clang", "-fsanitize=fuzzer", "-o", tmp_path / "x", tmp_path / "x.c").returncode:
        pytest.skip("clang has no libFuzzer here")
    flags = "-g -O1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all"
    done = make(HERE, f"OUT={tmp_path}", "CC=clang", "FUZZER=1", f"CFLAGS={flags}", tmp_path / f"fuzz-{target}")
    assert done.returncode == 0, done.stderr
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for path in TARGETS[target]:
        shutil.copy(path, corpus)
    done = run(tmp_path / f"fuzz-{target}", "-max_total_time=60", "-close_fd_mask=1", "-max_len=65536", corpus, cwd=tmp_path,
               timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
