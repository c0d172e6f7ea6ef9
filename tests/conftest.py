"""Results of all our tests for CI, in build/results/: results.xml (JUnit, pytest's own) and results.ktap.

`--junitxml=PATH` puts both elsewhere.
"""

from pathlib import Path

import pytest

from ktap import KtapWriter

RESULTS = Path(__file__).absolute().parents[1] / "build" / "results"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    config.option.xmlpath = config.option.xmlpath or str(RESULTS / "results.xml")
    ktap = Path(config.option.xmlpath).with_suffix(".ktap")
    ktap.parent.mkdir(parents=True, exist_ok=True)
    config.pluginmanager.register(KtapWriter(ktap), "ktap-writer")
