# SPDX-License-Identifier: GPL-2.0-only
"""Groups of boot tests, as tests/boot/run takes them: which files each has, and what they show.  A file is in one of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    name: str
    shows: str
    files: tuple        # test_NAME.py


GROUPS = {group.name: group for group in (
    Group("harness", "each way in which a boot can go wrong is told as what it is; needs no series",
          ("harness", "waiting")),
    Group("run", "this program; needs what make setup has built",
          ("run", "images")),
    Group("stock", "a guest's life without the series, or with it compiled out or switched off, is the same",
          ("stock", "page_events")),
    Group("placement", "each page is on the node that the policy names, or the nearest with room",
          ("placement", "fallback")),
    Group("machines", "the same on real machines of public reports, and what people did there",
          ("machines", "reports", "dom0")),
    Group("command", "xl numa-policy and xl.cfg say and do what they should, and refuse what cannot be",
          ("command", "command_compact", "command_host", "command_stopped", "refusals")),
    Group("lifecycle", "policy, placement and content survive what xl does to a guest, and no page is lost",
          ("lifecycle", "leaks", "stock_host")),
    Group("probe", "Xen's new call, handed garbage, answers with an error and is quiet",
          ("probe",)),
    Group("moving", "memory follows a policy that is set later, and keeps its content",
          ("moving", "moving_content", "moving_refusals")),
    Group("first-touch", "a page is where it was touched first, whatever a guest says of its pages",
          ("first_touch", "first_touch_hostile", "first_touch_moves")),
    Group("guest", "a guest's kernel says what it has freed, and loses nothing; needs the series for Linux",
          ("guest_half", "debian_guest")),
    Group("sampling", "each sample of an access is true, by hint faults and by IBS",
          ("sampling", "sampling_ibs")),
    Group("carrefour", "carrefourd repairs a guest, leaves it alone then, and leaves nothing behind",
          ("carrefour", "carrefour_command", "heal")),
    Group("hvm", "HVM guests, which have a device model: placed, moved, saved, sampled",
          ("hvm",)),
    Group("ept", "moving, first-touch and sampling on EPT, under Bochs",
          ("ept",)),
)}


def group_of(path):
    """The name of the group that has a file of tests."""
    return next((group.name for group in GROUPS.values() if path.stem.removeprefix("test_") in group.files), None)
