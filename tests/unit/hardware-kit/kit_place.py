# SPDX-License-Identifier: GPL-2.0-only
"""Where the kit is; importing it makes page.py importable."""

import sys
from pathlib import Path

HERE = Path(__file__).absolute().parent
KIT = HERE.parents[2] / "hardware-kit"
sys.path.insert(0, str(KIT))
