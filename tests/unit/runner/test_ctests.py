# SPDX-License-Identifier: GPL-2.0-only
"""Building for tests in C."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).absolute().parents[2]))

import ctests                   # noqa: E402  the path comes first

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
