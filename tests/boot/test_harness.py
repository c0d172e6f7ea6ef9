# SPDX-License-Identifier: GPL-2.0-only
"""Every way in which a boot can go wrong is planted once, and must be red.  A green here is a red seen there."""

import gzip
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import types
import xml.etree.ElementTree as ElementTree
from base64 import b64encode
from contextlib import contextmanager, nullcontext
from hashlib import sha256

import pytest

from harness import agent, memory, scan
from harness.bochs import BochsMachine
from harness.carrying import labelled
from harness.machine import ROOT, BootRed, CommandFailed, HostFault, Machine
from harness.parts import Parts
from harness.stillness import INTERVAL, Stillness
from harness.topologies import TOPOLOGIES

GOOD_LOG = b"""\
(XEN) Xen version 4.20.4-pre
(XEN) some remark at boot
Linux version 6.12.107
(XEN) HVM d1v0 save: CPU
(d1) Linux version 6.12.107
(XEN) d1v0: upcall vector f3
reboot: Power down
(XEN) Preparing system for ACPI S5 state.
(XEN) Disabling non-boot CPUs ...
(XEN) Entering ACPI S5 state.
"""

BAD_LINES = [
    b"(XEN) Panic on CPU 0:",
    b"(XEN) Xen BUG at p2m.c:123",
    b"(XEN) Xen WARN at common/page_alloc.c:1",
    b"(XEN) Assertion 'x' failed at mm.c:9",
    b"(XEN) FATAL TRAP: vec 14",
    b"(XEN) d1 numa-policy: a warning nobody thought of",
    b"xyz(XEN) grant_table.c:1: bad something",
    b"(XEN) printk: 20 messages suppressed.",
    b"Kernel panic - not syncing: Attempted to kill init!",
    b"BUG: unable to handle page fault for address: 0",
    b"WARNING: CPU: 0 PID: 1 at mm/page_alloc.c:1",
    b"(d3) Oops: 0002 [#1] SMP",
    b"(d3) WARNING: CPU: 0 PID: 1",
    b"(d3) rcu: INFO: rcu_sched self-detected stall on CPU",
    b"dom0-init: xenstored does not start",
]


def scanned(log):
    scanner = scan.Scanner()
    red = scanner.feed(log[:120])       # cut anywhere: lines come in pieces
    scanner.dom0_up = True
    return red + scanner.feed(log[120:]) + scanner.end()


def test_scan_clean_log():
    assert scanned(GOOD_LOG) == []
    assert scan.ends_complete(GOOD_LOG)


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: line.decode()[:30])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""], ids=["lf", "crlf", "cut"])
def test_scan_planted_line(line, end):
    assert scanned(GOOD_LOG + line + end) == [line.decode()]


def test_scan_what_a_test_has_xen_say():
    scanner = scan.Scanner()
    scanner.dom0_up, scanner.known = True, [r"d4 has no page$"]
    assert scanner.feed(b"(XEN) p2m.c:1: d4 has no page\n(XEN) p2m.c:1: d5 has no page\n(XEN) Xen BUG at p2m.c:1 d4 has no page\n") == [
        "(XEN) p2m.c:1: d5 has no page", "(XEN) Xen BUG at p2m.c:1 d4 has no page"]


DEATH = b"""(XEN) d4v0 Triple fault - invoking HVM shutdown action 1
(XEN) *** Dumping Dom4 vcpu#0 state: ***
(XEN) ----[ Xen-4.20.4-pre  x86_64  debug=y  Not tainted ]----
(XEN) RIP:    0010:[<ffffffff814759f8>]
(XEN) r12: ffff88801357f488   r13: 0000000000000350   r14: 0000000000000000
"""


@pytest.mark.parametrize(("may_die", "red"), [({4}, 1), ({3}, 6), (set(), 6)], ids=["it", "another", "none"])
def test_scan_death(may_die, red):
    """A guest that may die is not red, whatever Xen says after that is."""
    scanner = scan.Scanner()
    scanner.dom0_up, scanner.may_die = True, may_die
    assert len(scanner.feed(DEATH + b"(XEN) mm.c:1: bad page\n")) == red


