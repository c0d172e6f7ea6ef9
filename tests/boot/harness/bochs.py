# SPDX-License-Identifier: GPL-2.0-only
"""A machine that Bochs emulates: an Intel processor with VMX and EPT, which QEMU's TCG has not.

It is an interpreter, some ten times slower than TCG.  Its firmware knows no NUMA: Xen divides the memory by numa=fake, and all
CPUs are on node 0.
"""

import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

from .machine import DOM0_OPTIONS, XEN_OPTIONS, BootRed, Machine

# x2apic, cpuidle, xsave: Xen comes to grief with what Bochs makes of them.
# apicv: a guest took a #GP where an interrupt that VT-x delivers by itself met an IDT whose EPT entry was to be recalculated.
# ept=exec-sp: or there would be no 2 MiB pages, as for a processor with the erratum.
# spec-ctrl: what does not speculate needs no mitigation.
# noreboot: there is no -no-reboot, and a panic in a loop would be a slow one.
# no-htt: see guest_options.
# altp2m: or no domain may have it.
# flask: its default policy lets no monitor look at a domain; and asked about I/O ports, as guest-pit has it do, it takes a lock
# twice, which ends a debug build.
BOCHS_XEN_OPTIONS = ("x2apic=0 cpuidle=0 xsave=0 apicv=0 ept=exec-sp spec-ctrl=no noreboot dom0-cpuid=no-htt altp2m "
                     "flask=disabled")

# sync=none: idle time passes at once.  quantum: instructions that a CPU runs before it is the next one's turn, 32 at most.
BOCHSRC = """\
cpu: model=corei7_skylake_x, count={cpus}, quantum=32, ips=50000000, reset_on_triple_fault=0
clock: sync=none
memory: guest={mib}, host={mib}
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
display_library: term
ata0-master: type=cdrom, path=machine.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=console
com2: enabled=1, {com2}
log: log
panic: action=fatal
error: action=report
info: action=ignore
debug: action=ignore
"""
UART_FIFO = 16
POWERED_OFF = b"ACPI control: soft power off"      # its last words

BOCHS = "TERM=vt100 exec bochs-bin -q -f bochsrc -rc continue"

ISOLINUX_CFG = """\
DEFAULT xen
LABEL xen
  KERNEL mboot.c32
  APPEND {modules}
"""
ISOLINUX = [Path("/usr/lib", file) for file in (
    "ISOLINUX/isolinux.bin", "syslinux/modules/bios/ldlinux.c32", "syslinux/modules/bios/libcom32.c32",
    "syslinux/modules/bios/mboot.c32")]
MAKE_CD = "xorriso -as mkisofs -quiet -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table".split()


def prepare(directory, topology, modules, com2):
    """What a Bochs needs that is started there: a CD with modules, (name, file, command line), the first of which is Xen."""
    cd = directory / "cd"
    cd.mkdir()
    for file in ISOLINUX:
        shutil.copy(file, cd)
    for name, file, _ in modules:
        shutil.copy(file, cd / name)
    (cd / "isolinux.cfg").write_text(ISOLINUX_CFG.format(modules=" --- ".join(f"/{name} {words}".rstrip() for name, _, words in modules)))
    made = subprocess.run([*MAKE_CD, "-o", directory / "machine.iso", cd], capture_output=True, text=True, check=False)
    if made.returncode:
        raise BootRed(f"xorriso fails: {made.stderr[-500:]}")
    shutil.rmtree(cd)
    (directory / "bochsrc").write_text(BOCHSRC.format(cpus=sum(topology.cpus), mib=sum(topology.mib), com2=com2))
    (directory / "continue").write_text("c\n")      # for its debugger, which would wait


# what Xen says where it is EPT that it uses, with large pages
HAS_EPT = (" - Extended Page Tables (EPT)", "HVM: VMX enabled", "HVM: Hardware Assisted Paging (HAP) detected",
           "HVM: HAP page sizes: 4kB, 2MB")


def missing_of_ept(log):
    """The first thing that Xen has not said of it."""
    return next((line for line in HAS_EPT if f"(XEN) {line}" not in log), None)


def numa(topology):
    """Xen's option by which it has the nodes that the firmware does not know."""
    return f"numa=fake={topology.nodes}"


class BochsMachine(Machine):
    program = "Bochs"
    slower = 6
    # Its CPUID says of a processor with 2 threads that it has 16 cores, at which Linux warns: with HTT it believes both.
    guest_options = {"cpuid": "host,htt=0"}
    start_guest = "guest-pit $(xl domid {0}) && xl unpause {0}"

    def command(self):
        directory = self.workspace()
        memory = f"dom0_mem={self.topology.dom0_mib}M,max:{self.topology.dom0_mib}M"
        words = (f"{XEN_OPTIONS} {BOCHS_XEN_OPTIONS} {numa(self.topology)} {memory} {self.xen_options}",
                 f"{DOM0_OPTIONS} agent.nonce={self.nonce}", "")
        # the agent's line is the terminal that Bochs is started on
        prepare(directory, self.topology, list(zip(("xen", "linux", "dom0"), self.loaded(), words)), "mode=term, dev=/dev/tty")
        # so that no path needs quotes in bochsrc
        (directory / "console").symlink_to(self.console)
        (directory / "log").symlink_to(self.log())
        # Its screen holds nothing of interest, and must not be on the agent's line.  That is held open from the start: a terminal
        # that nobody has open reads as closed.
        bochs = (f"cd {shlex.quote(str(directory))} && "
                 f"{BOCHS} 3<&0 </dev/null >screen 2>&1")
        return ["/bin/sh", "-c", bochs]

    def log(self):
        """Where Bochs says what became of it."""
        return self.logs / f"{self.console.stem}.bochs.log"

    def ended_well(self):
        # It takes a power-off for an accident.  As it tidies up after it, it crashed once in some hundred boots.
        powered_off = POWERED_OFF in self.log().read_bytes()
        return powered_off and (self.qemu.exitstatus == 1 or self.qemu.signalstatus == signal.SIGSEGV)

    def came_to_grief(self):
        # 1 may be anything, a panic of the machine as well
        return self.qemu.exitstatus is None and not self.ended_well()

    def _send(self, data):
        # As much as fits into its UART at a time: that has no flow control, and dom0 may be busy.  dom0 echoes what it has read.
        for first in range(0, len(data), UART_FIFO):
            piece = data[first:first + UART_FIFO]
            self.qemu.send(piece)
            self._expect(re.escape(piece.rstrip(b"\n")), 20, "the echo of a command")
