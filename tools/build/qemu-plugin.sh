#!/bin/bash
# qemu-plugin.sh: build/qemu-plugin/qemu-plugin.h, the interface of emulator plugins, which no binary package holds:
# out of the source package of the QEMU that is installed.
# QEMU itself refuses a plugin whose header is of another interface version, so a near miss cannot go unnoticed.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/qemu-source.sh"

build() {
	download_qemu
	tar -x --no-same-owner -C "$work" -f "$tarball" --wildcards '*/include/qemu/qemu-plugin.h' || die "$tarball has no qemu-plugin.h"
	mv "$work"/*/include/qemu/qemu-plugin.h "$1/"
}

product qemu-plugin "$(key "$version")" build
