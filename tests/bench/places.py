# SPDX-License-Identifier: GPL-2.0-only
"""Where things are for the benches; importing it makes tests/boot's `harness`, what that needs of tests, and tests/bench/harness's
modules importable."""

import sys
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]
BUILD = ROOT / "build"
RESULTS = ROOT / "docs" / "results"

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "boot"), str(ROOT / "tests" / "bench" / "harness")]
