# SPDX-License-Identifier: GPL-2.0-only
"""The series of Linux, on a tree that only pretends to be Linux: a patch that changes gives another kernel, and each is built."""
import re

import pytest
from tiny_tree import BUILD, SOURCE, Queue, sha256, tarball

# "building" is a search for the word broken in the sources that the configuration takes
MAKEFILE = """
O ?= .
allnoconfig: ; @mkdir -p $(O) && cp $(KCONFIG_ALLCONFIG) $(O)/.config
vmlinux:
	@! grep -h broken main.c $$(! grep -q XEN_NUMA_POLICY=y $(O)/.config || echo policy.c) && touch $(O)/vmlinux
bzImage: vmlinux
	@mkdir -p $(O)/arch/x86/boot && cat *.c >$(O)/arch/x86/boot/bzImage
.PHONY: allnoconfig vmlinux bzImage
"""
FAKE = {
    **{name: SOURCE[name] for name in ("README", "notes")},
    "Makefile": ("0644", MAKEFILE),
    "main.c": ("0644", "one\n"),
    "drivers/xen/Kconfig": ("0644", "config XEN_BALLOON\n"),
}


class LinuxQueue(Queue):
    def __init__(self, place):
        super().__init__(place)
        self.series = self.root / "linux-guest-patches"
        self.tree = self.root / "build" / "trees" / "linux"
        config = self.root / "tests/boot/images/linux.config"
        config.parent.mkdir(parents=True)
        config.write_text("# a comment\nCONFIG_XEN_NUMA_POLICY=y\n")

    def set_base(self, files, file="linux_6.12.9.orig.tar.xz"):
        path = tarball(self.cache / "xen-numa-policy" / "src" / file, files, top="linux-6.12.9")
        (self.series / "BASE").write_text(
            f"source=linux\nsuite=trixie\nversion=6.12.9-1\nfile={file}\nsha256={sha256(path)}\nnewest=6.12.\n")

    def kernel(self):
        done = self.run(BUILD / "linux.sh")
        assert done.returncode == 0, done.stderr
        return (self.root / "build/linux/bzImage").read_text()


@pytest.fixture
def fake(tmp_path):
    """Two patches: something without the option, then the option."""
    queue = LinuxQueue(tmp_path)
    queue.set_base(FAKE)
    queue.pq("import", "linux")
    queue.commit("xen: an interface\n\nFor what follows.", {"interface.c": "fine\n"})
    queue.commit("xen: an option\n\nTo build with and without.",
                 {"drivers/xen/Kconfig": "config XEN_NUMA_POLICY\n", "policy.c": "fine\n"})
    queue.pq("export", "linux")
    return queue


def builds(said):
    return int(re.search(r"(\d+) builds were made", said).group(1))


def test_a_changed_patch_gives_another_kernel(fake):
    assert "fine too" not in fake.kernel()
    fake.commit("xen: a policy\n\nUnder the option.", {"policy.c": "fine too\n"})
    fake.pq("export", "linux")
    assert "fine too" in fake.kernel()


def test_each_patch_each_way_and_never_twice(fake):
    assert builds(fake.pq("bisect", "linux")) == 4
    assert builds(fake.pq("bisect", "linux")) == 0
    fake.commit("xen: a policy\n\nUnder the option.", {"policy.c": "fine too\n"})
    fake.pq("export", "linux")
    assert builds(fake.pq("bisect", "linux")) == 2


@pytest.mark.parametrize("file, variant", [("policy.c", "on"), ("main.c", "on")])
def test_a_patch_that_breaks(fake, file, variant):
    """The last patch mends it: only bisect sees that."""
    fake.commit("xen: break\n\nFor a while.", {file: "broken\n"})
    fake.commit("xen: mend\n\nToo late.", {file: "fine\n"})
    fake.pq("export", "linux")
    assert f"xen: break ({variant}) failed" in fake.refused("bisect", "linux")


def test_a_patch_that_breaks_with_the_option_off(fake):
    fake.commit("xen: break\n\nWithout the option.",
                {"Makefile": MAKEFILE.replace("vmlinux:\n", "vmlinux:\n\t@grep -q XEN_NUMA_POLICY=y $(O)/.config\n", 1)})
    fake.pq("export", "linux")
    assert "xen: break (off) failed" in fake.refused("bisect", "linux")
