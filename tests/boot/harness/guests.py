# SPDX-License-Identifier: GPL-2.0-only
"""Guests of the boot tests: their xl.cfg, and what the product says of their memory."""

import base64
import re
import shlex
from collections import Counter
from dataclasses import dataclass, field

# Beside its RAM from gfn 0 a PVH guest has pages for ACPI tables, xenstore and its console close below 4 GiB.
HIGH_PAGES = (0xfc000, 0x100000)
NODE_DIGITS = "0123456789abcdefghijklmnopqrstuv"


@dataclass
class Dump:
    """What numa-dump prints of a domain."""
    policy: str = ""
    follows: bool = False
    homes: dict = field(default_factory=dict)       # node -> weight
    placed: int = 0
    fallback: int = 0
    usage: dict = field(default_factory=dict)       # node -> (4 KiB, 2 MiB, 1 GiB mappings)
    touches: dict = field(default_factory=dict)     # what first-touch counts
    reserve: dict = field(default_factory=dict)     # node -> pages that wait to be touched
    pages: dict = field(default_factory=dict)       # gfn -> (node, order), pages that have RAM

    def usage_pages(self):
        """4 KiB pages on each node, by `usage`."""
        sums = {node: n4k + (n2m << 9) + (n1g << 18) for node, (n4k, n2m, n1g) in self.usage.items()}
        return {node: pages for node, pages in sums.items() if pages}

    def located_pages(self):
        """4 KiB pages on each node, by `locate`."""
        return dict(Counter(node for node, _ in self.pages.values()))

    def located_orders(self):
        """Mappings of each order, by `locate`: a 2 MiB mapping answers for 512 gfns."""
        by_order = Counter(order for _, order in self.pages.values())
        return {order: pages >> order for order, pages in by_order.items()}

    def usage_orders(self):
        totals = [sum(column) for column in zip(*self.usage.values())] or [0, 0, 0]
        return {order: count for order, count in zip((0, 9, 18), totals) if count}


def parse_dump(text):
    dump = Dump()
    for line in text.splitlines():
        key, *words = line.split(" ")
        if key == "policy":
            dump.policy, dump.follows = words[0], words[1] == "1"
            dump.placed, dump.fallback = int(words[2]), int(words[3])
        elif key == "home":
            dump.homes[int(words[0])] = int(words[1])
        elif key == "usage":
            dump.usage[int(words[0])] = tuple(int(word) for word in words[1:])
        elif key == "touches":
            dump.touches = {what: int(number) for what, number in (word.split("=") for word in words)}
        elif key == "reserve":
            dump.reserve[int(words[0])] = int(words[1])
        elif key == "pages":
            first = int(words[0], 16)
            for offset, (node, order) in enumerate(zip(words[1], words[2])):
                if node != ".":
                    dump.pages[first + offset] = (NODE_DIGITS.index(node), {"s": 0, "m": 9, "l": 18}[order])
        else:
            raise ValueError(f"numa-dump said: {line!r}")
    return dump


def config(name, memory=64, policy=None, program="", linux=False, command="", extra_kernel="", **options):
    """The text of an xl.cfg.  The guest runs `program`, as smp-guest does that has nothing else, or `linux` with a `command`.  Without
    these it is idle-guest, which only halts and costs nothing to create.
    """
    values = {
        "name": name, "type": "pvh", "memory": memory, "vcpus": 1, "tsc_mode": "native",
        "kernel": "/boot/vmlinux" if linux else "/boot/idle-guest", "on_crash": "preserve",
    }
    if program:
        values |= {"kernel": "/boot/smp-guest", "extra": program}
    if linux:
        run = base64.b64encode(command.encode()).decode()
        values |= {"ramdisk": "/boot/guest.cpio", "extra": f"console=hvc0 earlyprintk=xen,keep loglevel=5 panic=1 {extra_kernel} run64={run}"}
    if policy is not None:
        values["numa_policy"] = policy
    return settings(**values | options)


def settings(**values):
    """Of xl.cfg, a line each."""
    return "".join(f"{key} = {value if isinstance(value, (int, list)) else chr(34) + value + chr(34)}\n" for key, value in values.items())


def put(machine, path, text):
    machine.run(f"cat >{shlex.quote(path)} <<'END-OF-FILE'\n{text}END-OF-FILE")


def create(machine, name, paused=True, check=True, **options):
    """Creates a guest and returns xl's Result.  A guest that need not run stays paused: what counts is its memory."""
    path = f"/tmp/{name}.cfg"
    text = config(name, **machine.guest_options | options)
    start = "" if paused else f" && {machine.start_guest.format(name)}"
    return machine.run(f"cat >{path} <<'END-OF-FILE'\n{text}END-OF-FILE\nxl create -p {path}{start}", check=check)


def create_all(machine, each, **options):
    """Creates a guest, paused, for each of {name: what is its own in xl.cfg}, all by one command."""
    create = "".join(f"xl create -p /tmp/all.cfg {shlex.quote(settings(name=name, **own).replace(chr(10), ';'))} || exit\n"
                     for name, own in each.items())
    put(machine, "/tmp/all.cfg", config("all", **machine.guest_options | options))
    machine.run(create, timeout=20 * len(each) + 60)


def destroy(machine, name):
    # the next one of this name would go on writing there
    machine.run(f"xl destroy {name} && rm -f {console_log(name)}")


def dump_command(name, memory=None):
    ranges = ""
    if memory:
        low = min(memory << 8, HIGH_PAGES[0])
        ranges = f"0 {low:#x} {HIGH_PAGES[0]:#x} {HIGH_PAGES[1]:#x}"
        if memory << 8 > low:
            ranges += f" 0x100000 {(memory << 8) + 0x100000 - low:#x}"
    return f"numa-dump $(xl domid {name}) {ranges}"


def dump(machine, name, memory=None):
    """Everything about a guest's placement; its RAM page by page if `memory` (MiB) is given."""
    return parse_dump(machine.run(dump_command(name, memory)).out)


def dump_all(machine, memory):
    """{name: Dump} of {name: MiB}, by one command."""
    said = machine.run("".join(f"{dump_command(*one)} || exit; echo ---\n" for one in memory.items()), timeout=5 * len(memory) + 60)
    return dict(zip(memory, map(parse_dump, said.out.split("---\n"))))


def domid(machine, name):
    return int(machine.run(f"xl domid {name}").out)


def console_log(name):
    """Where dom0 keeps what a guest says."""
    return f"/var/log/xen/console/guest-{name}.log"


def console(machine, name):
    return machine.run(f"cat {console_log(name)}", check=False).out


def console_size(machine, name):
    """Bytes."""
    return int(machine.run(f"wc -c <{console_log(name)}").out)


def wait_console(machine, name, pattern, timeout=60, since=0):
    """Waits until a guest's console shows a pattern, from byte `since` on, and returns the match."""
    waited = machine.patient(f"console-wait {name} $patience {since} {shlex.quote(pattern)}", timeout, check=False)
    if waited.status:
        raise AssertionError(f"guest {name} never said {pattern!r}: {waited.err.strip()}; its console ends with:\n{waited.out[-1500:]}")
    return re.search(pattern, waited.out)


def domains(machine):
    """Names of all domains but dom0."""
    return [line.split()[0] for line in machine.run("xl list").out.splitlines()[2:]]
