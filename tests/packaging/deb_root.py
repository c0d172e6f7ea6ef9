# SPDX-License-Identifier: GPL-2.0-only
"""Where the tests of packages find what they try."""

from pathlib import Path

REPO = Path(__file__).absolute().parents[2]
BUILD = REPO / "build"
