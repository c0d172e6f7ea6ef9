# SPDX-License-Identifier: GPL-2.0-only
"""Building for tests in C."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).absolute().parents[2]))

import ctests                   # noqa: E402  the path comes first
from runner import ccache       # noqa: E402

# says so if another make writes the same file
MAKEFILE = "$(OUT)/one:\n\t@mkdir $@.busy\n\t@sleep 0.3\n\t@touch $@\n\t@rmdir $@.busy\n"


def test_workers_do_not_build_in_one_place_at_a_time(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    with ThreadPoolExecutor(3) as workers:
        assert list(workers.map(lambda _: ctests.make(tmp_path, tmp_path / "out", "one"), range(3))) == ["", "", ""]


def test_what_went_wrong_is_told(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "out" / "one.busy").mkdir(parents=True)
    assert "one.busy" in ctests.make(tmp_path, tmp_path / "out", "one")


def test_a_steady_place_is_the_same_and_empty():
    with ctests.steady("a", "place") as first:
        (first / "file").touch()
        with ctests.steady("a", "place") as taken, ctests.steady("another", "place") as other:
            assert len({first, taken, other}) == 3
    with ctests.steady("a", "place") as again:
        assert again == first and not list(again.iterdir())
    assert not first.exists() and not taken.exists()


def test_what_was_compiled_is_known_again(tmp_path):
    """… whatever the user has set for ccache, in another directory, too."""
    env = {**os.environ, "CCACHE_DISABLE": "1", "CCACHE_DIR": str(tmp_path / "theirs")}
    ccache.use(env, tmp_path / "cache")
    for place in (tmp_path / "one", tmp_path / "two"):
        place.mkdir()
        (place / "planted.c").write_text("int main(void) { return 0; }\n")
        subprocess.run(["gcc", "-O1", "-c", "planted.c"], cwd=place, env=env, check=True)
    said = subprocess.run(["ccache", "--print-stats"], env=env, capture_output=True, text=True, check=True).stdout
    counts = dict(line.split("\t") for line in said.splitlines())
    assert (counts["direct_cache_hit"], counts["cache_miss"]) == ("1", "1")
    assert not (tmp_path / "theirs").exists()
