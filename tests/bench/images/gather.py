#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""gather.py PACKAGES WORK OUT APT-OPTION…: a small tree of Debian's programs, without installing anything.

Downloads the packages that the file PACKAGES names, unpacks them in WORK, and puts into OUT the files that it names and every
library that these need.  A library that is in none of the packages is looked for in those that its user depends on, so no list
of library packages is kept here.  OUT/versions says what came from where.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"


def fail(why):
    sys.exit(f"gather.py: {why}")


def run(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def needed(path):
    """Sonames that an ELF file needs; nothing for any other file."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path))


class Packages:
    """Packages of the archive, unpacked when asked for."""

    def __init__(self, work, options):
        self.work = work
        self.options = options
        self.roots = {}                 # package -> where it is unpacked
        self.owners = {}                # soname -> (package, file)
        self.depends = {}
        self.versions = []

    def fetch(self, names):
        new = [name for name in names if name not in self.roots]
        if not new:
            return
        debs = self.work / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        run("apt-get", *self.options, "download", *new, cwd=debs)
        for deb in debs.iterdir():
            name, version, depends = run("dpkg-deb", "--show", "--showformat=${Package}\n${Version}\n${Depends}", deb).split("\n")
            self.versions.append(f"{name} {version}")
            self.depends[name] = depends
            root = self.roots[name] = self.work / name
            run("dpkg-deb", "--extract", deb, root)
            deb.unlink()
            for file in root.rglob("*.so*"):
                if file.exists():               # not a link of alternatives(8), which were not set up here
                    self.owners.setdefault(file.name, (name, file))

    def owner(self, soname, user):
        """(package, file) of a library that a package uses."""
        if soname not in self.owners:
            names = re.findall(r"(?:^|[,|] *)(z?lib[^ ,(|:]*)", self.depends[user])
            self.fetch(name for name in names if ".so." not in name)        # that would be the name of a role
            if soname not in self.owners:
                fail(f"{soname}, which {user} needs, is in none of the packages that it depends on")
        return self.owners[soname]


def usr(path):
    """/bin, /lib and the like are in /usr now."""
    return path if path.parts[0] in ("usr", "etc") else Path("usr") / path


class Tree:
    """What the image gets."""

    def __init__(self, out, packages):
        self.out = out
        self.packages = packages
        self.sonames = {LOADER}

    def add(self, package, file):
        if ".so." in file.name:
            self.add_library(file.name, package, file)
            return
        place = self.out / usr(file.relative_to(self.packages.roots[package]))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, place)
        self.add_libraries(package, file)

    def add_library(self, soname, package, file):
        if soname in self.sonames:
            return
        self.sonames.add(soname)
        # under the name that programs ask for, and where they look first: no link of alternatives(8) is needed then
        place = self.out / LIBRARIES / soname
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, place)
        self.add_libraries(package, file)

    def add_libraries(self, package, file):
        for soname in needed(file):
            if soname not in self.sonames:
                self.add_library(soname, *self.packages.owner(soname, package))


def main():
    if len(sys.argv) < 4:
        fail("usage: gather.py PACKAGES WORK OUT APT-OPTION…")
    listed = [line.split() for line in Path(sys.argv[1]).read_text().splitlines() if line and not line.startswith("#")]
    packages = Packages(Path(sys.argv[2]), sys.argv[4:])
    tree = Tree(Path(sys.argv[3]), packages)
    plugins = []
    packages.fetch(["libc6", *(package for package, *_ in listed)])
    for package, *patterns in listed:
        for pattern in patterns:
            found = [file for file in packages.roots[package].glob(pattern.lstrip("?")) if file.is_file()]
            if not found:
                fail(f"{package} has no {pattern}")
            for file in found:
                if pattern.startswith("?"):
                    plugins.append((package, file))
                else:
                    tree.add(package, file)
    for package, file in plugins:
        if tree.sonames.issuperset(needed(file)):
            tree.add(package, file)
    loader = next(packages.roots["libc6"].rglob(LOADER))
    (tree.out / "usr/lib64").mkdir(parents=True)
    shutil.copy2(loader, tree.out / "usr/lib64" / LOADER)
    (tree.out / "versions").write_text("\n".join(sorted(packages.versions)) + "\n")


main()
