# SPDX-License-Identifier: GPL-2.0-only
"""How a patch must look: its head, its place in the cover letter, its added lines.  Reads only.

Each check returns complaints, one line each; an empty list is a pass.
"""
import re

from .common import IDENTITY

MAX_SUBJECT = 76        # git log indents by four
MAX_LINE = 80           # Xen's CODING_STYLE
SUBJECT = {"xen": re.compile(r"^([\w./{},*+ -]+: ?)+\S.*[^.]$"), "linux": re.compile(r"^([\w./{},*+ -]+: ?)+\S.*[^.]$")}
PATCH_NAME = re.compile(r"\b\d{4}-[\w.+-]+?\.patch\b")


def head_and_body(text):
    """Mail header and message, diffstat, diff; the second is empty when the mail has no message part."""
    message, _, rest = text.partition("\n---\n")
    return message, rest


def subject_of(message):
    lines = message.splitlines()
    found = []
    for line in lines:
        if found and line.startswith(" "):
            found.append(line)
        elif found:
            break
        elif line.startswith("Subject: "):
            found.append(line)
    return "".join(found).removeprefix("Subject: ")


def check_head(name, patch, text):
    bad = []
    if not text.startswith("From 0000000000000000000000000000000000000000 "):
        bad.append("not written by pq export: no zero commit in the first line")
    if not text.endswith("\n"):
        bad.append("does not end with a newline")
    message, rest = head_and_body(text)
    if f"\nFrom: {IDENTITY[0]} <{IDENTITY[1]}>\n" not in message:
        bad.append(f"the author is not {IDENTITY[0]} <{IDENTITY[1]}>")
    subject = subject_of(message)
    plain = subject.removeprefix("[PATCH] ")
    if plain == subject:
        bad.append("the subject does not start with [PATCH]")
    if not SUBJECT[name].match(plain):
        bad.append(f'the subject is not "place: what" without a full stop: {plain}')
    if len(plain) > MAX_SUBJECT:
        bad.append(f"the subject has {len(plain)} characters, at most {MAX_SUBJECT}")
    parts = message.split("\n\n", 1)
    if len(parts) < 2 or not parts[1].strip():
        bad.append("no message: what and why")
    # a Signed-off-by is for whoever submits, and means nothing without a person
    signed = re.findall(r"^Signed-off-by:.*", message, re.M | re.I)
    bad += [f'not "Name <address>": {line}' for line in signed
            if not re.fullmatch(r"Signed-off-by: \S.* <\S+@\S+>", line)]
    bad += [f"signed off by no person: {line}" for line in signed if IDENTITY[1] in line]
    if re.search(r"^(Co-authored-by|Co-developed-by):", message, re.M | re.I):
        bad.append("has a Co-authored-by or Co-developed-by line")
    # between "---" and the diffstat is where git am loses text
    notes = rest.split("\ndiff --git ", 1)[0].splitlines()
    bad += [f'text below "---" would be lost: {line}' for line in notes if line and not re.match(
        r"^( \S.* +\| |  ?\.\.\./| \d+ files? changed| (create|delete) mode | mode change | rename | rewrite | copy )", line)]
    return [f"{patch}: {what}" for what in bad]


def added_lines(text):
    """(file, line number, line) of each line that the patch adds."""
    path, number = None, 0
    for line in text.split("\n"):
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        elif line.startswith("@@ "):
            number = int(re.match(r"@@ -\S+ \+(\d+)", line).group(1))
        elif path and line.startswith("+"):
            yield path, number, line[1:]
            number += 1
        elif path and line.startswith(" "):
            number += 1
        elif line.startswith("diff --git "):
            path = None


def check_lines(name, patch, text):
    bad = []
    for path, number, line in added_lines(text):
        where = f"{patch}: {path}:{number}"
        xen_code = name == "xen" and path.startswith("xen/") and path.endswith((".c", ".h"))
        if line != line.rstrip():
            bad.append(f"{where}: trailing white space")
        if xen_code and "\t" in line:
            bad.append(f"{where}: a tab in Xen code")
        if xen_code and len(line) > MAX_LINE:
            bad.append(f"{where}: {len(line)} columns, at most {MAX_LINE}")
    return bad


def check_cover(readme, names):
    """The cover letter names each patch once, in order, and no others."""
    if readme is None:
        return ["README.md: no cover letter"]
    listed = PATCH_NAME.findall(readme)
    bad = [f"README.md: {name} is not listed" for name in names if name not in listed]
    bad += [f"README.md: {name} is listed, but there is no such patch" for name in dict.fromkeys(listed) if name not in names]
    bad += [f"README.md: {name} is listed {listed.count(name)} times" for name in names if listed.count(name) > 1]
    if not bad and listed != list(names):
        bad.append("README.md: the patches are not listed in their order")
    return bad
