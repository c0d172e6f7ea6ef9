"""QEMU as tests/boot/qemu mends it, for a machine that needs what the installed one gets wrong."""

from .machine import BUILD

QEMU = BUILD / "qemu" / "qemu-system-x86_64"
# of the QEMU that is installed: a program that runs where it was built looks for its own
FIRMWARE = ["-L", "/usr/share/qemu", "-L", "/usr/share/seabios"]


class Mended:
    """Comes before Machine among the bases of such a one."""
    clock_slowed = 1            # nanoseconds of the host that are one of the machine's

    def products(self):
        return [*super().products(), QEMU]

    def command(self):
        _, *words = super().command()
        return ["env", f"CLOCK_SLOWED={self.clock_slowed}", str(QEMU), *FIRMWARE, *words]
