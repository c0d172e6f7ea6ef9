# SPDX-License-Identifier: GPL-2.0-only
"""where: nodes and page sizes of single pages, of ranges, of very large ranges."""

import json
import subprocess

import pytest

from fake_machine import ERROR_FAIL, example


def test_table(xl):
    assert xl.good("where", "guest1", "0x10", "5", "0xfffff-0x100000") == """\
     GFN NODE SIZE
    0x10    0   4K
     0x5    1   4K
 0xfffff    3   4K
0x100000    -    -
"""


def test_json(xl):
    assert xl.json("where", "guest1", "0x10", "0xfffff-0x100000") == {"version": 1, "pages": [
        {"gfn": 16, "node": 0, "size_bytes": 4096},
        {"gfn": 0xfffff, "node": 3, "size_bytes": 4096},
        {"gfn": 0x100000, "node": None, "size_bytes": None}]}


def test_raw(xl):
    assert xl.raw("where", "3", "0X1f-32", "1048576") == [
        ["gfn", "node", "size_bytes"], ["31", "3", "4096"], ["32", "0", "4096"], ["1048576", "-", "-"]]


@pytest.mark.parametrize("order, size, text", [(0, 4096, "4K"), (9, 2 << 20, "2M"),
                                               (18, 1 << 30, "1G")])
def test_sizes(xl, order, size, text):
    machine = example()
    machine.order = order
    page, = xl.json("where", "3", 3 << order, machine=machine)["pages"]
    assert page == {"gfn": 3 << order, "node": 3, "size_bytes": size}
    assert xl.good("where", "3", 3 << order, machine=machine).split()[-1] == text


@pytest.mark.parametrize("count", [1, 4095, 4096, 4097, 8192, 100000])
@pytest.mark.parametrize("form", ["json", "raw", "table"])
def test_ranges_of_many_batches(xl, count, form):
    """Every page once and in order, asked for in bounded batches, one heading."""
    args = ["where", "guest1", f"0-{count - 1}"]
    if form == "json":
        pages = [(page["gfn"], page["node"]) for page in xl.json(*args)["pages"]]
    else:
        rows = xl.raw(*args) if form == "raw" else \
            [line.split() for line in xl.good(*args).splitlines()]
        assert [cell.lower().removesuffix("_bytes") for cell in rows[0]] == ["gfn", "node", "size"]
        pages = [(int(row[0], 0), int(row[1])) for row in rows[1:]]
    assert pages == [(gfn, gfn % 4) for gfn in range(count)]
    asked = [int(line.split()[2]) for line in xl.trace()]
    assert sum(asked) == count and max(asked) <= 4096


def test_columns_line_up_across_batches(xl):
    lines = xl.good("where", "guest1", "0-5000").splitlines()
    assert len({len(line) for line in lines}) == 1


def test_the_last_gfn(xl):
    last = (1 << 64) - 1
    assert [page["gfn"] for page in xl.json("where", "3", f"{last - 1}-{last}")["pages"]] == \
        [last - 1, last]


@pytest.mark.parametrize("gfn", ["", "x", "-1", "0x", "12x", "1-", "-", "1-2-3", "0x1-x", " 1",
                                 "18446744073709551616", "0x10000000000000000", "+1", "1,2"])
def test_no_gfn(xl, gfn):
    """None of the good ones before it is printed."""
    line = xl.bad("where", "3", "1", "--", gfn)
    assert line.startswith(f"'{gfn}' is no gfn; ") and "0x1000-0x1fff" in line


def test_backward_range(xl):
    assert xl.bad("where", "3", "9-8") == "range '9-8' runs backwards; write the lower gfn first"


def test_failure_after_some_output(xl):
    done = xl.run("where", "3", "0-9999", machine=example().fail("locate", ERROR_FAIL, after=1))
    assert done.returncode == 1 and done.stdout.count("\n") == 4097
    assert done.stderr == ("xl numa-policy: cannot ask for the pages of VM '3': "
                           "it did not work\n").replace("'3'", "'guest1'")


def test_a_reader_that_leaves_ends_the_work(xl, tmp_path):
    """Not after four thousand million more pages."""
    out, stdin = subprocess.PIPE, subprocess.PIPE
    with subprocess.Popen(["head", "-n", "2"], stdin=stdin, stdout=out, text=True) as head:
        done = xl.run("where", "3", "0-0xffffffff", stdout=head.stdin)
        head.stdin.close()
        assert head.stdout.read().splitlines()[0].split() == ["GFN", "NODE", "SIZE"]
    assert done.returncode != 0
    assert len(xl.trace()) < 100


def test_json_of_no_batch_is_cut(xl):
    """The joints of the batches are in no way visible."""
    text = xl.good("where", "3", "4094-4097", "--json")
    assert len(json.loads(text)["pages"]) == 4 and text.count('"pages"') == 1
