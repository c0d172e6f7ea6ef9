# SPDX-License-Identifier: GPL-2.0-only
"""Runs of planted tests, through our own conftest.py."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

TESTS = Path(__file__).absolute().parents[2]


@dataclass
class Run:
    status: int
    said: str
    place: Path

    def cases(self):
        """Test -> verdict, by JUnit."""
        verdict = {None: "passed", "failure": "failed", "error": "error", "skipped": "skipped"}
        return {case.get("name"): verdict[next((child.tag for child in case if child.tag in verdict), None)]
                for case in ElementTree.parse(self.place / "results.xml").iter("testcase")}

    def count(self, what):
        found = re.search(rf"(\d+) {what}", self.said.strip().splitlines()[-1])
        return int(found[1]) if found else 0


@pytest.fixture
def planted(tmp_path):
    """Function that runs files of tests as make test does: {name: source}, options of pytest, variables."""
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS)!r})\nsys.dont_write_bytecode = True\nimport importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('ours', {str(TESTS / 'conftest.py')!r})\n"
        "ours = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(ours)\n"
        "from pathlib import Path\nours.TESTS = Path(__file__).absolute().parent\n"
        "globals().update({name: what for name, what in vars(ours).items() if name.startswith('pytest_')})\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = boot: a machine\n")

    def run(files, *options, **variables):
        for name, source in files.items():
            (tmp_path / name).write_text("import os, time\nimport pytest\n" + source)
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={tmp_path / 'results.xml'}",
                               *options, *files], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
                              env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")} | variables)
        return Run(done.returncode, done.stdout + done.stderr, tmp_path)

    return run
