# SPDX-License-Identifier: GPL-2.0-only
"""What the builds keep by ccache: it is found again, it changes no output, and nothing of the user's has a say in it."""
import pytest
from tiny_tree import BUILD

# a product that is compiled, with its path and debug information in it, in the place where products are built
SCRIPT = f"""#!/bin/bash
set -eu
. {BUILD}/lib.sh
compile() {{
	build_place thing
	cp "$ROOT"/thing.[ch] "$place"
	cd "$place"
	"${{COMPILER:-gcc}}" -g -c "$place/thing.c" -o "$1/thing.o"
}}
export -f compile build_place
export ROOT CACHE
build() {{ run_step thing 1 "making a thing" compile "$1"; }}
product thing "$(key "$ROOT/thing.c" "$ROOT/thing.h" "${{COMPILER:-}}" "${{ROUND:-}}")" build
"""


@pytest.fixture
def thing(queue):
    (queue.root / "thing.c").write_text('#include "thing.h"\nconst char *file = __FILE__;\nint number = NUMBER;\n')
    (queue.root / "thing.h").write_text("#define NUMBER 1\n")
    (queue.root / "thing.sh").write_text(SCRIPT)

    def make(**env):
        done = queue.run("bash", queue.root / "thing.sh", **env)
        assert done.returncode == 0, done.stderr
        return (queue.root / "build/thing/thing.o").read_bytes()

    queue.make = make
    queue.counted = lambda: counted(queue)
    return queue


def counted(queue):
    """What ccache has counted so far, by name."""
    said = queue.run("bash", "-c", f". {BUILD}/lib.sh; ccache --print-stats").stdout
    return {name: int(value) for name, value in (line.split("\t") for line in said.splitlines())}


def hits(counts):
    return counts["direct_cache_hit"] + counts["preprocessed_cache_hit"]


def test_the_same_bytes_with_it_and_without(thing):
    with_it = thing.make()
    assert (hits(thing.counted()), thing.counted()["cache_miss"]) == (0, 1)
    again = thing.make(ROUND="2")
    assert (hits(thing.counted()), thing.counted()["cache_miss"]) == (1, 1)
    without_it = thing.make(COMPILER="/usr/bin/gcc")
    assert with_it == again == without_it


def test_what_a_header_changes_is_compiled_again(thing):
    first = thing.make()
    (thing.root / "thing.h").write_text("#define NUMBER 2\n")
    assert thing.make() != first
    assert (hits(thing.counted()), thing.counted()["cache_miss"]) == (0, 2)


def test_what_the_user_has_set_is_not_read(thing, tmp_path):
    theirs = tmp_path / "theirs"
    (thing.home / ".config/ccache").mkdir(parents=True)
    (thing.home / ".config/ccache/ccache.conf").write_text(f"disable = true\ncache_dir = {theirs}\n")
    thing.make(CCACHE_DISABLE="1", CCACHE_DIR=str(theirs), CCACHE_BASEDIR="/")
    thing.make(ROUND="2", CCACHE_RECACHE="1")
    assert hits(thing.counted()) == 1
    assert not theirs.exists() and not (thing.home / ".cache").exists() and not (thing.home / ".ccache").exists()
    assert (thing.cache / "xen-numa-policy/ccache").is_dir()
