# SPDX-License-Identifier: GPL-2.0-only
"""A host with VMs that XAPI has made, and where the plugin is."""

import sys
from pathlib import Path

HERE = Path(__file__).absolute().parent
sys.path.insert(0, str(HERE.parent / "xl-numapolicy"))

from fake_machine import example  # noqa: E402

PLUGIN = HERE.parents[2] / "tools/xapi-plugin/numa-policy"
UUID = {3: "5eab12f0-77c1-4f6e-9a4b-0242ac130003", 4: "5eab12f0-77c1-4f6e-9a4b-0242ac130004"}


def host():
    """dom0 and two VMs."""
    machine = example()
    for domain in machine.domains[1:]:
        domain.uuid, domain.foreign, domain.type = UUID[domain.id], True, "hvm"
    return machine