NO_CODE = b"""(XEN) Insn mismatch: Expected opcode 0xf0030, modrm 0, got nrip_len 0, emul_len 2
(XEN) SVM Insn len emulation failed (1): d4v0 64bit @ 0010:ffffffff8104cfb9 -> 00 00 00 00
"""


@pytest.mark.parametrize(("may_die", "red"), [({4}, 0), ({3}, 1), (set(), 2)], ids=["it", "another", "none"])
def test_scan_lost_code(may_die, red):
    scanner = scan.Scanner()
    scanner.dom0_up, scanner.may_die = True, may_die
    assert len(scanner.feed(NO_CODE)) == red


def test_scan_lost_code_while_another_vcpu_dies():
    scanner = scan.Scanner()
    scanner.dom0_up, scanner.may_die = True, {4}
    dump = DEATH.splitlines(keepends=True)
    assert not scanner.feed(b"".join(dump[:2]) + NO_CODE + b"".join(dump[2:]))
    assert len(scanner.feed(b"(XEN) mm.c:1: bad page\n(XEN) RIP:    0010:[<ffffffff814759f8>]\n")) == 2


IDLE_IN_SUSPEND = """(d2) WARNING: CPU: 3 PID: 0 at kernel/time/clockevents.c:125 clockevents_switch_state+0x102/0x110
(d2) Call Trace:
"""


@pytest.mark.parametrize(("log", "red"), [
    (IDLE_IN_SUSPEND, 0),
    (IDLE_IN_SUSPEND + "(d2) Call Trace:\n", 1),
    (IDLE_IN_SUSPEND.replace("(d2) Call", "(d3) Call"), 1),
    (IDLE_IN_SUSPEND.replace("(d2) ", ""), 2),
    (IDLE_IN_SUSPEND.replace("PID: 0", "PID: 7"), 2),
    (IDLE_IN_SUSPEND.replace(":125", ":12"), 2),
], ids=["it", "another-trace", "another-guest", "dom0", "not-idle", "another-line"])
def test_scan_idle_in_suspend(log, red):
    assert len(scanned(GOOD_LOG + log.encode())) == red


LATE = b"(XEN) Platform timer appears to have unexpectedly wrapped 1 times.\n"


@pytest.mark.parametrize(("log", "seconds", "red"), [(LATE, 45, 0), (LATE, 20, 1), (LATE.replace(b"wrapped", b"stopped"), 45, 1)],
                         ids=["host", "xen", "another-line"])
def test_scan_late_clock(log, seconds, red):
    """The hypervisor's fault unless the host has not let it run."""
    scanner = scan.Scanner()
    scanner.dom0_up, scanner.stood_still = True, lambda: seconds
    assert len(scanner.feed(log)) == red


def watched(work):
    """(the longest standstill that was seen, seconds of work) of a busy program while work() was done to it, and after its end."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as program:
        stillness = Stillness(program.pid)
        started = time.monotonic()
        work(program)
        program.kill()
        program.wait()
    stillness.join()
    took = time.monotonic() - started
    time.sleep(1)       # which is none of its own
    return stillness.longest(), took


def test_stillness_is_seen():
    def stand_still(program):
        time.sleep(1)
        program.send_signal(signal.SIGSTOP)
        time.sleep(3)
        program.send_signal(signal.SIGCONT)
        time.sleep(1)

    longest, took = watched(stand_still)
    assert 3 - 2 * INTERVAL <= longest < took


def test_stillness_is_no_hang():
    """One that spins has the host's CPU, and does not stand still."""
    longest, took = watched(lambda program: time.sleep(5))
    assert longest < took - 2


