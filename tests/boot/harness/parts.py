# SPDX-License-Identifier: GPL-2.0-only
"""What a machine boots: somebody's own files where some are given, as tests/boot/run does; what build/ has else."""

import dataclasses
import hashlib
import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

MULTIBOOT = struct.pack("<I", 0x1BADB002)
MULTIBOOT_BYTES = 8192      # it lies within them
BITS, X86_64 = {1: 32, 2: 64}, 62
GUESTS_KERNELS = ("boot/vmlinux", "boot/bzImage")       # in dom0's image; who loads them goes by the content, not by the name


class PartError(Exception):
    """A file is not what it is given for: one line says what would be right."""


@dataclasses.dataclass(frozen=True)
class Parts:
    """Files, or None.  Where any Xen is given, tests that want another one are not for this run."""
    xen: Path = None                # in place of debug and release
    xen_off: Path = None
    xen_stock: Path = None
    xen_optional: Path = None
    kernel: Path = None             # of dom0 and of guests
    dom0: Path = None
    qemu: Path = None

    @classmethod
    def given(cls):
        """By the environment, which workers and whatever else a test starts inherit: BOOT_XEN_STOCK=FILE, …"""
        named = {field.name: os.environ.get(variable(field.name)) for field in dataclasses.fields(cls)}
        return cls(**{name: Path(file) for name, file in named.items() if file})

    def items(self):
        """(name, file) of those that are given."""
        return [(name, file) for name, file in dataclasses.asdict(self).items() if file]

    def hypervisor(self, variant):
        return self.xen if variant in ("debug", "release") else getattr(self, f"xen_{variant}", None)

    @property
    def any_hypervisor(self):
        """A variant for tests to which it is all the same whether it has the series."""
        return "debug" if self.xen and not self.xen_stock else "stock"

    def lacks(self, topology, variant):
        """Why a machine cannot be booted from these, if so."""
        foreign = any(name.startswith("xen") for name, _ in self.items())
        if foreign and not self.hypervisor(variant):
            option = "--xen" if variant in ("debug", "release") else f"--xen-{variant}"
            return f"needs a Xen that is not given: {option} FILE"
        if self.dom0 and topology.dom0_image:
            return f"needs the images with Debian's kernel, in whose place is {self.dom0}"
        if topology.emulator == "qemu-ibs" and (self.qemu or os.environ.get("ACCEL") == "kvm"):
            return "needs the IBS of our own QEMU: see tests/boot/qemu"
        if topology.emulator == "bochs" and not shutil.which("bochs-bin"):
            return "needs Bochs: install bochs and bochs-term"
        return None


def variable(name):
    return f"BOOT_{name.upper()}"


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def content(path):
    """Of a file that gzip may have compressed; of the first archive, if others follow."""
    try:
        data = path.read_bytes()
        if data[:2] != b"\x1f\x8b":
            return data
        unpacker = zlib.decompressobj(wbits=31)     # gzip's
        unpacked = unpacker.decompress(data)
    except (OSError, zlib.error) as error:
        raise PartError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not unpacker.eof:
        raise PartError(f"{path} cannot be read: what gzip has compressed is cut")
    return unpacked


def elf_bits(data):
    return BITS.get(data[4], 0) if data[:4] == b"\x7fELF" else 0


def check_xen(path):
    data = content(path)
    if data[:2] == b"MZ":
        raise PartError(f"{path} is a Xen for EFI: give the xen.gz of the same build")
    if elf_bits(data) == 64:
        raise PartError(f"{path} is an ELF of 64 bits, such as xen-syms: give the xen.gz of the same build")
    if elf_bits(data) != 32 or MULTIBOOT not in data[:MULTIBOOT_BYTES]:
        raise PartError(f"{path} is no Xen: an ELF with a multiboot header is wanted, such as xen or xen.gz")


def check_kernel(path):
    data = content(path)
    is_elf = elf_bits(data) == 64 and int.from_bytes(data[18:20], "little") == X86_64
    if not is_elf and data[0x202:0x206] != b"HdrS":
        raise PartError(f"{path} is no Linux for x86-64: a bzImage or vmlinux is wanted")


def check_qemu(path):
    if not os.access(path, os.X_OK):
        raise PartError(f"{path} is no program that may be started: qemu-system-x86_64 is wanted")
    try:
        done = subprocess.run([path.absolute(), "-M", "help"], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PartError(f"{path} does not start: {error}") from None
    if done.returncode or "q35" not in done.stdout:
        raise PartError(f"{path} is no QEMU for x86-64: it knows no machine q35")


def check(name, path):
    """PartError unless the file is what such a part has to be."""
    if not path.is_file():
        raise PartError(f"{path} is no file" if path.exists() else f"{path} is missing")
    {"kernel": check_kernel, "dom0": image_id, "qemu": check_qemu}.get(name, check_xen)(path)


def image_id(path):
    """What the image of a dom0 says that it is: make-images has put it there."""
    done = subprocess.run(["cpio", "-i", "--quiet", "--to-stdout", "image-id"], input=content(path), capture_output=True,
                          check=False)
    if not done.stdout.strip():
        raise PartError(f"{path} is no image of a dom0 that tests/boot/images/make-images has made")
    return done.stdout.decode(errors="replace").strip()


def loadable(directory, xen, kernel, dom0, guests_kernel=None):
    """The three as QEMU and Bochs can load them, in a directory whose names bear no space or comma, at which QEMU cuts a path: Xen
    is unpacked, and guests find the kernel that they are to have in dom0's image."""
    loaded = [directory / name for name in ("xen", "linux", "dom0")]
    loaded[0].write_bytes(content(xen))
    shutil.copyfile(kernel, loaded[1])
    image = dom0.read_bytes()
    if guests_kernel:
        # of archives one behind the other, the last that has a file wins; each begins at a multiple of four
        image += bytes(-len(image) % 4) + archive(directory, GUESTS_KERNELS, guests_kernel)
    loaded[2].write_bytes(image)
    return loaded


def archive(directory, names, file):
    """A file under some names."""
    for name in names:
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).symlink_to(file)
    return subprocess.run(["cpio", "-o", "--quiet", "-L", "-H", "newc", "-R", "0:0"], cwd=directory,
                          input="\n".join(names).encode(), capture_output=True, check=True).stdout
