# SPDX-License-Identifier: GPL-2.0-only
"""Which emulated machine a test runs on."""

# Xen's own default is none; a Xen without policies knows no such option.
POLICY = "numa-policy=round-4k"


def machine_of(item):
    """(topology, hypervisor, options of Xen) that a test names by its mark `boot`, or None."""
    mark = item.get_closest_marker("boot")
    return mark and (*mark.args, *("", "debug", POLICY)[len(mark.args):])
