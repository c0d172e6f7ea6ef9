# SPDX-License-Identifier: GPL-2.0-only
"""All in C, built once with sanitizers."""

import pytest

from carrefour_build import HERE, SOURCE, make, make_with_xen, run


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("carrefour")
    done = make(HERE, f"OUT={out}")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return out


@pytest.fixture(scope="session")
def carrefourd(tmp_path_factory):
    """The program, with Xen's libraries."""
    out = tmp_path_factory.mktemp("carrefourd")
    flags = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    done = make_with_xen(SOURCE, f"BUILD={out}", f"CFLAGS={flags}", out / "carrefourd")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return out / "carrefourd"


@pytest.fixture
def replay(built):
    """Runs carrefour-replay: to its output, or, with status=, to the one line that says what is wrong."""
    def call(*args, status=0, **options):
        done = run(built / "lib/carrefour-replay", *args, **options)
        assert done.returncode == status, done
        if not status:
            assert done.stderr == ""
            return done.stdout
        assert done.stderr.startswith("carrefour-replay: ") and done.stderr.count("\n") == 1, done
        return done.stderr.removeprefix("carrefour-replay: ").rstrip("\n")
    return call


@pytest.fixture
def trace(tmp_path):
    """Writes a trace, of which it makes a whole one."""
    def write(*lines, nodes=4):
        path = tmp_path / "trace"
        path.write_text("\n".join(["carrefour-trace 1", f"nodes {nodes}", *lines, "end"]) + "\n")
        return path
    return write
