# SPDX-License-Identifier: GPL-2.0-only
"""Reads the console that Xen, dom0's kernel and the guests' kernels share, and says which lines make a boot red.

Two rules.  Some words are red whenever they appear.  And once dom0 is up, every line of the hypervisor itself must be one
that is known to be harmless: a warning that nobody thought of is red too.
"""

import re

RED = [re.compile(pattern) for pattern in (
    # hypervisor
    r"Panic on CPU",
    r"Xen BUG at",
    r"Xen WARN at",
    r"Assertion '.*' failed",
    r"FATAL (TRAP|PAGE FAULT)",
    r"Xen call trace",
    r"Watchdog timer detects",
    r"UBSAN:",
    r"Hardware Dom0 (crashed|halted|watchdog)",
    r"domain_crash",
    r"[Dd]omain \d+ \(vcpu#\d+\) crashed",
    r"messages suppressed",                 # a cut log proves nothing
    # kernels, dom0's and the guests'
    r"Kernel panic",
    r"\bBUG: ",
    r"kernel BUG at",
    r"\bOops\b",
    r"general protection fault",
    r"WARNING: CPU:",
    r"Call Trace:",
    r"\brcu: INFO: .*stall",
    r"soft lockup|hung task|blocked for more than",
    r"Out of memory|invoked oom-killer",
    r"Attempted to kill init",
    # our own parts of dom0
    r"dom0-init: ",
    r"segfault at",
)]

# What Xen says in a normal life after dom0 is up.
EXPECTED = [re.compile(r"\(XEN\) " + pattern) for pattern in (
    r"HVM d\d+(v\d+)? (save|restore): ",
    r"HVM (save|restore) d\d+",
    r"(\S*arch/x86/hvm/irq\.c:\d+: )?Dom\d+ (PCI link \d|callback via) changed ",
    r"d\d+v\d+: upcall vector ",
    r"\S*arch/x86/hvm/\w+/\w+\.c:\d+:d\d+v\d+ (RD|WR)MSR 0x\w+( val 0x\w+)? unimplemented",     # Linux tries what there is
    r"\S*common/grant_table\.c:\d+:d\d+v\d+ Expanding d\d+ grant table",
    r"ioport_map:add: dom\d+ gport=42 mport=64 nr=1$",      # guest-pit
    r"avc:  denied  \{ [gs]et_numa_policy \} for source=d\d+ (target=d\d+ )?scontext=system_u:system_r:domU_t ",   # guest-domctl
    r"d\d+: first-touch is not possible with (devices|its kind of paging): NUMA policy round-4k$",
    r"FLASK: Denying unknown domctl: 90\.$",        # stock Xen, which libxl asks for the policy of a new domain
    # CPUs that go from one cpupool to another
    r"Initializing Credit2 scheduler", r" (load_\w+_shift|\w+load_balance_tolerance): ", r" runqueues arrangement: ",
    r" cap enforcement granularity: ", r"load tracking window length", r"(Adding|Removing) cpu \d+ (to|from) runqueue",
    r" No cpus left on runqueue", r" First cpu on runqueue",
    r"uart interrupt taking more than \d+ms, switched to polling",         # the emulator had to wait for its host
    # debug key n
    r"'n' pressed -> NMI statistics", r"CPU\tNMI$", r" *\d+\t *\d+$", r"d0v0: NMI neither pending nor masked",
    r"Preparing system for ACPI S5",
    r"Disabling non-boot CPUs",
    r"Entering ACPI S5",
    r"Hardware Dom0 shutdown",
)]