def test_stillness_is_no_sleep():
    """A machine whose CPUs are all halted for good wants no CPU, and the host denies it none."""
    with subprocess.Popen(["sleep", "1000"]) as program:
        stillness = Stillness(program.pid)
        time.sleep(5)
        longest = stillness.longest()
        program.kill()
    assert longest < 3


def test_stillness_since_a_moment():
    """Of a standstill, only what was later; the one that goes on is one, too."""
    def longest(*moments):
        return [stillness.longest(moment) for moment in moments]

    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as program:
        stillness = Stillness(program.pid)
        program.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        time.sleep(3)
        whole, half, none = longest(0, began + 1.5, began + 3)
        program.send_signal(signal.SIGCONT)
        time.sleep(2 * INTERVAL)
        over = time.monotonic()
        program.kill()
    stillness.join()
    assert whole >= 3 - 2 * INTERVAL and 0.5 < half < whole - 1 and none < half
    # … and when it is over
    whole_then, half_then, later = longest(0, began + 1.5, over)
    assert whole_then >= whole and 0.5 < half_then < whole_then - 1 and later < half_then


def test_scan_cut_log():
    assert not scan.ends_complete(GOOD_LOG[:GOOD_LOG.index(b"(XEN) Entering")])


def answer(nonce=b"n1", count=1, out=b"hello\n", digest=None, nonce_end=None):
    digest = digest or sha256(out).hexdigest().encode()
    text = b"\n@begin %s %d\n%s\n@err\n%s\n@end %s %d 0 %s\n" % (
        nonce, count, b64encode(gzip.compress(out)), b64encode(gzip.compress(b"")), nonce_end or nonce, count, digest)
    return text


def parsed(text, nonce="n1", count=1):
    match = agent.ANSWER.search(text)
    assert match, "no answer"
    return agent.parse_answer(match, nonce, count, "command")


def test_answer_good():
    assert parsed(answer()).out == "hello\n"


@pytest.mark.parametrize("text", [
    answer(nonce=b"forged"),
    answer(nonce_end=b"forged"),
    answer(count=2),
    answer(digest=b"0" * 64),
    answer().replace(b64encode(gzip.compress(b"hello\n")), b64encode(gzip.compress(b"hello\n"))[:20]),
    answer().replace(b64encode(gzip.compress(b"hello\n")), b""),
], ids=["nonce", "nonce-at-end", "count", "hash", "cut-output", "no-output"])
def test_answer_planted(text):
    with pytest.raises(agent.ProtocolError):
        parsed(text)


@pytest.mark.parametrize("record", [b"@bye other 3\n", b"@bye boot 2\n"])
def test_bye_planted(record):
    with pytest.raises(agent.ProtocolError):
        agent.check_bye(agent.BYE.search(record), "boot", 3)


class Scripted(Machine):
    """A machine that a shell script plays, on the agent's line; `console WORDS` says them on Xen's."""

    def __init__(self, script, hello=True):
        super().__init__(TOPOLOGIES["n1"])
        says_hello = f"echo @hello {self.nonce} scripted; read request;" if hello else ""
        self.script = f"console() {{ echo \"$@\" >>{shlex.quote(str(self.console))}; }}; console; {says_hello} {script}"

    def products(self):
        return []

    def image_id(self):
        return "scripted"

    def command(self):
        return ["/bin/sh", "-c", self.script]

    def _check_tools(self):
        """It has none."""


# as a shell has no signal of its own for them: spins, sleeps, is stopped
SPINS, SLEEPS, STOPPED = "while :; do :; done", "exec sleep 1000", "kill -STOP $$"


