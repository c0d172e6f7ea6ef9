# SPDX-License-Identifier: GPL-2.0-only
"""tests/simulate's program: scenarios as text, and what it says of them."""

import json
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

from places import BUILD, ROOT

import ctests               # found through places

HERE = ROOT / "tests" / "simulate"
OUT = BUILD / "simulate"


@dataclass(frozen=True)
class Use:
    """From a second on, an area has this part of all misses."""
    area: str
    share: float
    by: str
    second: int = 0
    touches: float = 1


@dataclass(frozen=True)
class Scenario:
    areas: tuple            # (name, MiB, layout, touched)
    uses: tuple
    settings: dict = field(default_factory=dict)
    conf: dict = field(default_factory=dict)

    def having(self, **settings):
        return replace(self, settings={**self.settings, **settings})

    def configured(self, **conf):
        return replace(self, conf={**self.conf, **conf})

    def under(self, policy):
        """As a policy is written: round-4k,carrefour; or auto, which has set first-touch when the guest touches its memory."""
        name, _, switch = policy.partition(",")
        if name == "auto":
            return self.having(policy="first-touch", auto="on")
        return self.having(policy=name, carrefour="on" if switch else "off")

    def text(self):
        first = [f"{name} {value}" for name, value in self.settings.items()]
        first += [f"set {key} {value}" for key, value in self.conf.items()]
        areas = [f"area {name} {mib:.9g} {layout} {touched}" for name, mib, layout, touched in self.areas]
        uses = [f"use {use.second} {use.area} {use.share:.9g} {use.by} {use.touches:g}"
                for use in sorted(self.uses, key=lambda use: use.second)]
        return "\n".join(first + areas + uses) + "\n"


class SimulationError(Exception):
    pass


def build(out=OUT):
    if wrong := ctests.make(HERE, Path(out)):
        raise SimulationError(wrong)
    return Path(out) / "simulate"


def run(program, scenario):
    """([a second's figures], all of them)"""
    done = subprocess.run([program, "-"], input=scenario.text(), capture_output=True, text=True)
    if done.returncode:
        raise SimulationError(f"{done.stderr.strip()} in:\n{scenario.text()}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[:-1], lines[-1]
