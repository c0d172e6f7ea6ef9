# SPDX-License-Identifier: GPL-2.0-only
"""The protocols of ours as models, each state of which Spin visits; and proof that each model notices when its order is wrong."""

import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).absolute().parent

# The model, and the mistakes that are planted in it by -D.
MISTAKES = {
    "move": ("WRITABLE_TOO_EARLY", "OWNER_CLEARED", "FREED_TOO_EARLY", "NO_FIRST_FLUSH", "NO_SECOND_FLUSH", "NOT_FROZEN",
             "DIRTY_NOT_FLUSHED", "DIRTY_READ_EARLY", "DIRTY_OVERWRITTEN", "COPIED_BEFORE_FROZEN"),
    "populate": ("NO_OWN_REFERENCE", "OWNER_NOT_CHECKED", "GFN_LOCKED_TOO_LATE"),
    "touch": ("OWNER_CLEARED", "FLUSHED_TOO_LATE", "BUSY_RELEASED", "NOT_CLEARED", "NOT_SCRUBBED", "TAKEN_TOO_EARLY", "TAKEN_AND_USED"),
    "report": ("NOT_ISOLATED", "PUT_BACK_TOO_EARLY", "REPORTED_THOUGH_MERGED", "FLAG_KEPT", "LOCK_HELD", "REQUEST_LOST", "ACTIVE_TOO_LATE",
               "NMI_WAITS"),
    "exclude": ("FIRST_TOUCH_LOOKS_ONCE", "OTHER_LOOKS_FIRST", "BELIEVED_WITHOUT_THE_LOCK"),
    "sample": ("TWO_STARTS", "STOP_FORGETS_WHICH", "TASKLET_NOT_AWAITED", "RING_ENDS_WITH_SAMPLING", "RING_TAKEN_FROM_START", "DEATH_NOT_SEEN"),
}
DEEPEST = 100_000   # steps, which no path may reach


def command(*words, cwd):
    done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def check(model, defines, place):
    """What the verifier says of the model; invalid end states are errors to it, as are assertions."""
    command("spin", *(f"-D{define}" for define in defines), "-a", HERE / f"{model}.pml", cwd=place)
    command("gcc", "-w", "-O0", "-DSAFETY", "-o", "pan", "pan.c", cwd=place)
    return command("./pan", f"-m{DEEPEST}", cwd=place)


def errors(said):
    assert "max search depth too small" not in said, "not exhaustive"
    return int(re.search(r"errors: (\d+)", said)[1])


def unreached(model, said):
    """Statements of processes.  An inline has them once for each use, which need not all be reached."""
    lines, of_process = set(), False
    for number, line in enumerate((HERE / f"{model}.pml").read_text().splitlines(), 1):
        of_process = line.startswith(("proctype", "init")) or of_process and line != "}"
        if of_process:
            lines.add(number)
    found = re.findall(r'^\t\S+:(\d+), state \d+, "(.*)"$', said, re.M)
    return [f"{model}.pml:{number}: {what}" for number, what in found if int(number) in lines and what != "-end-"]


@pytest.mark.parametrize("model", MISTAKES)
def test_no_state_is_wrong(model, tmp_path, capsys):
    said = check(model, (), tmp_path)
    states = re.search(r"(\d+) states, stored", said)[1]
    with capsys.disabled():
        print(f" {model}: {states} states ", end="", flush=True)
    assert errors(said) == 0, said
    # what never happens is no proof
    assert not unreached(model, said)


@pytest.mark.parametrize("model, mistake", [(model, mistake) for model, mistakes in MISTAKES.items() for mistake in mistakes])
def test_a_mistake_is_found(model, mistake, tmp_path):
    assert mistake in (HERE / f"{model}.pml").read_text()
    assert errors(check(model, (mistake,), tmp_path)), f"nobody saw {mistake}"


@pytest.mark.parametrize("model", MISTAKES)
def test_every_mistake_is_planted(model):
    assert set(re.findall(r"#ifn?def (\w+)", (HERE / f"{model}.pml").read_text())) == set(MISTAKES[model])


def test_every_model_is_run():
    assert {path.stem for path in HERE.glob("*.pml")} == set(MISTAKES)