@pytest.mark.parametrize("hello", [True, False], ids=["run", "boot"])
@pytest.mark.parametrize(("script", "why", "host"), [
    ("kill -KILL $$", "ended .* with signal 9$", True),
    ("kill -ABRT $$", "ended .* with signal 6$", True),
    ("exit 1", "ended .* with status 1$", True),
    ("exit 0", "ended .* with status 0$", False),
    ("console '(XEN) Panic on CPU 0:'; exit 0", "Panic on CPU 0", False),
    ("console '(XEN) Panic on CPU 0:'; kill -KILL $$", "Panic on CPU 0", False),
    (f"console '(XEN) Panic on CPU 0:'; {STOPPED}", "Panic on CPU 0", False),
    (SPINS, "hang", False),
    (SLEEPS, "hang", False),
    (STOPPED, "hang", True),
], ids=["killed", "aborts", "fails", "ends", "panic", "panic-killed", "panic-stopped", "spins", "sleeps", "stopped"])
def test_host_fault(script, why, host, hello, monkeypatch):
    """The host is to blame for an emulator that dies or may not run; for what Xen said or did, the machine is."""
    monkeypatch.setattr("harness.machine.STOOD_STILL", 2)
    monkeypatch.setattr("harness.machine.BOOT_SECONDS", 3)
    machine = Scripted(script, hello)
    with pytest.raises(BootRed) as red:
        machine.boot().run("true", timeout=3)
    assert re.search(why, str(red.value), re.M)
    assert (red.type is HostFault) is host
    # whoever goes on with it is told the same
    with pytest.raises(BootRed) as again:
        machine.run("true")
    assert again.type is red.type


POWERS_OFF = "echo @bye {nonce} 0; console '(XEN) Entering ACPI S5 state.';"


@pytest.mark.parametrize(("script", "host"), [
    ("exit 0", None), ("exit 1", True), ("kill -SEGV $$", True), ("console '(XEN) Panic on CPU 0:'; kill -SEGV $$", False)],
    ids=["well", "fails", "crashes", "panic"])
def test_host_fault_at_the_end(script, host):
    machine = Scripted("")
    machine.script += POWERS_OFF.format(nonce=machine.nonce) + script
    machine.boot()
    if host is None:
        machine.finish()
        return
    with pytest.raises(BootRed) as red:
        machine.finish()
    assert (red.type is HostFault) is host


def test_host_fault_of_bochs(tmp_path, monkeypatch):
    """Its status says nothing; that a signal ended it does, unless the machine was off."""
    monkeypatch.setattr(BochsMachine, "log", lambda self: tmp_path / "log")
    machine = BochsMachine(TOPOLOGIES["ept"])
    for said, status, killed_by, host in (("something else", 1, None, False), ("something else", None, signal.SIGSEGV, True),
                                          ("soft power off", None, signal.SIGSEGV, False)):
        (tmp_path / "log").write_text(f"00068e[ACPI  ] >>PANIC<< ACPI control: {said}\n")
        machine.qemu = types.SimpleNamespace(exitstatus=status, signalstatus=killed_by)
        assert machine.came_to_grief() is host


@pytest.mark.parametrize(("red", "host"), [(False, True), (True, False)])
def test_a_standstill_excuses_nothing_that_xen_has_said(red, host, request):
    hook = type(request.config.boots).get.__globals__["pytest_runtest_makereport"]
    machine = types.SimpleNamespace(program="QEMU", stillness=lambda: "", host_stood_still=lambda since: True,
                                    scanner=types.SimpleNamespace(has_red=red))
    item = types.SimpleNamespace(config=types.SimpleNamespace(boots=types.SimpleNamespace(machine=machine)),
                                 get_closest_marker=lambda name: pytest.mark.boot("n1").mark)
    report = types.SimpleNamespace(failed=True, sections=[])
    making = hook(item, types.SimpleNamespace(duration=1, excinfo=None))
    next(making)
    with pytest.raises(StopIteration):
        making.send(types.SimpleNamespace(get_result=lambda: report))
    assert report.host_fault is host


class Obedient:
    """Boots without an emulator; its end is what a test says it is."""

    slower = 1

    def __init__(self, topology, hypervisor, options):
        self.dead, self.red = None, BootRed

    def boot(self):
        pass

    def run(self, command):
        return types.SimpleNamespace(out="4")

    def finish(self):
        self.dead = "powered off"

    def kill(self):
        self.dead = self.dead or "ended"


