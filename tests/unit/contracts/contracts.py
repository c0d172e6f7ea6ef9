#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which contract of the real one each stand-in of the unit tests keeps: NAME.toml for each directory beside this one.

contracts.py            what has changed in the trees since somebody compared it with its stand-in
contracts.py seen WORD… somebody has compared these now (no words: all): seen.txt is written anew
"""

import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tags

HERE = Path(__file__).absolute().parent
UNIT = HERE.parent
ROOT = UNIT.parents[1]
SEEN = HERE / "seen.txt"

XEN = ("xen/include/xen", "xen/include/xsm", "xen/arch/x86/include", "xen/arch/x86/mm/p2m.h", "xen/arch/x86/mm/mm-locks.h",
       "xen/common/numa-policy")
# Where else names are looked for than in the files that the list names.
WHERE = {
    "numa-policy": ("xen", XEN),
    "numa-frames": ("xen", XEN),
    "guest-reporting": ("linux", tuple(f"include/{name}.h" for name in (
        "linux/atomic/atomic-instrumented", "linux/compiler", "linux/container_of", "linux/export", "linux/gfp", "linux/irq_work",
        "linux/jiffies", "linux/jump_label", "linux/kconfig", "linux/list", "linux/lockdep", "linux/math", "linux/minmax",
        "linux/mm", "linux/mm_types", "linux/mmzone", "linux/module", "linux/moduleparam", "linux/mutex", "linux/notifier",
        "linux/page-flags", "linux/page-isolation", "linux/pageblock-flags", "linux/rcupdate", "linux/scatterlist",
        "linux/sched", "linux/slab", "linux/spinlock", "linux/types", "linux/workqueue", "linux/workqueue_types",
        "xen/interface/memory", "xen/xen", "xen/xenbus"))),
    "guest-module": ("linux", tuple(f"include/linux/{name}.h" for name in (
        "compiler", "list", "minmax", "mmzone", "page-flags", "sched", "spinlock"))),
}
FIELDS = {"names", "file", "keeps", "also", "omits", "differs"}


class Unlike(Exception):
    """One line for each thing that is not as it should be."""


@dataclass
class Contract:
    names: list
    file: list
    keeps: str
    also: list
    omits: str = ""
    differs: str = ""


def contracts(directory, place=HERE):
    found = {}
    for c in tomllib.loads((place / f"{directory}.toml").read_text())["contract"]:
        if not {"names", "file", "keeps"} <= c.keys() <= FIELDS:
            raise Unlike(f"{directory}.toml: {c.get('names')}: a contract has names, file, keeps, "
                         "and may have also, omits, differs")
        c["file"] = [c["file"]] if isinstance(c["file"], str) else c["file"]
        contract = Contract(**{"also": [], **c})
        for name in contract.names:
            if name in found:
                raise Unlike(f"{directory}.toml: {name} is there twice")
            found[name] = contract
    return found


@cache
def read_tree(tree, files):
    return tags.read(tree, files)


def real_of(directory, trees, place=HERE):
    """{name: {file: [Tag, …]}} of the tree: what headers define, and the files that the list names."""
    tree, headers = WHERE[directory]
    listed = {f for c in contracts(directory, place).values() for f in c.file}
    beside = [f for f in listed if not any(f.startswith(h) for h in headers)]
    absent = [f for f in listed if not (trees / tree / f).exists()]
    if absent:
        raise Unlike("\n".join(f"{directory}.toml: {tree} has no {f}" for f in sorted(absent)))
    return read_tree(trees / tree, tuple(sorted({*headers, *beside})))


def stand_ins_of(directory, real, unit=UNIT):
    """{name: [Tag, …]}: what the code of a directory defines for others, and the tree does, too."""
    found = {}
    for name, places in tags.read(unit / directory, ["."]).items():
        mine = [t for path, ts in places.items() for t in ts
                if path.endswith(".h") or not t.static and t.kind in ("function", "variable")]
        if mine and any(not t.static or path.endswith(".h") for path, ts in real.get(name, {}).items() for t in ts):
            found[name] = mine
    return found


def tags_of(real, name, files):
    found = [t for f in files for t in real.get(name, {}).get(f, [])]
    defined = any(t.kind == "function" for t in found)
    return [t for t in found if not (defined and t.kind == "prototype")]


def alike(stand_in, real):
    """As far as can be said without compiling; who calls a macro sees how many parameters it has."""
    if {stand_in.kind, real.kind} <= {"function", "prototype"}:
        return tags.type_of(stand_in.type) == tags.type_of(real.type) and \
            tags.signature(stand_in.params) == tags.signature(real.params)
    if stand_in.params or real.params:
        mine, its = (0 if p.strip() == "(void)" else len(tags.split(p)) for p in (stand_in.params, real.params))
        return mine == its or "..." in real.params or "..." in stand_in.params
    if stand_in.kind == real.kind == "macro":
        return stand_in.text == real.text
    if stand_in.kind == real.kind and stand_in.kind in ("member", "typedef", "variable"):
        return tags.type_of(stand_in.type) == tags.type_of(real.type)
    return stand_in.kind == real.kind or real.kind in ("enumerator", "variable", "externvar")


def is_alike(stand_ins, its):
    return all(any(alike(t, r) for r in its) for t in stand_ins)


def compare(directory, trees, unit=UNIT, place=HERE):
    """Is each stand-in in the list, and each of the list one, declared as the real one is, or with a reason not to be?"""
    listed = contracts(directory, place)
    real = real_of(directory, trees, place)
    found = stand_ins_of(directory, real, unit)
    before = seen()
    wrong = [f"{directory}: {name} stands for one of {', '.join(real[name])}: say in {directory}.toml which contract it keeps"
             for name in sorted(found.keys() - listed.keys())]
    for name, c in listed.items():
        its = tags_of(real, name, c.file)
        if name not in found:
            wrong.append(f"{directory}.toml: {name} is no stand-in: nothing here and in the tree has this name")
        elif not its:
            wrong.append(f"{directory}.toml: {name} is not in {', '.join(c.file)}, but in {', '.join(real[name])}")
        elif not is_alike(found[name], its) and not (c.differs and before.get((directory, name), "~").endswith("~")):
            wrong.append(f"{directory}: {name} is {found[name][0].type} {found[name][0].params or found[name][0].text}, "
                         f"the real one {its[0].type} {its[0].params or its[0].text}: make it alike, or say why it differs")
        wrong += [f"{directory}.toml: {name} rests on {a}, which is not in {', '.join(c.file)}"
                  for a in c.also if not tags_of(real, a, c.file)]
    wrong += [f"{directory}.toml: {c.names[0]} …: says why it differs, but nothing does"
              for c in {id(c): c for c in listed.values()}.values()
              if c.differs and all(is_alike(found.get(n, []), tags_of(real, n, c.file)) for n in c.names)]
    if wrong:
        raise Unlike("\n".join(wrong))


def now(directory, trees, place=HERE):
    """{(directory, name): hashes} of the real ones and of what these rest on; = if a stand-in is declared alike, else ~."""
    real = real_of(directory, trees, place)
    found = stand_ins_of(directory, real)
    hashes = {}
    for name, c in contracts(directory, place).items():
        hashes[directory, name] = "+".join(t.hash for n in [name, *c.also] for t in tags_of(real, n, c.file)) + \
            "~="[is_alike(found.get(name, []), tags_of(real, name, c.file))]
    return hashes


def seen():
    if not SEEN.exists():
        return {}
    lines = [line.split() for line in SEEN.read_text().splitlines() if line and not line.startswith("#")]
    return {(directory, name): value for directory, name, value in lines}


def changed(trees, place=HERE, directories=tuple(WHERE)):
    before = seen()
    for directory in directories:
        for (_, name), value in now(directory, trees, place).items():
            if before.get((directory, name), "-")[:-1] != value[:-1]:
                c = contracts(directory, place)[name]
                yield (f"{directory}: {name} has changed in {', '.join(c.file)}: compare it with its stand-in, then: "
                       f"contracts.py seen {name}")


def main(words):
    trees = ROOT / "build" / "trees"
    if words and words[0] != "seen":
        print(f"contracts.py: {words[0]!r} is no word for it: seen, or none", file=sys.stderr)
        return 2
    if not words:
        lines = list(changed(trees))
        print("\n".join(lines) or "nothing has changed")
        return bool(lines)
    is_now = {key: value for directory in WHERE for key, value in now(directory, trees).items()}
    unknown = set(words[1:]) - {name for _, name in is_now}
    if unknown:
        print(f"contracts.py: no stand-in has the name {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    before = seen()
    new = {key: value if not words[1:] or key[1] in words[1:] else before.get(key, "-") for key, value in is_now.items()}
    SEEN.write_text("# SPDX-License-Identifier: GPL-2.0-only\n# what somebody has compared with its stand-in: contracts.py seen\n"
                    + "".join(f"{directory} {name} {value}\n" for (directory, name), value in sorted(new.items())))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Unlike as unlike:
        sys.exit(f"{unlike}")
