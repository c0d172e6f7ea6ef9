# SPDX-License-Identifier: GPL-2.0-only
"""A hostile guest at random: nobody else is harmed, whatever it calls and dom0 does meanwhile."""

import campaign
import pytest
from bare_boot import Report

# in make test, 10^5 calls in all
SHORT = {"debug": 20_000, "release": 80_000}
WITHOUT_POLICY = 100_000
SHORT_EPT = 1_500
SECONDS = 500
# in make soak, on each hypervisor: 10^7 calls, which can be stopped and resumed
PIECES, PIECE = 20, 500_000
PIECES_EPT, PIECE_EPT = 4, 25_000
LONG = 7000         # seconds of a piece, at most


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("hypervisor", SHORT)
def test_short(programs, hypervisor):
    report = campaign.run(programs / "campaign", hypervisor, SHORT[hypervisor], seed=1, seconds=SECONDS)
    campaign.judge(report, hypervisor, SHORT[hypervisor])


@pytest.mark.heavy(False)
@pytest.mark.timeout(600)
def test_short_ept(programs):
    report = campaign.run(programs / "campaign", "debug", SHORT_EPT, seed=1, seconds=SECONDS, ept=True)
    campaign.judge(report, "debug", SHORT_EPT, ept=True, each_kind=False)


def run_anew(programs, hypervisor, calls, cpus, ept=False):
    seed = campaign.new_seed()
    report = campaign.run(programs / "campaign", hypervisor, calls, seed, LONG, cpus, ept)
    campaign.judge(report, hypervisor, calls, ept)
    campaign.record(report, hypervisor, seed, cpus, ept)


@pytest.mark.soak
@pytest.mark.heavy
@pytest.mark.parametrize("hypervisor", campaign.OURS)
@pytest.mark.parametrize("piece", range(PIECES))
def test_long(programs, hypervisor, piece):
    run_anew(programs, hypervisor, PIECE, cpus=2 if piece % 10 else 3)


@pytest.mark.soak
@pytest.mark.heavy(False)
@pytest.mark.parametrize("hypervisor", ["debug", "release"])
@pytest.mark.parametrize("piece", range(PIECES_EPT))
def test_long_ept(programs, hypervisor, piece):
    run_anew(programs, hypervisor, PIECE_EPT, cpus=2 if piece % 2 else 3, ept=True)


@pytest.mark.soak
@pytest.mark.heavy
@pytest.mark.parametrize("hypervisor", ["stock", "off"])
def test_without_policy(programs, hypervisor):
    run_anew(programs, hypervisor, WITHOUT_POLICY, cpus=3)


def green(hypervisor="debug", **others):
    """A report, but for some of its values."""
    outcome = {"victims that live": 2, "words of theirs that were wrong": 0,
               "as many calls as were wanted": 1,
               **{f"pages missing on node {node}": 0 for node in range(3)}}
    note = {"calls": 5, "lives of the hostile guest": 4, "lives that made no more calls": 1, "accepted: move": int(hypervisor == "debug"), "refused: move": 1,
            "accepted: HVMOP_altp2m": 0, "refused: HVMOP_altp2m": 1}
    promise = {f"the nodes of victim {victim} are told as they are": 1 for victim in (1, 2)} if hypervisor == "debug" else {}
    return Report({name: others.get(name, value) for name, value in outcome.items()},
                  {name: others.get(name, value) for name, value in promise.items()},
                  note={name: others.get(name, value) for name, value in note.items()})


@pytest.mark.parametrize("hypervisor", ["debug", "stock"])
def test_green(hypervisor):
    campaign.judge(green(hypervisor), hypervisor, 5)


@pytest.mark.parametrize("wrong", [
    {"victims that live": 1}, {"words of theirs that were wrong": 1},
    {"pages missing on node 1": campaign.KEPT + 1}, {"pages missing on node 2": -campaign.KEPT - 1},
    {"as many calls as were wanted": 0}, {"calls": 4}, {"the nodes of victim 2 are told as they are": 0},
    {"lives that made no more calls": 2}, {"accepted: move": 0}, {"refused: move": 0}, {"accepted: HVMOP_altp2m": 1},
], ids=str)
def test_red(wrong):
    with pytest.raises(campaign.Harmed):
        campaign.judge(green(**wrong), "debug", 5)


def test_memory_of_lives():
    lives = {"lives of the hostile guest": 80}
    campaign.judge(green(**{"pages missing on node 0": campaign.KEPT + 10}, **lives), "debug", 5)
    with pytest.raises(campaign.Harmed):
        campaign.judge(green(**{"pages missing on node 0": campaign.KEPT + 11}, **lives), "debug", 5)


def test_page(tmp_path):
    report = green(**{"accepted: move": 3})
    report.note["longest: move"] = 3_400_000
    report.note.update({"lives of the hostile guest": 2, "lives that Xen has ended": 1, "lives that made no more calls": 0})
    for victim in campaign.VICTIMS:
        report.note[f"passes of victim {victim}"] = 1000 * victim
        report.note[f"longest wait of victim {victim}, cycles"] = 5_600_000
    for seed in (7, 8):
        campaign.record(report, "debug", seed, results=tmp_path)
    page = (tmp_path / "hardening.md").read_text()
    assert "| 7 | 5 | 2 | 1 | 0 | 1,000 and 2,000 | 6 and 6 | 0, 0, 0 |" in page
    assert "| move | 6, 2, 3 |" in page