def test_a_machine_that_goes_red_is_not_booted_for_ever(request, monkeypatch):
    """What has been powered off well is booted as often as it is wanted."""
    kind = type(request.config.boots)
    monkeypatch.setitem(kind.get.__globals__["EMULATORS"], "qemu", Obedient)
    boots, key, other = kind(), ("n1", "stock", ""), ("n2", "stock", "")
    for _ in range(5):
        boots.get(key)
        boots.leave(key, other)
        boots.get(other)
    for _ in range(3):
        boots.get(key).dead = "it went red"
    with pytest.raises(BootRed, match="n1 stock went red 3 times already") as red:
        boots.get(key)
    assert red.type is BootRed
    boots.get(other)


@pytest.mark.parametrize(("died_of", "host"), [([HostFault] * 3, True), ([HostFault, BootRed, HostFault], False)])
def test_a_host_that_goes_on_disturbing_is_no_failure(died_of, host, request, monkeypatch):
    """It is an ERROR still, when the machine is not booted any more."""
    kind = type(request.config.boots)
    monkeypatch.setitem(kind.get.__globals__["EMULATORS"], "qemu", Obedient)
    boots, key = kind(), ("n1", "stock", "")
    for red in died_of:
        machine = boots.get(key)
        machine.dead, machine.red = "it died", red
    with pytest.raises(BootRed, match="went red 3 times already") as said:
        boots.get(key)
    assert (said.type is HostFault) is host


def test_a_file_is_found_in_memory(tmp_path):
    """Whole pages alone count, wherever they lie: not what a buffer still has of one, nor a page that is not at its place."""
    program, label = tmp_path / "label-pages", b"0123456789abcdef"
    subprocess.run(["gcc", "-o", program, ROOT / "tests/boot/programs/label-pages.c"], check=True)
    data = bytes(range(256)) * 40
    made = subprocess.run([program, label.decode()], input=data, capture_output=True, check=False)
    assert made.returncode == 2, "the size of a pipe is not known"
    (tmp_path / "file").write_bytes(data)
    with open(tmp_path / "file", "rb") as file:
        made = subprocess.run([program, label.decode()], stdin=file, capture_output=True, check=True).stdout
    first, *others = (made[at:at + 4096] for at in range(0, len(made), 4096))
    half = first[:2048] + bytes(2048)
    found, pages = labelled([others[1] + bytes(4096) + half, bytes(8) + first + bytes(4088), first + others[0]], label)
    assert pages == 3 and b"".join(found[number] for number in range(3))[:len(data)] == data
    assert 0 not in labelled([half + bytes(8) + first], label)[0]


# From here on real boots go wrong.  Any Xen will do, the smallest is stock Xen.
XEN = Parts.given().any_hypervisor

@pytest.fixture
def small():
    """A small machine, for breaking."""
    machine = Machine(TOPOLOGIES["n1"], XEN).boot()
    yield machine
    machine.kill()


# a machine with Linux on Bochs is of make soak alone
EMULATORS = pytest.mark.parametrize(("emulated", "topology"), [
    pytest.param(Machine, "n1", id="qemu"), pytest.param(BochsMachine, "ept", id="bochs", marks=pytest.mark.soak)])


@pytest.mark.parametrize(("said", "status", "killed_by", "well"), [
    ("soft power off", 1, None, True), ("soft power off", None, signal.SIGSEGV, True), ("soft power off", None, signal.SIGKILL, False),
    ("something else", 1, None, False), ("something else", None, signal.SIGSEGV, False)])
def test_end_of_bochs(said, status, killed_by, well, tmp_path, monkeypatch):
    """It may crash, but only when the machine is off already."""
    monkeypatch.setattr(BochsMachine, "log", lambda self: tmp_path / "log")
    (tmp_path / "log").write_text(f"00068e[ACPI  ] >>PANIC<< ACPI control: {said}\n")
    machine = BochsMachine(TOPOLOGIES["ept"])
    machine.qemu = types.SimpleNamespace(exitstatus=status, signalstatus=killed_by)
    assert machine.ended_well() is well


