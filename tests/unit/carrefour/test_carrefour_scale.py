# SPDX-License-Identifier: GPL-2.0-only
"""What carrefourd takes for 500 guests with 256 vCPUs on 64 nodes: scale.c, without sanitizers."""

import json

from carrefour_build import HERE, make, run


def test_many_guests(tmp_path):
    done = make(HERE, f"OUT={tmp_path}", "CFLAGS=-O2 -g", tmp_path / "scale")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    done = run(tmp_path / "scale", 500, 256, 64, 1000, 12, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    print(done.stdout)
    found = json.loads(done.stdout)
    assert found["sampled"] == 500 and found["move_orders"] > 10000
    # the aims; docs/results/carrefourd-scale.md has what a quiet machine says
    assert found["counted_mb"] < found["memory_mb"] * 1.1 < 300
    # The aims are 20 % and 100 ms; others may be at work on this machine. Of the last, what counts is what is waited for.
    assert found["cpu_percent"] < 60
    assert found["longest_unserved_ms"] < 1000
