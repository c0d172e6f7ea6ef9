# SPDX-License-Identifier: GPL-2.0-only
"""One emulated machine: starts QEMU, runs commands in its dom0, watches its console, and gives the verdict."""

import dataclasses
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pexpect

from runner.modest import stay_modest

from . import agent, parts, scan
from .parts import Parts
from .stillness import Stillness

ROOT = Path(__file__).absolute().parents[3]
BUILD = ROOT / "build"
LOGS = BUILD / "results" / "logs"       # or $BOOT_LOGS

# tests/boot/qemu says what is better about it
QEMU = BUILD / "qemu" / "qemu-system-x86_64"
# of the QEMU that is installed: a program that runs where it was built looks for its own
FIRMWARE = ["-L", "/usr/share/qemu", "-L", "/usr/share/seabios"]

KERNEL = "images-base/vmlinux"      # of dom0, relative to BUILD
BOOT_SECONDS = 240       # measured 25 s; a busy machine must not turn a boot red
COMMAND_SECONDS = 120
STOOD_STILL = 5          # seconds without the host's CPU that excuse a hang
# bootscrub would touch all of the emulated memory, at the cost of the host's
# dma_bits: Xen would keep half a GiB of these small nodes for devices, and guests would get no page of node 0
XEN_OPTIONS = "console=com1 com1=115200,8n1 loglvl=all guest_loglvl=all dom0_max_vcpus=1 dom0_vcpus_pin bootscrub=0 dma_bits=24"
DOM0_OPTIONS = "console=hvc0 clocksource=xen tsc=unstable panic=1"
# dom0 has better things to do than to answer all the time
UNTIL = r"""up() { read -r up _ </proc/uptime; up=${up%%.*}; }
up; end=$((up + patience))
until {
%s
} >/run/until 2>&1; do
	up; [ $up -lt $end ] || { cat /run/until; exit 1; }
	sleep 0.3
done
cat /run/until"""


class BootRed(Exception):
    """The machine cannot be trusted from here on."""


class HostFault(BootRed):
    """Not the machine's fault, but its emulator's or the host's: a second try may well be green."""


class Misfit(BootRed):
    """The parts that somebody gave do not fit together: no test can tell anything of them."""


class CommandFailed(Exception):
    """A command in dom0 ended with another status than the test relies on."""


def tail(path, lines=25):
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return "(nothing)"
    return "\n".join(text.splitlines()[-lines:])


def numa_options(topology):
    words = []
    for node, mib in enumerate(topology.mib):
        memory = f",memdev=m{node}" if mib else ""
        if mib:
            words += ["-object", f"memory-backend-ram,id=m{node},size={mib}M"]
        cpus = "".join(f",cpus={cpu}" for cpu in topology.cpus_of(node))
        words += ["-numa", f"node,nodeid={node}{cpus}{memory}"]
    for a in range(topology.nodes):
        for b in range(a + 1, topology.nodes):
            words += ["-numa", f"dist,src={a},dst={b},val={topology.distances[a][b]}"]
    return words


def emulator(topology, console, qemu=None):
    """QEMU, or the one that is given, and its options for a machine of this topology: console and agent line, nothing to boot."""
    if os.environ.get("ACCEL", "tcg") == "kvm":
        program, cpu = ["qemu-system-x86_64"], ["-accel", "kvm", "-cpu", "host"]
    else:
        # With monitor, Xen's idle loop takes a #GP in mwait.  With xsave, TCG reports a compressed size and no XSAVEC, at which a
        # debug Xen warns.
        program, cpu = [str(QEMU), *FIRMWARE], ["-accel", "tcg,thread=multi", "-cpu", "EPYC-v2,+svm,+npt,-monitor,-xsave"]
    if qemu:
        program = [str(qemu)]
    if program[0] == str(QEMU) and not QEMU.exists():
        raise BootRed(f"{QEMU} is missing: run make setup")
    if topology.firmware:
        numa, below = topology.firmware.options(Path(console)), f",max-ram-below-4g={topology.firmware.low_mib}M"
    else:
        numa, below = numa_options(topology), ""
    devices = [word for device in topology.devices for word in ("-device", device)]
    return [
        # No device with memory of its own: dom0's Linux sizes it by moving it about, and QEMU 10.0 cannot change its memory map while
        # another CPU is at one of its devices ("iotlb_to_section: Assertion", once in some hundred boots).
        *program, "-machine", f"q35,sata=off,smbus=off{below}", "-vga", "none", *cpu, "-smp", "{0},sockets={0}".format(sum(topology.cpus)),
        "-m", f"{sum(topology.mib)}M", *numa,
        *devices,
        "-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot",
        "-chardev", f"file,id=console,path={str(console).replace(',', ',,')}", "-serial", "chardev:console",
        "-chardev", "stdio,id=agent,signal=off", "-serial", "chardev:agent",
    ]


