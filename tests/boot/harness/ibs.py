# SPDX-License-Identifier: GPL-2.0-only
"""A machine whose CPUs have AMD's instruction-based sampling: see tests/boot/qemu."""

from .machine import Machine


class IbsMachine(Machine):
    def command(self):
        words = super().command()
        words[words.index("-cpu") + 1] += ",+extapic,+ibs"
        return words
