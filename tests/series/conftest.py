# SPDX-License-Identifier: GPL-2.0-only
"""Patch queues for the tests, each with a cache of its own."""
import os
import shutil

import pytest

from tiny_tree import NOTES, SOURCE, Queue


def pytest_configure(config):
    config.addinivalue_line("markers", "bisect: builds the patches of the real series; minutes when the cache is cold")


@pytest.fixture
def queue(tmp_path):
    made = Queue(tmp_path)
    made.set_base(SOURCE)
    return made


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """Three patches, exported, with a cover letter."""
    queue = Queue(tmp_path_factory.mktemp("exported"))
    queue.set_base(SOURCE)
    queue.pq("import", "xen")
    queue.commit("xen: say one\n\nSo that it differs from zero.", {"xen/main.c": SOURCE["xen/main.c"][1].replace("0", "1")})
    queue.commit("notes: change a line\n\nFor a hunk with context on both sides.",
                 {"notes": NOTES.replace("line 20\n", "line twenty\n")})
    os.chmod(queue.tree / "notes", 0o755)
    (queue.tree / "link").unlink()
    (queue.tree / "link").symlink_to("notes")
    queue.commit("notes: mode and link\n\nFor the less usual kinds of change.", {"new dir/new file": "new\n"})
    queue.pq("export", "xen")
    queue.cover()
    return queue.place


@pytest.fixture
def series(exported, tmp_path):
    """A copy of it for each test."""
    shutil.copytree(exported, tmp_path / "copy", symlinks=True)
    return Queue(tmp_path / "copy")