def current_image_id(part):
    make_images = ROOT / "tests" / "boot" / "images" / "make-images"
    done = subprocess.run([make_images, "--id", part], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BootRed(done.stderr.strip())
    return done.stdout.strip()


class Machine:
    """A booted machine.  Any failure to behave raises BootRed and ends QEMU; HostFault, if the machine is not to blame.

    It boots what it is given, else what build/ has: xen, kernel (dom0's, and that of guests), dom0 (its image), on qemu.
    That is said in four places, which tests/bench/harness/native.py fills otherwise: products, payload(), image_id() and
    ends_complete.  What emulates it, in command() and the next five, for bochs.py.
    """
    program = "QEMU"
    slower = 1                              # factor of all timeouts
    clock_slowed = 1                        # nanoseconds of the host that are one of the machine's
    guest_options = {}                      # of xl.cfg, for all guests
    start_guest = "xl unpause {}"           # when it has been created
    ends_complete = staticmethod(scan.ends_complete)
    dom0_image = "images-base/dom0.cpio"    # relative to BUILD, in a part that make-images makes

    def __init__(self, topology, hypervisor="debug", xen_options="", qemu_options=(), **given):
        self.topology = topology
        self.hypervisor = hypervisor
        self.xen_options = xen_options
        self.qemu_options = qemu_options
        self.dom0_image = topology.dom0_image or self.dom0_image
        self.images = self.dom0_image.partition("/")[0]
        self.given = dataclasses.replace(Parts.given(), **{part: file for part, file in given.items() if file})
        self.foreign = self.given.hypervisor(hypervisor) or self.given.kernel or self.given.dom0
        self.xen = self.given.hypervisor(hypervisor) or BUILD / f"xen-{hypervisor}" / "xen"
        self.kernel = self.given.kernel or BUILD / KERNEL
        self.directory = None               # for what goes with the machine
        self.count = 0
        self.nonce = agent.new_nonce()
        self.scanner = scan.Scanner()
        self.console_read = 0
        self.dead = None
        self.red = BootRed                  # what it is dead of
        words = re.sub(r"[^A-Za-z0-9=.]+", "-", xen_options).strip("-")
        stem = "-".join(filter(None, (topology.name, hypervisor, words, self.nonce[:6])))
        self.logs = Path(os.environ.get("BOOT_LOGS", LOGS))
        self.logs.mkdir(parents=True, exist_ok=True)
        self.console = self.logs / f"{stem}.console.log"
        self.agent_log = self.logs / f"{stem}.agent.log"
        self.qemu = None
        self.host_stillness = None

    def use_images(self, part):
        """Kernel and dom0 are those of a part that has both, as make-images has made it."""
        self.images = f"images-{part}"
        self.dom0_image = f"{self.images}/dom0.cpio"
        self.kernel = BUILD / self.images / "vmlinux"
        return self

    def products(self):
        return [self.xen, self.kernel, self.given.dom0 or BUILD / self.images / "image-id"]

    def image_id(self):
        """What the image in use must say that it is."""
        return parts.image_id(self.given.dom0) if self.given.dom0 else current_image_id(self.images.removeprefix("images-"))

    def workspace(self):
        (BUILD / "results").mkdir(parents=True, exist_ok=True)
        self.directory = self.directory or tempfile.TemporaryDirectory(prefix="machine-", dir=BUILD / "results")
        return Path(self.directory.name)

    def loaded(self):
        """Xen, dom0's kernel and its image, as an emulator takes them."""
        files = [self.xen, self.kernel, self.given.dom0 or BUILD / self.dom0_image]
        return parts.loadable(self.workspace(), *files, self.given.kernel) if self.foreign else files

    def payload(self):
        """QEMU's options that say what to boot."""
        mib = self.topology.dom0_mib
        dom0 = f"dom0_mem={mib}M,max:{mib}M " if mib else ""
        # relative to BUILD, where QEMU runs: a path with a space or a comma would be cut there
        xen, linux, image = (file.relative_to(BUILD) if file.is_relative_to(BUILD) else file for file in self.loaded())
        return [
            "-kernel", str(xen),
            "-initrd", f"{linux} {DOM0_OPTIONS} agent.nonce={self.nonce},{image}",
            "-append", f"{XEN_OPTIONS} {dom0}{self.xen_options}".rstrip(),
        ]

    def command(self):
        """What to start; its terminal is the agent's line."""
        slow = ["env", f"CLOCK_SLOWED={self.clock_slowed}"] if self.clock_slowed > 1 else []
        return [*slow, *emulator(self.topology, self.console, self.given.qemu), *self.payload(), *self.qemu_options]

    def boot(self):
        for product in self.products():
            if not product.exists():
                raise BootRed(f"{product} is missing: run make setup")
        wanted = self.image_id()
        command = self.command()
        (self.logs / f"{self.console.stem}.command").write_text(shlex.join(command) + "\n")
        self.console.touch()        # an emulator that dies at once has not made it
        started = time.monotonic()
        self.qemu = pexpect.spawn(command[0], command[1:], cwd=BUILD, timeout=BOOT_SECONDS, maxread=65536, preexec_fn=stay_modest)
        self.qemu.logfile_read = open(self.agent_log, "wb")
        self.qemu.delaybeforesend = None
        self.host_stillness = Stillness(self.qemu.pid)
        self.scanner.stood_still = self.host_stillness.longest
        hello = self._expect(agent.HELLO, BOOT_SECONDS, "dom0 to come up")
        nonce, image = (word.decode() for word in hello.groups())
        if nonce != self.nonce:
            self._die(f"dom0 says the boot nonce is {nonce}, it is {self.nonce}")
        if image != wanted:
            self._die(f"the image in build/ is stale ({image[:12]}, should be {wanted[:12]}): run make setup", Misfit)
        if self.foreign:
            self._check_tools()
        self.seconds = time.monotonic() - started
        self.check_console()
        self.scanner.dom0_up = True
        return self

    def _check_tools(self):
        """Xen takes calls from tools of its own version only."""
        answer = self.run("xl info", check=False)
        if answer.status:
            said = " ".join(answer.err.split())[:300]
            self._die(f"the tools in {self.given.dom0 or self.dom0_image} are not for {self.xen}: xl info says: {said}", Misfit)

    def run(self, command, timeout=COMMAND_SECONDS, check=True):
        """Runs a shell command in dom0.  With `check`, a status other than 0 raises CommandFailed."""
        if self.dead:
            raise self.red(self.dead)
        self.count += 1
        nonce = agent.new_nonce()
        self._send(agent.request(nonce, command))
        try:
            answer = self._expect(agent.ANSWER, timeout, f"the end of: {command[:120]}")
        except BaseException:
            # a test whose time is up: the answer would be taken for that of the next command
            self.kill()
            raise
        try:
            result = agent.parse_answer(answer, nonce, self.count, command)
        except agent.ProtocolError as error:
            self._die(str(error))
        if check and result.status:
            raise CommandFailed(f"status {result.status} from: {command}\n{result.out}{result.err}")
        return result

    def patient(self, command, seconds, check=True):
        """Runs a command that waits for something, $patience seconds at most: `seconds`, as dom0's clock shows them."""
        patience = int(seconds * self.slower / self.clock_slowed) + 1
        return self.run(f"patience={patience}; {command}", timeout=3 * seconds + 60, check=check)

    def until(self, command, seconds=60):
        """Waits, in dom0, until a shell command succeeds: what it says then.  The command finds its variables as it left them."""
        waited = self.patient(UNTIL % command, seconds, check=False)
        assert waited.status == 0, f"never in {seconds} s: {command}\n{waited.out[-3000:]}"
        return waited.out

    def check_console(self):
        """Red if the console's new part holds a red line."""
        red = self.scanner.feed(self._new_console())
        if red:
            raise BootRed(self._report("the console is not clean:\n  " + "\n  ".join(red[:20])))

    def finish(self):
        """Powers dom0 off and gives the verdict on the whole boot."""
        if self.dead:
            raise self.red(self.dead)
        self._send(b"%s bye\n" % agent.new_nonce().encode())
        bye = self._expect(agent.BYE, 60, "the final record")
        try:
            agent.check_bye(bye, self.nonce, self.count)
        except agent.ProtocolError as error:
            self._die(str(error))
        powered_off = time.monotonic()
        try:
            self.qemu.expect(pexpect.EOF, timeout=60 * self.slower)
        except pexpect.TIMEOUT:
            self._die(f"{self.program} does not end after dom0 powered off", self._of_hang(powered_off))
        self.qemu.close()
        red = self.scanner.feed(self._new_console()) + self.scanner.end()
        if red:
            self._die("the console is not clean:\n  " + "\n  ".join(red[:20]))
        if not self.ended_well():
            self._die(f"{self.program} ended with {self._status()}", self._of_end())
        if not self.ends_complete(self.console.read_bytes()):
            self._die("the console is cut: it does not end with a power-off")
        self.dead = "the machine has been powered off"

    def ended_well(self):
        """Whether the emulator ended as it does when the machine powers off."""
        return self.qemu.exitstatus == 0

    def came_to_grief(self):
        """Whether the emulator ended as no machine makes it end: with QEMU's -no-reboot, a panic or a reset is a 0, too."""
        return self.qemu.exitstatus != 0

    def _status(self):
        """How the emulator ended."""
        signalled = self.qemu.signalstatus
        return f"signal {signalled}" if signalled is not None else f"status {self.qemu.exitstatus}"

    def host_stood_still(self, since):
        """Since a moment of time.monotonic(), for long enough to excuse what waited meanwhile."""
        return self.host_stillness.longest(since) >= STOOD_STILL

    def _of_hang(self, since):
        return HostFault if self.host_stood_still(since) else BootRed

    def _of_end(self):
        return HostFault if self.came_to_grief() else BootRed

    def kill(self):
        """Ends QEMU whatever its state."""
        self.dead = self.dead or "the machine was ended"
        if self.qemu is not None:
            # pexpect looks a tenth of a second after SIGKILL; to give gigabytes back takes longer on a busy host
            for number, seconds in ((signal.SIGHUP, 2), (signal.SIGKILL, 60)):
                end = time.monotonic() + seconds
                while self.qemu.isalive() and time.monotonic() < end:
                    self.qemu.kill(number)
                    time.sleep(0.05)
            self.qemu.close()
        if self.directory is not None:
            self.directory.cleanup()

    def _new_console(self):
        with open(self.console, "rb") as console:
            console.seek(self.console_read)
            data = console.read()
        self.console_read += len(data)
        return data

    def _send(self, data):
        self.qemu.send(data)

    def _expect(self, pattern, timeout, what):
        # In slices, so that a panic is reported as what it is and at once, not as a hang when the time is up.
        timeout *= self.slower
        started = time.monotonic()
        end = started + timeout
        while True:
            try:
                self.qemu.expect(pattern, timeout=min(2, max(0.1, end - time.monotonic())))
                return self.qemu.match
            except pexpect.TIMEOUT:
                red = self.scanner.feed(self._new_console())
                if red:
                    time.sleep(2)       # what comes after the first red line often says more
                    red += self.scanner.feed(self._new_console())
                    self._die("the console is not clean:\n  " + "\n  ".join(red[:20]))
                if time.monotonic() >= end:
                    self._die(f"hang: waited {timeout} s for {what}", self._of_hang(started))
            except pexpect.EOF:
                self.qemu.close()
                red = self.scanner.feed(self._new_console()) + self.scanner.end()
                note = "\n  " + "\n  ".join(red[:20]) if red else ""
                self._die(f"{self.program} ended while waiting for {what}, with {self._status()}{note}",
                          BootRed if red else self._of_end())

    def _die(self, why, red=BootRed):
        report = self._report(why)
        self.kill()
        self.dead, self.red = report, red
        raise red(report)

    def stillness(self):
        """What a reader must know of the host who looks for why a test was red."""
        return f"the host let {self.program} stand still for {self.host_stillness.longest():.1f} s at most, since its start"

    def _report(self, why):
        return (f"{why}\n--- {self.stillness()}\n--- console, last lines ({self.console}):\n{tail(self.console)}\n"
                f"--- agent line, last lines ({self.agent_log}):\n{tail(self.agent_log, 8)}")
