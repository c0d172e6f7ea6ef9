# SPDX-License-Identifier: GPL-2.0-only
"""Finished results: a file each, named after the content of all that made it, so that a bench can be stopped and go on.  What has
been published counts as well: a bench that takes hours may go on in another clone, or on another machine."""

import hashlib
import json
from dataclasses import asdict

import pages
import places
from places import BUILD, ROOT

from .carrefour import RUNS_AT_ONCE, RUNS_MAX, SETTINGS
from .jobs import LAYOUTS, WORKLOADS
from .machines import CLOCK_SLOWED, IMAGES, LISTEN, NUMASIM, OUT, XEN_OPTIONS, model_options, shell_on
from .repeats import AGREE, most
from .subjects import SUBJECTS
from .topology import AMD48

RESULTS = OUT / "results"
PUBLISHED = places.RESULTS / "placement.json"
TIMES = OUT / "times.json"
BENCH = ROOT / "tests" / "bench"
# what is in the image beside the packages, whose versions are in a file, and the workloads
IMAGE_PARTS = (BENCH / "programs", BENCH / "images" / "init")
BOOT = ROOT / "tests" / "boot"
TOOLS = BUILD / "xen-tools" / "usr" / "local"


def content(*paths):
    """A hash of files, and of all files in directories."""
    total = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:24]


def c_sources(directory):
    # not the binary: it bears the path of the clone
    return [path for path in sorted(directory.iterdir()) if path.suffix in (".c", ".h") and not path.name.startswith("test")]


def dom0_parts():
    """What of dom0's image is at work in a bench.  The whole of it changes with each program of the boot tests."""
    return [*(TOOLS / "sbin" / name for name in ("xl", "xenstored", "xenconsoled")), *sorted(TOOLS.glob("lib/*.so.*")),
            BOOT / "images" / "dom0-init", BOOT / "images" / "agent", BOOT / "programs" / "numa-dump.c"]


def qemu_patches():
    return sorted((BOOT / "qemu").glob("*.patch"))


def carrefourd_sources():
    directory = ROOT / "carrefour-user"
    return [directory / "Makefile", *sorted(directory.rglob("*.[ch]")), *sorted((ROOT / "common").glob("*.[ch]"))]


def published(path):
    """{name: result} of a page's JSON: of the page, and of the next one as far as it is measured."""
    page = json.loads(path.read_text()) if path.exists() else {"results": []}
    return {row["name"]: {**row, "region": {"machine": page["machine"], **row["region"]}}
            for row in page["results"] + page.get("next", []) if "name" in row}


class Store:
    def __init__(self, fresh=False):
        RESULTS.mkdir(parents=True, exist_ok=True)
        self.qemu = pages.versions()["qemu"]
        self.hashes, self.published = {}, {} if fresh else published(PUBLISHED)
        self.times = json.loads(TIMES.read_text()) if TIMES.exists() else {}

    def content(self, *paths):
        if paths not in self.hashes:
            self.hashes[paths] = content(*paths)
        return self.hashes[paths]

    def recipe(self, job):
        """All that a result depends on."""
        subject = SUBJECTS[job.subject]
        hosted = {"shell": shell_on(LAYOUTS[job.layout].cpus)} if subject.native else {
            "xen": self.content(BUILD / f"xen-{subject.hypervisor}" / "xen"), "options": XEN_OPTIONS,
            "guest": LISTEN, "dom0": self.content(*dom0_parts()),
        }
        if subject.dynamic:
            hosted |= {"carrefourd": self.content(*carrefourd_sources()), "settings": SETTINGS}
        if subject.learns:
            hosted |= {"runs": [RUNS_AT_ONCE, RUNS_MAX]}
        repeated = {"repeats": [most(job), AGREE]} if most(job) > 1 else {}
        # scripts without a suffix are shared by workloads
        scripts = sorted(path for path in WORKLOADS.iterdir() if path.is_file() and
                         (not path.suffix or path.suffix == ".sh" and path.stem in (job.workload, job.beside)))
        return {
            **hosted, **repeated, "subject": asdict(subject), "layout": asdict(LAYOUTS[job.layout]), "size": job.size,
            "qemu": self.qemu, "mended": self.content(*qemu_patches()), "clock": CLOCK_SLOWED,
            "topology": asdict(AMD48), "model": model_options(), "plugin": self.content(*c_sources(NUMASIM)),
            "kernel": self.content(BUILD / "linux" / "bzImage"), "packages": self.content(IMAGES / "versions"),
            "image": self.content(*IMAGE_PARTS), "workload": self.content(*scripts),
        }

    def name(self, job):
        recipe = json.dumps(self.recipe(job), sort_keys=True)
        beside = f"+{job.beside}-{job.layout}" if job.beside else ""
        key = hashlib.sha256(recipe.encode()).hexdigest()[:16]
        return f"{job.subject}-{job.workload}{beside}-{job.size}-{key}"

    def path(self, job):
        return RESULTS / f"{self.name(job)}.json"

    def get(self, job):
        """The result of a job, or None."""
        path = self.path(job)
        return json.loads(path.read_text()) if path.exists() else self.published.get(path.stem)

    def put(self, job, result):
        path = self.path(job)
        new = path.with_suffix(".new")
        new.write_text(json.dumps({**asdict(job), "name": path.stem, "recipe": self.recipe(job), **result}) + "\n")
        new.rename(path)        # a result is there as a whole or not at all
        self.times[self.kind(job)] = result["wall_seconds"]
        TIMES.write_text(json.dumps(self.times, indent=1) + "\n")

    @staticmethod
    def kind(job):
        subject = SUBJECTS[job.subject]
        system = "native" if subject.native else "auto" if subject.learns else "carrefour" if subject.dynamic else "xen"
        return f"{system} {job.workload} {job.layout} {job.size}"

    def usual(self, job):
        """Seconds that such a job took the last time; some, where there was none."""
        return self.times.get(self.kind(job), 30 if job.size == "full" else 15)
