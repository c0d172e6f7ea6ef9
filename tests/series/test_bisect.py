"""bisect on a tree that only pretends to be Xen: what is red, what is built again and what is not."""
import re

import pytest
from tiny_tree import BUILD, SOURCE

# "building" is a search for the word broken in the sources that the configuration takes
XEN_MAKEFILE = """
defconfig allnoconfig: ; @mkdir -p $(O) && : >$(O)/.config
olddefconfig: ; @:
all: ; @! grep -h broken main.c $$(! grep -q NUMA_POLICY=y $(O)/.config || echo policy.c) && touch $(O)/xen $(O)/xen-syms
.DEFAULT_GOAL := all
.PHONY: all defconfig allnoconfig olddefconfig
"""
TOOLS_MAKEFILE = "install: ; @! grep broken tools.c\n"
PARTS = ["include", "libs/toolcore", "libs/light", "xenstored", "xs-clients", "console", "helpers", "xl", "misc", "flask"]
FAKE = {
    **{name: SOURCE[name] for name in ("README", "notes")},
    "configure": ("0755", "#!/bin/sh\ntouch config/Tools.mk\n"),
    "config/Paths.mk": ("0644", "\n"),
    "Config.mk": ("0644", "\n"),
    "tools/flask/policy/x": ("0644", "\n"),
    "xen/Makefile": ("0644", XEN_MAKEFILE),
    "xen/Kconfig": ("0644", "config HVM\n"),
    "xen/main.c": ("0644", "one\ntwo\nthree\n"),
    **{f"tools/{part}/Makefile": ("0644", TOOLS_MAKEFILE) for part in PARTS},
    **{f"tools/{part}/tools.c": ("0644", "fine\n") for part in PARTS},
}


@pytest.fixture
def fake(queue):
    """Three patches: the option, a change under it, a change of the tools."""
    queue.set_base(FAKE)
    queue.pq("import", "xen")
    queue.commit("xen: an option\n\nTo build with and without.", {"xen/Kconfig": "config HVM\nconfig NUMA_POLICY\n", "xen/policy.c": "fine\n"})
    queue.commit("xen: a policy\n\nUnder the option.", {"xen/policy.c": "fine too\n"})
    queue.commit("libxl: a call\n\nOf the tools alone.", {"tools/libs/light/tools.c": "fine as well\n"})
    queue.pq("export", "xen")
    return queue


def builds(said):
    return int(re.search(r"(\d+) builds were made", said).group(1))


def test_each_patch_each_way_and_never_twice(fake):
    # on and off for two patches of the hypervisor, all of it without HVM; the tools once before and once after their patch
    assert builds(fake.pq("bisect", "xen")) == 7
    assert builds(fake.pq("bisect", "xen")) == 0


def test_what_the_tests_boot_is_not_built_again(fake):
    for product in ("release", "off"):
        done = fake.run(BUILD / "xen.sh", product)
        assert done.returncode == 0, done.stderr
    # the tip's two, and those of the patch before it, which leaves the same hypervisor
    assert builds(fake.pq("bisect", "xen")) == 5


def test_only_what_changed_is_built_again(fake):
    fake.pq("bisect", "xen")
    fake.commit("notes: no code\n\nNothing to build.", {"notes": "none\n"})
    fake.pq("export", "xen")
    assert builds(fake.pq("bisect", "xen")) == 0
    fake.commit("xen: code\n\nSomething to build.", {"xen/policy.c": "fine again\n"})
    fake.pq("export", "xen")
    assert builds(fake.pq("bisect", "xen")) == 3


def test_a_patch_that_breaks_with_the_option_on(fake):
    """The last patch mends it: only bisect sees that."""
    fake.commit("xen: break\n\nWith the option on.", {"xen/policy.c": "broken\n"})
    fake.commit("xen: mend\n\nToo late.", {"xen/policy.c": "fine\n"})
    fake.pq("export", "xen")
    said = fake.refused("bisect", "xen")
    assert "xen: break (on) failed" in said and "not every patch builds" in said
    # a failure is not kept as a pass
    assert "xen: break (on) failed" in fake.refused("bisect", "xen")


def test_a_patch_that_breaks_with_the_option_off(fake):
    fake.commit("xen: break\n\nEverywhere.", {"xen/main.c": "broken\n"})
    fake.commit("xen: mend\n\nToo late.", {"xen/main.c": "fine\n"})
    fake.pq("export", "xen")
    assert "xen: break" in fake.refused("bisect", "xen")


def test_a_patch_that_breaks_the_tools(fake):
    fake.commit("libxl: break\n\nThe tools.", {"tools/libs/light/tools.c": "broken\n"})
    fake.commit("libxl: mend\n\nToo late.", {"tools/libs/light/tools.c": "fine\n"})
    fake.pq("export", "xen")
    assert "libxl: break (tools) failed" in fake.refused("bisect", "xen")


def test_an_option_that_is_not_there_is_red(fake):
    """The option is spelt otherwise in the sources: nothing would be tested."""
    fake.commit("xen: hide\n\nThe option.", {"xen/Makefile": XEN_MAKEFILE.replace("olddefconfig: ; @:", "olddefconfig: ; @sed -i /NUMA_POLICY=y/d $(O)/.config", 1)})
    fake.pq("export", "xen")
    said = fake.refused("bisect", "xen")
    assert '"CONFIG_NUMA_POLICY=y" is not in the resulting .config' in said
