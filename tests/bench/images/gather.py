#!/usr/bin/python3
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
        self.versions = []

    def fetch(self, package):
        if package in self.roots:
            return
        place = self.work / package
        place.mkdir(parents=True)
        run("apt-get", *self.options, "download", package, cwd=place)
        deb = next(place.glob("*.deb"))
        self.versions.append(run("dpkg-deb", "--show", deb).replace("\t", " ").strip())
        root = self.roots[package] = place / "root"
        run("dpkg-deb", "--extract", deb, root)
        (place / "depends").write_text(run("dpkg-deb", "--field", deb, "Depends"))
        deb.unlink()
        for file in root.rglob("*.so*"):
            if file.exists():               # not a link of alternatives(8), which were not set up here
                self.owners.setdefault(file.name, (package, file))

    def owner(self, soname, user):
        """(package, file) of a library that a package uses."""
        if soname not in self.owners:
            depends = (self.work / user / "depends").read_text()
            for package in re.findall(r"(?:^|[,|] *)(z?lib[^\s,(|:]*)", depends):
                if ".so." in package:       # the name of a role, not of a package
                    continue
                self.fetch(package)
                if soname in self.owners:
                    break
            else:
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
        place = self.out / usr(file.relative_to(self.packages.roots[package]))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, place)
        self.sonames.add(file.name)
        self.add_libraries(package, file)

    def add_libraries(self, package, file):
        for soname in needed(file):
            if soname in self.sonames:
                continue
            self.sonames.add(soname)
            owner, library = self.packages.owner(soname, package)
            # under the name that programs ask for, which no link of alternatives(8) has to provide then
            place = self.out / LIBRARIES / soname
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, place)
            self.add_libraries(owner, library)


def main():
    if len(sys.argv) < 4:
        fail("usage: gather.py PACKAGES WORK OUT APT-OPTION…")
    listed = [line.split() for line in Path(sys.argv[1]).read_text().splitlines() if line and not line.startswith("#")]
    packages = Packages(Path(sys.argv[2]), sys.argv[4:])
    tree = Tree(Path(sys.argv[3]), packages)
    plugins = []
    packages.fetch("libc6")
    for package, *patterns in listed:
        packages.fetch(package)
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