# How Xen tells that a guest has lost its way, and what its vCPU held.
DEATH = re.compile(r"\(XEN\) (d(\d+)v\d+ Triple fault - |\*\*\* Dumping Dom(\d+) vcpu#|Domain (\d+) \(vcpu#\d+\) crashed on cpu#)")
# An instruction that was there when the CPU left the guest and is not when Xen reads it: a guest that lost its code.
# The first line names nobody, the second always follows.
NO_CODE = re.compile(r"\(XEN\) (Insn mismatch: Expected opcode |SVM Insn len emulation failed \(\d+\): d(\d+)v)")
REGISTERS = re.compile(r"\(XEN\) (----\[ Xen|CPU: |RIP: |RFLAGS: |r[a-z0-9]{1,2}: |cr3: |fsb: |ds: )")

# A guest that suspends, told once by each kernel.  do_suspend() in Linux's drivers/xen/manage.c stops the ticks of all CPUs before
# stop_machine() and starts them after: one that goes idle in between wants to stop its own (WARN_ONCE in clockevents.c), in vain.
IDLE_IN_SUSPEND = re.compile(r"\((d\d+)\) WARNING: CPU: \d+ PID: 0 at kernel/time/clockevents\.c:125 clockevents_switch_state\+")
CALL_TRACE = re.compile(r"\((d\d+)\) Call Trace:$")

# plt_overflow() in Xen's arch/x86/time.c, late by half the time in which the 32 bits of QEMU's HPET (100 MHz) come round.  The
# emulator stood still, or Xen let CPU 0 wait: harness/stillness.py knows.
LATE = re.compile(r"\(XEN\) Platform timer appears to have unexpectedly wrapped \d+ times\.$")
LATE_SECONDS = 2 ** 31 / 100e6


class Scanner:
    """Fed with the console as it grows; remembers where it was."""

    def __init__(self):
        self.rest = b""
        self.dom0_up = False
        self.may_die = set()        # domains that a test drives to their death
        self.known = []             # patterns of what a test has Xen say
        self.in_death = False
        self.has_red = False        # whether any line was
        self.has_warned = set()     # guests whose next call trace is that of their suspend
        self.stood_still = lambda: 0        # seconds, at most, for which the host kept the machine from running

    def feed(self, data):
        """The red lines in `data`.  A line still being written waits for its end."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        red = [line for line in (raw.decode(errors="replace").rstrip() for raw in lines) if self.is_red(line)]
        self.has_red |= bool(red)
        return red

    def end(self):
        """The last line, should it have no end."""
        rest, self.rest = self.rest.decode(errors="replace").rstrip(), b""
        red = [rest] if rest and self.is_red(rest) else []
        self.has_red |= bool(red)
        return red

    def is_suspend(self, line):
        warning, trace = IDLE_IN_SUSPEND.match(line), CALL_TRACE.match(line)
        if warning:
            self.has_warned.add(warning[1])
        if trace and trace[1] in self.has_warned:
            self.has_warned.remove(trace[1])
            return True
        return bool(warning)

    def is_red(self, line):
        if self.is_suspend(line):
            return False
        death = DEATH.search(line)
        may_die = death is not None and int(death[2] or death[3] or death[4]) in self.may_die
        if any(pattern.search(line) for pattern in RED) and not may_die:
            return True
        if not self.dom0_up or "(XEN)" not in line:
            return False
        # two writers share the line now and then: what the hypervisor says starts at its mark
        said = line[line.index("(XEN)"):]
        if LATE.match(said) and self.stood_still() >= LATE_SECONDS:
            return False
        lost = NO_CODE.match(said)
        if lost and self.may_die and (lost[2] is None or int(lost[2]) in self.may_die):
            # from another vCPU maybe, while the registers of one are shown
            return False
        self.in_death = may_die if death else self.in_death and bool(REGISTERS.match(said))
        return not self.in_death and not any(pattern.match(said) for pattern in EXPECTED) and not any(
            re.search(pattern, said) for pattern in self.known)


SHUTDOWN = re.compile(rb"\(XEN\) Entering ACPI S5 state")


def ends_complete(log):
    """Whether the console ends as a machine does that powered off by itself."""
    return bool(SHUTDOWN.search(log[-400:]))
