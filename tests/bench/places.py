"""Where things are for the benches; importing it makes tests/boot's `harness` importable."""

import sys
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]
BUILD = ROOT / "build"
RESULTS = ROOT / "docs" / "results"

sys.path.insert(0, str(ROOT / "tests" / "boot"))
