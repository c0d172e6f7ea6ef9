# SPDX-License-Identifier: GPL-2.0-only
"""Not collected by itself: test_harness.py runs it in two workers and looks who is red."""

import os

import pytest


def test_good():
    pass


def test_bad():
    assert 1 == 2


def test_skipped():
    pytest.skip("planted")


def test_kills_its_worker():
    os._exit(0)


def test_after():
    pass
