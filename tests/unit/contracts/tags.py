# SPDX-License-Identifier: GPL-2.0-only
"""What C files define, as universal-ctags finds it without compiling them."""

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass

KINDS = {"function", "prototype", "macro", "member", "typedef", "enumerator", "variable", "externvar", "struct", "union", "enum"}
BUILTIN = {"int", "long", "short", "char", "unsigned", "signed"}
# What the compiler is told besides, which is no part of a type.
ATTRIBUTES = (r"\b(cf_check|inline|static|extern|always_inline|__always_inline|__must_check|__init|__pure)\b"
              r"|(__attribute__|__nonnull)\s*\(.*?\)+")


@dataclass
class Tag:
    name: str       # of a member: struct.member
    kind: str
    type: str
    params: str     # "" of what is not called
    text: str       # without comments
    static: bool

    @property
    def hash(self):
        return hashlib.sha256(f"{self.type}{self.params}{self.text}".encode()).hexdigest()[:12]


def plain(text):
    """Without comments, and with one space where there are some."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    return re.sub(r"\\\n|\s+", " ", text).strip()


def type_of(text):
    """A type, without the name of what has it."""
    text = re.sub(ATTRIBUTES, " ", text)
    pointer = re.match(r"(.*)\(\s*\*\s*\w*\s*\)\s*(\(.*\))$", text.strip(), re.S)
    if pointer:
        return f"{type_of(pointer[1])}(*)({', '.join(signature(pointer[2]))})"
    array = "[" in text
    words = re.findall(r"\w+|\*|\.\.\.", re.sub(r"\[.*?\]", "", text))
    named = len(words) > 1 and re.match(r"\w", words[-1]) and words[-1] not in BUILTIN
    if named and words[-2] not in ("struct", "union", "enum", "const"):
        words.pop()
    if words and words[-1] == "unsigned":
        words.append("int")
    return " ".join(words + ["*"] * array)


def split(params):
    """The parameters in (…)."""
    found, depth, last = [], 0, ""
    for c in params.strip()[1:-1]:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            found.append(last)
            last = ""
        else:
            last += c
    return [p.strip() for p in [*found, last] if p.strip()]


def signature(params):
    types = [type_of(p) for p in split(params)]
    return [] if types == ["void"] else types


def read(tree, files):
    """{name: {file: [Tag, …]}} of files or whole directories, with what TYPE_SAFE() of Xen makes."""
    done = subprocess.run(["ctags", "--output-format=json", "--languages=C", "--langmap=C:.c.h", "--c-kinds=+pxmdefgstuv",
                           "--fields=+neSstf{typeref}{signature}", "--sort=no", "-R", "-o", "-", *files],
                          cwd=tree, capture_output=True, text=True, check=True)
    found, lines, anonymous = {}, {}, {}
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    for e in entries:
        if e["kind"] == "typedef":
            anonymous[e.get("typeref", "").partition(":")[2]] = e["name"]
    for e in entries:
        if e["kind"] not in KINDS or e["name"].startswith("__anon"):
            continue
        path, name = e["path"], e["name"]
        if e["kind"] == "member":
            outer = e["scope"].split("::")
            named = [s for s in outer if not s.startswith("__anon")]
            name = f"{named[0] if named else anonymous.get(outer[0], outer[0])}.{name}"
        if path not in lines:
            lines[path] = (tree / path).read_text(errors="replace").split("\n")
        text = plain("\n".join(lines[path][e["line"] - 1:e.get("end", e["line"])]))
        kind, type_ = e["kind"], e.get("typeref", "").partition(":")
        type_ = type_[2] if type_[0] == "typename" or "__anon" in type_[2] else f"{type_[0]} {type_[2]}".strip()
        tag = Tag(name, kind, plain(re.sub(r"__anon\w+", "", type_)), e.get("signature", ""), text, "file" in e)
        found.setdefault(name, {}).setdefault(path, []).append(tag)
    for path, all_lines in lines.items():
        for m in re.finditer(r"^TYPE_SAFE\(([^,]+), (\w+)\);", "\n".join(all_lines), re.M):
            of, it = m[1].strip(), m[2]
            for name, kind, type_, params in (
                    (f"{it}_t", "typedef", "struct", ""), (f"{it}_t.{it}", "member", of, ""),
                    (f"_{it}", "function", f"{it}_t", f"({of} n)"), (f"{it}_x", "function", of, f"({it}_t n)")):
                found.setdefault(name, {}).setdefault(path, []).append(Tag(name, kind, type_, params, m[0], False))
    return found
