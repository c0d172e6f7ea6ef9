# SPDX-License-Identifier: GPL-2.0-only
"""Which kind of system a subject runs on."""

from .carrefour import CarrefourHost
from .machines import NativeHost, XenHost, make_ready
from .subjects import SUBJECTS


def host(subject):
    """The system of a subject, not booted yet."""
    make_ready()
    subject = SUBJECTS[subject]
    kind = NativeHost if subject.native else CarrefourHost if subject.dynamic else XenHost
    return kind(subject)
