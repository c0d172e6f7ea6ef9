# SPDX-License-Identifier: GPL-2.0-only
"""Documents: each link leads somewhere, the index has all of them, and lines can be read."""
import re

import pytest
from tiny_tree import REPO
from tracked import tracked

LINK = re.compile(r"\]\(([^()\s]+)\)")
MOST = 100      # columns, but for tables, code, and links that are alone in a line
MAY_BE_WIDE = re.compile(r"\||    |!?\[[^]]*\]\(\S*\)[.,;:]?$")
MADE = re.compile(r"^Made by ", re.M)   # by a bench, which has widths of its own
PART = re.compile(r"tests/bench/.*/(page|judgement)\.md")


def anchors(text):
    """As GitHub and GitLab make them of headings."""
    heads = re.findall(r"^#+ +(.*)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def dead_links(root, name):
    text = (root / name).read_text()
    bad = []
    for link in LINK.findall(text):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (root / name).parent / path if path else root / name
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            bad.append(f"{name}: {link}")
    return bad


def wide_lines(name, text):
    lines = enumerate(text.splitlines(), 1)
    return [f"{name}:{number}: {len(line)} columns" for number, line in lines
            if len(line) > MOST and not MAY_BE_WIDE.match(line)]


def pages():
    """Not the parts that a bench makes its page of."""
    return [name for name in tracked() if name.endswith(".md") and not PART.fullmatch(name)]


def test_links_lead_somewhere():
    assert not [bad for name in pages() for bad in dead_links(REPO, name)]


def test_lines_can_be_read():
    texts = {name: (REPO / name).read_text() for name in pages()}
    texts = {name: text for name, text in texts.items() if not MADE.search(text)}
    assert not [bad for name, text in texts.items() for bad in wide_lines(name, text)]


def test_the_index_has_every_document():
    linked = set(LINK.findall((REPO / "docs/README.md").read_text()))
    docs = [re.fullmatch(r"docs/([\w-]+\.md)", name) for name in pages()]
    docs = {found.group(1) for found in docs if found}
    assert not docs - linked - {"README.md"}


@pytest.mark.parametrize("link, dead", [
    ("b.md", False), ("b.md#a-head-of-b", False), ("#here", False), ("https://example.org/", False),
    ("c.md", True), ("b.md#c", True), ("#there", True),
])
def test_planted(tmp_path, link, dead):
    (tmp_path / "a.md").write_text(f"# Here\n\nSee [it]({link}).\n")
    (tmp_path / "b.md").write_text("# A head, of `b`\n")
    assert bool(dead_links(tmp_path, "a.md")) == dead


def test_a_wide_line_is_seen():
    assert wide_lines("a.md", "# A\n" + "x" * 101) == ["a.md:2: 101 columns"]
    assert not wide_lines("a.md", "| " + "x" * 101 + "\n    " + "x" * 101 + "\n" + "x" * 100)
