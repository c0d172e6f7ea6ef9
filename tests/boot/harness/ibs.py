"""A machine whose CPUs have AMD's instruction-based sampling, which only our own QEMU models: see tests/boot/qemu."""

from .machine import Machine
from .mended import Mended


class IbsMachine(Mended, Machine):
    def command(self):
        words = super().command()
        words[words.index("-cpu") + 1] += ",+extapic,+ibs"
        return words
