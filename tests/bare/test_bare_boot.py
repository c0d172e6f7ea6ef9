# SPDX-License-Identifier: GPL-2.0-only
"""The verdict on a boot: nothing but a program's proper end makes it green."""

from pathlib import Path

import pytest
from cases import EPT, Case
from harness import bochs

from bare_boot import Boot, BootRed, HostFault, Report, parse, red_lines
from bochs_boot import BochsBoot

NONCE = "0123abcd"
REPORT = f"{NONCE} outcome 1 a page\n{NONCE} promise 0 nothing is lost\n{NONCE} note -3 what it was\n"
END = f"{NONCE} end 3 of the report\n"
XEN = b"(XEN) Xen version\n(XEN) something before\nbare: begins\n"


def test_whole():
    assert parse(REPORT + END, NONCE) == Report({"a page": 1}, {"nothing is lost": 0}, {"what it was": -3})


@pytest.mark.parametrize("text, complaint", [
    ("", "has no end"),
    (REPORT, "has no end, but 3 lines"),
    (REPORT + END[:12], "no line of a report"),
    (REPORT + END.strip(), "has no end, but 3 lines"),
    (REPORT + END + END, "goes on behind its end"),
    (REPORT.partition("\n")[2] + END, "has 2 lines, its end says 3"),
    ((REPORT + END).replace(NONCE, "89ab4567"), "no line of a report of boot 0123abcd"),
    (REPORT + REPORT + END, "twice in the report: a page"),
    (REPORT + "garbage\n" + END, "no line of a report"),
])
def test_incomplete(text, complaint):
    with pytest.raises(BootRed, match=complaint):
        parse(text, NONCE)


@pytest.mark.parametrize("console, red", [
    (XEN + b"(XEN) Hardware Dom0 shutdown: rebooting machine\n(XEN) Resetting with ACPI MEMORY\n", []),
    (XEN + b"(XEN) nobody has thought of it\n", ["(XEN) nobody has thought of it"]),
    (XEN + b"(XEN) a line that is expected\n", []),
    (XEN + b"(XEN) Xen BUG at a line that is expected\n", ["(XEN) Xen BUG at a line that is expected"]),
    (XEN + b"(XEN) Panic on CPU 0:", ["(XEN) Panic on CPU 0:"]),
    (b"(XEN) Panic on CPU 0:\n", ["(XEN) Panic on CPU 0:"]),
    (XEN + b"(XEN) domain_crash called from p2m.c:1\n", ["(XEN) domain_crash called from p2m.c:1"]),
])
def test_console(console, red):
    assert red_lines(console, ["a line that is expected"]) == red


@pytest.mark.parametrize("unsaid", [None, *bochs.HAS_EPT])
def test_ept(tmp_path, unsaid):
    boot = BochsBoot(Path("program"), "", EPT, "debug")
    boot.console = tmp_path / "console"
    boot.console.write_text("".join(f"(XEN) {line}\n" for line in bochs.HAS_EPT if line != unsaid)
                            + f"{XEN.decode()}(XEN) Hardware Dom0 shutdown: rebooting machine\n")
    if unsaid is None:
        assert boot._judge(REPORT + END, NONCE, 0) == parse(REPORT + END, NONCE)
    else:
        with pytest.raises(BootRed, match="does not run with EPT"):
            boot._judge(REPORT + END, NONCE, 0)


@pytest.mark.parametrize("kind, status, host", [
    (Boot, 1, True), (Boot, -6, True), (BochsBoot, -11, True), (BochsBoot, -9, True), (BochsBoot, 1, False)])
def test_who_is_to_blame_for_an_end(tmp_path, kind, status, host):
    """Bochs ends with 1 when the machine meets a triple fault, which no second try may hide."""
    boot = kind(Path("program"), "", EPT, "debug")
    boot.console = tmp_path / "console"
    boot.console.write_bytes(XEN)
    with pytest.raises(BootRed, match="ended with") as red:
        boot._judge("", NONCE, f"it ended with {status}", boot.of_end(status))
    assert (red.type is HostFault) is host


@pytest.mark.parametrize("seconds, still, host", [(240, 4, False), (240, 30, True), (7000, 30, False), (7000, 800, True)])
def test_who_is_to_blame_for_a_hang(tmp_path, seconds, still, host):
    boot = Boot(Path("program"), "", EPT, "debug", seconds=seconds)
    boot.console = tmp_path / "console"
    boot.console.write_bytes(XEN)
    with pytest.raises(BootRed, match="hang") as red:
        boot._hangs(still)
    assert (red.type is HostFault) is host


@pytest.mark.parametrize("words, complaint", [
    ("leave", "the report has no end, but 1 lines"),
    pytest.param("fault", "BUG: page fault at 0x", marks=pytest.mark.soak),
    pytest.param("die", "BUG: what it was", marks=pytest.mark.soak),
])
def test_planted(boot, words, complaint):
    with pytest.raises(BootRed, match=complaint):
        boot(Case("planted", "planted", words), "debug")


def test_nothing_planted(boot):
    assert boot(Case("planted", "planted"), "debug").outcome == {"it goes well": 1}
