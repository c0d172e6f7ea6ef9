"""Finished results: a file each, named after the content of all that made it, so that a bench can be stopped and go on."""

import hashlib
import json
from dataclasses import asdict

from places import BUILD, ROOT

from .jobs import LAYOUTS, WORKLOADS
from .machines import IMAGES, LISTEN, NUMASIM, OUT, XEN_OPTIONS, model_options
from .subjects import SUBJECTS
from .topology import AMD48

RESULTS = OUT / "results"
TIMES = OUT / "times.json"
BENCH = ROOT / "tests" / "bench"
# what is in the image beside the packages, whose versions are in a file, and the workloads
IMAGE_PARTS = (BENCH / "programs", BENCH / "images" / "init")


def content(*paths):
    """A hash of files, and of all files in directories."""
    total = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:24]


def plugin_sources():
    # not the binary: it bears the path of the clone
    return [path for path in sorted(NUMASIM.iterdir()) if path.suffix in (".c", ".h") and not path.name.startswith("test")]


class Store:
    def __init__(self):
        RESULTS.mkdir(parents=True, exist_ok=True)
        self.hashes = {}
        self.times = json.loads(TIMES.read_text()) if TIMES.exists() else {}

    def content(self, *paths):
        if paths not in self.hashes:
            self.hashes[paths] = content(*paths)
        return self.hashes[paths]

    def recipe(self, job):
        """All that a result depends on."""
        subject = SUBJECTS[job.subject]
        hosted = {} if subject.native else {
            "xen": self.content(BUILD / f"xen-{subject.hypervisor}" / "xen"), "options": XEN_OPTIONS,
            "guest": LISTEN, "dom0": self.content(BUILD / "images" / "image-id"),
        }
        # scripts without a suffix are shared by workloads
        scripts = sorted(path for path in WORKLOADS.iterdir() if path.is_file() and
                         (not path.suffix or path.suffix == ".sh" and path.stem in (job.workload, job.beside)))
        return {
            **hosted, "subject": asdict(subject), "layout": asdict(LAYOUTS[job.layout]), "size": job.size,
            "topology": asdict(AMD48), "model": model_options(), "plugin": self.content(*plugin_sources()),
            "kernel": self.content(BUILD / "linux" / "bzImage"), "packages": self.content(IMAGES / "versions"),
            "image": self.content(*IMAGE_PARTS), "workload": self.content(*scripts),
        }

    def path(self, job):
        recipe = json.dumps(self.recipe(job), sort_keys=True)
        beside = f"+{job.beside}-{job.layout}" if job.beside else ""
        key = hashlib.sha256(recipe.encode()).hexdigest()[:16]
        return RESULTS / f"{job.subject}-{job.workload}{beside}-{job.size}-{key}.json"

    def get(self, job):
        """The result of a job, or None."""
        path = self.path(job)
        return json.loads(path.read_text()) if path.exists() else None

    def put(self, job, result):
        path = self.path(job)
        new = path.with_suffix(".new")
        new.write_text(json.dumps({**asdict(job), "recipe": self.recipe(job), **result}) + "\n")
        new.rename(path)        # a result is there as a whole or not at all
        self.times[self.kind(job)] = result["wall_seconds"]
        TIMES.write_text(json.dumps(self.times, indent=1) + "\n")

    @staticmethod
    def kind(job):
        return f"{'native' if SUBJECTS[job.subject].native else 'xen'} {job.workload} {job.layout} {job.size}"

    def usual(self, job):
        """Seconds that such a job took the last time; some, where there was none."""
        return self.times.get(self.kind(job), 30 if job.size == "full" else 15)