@pytest.fixture
def no_dom0(monkeypatch, tmp_path):
    """Nothing but Xen is loaded, which says something and ends for lack of a dom0: Bochs takes long to read a CD."""
    nothing = tmp_path / "nothing"
    nothing.write_bytes(bytes(4096))
    loaded = Machine.loaded
    monkeypatch.setattr(Machine, "loaded", lambda self: [loaded(self)[0], nothing, nothing])


@EMULATORS
def test_boot_early_panic(emulated, topology, no_dom0):
    """QEMU ends with status 0 here: only the missing record tells."""
    machine = emulated(TOPOLOGIES[topology], XEN)
    with pytest.raises(BootRed, match="Panic on CPU 0"):
        machine.boot()
    assert not machine.qemu.isalive()


@contextmanager
def sent_at_first_line(machine, number):
    """The emulator gets a signal as soon as Xen has said something, which is long before dom0 does, on a host of any speed."""
    over = threading.Event()

    def watch():
        while not over.wait(0.01):
            if machine.console.exists() and b"(XEN)" in machine.console.read_bytes():
                os.kill(machine.qemu.pid, number)
                break

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@EMULATORS
def test_boot_killed_early(emulated, topology, no_dom0):
    machine = emulated(TOPOLOGIES[topology], XEN)
    with sent_at_first_line(machine, signal.SIGKILL), \
         pytest.raises(BootRed, match=f"{emulated.program} ended while waiting for dom0"):
        machine.boot()


@EMULATORS
def test_boot_hangs_early(emulated, topology, monkeypatch, no_dom0):
    """Stopped, it does not come up however fast the host is."""
    monkeypatch.setattr("harness.machine.BOOT_SECONDS", 2)
    machine = emulated(TOPOLOGIES[topology], XEN)
    with sent_at_first_line(machine, signal.SIGSTOP), pytest.raises(BootRed, match=r"hang: waited \d+ s for dom0 to come up"):
        machine.boot()
    assert not machine.qemu.isalive()


def test_boot_dom0_panic(small):
    small.run("echo 1 >/proc/sys/vm/panic_on_oom")
    with pytest.raises(BootRed, match="Kernel panic"):
        small.run("cat /dev/zero >/run/fill; cat /dev/zero >/tmp/fill")
    with pytest.raises(BootRed):
        small.run("true")
    with pytest.raises(BootRed):
        small.finish()


def test_boot_hang(small):
    started = time.monotonic()
    with pytest.raises(BootRed, match="hang"):
        small.run("sleep 1000", timeout=4)
    assert time.monotonic() - started < 15
    assert not small.qemu.isalive()


def test_boot_qemu_killed(small):
    os.kill(small.qemu.pid, signal.SIGKILL)
    with pytest.raises(BootRed, match="QEMU ended"):
        small.run("true")


def test_boot_host_fault(small, monkeypatch):
    """As above, of a real machine: dom0 hangs, and the host is to blame only if it has let QEMU stand still meanwhile."""
    monkeypatch.setattr("harness.machine.STOOD_STILL", 2)
    os.kill(small.qemu.pid, signal.SIGSTOP)
    with pytest.raises(HostFault, match="hang"):
        small.run("true", timeout=3)


def test_boot_host_fault_is_no_hang(small, monkeypatch):
    monkeypatch.setattr("harness.machine.STOOD_STILL", 2)
    with pytest.raises(BootRed, match="hang") as red:
        small.run("sleep 1000", timeout=3)
    assert red.type is not HostFault


def test_boot_agent_gone(small):
    """dom0 powers off in good order, but nobody counted: red."""
    with pytest.raises(BootRed, match="QEMU ended|the agent ended"):
        small.run("kill -9 $PPID")


