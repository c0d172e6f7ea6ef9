# SPDX-License-Identifier: GPL-2.0-only
"""The style checks: one planted fault each, and the complaint it must bring."""
import pytest

GOOD_LINE = "+    return 1;\n"


@pytest.mark.parametrize("old, new, complaint", [
    (GOOD_LINE, "+    return 1; \n", "0001-xen-say-one.patch: xen/main.c:3: trailing white space"),
    (GOOD_LINE, "+\treturn 1;\n", "xen/main.c:3: a tab in Xen code"),
    (GOOD_LINE, "+    return 1;" + " /* long */" * 7 + "\n", "xen/main.c:3: 90 columns, at most 80"),
    ("Subject: [PATCH] xen: say one", "Subject: xen: say one", "does not start with [PATCH]"),
    ("xen: say one\n", "Say one\n", 'the subject is not "place: what"'),
    ("xen: say one\n", "xen: say one.\n", 'the subject is not "place: what"'),
    ("xen: say one\n", "xen: " + "say one " * 9 + "two\n", "the subject has 80 characters, at most 76"),
    ("So that it differs from zero.\n", "", "no message: what and why"),
    ("from zero.\n", "from zero.\n\nSigned-off-by: A\n", 'not "Name <address>": Signed-off-by: A'),
    ("from zero.\n", "from zero.\n\nsigned-off-by: A <a@example.org>\n", 'not "Name <address>": signed-off-by: A <'),
    ("from zero.\n", "from zero.\n\nSigned-off-by: xen-numa-policy <xen-numa-policy@localhost>\n", "signed off by no person"),
    ("from zero.\n", "from zero.\n\nCo-authored-by: A <a@example.org>\n", "has a Co-authored-by"),
    ("\n---\n", "\n---\nv2: by now\n", 'text below "---" would be lost: v2: by now'),
    ("From: xen-numa-policy <", "From: An Author <", "the author is not xen-numa-policy <"),
    ("From 0000000", "From 1000000", "no zero commit in the first line"),
])
def test_planted(series, old, new, complaint):
    series.edit(1, old, new)
    assert complaint in series.refused("verify", "xen")


def test_who_submits_may_sign(series):
    """As CONTRIBUTING.md says it."""
    series.git("-c", "user.name=A Person", "-c", "user.email=a@example.org", "rebase", "-q", "--signoff", "refs/pq/base")
    series.pq("export", "xen")
    series.pq("verify", "xen")
    assert all("\nSigned-off-by: A Person <a@example.org>\n" in patch.read_text() for patch in series.patches())


def test_a_missing_last_newline_is_red(series):
    path = series.patches()[2]
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert "does not end with a newline" in series.refused("verify", "xen")


def test_code_outside_the_hypervisor_may_be_wide(series):
    series.commit("tools: a wide line\n\nAs the kernel's style allows.", {"tools/wide.c": "/*" + "-" * 90 + "*/\n\tint x;\n"})
    series.pq("export", "xen")
    series.cover()
    series.pq("verify", "xen")


@pytest.mark.parametrize("listed, complaint", [
    ((1, 2), "README.md: 0003-notes-mode-and-link.patch is not listed"),
    ((1, 2, 3, 3), "0003-notes-mode-and-link.patch is listed 2 times"),
    ((2, 1, 3), "not listed in their order"),
    ((1, 2, 3, "0004-gone.patch"), "0004-gone.patch is listed, but there is no such patch"),
])
def test_cover_letter(series, listed, complaint):
    names = [patch.name for patch in series.patches()]
    series.cover([entry if isinstance(entry, str) else names[entry - 1] for entry in listed])
    assert complaint in series.refused("verify", "xen")


def test_no_cover_letter_is_red(series):
    (series.series / "README.md").unlink()
    assert "no cover letter" in series.refused("verify", "xen")
