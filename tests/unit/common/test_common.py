# SPDX-License-Identifier: GPL-2.0-only
"""What carrefourd and xl numa-policy share: UTF-8 and JSON as Python has them; and proof that a mistake is noticed."""

import codecs
import json
import os
import random
import re
import subprocess
import time
from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
COMMON = ctests.ROOT / "common"
SEED = int(os.environ.get("SEED") or time.time_ns() % 10**9)
# file, from, to
MUTANTS = {
    "longer than it need be": ("text.c", "*s < 0xc2 ? 0", "*s < 0xc0 ? 0"),
    "three bytes, longer than need be": ("text.c", "(*s == 0xe0 && s[1] < 0xa0) || ", ""),
    "four bytes, longer than need be": ("text.c", "(*s == 0xf0 && s[1] < 0x90) ||", ""),
    "half of a pair": ("text.c", "(*s == 0xed && s[1] > 0x9f) || ", ""),
    "beyond the last": ("text.c", "(*s == 0xf4 && s[1] > 0x8f)", "0"),
    "beyond all that there could be": ("text.c", "*s < 0xf5 ? 4 : 0", "4"),
    "a byte alone": ("text.c", "if ((s[i] & 0xc0) != 0x80)", "if (0)"),
    "C1 obeyed": ("text.c", ": n == 2 && u[0] == 0xc2 && u[1] < 0xa0", ": 0"),
    "DEL obeyed": ("text.c", " || *u == 0x7f", ""),
    "all two bytes are control characters": ("text.c", " && u[1] < 0xa0", ""),
    "nothing is cleaned": ("text.c", "if (!n || text_is_control(text, n))", "if (0)"),
    "what is no character stays": ("text.c", "if (!n || text_is_control(text, n))", "if (n && text_is_control(text, n))"),
    "quotes as they are": ("json.c", "*s == '\"' || ", ""),
    "backslashes as they are": ("json.c", " || *s == '\\\\'", ""),
    "control characters as they are": ("json.c", "*s < ' ' || ", ""),
    "bytes as they are": ("json.c", "if (!n)", "if (0)"),
    "no text is the empty one": ("json.c", 'fputs("null", to);', "fputs(\"\\\"\\\"\", to);"),
}

# One for each byte that is in no character.
codecs.register_error("each", lambda error: ("\ufffd", error.start + 1))


def compiled(out, common=COMMON, flags=()):
    ctests.build(HERE, out, "common", flags=[f"COMMON={common}", *flags])
    return out / "common"


def characters(text):
    """Of a text of bytes: each with its bytes; None for a byte that is in none."""
    for one in re.finditer(b"[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*|.", text, re.S):
        part = one[0]
        while part:
            size = next((n for n in range(min(4, len(part)), 0, -1) if is_one(part[:n])), 0)
            yield part[:size].decode() if size else None
            part = part[size or 1:]


def is_one(part):
    try:
        return len(part.decode()) == 1
    except UnicodeDecodeError:
        return False


def is_control(character):
    return ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0


def expected(text):
    known = list(characters(text))
    kinds = "".join("-" if one is None else "c" if is_control(one) else str(len(one.encode())) for one in known)
    clean = "".join("?" if one is None or is_control(one) else one for one in known)
    return kinds, text.decode("utf-8", "each"), clean


def said(program, texts):
    """Of each text, the three lines; of JSON, what it says."""
    done = subprocess.run([program], input=b"".join(text + b"\0" for text in texts), capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode(errors="replace")[-3000:]
    lines = done.stdout.decode().split("\n")
    assert lines.pop() == "null" and len(lines) == 3 * len(texts)
    return [(kinds, json.loads(document), clean) for kinds, document, clean in zip(lines[::3], lines[1::3], lines[2::3])]


def check(program, texts):
    for text, lines in zip(texts, said(program, texts), strict=True):
        assert lines == expected(text), f"SEED={SEED} {text}"


def two_bytes():
    return [bytes((first, second)) for first in range(0x80, 0x100) for second in range(1, 0x100)]


def by_chance(count):
    """Of characters, of parts of them, of bytes; cut off anywhere."""
    chance = random.Random(SEED)

    def part():
        code = chance.choice((chance.randrange(1, 0x100), chance.randrange(1, 0x10000), chance.randrange(1, 0x110000)))
        encoded = chr(code).encode("utf-8", "surrogatepass")
        return chance.choice((encoded, encoded, encoded[:-1], encoded[1:], bytes([chance.randrange(1, 256)]),
                              bytes([chance.randrange(0xe0, 0xf8), chance.randrange(0x80, 0xc0), 0x80, 0x80])))

    return [b"".join(part() for _ in range(chance.randrange(12))) for _ in range(count)]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("common"))


def test_some_texts(program):
    check(program, [b"", b"guest1", 'a "b" \\c\t'.encode(), "grüße\N{EURO SIGN}\U0001f40b".encode(), b"a\xff\xfeb", b"\xc0\xaf",
                    b"\xed\xa0\x80x", b"x\xe2\x82", b"\xf5\x80\x80\x80", b"\x1b[31m\x7f\xc2\x9b"])


def test_each_character(program):
    """A text of all of a kind."""
    for size, first, last in (1, 0x20, 0x7f), (2, 0xa0, 0x800), (3, 0x800, 0xd800), (3, 0xe000, 0x10000), (4, 0x10000, 0x110000):
        text = "".join(map(chr, range(first, last)))
        assert said(program, [text.encode()]) == [(str(size) * len(text), text, text)]
    for first, last in (1, 0x20), (0x7f, 0xa0):
        text = "".join(map(chr, range(first, last)))
        assert said(program, [text.encode()]) == [("c" * len(text), text, "?" * len(text))]
    halves = "".join(map(chr, range(0xd800, 0xe000))).encode("utf-8", "surrogatepass")
    assert said(program, [halves]) == [("-" * len(halves), "\ufffd" * len(halves), "?" * len(halves))]


def test_two_bytes(program):
    check(program, two_bytes())


def test_texts_by_chance(program):
    print(f"SEED={SEED}")
    check(program, by_chance(20000))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(tmp_path, name):
    file, old, new = MUTANTS[name]
    (tmp_path / "top").mkdir()
    mistaken = compiled(tmp_path, ctests.planted(COMMON, file, old, new, tmp_path / "top/common"), ["EXTRA_CFLAGS=-w"])
    with pytest.raises((AssertionError, ValueError)):   # UTF-8 and JSON that Python does not take are the latter
        # what chance may not find is here, too
        check(mistaken, [b"\xf0\x80\x80\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", *two_bytes(), *by_chance(500)])


def test_it_knows_nothing_of_either_program():
    """Nor of any library; and what is not of its own is C's."""
    for path in COMMON.glob("*.[ch]"):
        assert all((COMMON.parent / name).is_file() and name.startswith("common/")
                   for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)), path
        assert set(re.findall(r"^#include <([^>]+)>", path.read_text(), re.M)) <= {
            "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "string.h"}, path
