# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of C code that is compiled here share."""

import pytest

import ctests


@pytest.fixture
def place(request):
    """Where a test compiles, the same path in each run: see ctests.steady()."""
    with ctests.steady(request.path.parent.name, request.node.name) as place:
        yield place
