# SPDX-License-Identifier: GPL-2.0-only
"""bisect, exact and quick, on a tree that only pretends to be Xen: what is red, what is built again and what is not."""
import re
import shutil

import pytest
from fake_kbuild import FAKE, LINUX_MAKEFILE, MAIN, MAIN_H, OBJECTS, POLICY, USE, XEN_MAKEFILE
from test_linux import LinuxQueue
from tiny_tree import BUILD, SOURCE, Queue

BROKEN = "int broken = nothing;\n"


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three patches: the option, a change under it, a change of the tools."""
    queue = Queue(tmp_path_factory.mktemp("three"))
    queue.set_base(FAKE)
    queue.pq("import", "xen")
    queue.commit("xen: an option\n\nTo build with and without.",
                 {"xen/Kconfig": "config HVM\nconfig NUMA_POLICY\n", "xen/common/Makefile": OBJECTS + "obj-y += $(if $(OPTION),policy.o)\n",
                  "xen/common/policy.c": POLICY, "xen/common/main.c": MAIN + "int more;\n"})
    queue.commit("xen: a policy\n\nUnder the option.", {"xen/common/policy.c": POLICY + "int more_policy;\n"})
    queue.commit("libxl: a call\n\nOf the tools alone.", {"tools/libs/light/tools.c": "int fine, too;\n"})
    queue.pq("export", "xen")
    return queue.place


@pytest.fixture
def fake(three, tmp_path):
    """A copy of it for each test."""
    shutil.copytree(three, tmp_path / "copy", symlinks=True)
    queue = Queue(tmp_path / "copy")
    queue.objects = queue.cache / "xen-numa-policy/bisect/xen-quick"
    return queue


def builds(said):
    return int(re.search(r"(\d+) builds were made", said).group(1))


def test_each_patch_each_way_and_never_twice(fake):
    # on and off for two patches of the hypervisor, all of it without HVM; the tools once before and once after their patch
    assert builds(fake.pq("bisect", "xen")) == 7
    assert builds(fake.pq("bisect", "xen")) == 0


@pytest.mark.soak
def test_what_the_tests_boot_is_not_built_again(fake):
    for product in ("release", "off"):
        done = fake.run(BUILD / "xen.sh", product)
        assert done.returncode == 0, done.stderr
    # the tip's two, and those of the patch before it, which leaves the same hypervisor
    assert builds(fake.pq("bisect", "xen")) == 5


@pytest.mark.soak
def test_only_what_changed_is_built_again(fake):
    fake.pq("bisect", "xen")
    fake.commit("notes: no code\n\nNothing to build.", {"notes": "none\n"})
    fake.pq("export", "xen")
    assert builds(fake.pq("bisect", "xen")) == 0
    fake.commit("xen: code\n\nSomething to build.", {"xen/common/policy.c": POLICY + "int again;\n"})
    fake.pq("export", "xen")
    assert builds(fake.pq("bisect", "xen")) == 3


def test_a_patch_that_breaks_with_the_option_on(fake):
    """The last patch mends it: only bisect sees that."""
    fake.commit("xen: break\n\nWith the option on.", {"xen/common/policy.c": BROKEN})
    fake.commit("xen: mend\n\nToo late.", {"xen/common/policy.c": POLICY})
    fake.pq("export", "xen")
    said = fake.refused("bisect", "xen")
    assert "xen: break (on) failed" in said and "not every patch builds" in said
    # a failure is not kept as a pass
    assert "xen: break (on) failed" in fake.refused("bisect", "xen")


@pytest.mark.soak
def test_a_patch_that_breaks_with_the_option_off(fake):
    fake.commit("xen: break\n\nEverywhere.", {"xen/common/main.c": BROKEN})
    fake.commit("xen: mend\n\nToo late.", {"xen/common/main.c": MAIN})
    fake.pq("export", "xen")
    assert "xen: break" in fake.refused("bisect", "xen")


@pytest.mark.soak
def test_a_patch_that_breaks_the_tools(fake):
    fake.commit("libxl: break\n\nThe tools.", {"tools/libs/light/tools.c": BROKEN})
    fake.commit("libxl: mend\n\nToo late.", {"tools/libs/light/tools.c": "int fine;\n"})
    fake.pq("export", "xen")
    assert "libxl: break (tools) failed" in fake.refused("bisect", "xen")


HIDE = XEN_MAKEFILE.replace("olddefconfig: ; @:", "olddefconfig: ; @sed -i /NUMA_POLICY=y/d $(O)/.config")


@pytest.mark.parametrize("how", [[], ["--quick"]])
def test_an_option_that_is_not_there_is_red(fake, how):
    """The option is spelt otherwise in the sources: nothing would be tested."""
    assert HIDE != XEN_MAKEFILE
    fake.commit("xen: hide\n\nThe option.", {"xen/Makefile": HIDE})
    fake.pq("export", "xen")
    said = fake.refused("bisect", *how, "xen")
    assert '"CONFIG_NUMA_POLICY=y" is not in the resulting .config' in said


def quick(fake):
    """Must be green: files compiled with the option on, off, in neither, of the tools; how many checks that took."""
    said = fake.pq("bisect", "--quick", "xen")
    counts = re.search(r"(\d+) files with the option on, (\d+) off, (\d+) in neither; (\d+) files of the tools compile; (\d+) checks", said)
    return tuple(map(int, counts.groups()))


def quick_refused(fake, patch):
    """Must be red at this patch."""
    fake.pq("export", "xen")
    said = fake.refused("bisect", "--quick", "xen")
    assert f"{patch} failed" in said and "not every patch builds" in said
    return said


@pytest.fixture
def fake_linux(tmp_path):
    """Two patches: something without the option, then the option."""
    queue = LinuxQueue(tmp_path)
    queue.set_base({**{name: SOURCE[name] for name in ("README", "notes")}, "Makefile": ("0644", LINUX_MAKEFILE),
                    "drivers/xen/Kconfig": ("0644", "config XEN_BALLOON\n"), "far.c": ("0644", "int far(void) { return 3; }\n"),
                    **{f"mm/{name}": FAKE[f"xen/common/{name}"] for name in ("main.h", "main.c", "other.c")}})
    queue.pq("import", "linux")
    queue.commit("xen: an interface\n\nFor what follows.", {"mm/main.c": MAIN + "int more;\n"})
    queue.commit("xen: an option\n\nTo build with and without.",
                 {"drivers/xen/Kconfig": "config XEN_NUMA_POLICY\n", "mm/policy.c": POLICY})
    queue.pq("export", "linux")
    queue.objects = queue.cache / "xen-numa-policy/bisect/linux-quick"
    return queue


def test_quick_linux(fake_linux):
    fake_linux.commit("xen: define\n\nWhat an added file comes to need.", {"mm/main.c": MAIN + "int second(void) { return 2; }\n"})
    fake_linux.commit("xen: use\n\nIn that file.", {"mm/policy.c": USE % "second"})
    fake_linux.pq("export", "linux")
    said = fake_linux.pq("bisect", "--quick", "linux")
    assert "4 files with the option on, 2 off, 0 in neither; 0 files of the tools compile; 4 checks were made" in said
    # what is in no directory of the series is in the kernel of the tests
    assert compiled(fake_linux, "on", "far.c") == 0
    fake_linux.commit("xen: use\n\nOf another directory.", {"mm/main.h": MAIN_H + "int far(void);\n", "mm/policy.c": USE % "far"})
    fake_linux.pq("export", "linux")
    assert "5 files with the option on, 2 off" in fake_linux.pq("bisect", "--quick", "linux")
    assert compiled(fake_linux, "on", "far.c") == 0


def test_quick_linux_a_symbol_used_before_its_definition(fake_linux):
    """The kernel of the tests has it, as the whole series does."""
    fake_linux.commit("xen: use\n\nToo early.", {"mm/policy.c": USE % "second"})
    fake_linux.commit("xen: define\n\nToo late.", {"mm/main.c": MAIN + "int second(void) { return 2; }\n"})
    fake_linux.pq("export", "linux")
    said = fake_linux.refused("bisect", "--quick", "linux")
    assert "xen: use failed" in said and "undefined references to second" in said
    assert "with the option on this fails: once more, from nothing" in said and "undefined reference to `second'" in said


def compiled(fake, variant, file):
    return (fake.objects / f"objects-{variant}" / "compiled").read_text().split().count(file)


def test_quick_each_patch_each_way_and_never_twice(fake):
    assert quick(fake) == (3, 1, 0, 1, 3)
    assert quick(fake) == (3, 1, 0, 1, 0)


def test_quick_compiles_what_the_series_touches(fake):
    """… what it adds also where a header of that changes; what no patch touches is compiled once, and linked."""
    fake.commit("xen: declare\n\nA header alone.", {"xen/common/main.h": MAIN_H + "int third(void);\n"})
    fake.pq("export", "xen")
    assert quick(fake) == (3, 1, 0, 1, 4)
    for variant in ("on", "off"):
        assert compiled(fake, variant, "other.c") == 1
        assert compiled(fake, variant, "main.c") == 2       # without the series, and where a patch touches it
    assert compiled(fake, "on", "policy.c") == 3


def test_quick_tells_of_files_that_are_in_no_configuration(fake):
    fake.commit("arm: a file\n\nThat is not built.", {"xen/arm.c": BROKEN})
    fake.pq("export", "xen")
    assert quick(fake) == (3, 1, 1, 1, 4)


def test_quick_that_checks_nothing_is_red(queue):
    queue.set_base(FAKE)
    queue.pq("import", "xen")
    queue.commit("xen: a text\n\nNothing to compile.", {"xen/text": "none\n"})
    queue.pq("export", "xen")
    assert "nothing is checked" in queue.refused("bisect", "--quick", "xen")


@pytest.mark.parametrize("option, condition", [("on", "ifdef"), ("off", "ifndef")])
def test_quick_a_file_that_breaks_one_way(fake, option, condition):
    fake.commit("xen: break\n\nOne way.", {"xen/common/main.c": f"{MAIN}#{condition} OPTION\n{BROKEN}#endif\n"})
    fake.commit("xen: mend\n\nToo late.", {"xen/common/main.c": MAIN})
    said = quick_refused(fake, "xen: break")
    assert f"the patch does not build with the option {option}" in said and "nothing" in said


def test_quick_a_symbol_used_before_its_definition(fake):
    """It compiles, as it is declared."""
    fake.commit("xen: use\n\nToo early.", {"xen/common/policy.c": POLICY + "int use(void) { return second(); }\n"})
    fake.commit("xen: define\n\nToo late.", {"xen/common/main.c": MAIN + "int second(void) { return 2; }\n"})
    assert "undefined reference to `second'" in quick_refused(fake, "xen: use")


def whole_builds(fake):
    """So often make has built all, with the option on and off."""
    return [(fake.objects / f"objects-{variant}/whole").read_text().count("whole") for variant in ("on", "off")]


def test_quick_make_does_only_what_it_alone_knows(fake):
    """It runs in a directory with a new file, and in all for a new option, and else not at all."""
    quick(fake)
    assert whole_builds(fake) == [2, 2]     # without the series, and with the option
    fake.commit("xen: a file\n\nIn a directory.", {"xen/common/new.c": '#include "main.h"\nint third(void) { return first(); }\n',
                                                  "xen/common/Makefile": OBJECTS + "obj-y += new.o $(if $(OPTION),policy.o)\n"})
    fake.commit("xen: a header\n\nFor guests.", {"xen/include/public/main.h": "int guest;\n"})
    fake.commit("xen: use\n\nWhat is new.", {"xen/common/main.h": MAIN_H + "int third(void);\n", "xen/common/policy.c": USE % "third"})
    fake.pq("export", "xen")
    # what has passed is not checked again for a file that comes later
    assert quick(fake) == (5, 2, 0, 1, 3)
    assert whole_builds(fake) == [2, 2]
    for variant in ("on", "off"):
        assert (fake.objects / f"objects-{variant}/headers").read_text() == "\n"
    fake.commit("xen: a generated file\n\nOf what make knows.", {"xen/common/asm-offsets.c": "int offset;\n"})
    fake.commit("xen: a list\n\nOf what make knows.", {"xen/include/xlat.lst": "none\n"})
    fake.pq("export", "xen")
    quick(fake)
    assert whole_builds(fake) == [4, 4]


def test_quick_a_file_that_goes(fake):
    """What it defines goes with it."""
    fake.commit("xen: use\n\nOf the other file.", {"xen/common/main.h": MAIN_H + "int other(void);\n", "xen/common/policy.c": USE % "other"})
    (fake.tree / "xen/common/other.c").unlink()
    fake.commit("xen: remove\n\nThe other file.", {"xen/common/Makefile": "obj-y := main.o $(if $(OPTION),policy.o)\n"})
    assert "undefined reference to `other'" in quick_refused(fake, "xen: remove")


def test_quick_an_added_file_reads_a_new_header(fake):
    """A later patch breaks that, and touches nothing else."""
    fake.commit("xen: read\n\nA new header.", {"xen/common/late.h": "int late;\n", "xen/common/policy.c": '#include "late.h"\n' + POLICY})
    fake.commit("xen: break\n\nNo file but this header.", {"xen/common/late.h": "nothing;\n"})
    fake.commit("xen: mend\n\nToo late.", {"xen/common/late.h": "int late;\n"})
    quick_refused(fake, "xen: break")


def test_quick_relies_on_nothing_of_a_red_patch(fake):
    """It was built with the option on: one more file is still linked, and nothing in the patch that comes instead says so."""
    fake.commit("xen: break\n\nWith the option off.", {
        "xen/common/main.c": f"{MAIN}#ifndef OPTION\n{BROKEN}#endif\n",
        "xen/common/Makefile": OBJECTS + "obj-y += spare.o $(if $(OPTION),policy.o)\n"})
    quick_refused(fake, "xen: break")
    fake.git("reset", "-q", "--hard", "HEAD^")
    fake.commit("xen: use\n\nWhat is not there.", {"xen/common/main.h": MAIN_H + "int third(void);\n", "xen/common/policy.c": USE % "third"})
    assert "undefined reference to `third'" in quick_refused(fake, "xen: use")
    fake.git("reset", "-q", "--hard", "HEAD^")
    fake.commit("xen: a variable\n\nMore.", {"xen/common/policy.c": POLICY + "int last;\n"})
    fake.pq("export", "xen")
    assert quick(fake) == (4, 1, 0, 1, 1)


def test_quick_a_header_that_breaks(fake):
    fake.commit("xen: break\n\nNo file but a header.", {"xen/common/main.h": MAIN_H + "nothing;\n"})
    fake.commit("xen: mend\n\nToo late.", {"xen/common/main.h": MAIN_H})
    quick_refused(fake, "xen: break")


def test_quick_a_warning(fake):
    fake.commit("xen: warn\n\nOf a variable.", {"xen/common/main.c": MAIN + "int warn(void) { int unused; return 1; }\n"})
    fake.commit("xen: mend\n\nToo late.", {"xen/common/main.c": MAIN})
    assert "unused" in quick_refused(fake, "xen: warn")
    # a failure is not kept as a pass
    assert "unused" in quick_refused(fake, "xen: warn")


def test_quick_the_tools(fake):
    fake.commit("libxl: break\n\nThe tools.", {"tools/libs/light/tools.c": BROKEN})
    fake.commit("libxl: mend\n\nToo late.", {"tools/libs/light/tools.c": "int fine;\n"})
    quick_refused(fake, "libxl: break (tools)")


def test_quick_a_pass_is_never_stale(fake):
    """An early patch is changed: it and what follows is checked again, and a fault that the tip does not have is seen."""
    quick(fake)
    fake.edit(1, "+int more;", "+int much;")
    fake.pq("import", "xen", FORCE="1")
    assert quick(fake) == (3, 1, 0, 1, 2)
    fake.edit(2, "+int more_policy;", "+int more_policy = nothing;")
    fake.commit("xen: unrelated\n\nIn its place.", {"notes": "none\n"})
    assert "xen: a policy failed" in fake.refused("bisect", "--quick", "xen")


def test_quick_a_name_that_changes_everywhere_is_no_fault(fake):
    """The object of a file that no patch touches still has the old name, so that is built from nothing before it counts."""
    fake.commit("xen: rename\n\nBy the header.", {"xen/common/main.h": "#define first renamed\n" + MAIN_H})
    fake.pq("export", "xen")
    assert quick(fake) == (3, 1, 0, 1, 4)