def test_boot_forged_answer(small):
    with pytest.raises(CommandFailed):
        small.run("exit 3")
    with pytest.raises(BootRed, match="nonce"):
        small.run("printf '@begin f 1\\n@err\\n@end f 1 0 x\\n' >/dev/ttyS1")


def test_boot_stale_image(monkeypatch):
    monkeypatch.setattr(Machine, "image_id", lambda self: "0" * 64)
    machine = Machine(TOPOLOGIES["n1"], XEN)
    with pytest.raises(BootRed, match="stale"):
        machine.boot()
    machine.kill()


def run_planted(name, tmp_path, *options):
    """Status of a planted file, (name, is red) of its tests by JUnit, the lines of its KTAP."""
    junit = tmp_path / "planted.xml"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", f"--junitxml={junit}", "-p", "no:cacheprovider", *options,
                           ROOT / "tests" / "boot" / "planted" / name],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = [(case.get("name"), case.find("error") is not None or case.find("failure") is not None)
             for case in ElementTree.parse(junit).iter("testcase")]
    at_once = re.findall(r"^FAILED \S+::(\w+): ", done.stdout, re.M)
    assert set(at_once) == {name for name, red in cases if red}
    return cases, junit.with_suffix(".ktap").read_text().splitlines()


@pytest.mark.parametrize(("lost", "red"), [(0, False), (64, False), (65, True), (-65, True)])
def test_verdict_on_the_memory_of_a_boot(lost, red, request, monkeypatch):
    """At its end: what neither dom0 nor the free memory has any more."""
    boots, ended, key = type(request.config.boots)(), [], ("n1", "debug", "")
    boots.key, boots.balance = key, 100_000
    boots.machine = types.SimpleNamespace(dead=False, finish=lambda: ended.append("finish"), kill=lambda: ended.append("kill"))
    monkeypatch.setattr(memory, "at_rest", lambda machine, like=None: {0: 60_000 - lost})
    monkeypatch.setattr(memory, "balance", lambda machine, free: 40_000 + sum(free.values()))
    with pytest.raises(pytest.fail.Exception, match=f"{lost} pages of memory are lost") if red else nullcontext():
        boots.leave(key, None)
    assert ended == ["finish", "kill"] and boots.machine is None


def test_guilty_test_is_red(tmp_path):
    """Through pytest: the test that made the console red is red, and no other."""
    cases, ktap = run_planted("guilty.py", tmp_path)
    assert [name for name, red in cases if red] == ["test_guilty", "test_guilty_guest"]
    assert ktap[:2] == ["KTAP version 1", "1..5"]
    assert [line.split("::")[-1] for line in ktap if line.startswith("not ok")] == ["test_guilty", "test_guilty_guest"]


@pytest.mark.parametrize("killed", [False, True])
def test_workers_hide_no_result(tmp_path, killed):
    """As make test runs them, side by side: each result under its own name; a worker that dies is red and what it left is missing."""
    cases, ktap = run_planted("workers.py", tmp_path, "-n", "2", "--dist", "loadgroup", "--max-worker-restart", "0",
                              *([] if killed else ["--deselect", "tests/boot/planted/workers.py::test_kills_its_worker"]))
    assert dict(cases).items() >= {"test_good": False, "test_bad": True, "test_skipped": False}.items()
    assert ("test_kills_its_worker", True) in cases if killed else ("test_after", False) in cases
    assert ktap[:2] == ["KTAP version 1", f"1..{5 if killed else 4}"]
    verdicts = [re.fullmatch(r"((?:not )?ok) (\d+) [^#]*::(\w+)( # SKIP planted)?", line).groups()
                for line in ktap[2:] if not line.startswith("#")]
    assert [int(number) for _, number, _, _ in verdicts] == [*range(1, len(verdicts) + 1)]
    assert [(name, result == "not ok") for result, _, name, _ in verdicts] == cases
