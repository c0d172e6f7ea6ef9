#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# qemu-plugin.sh: build/qemu-plugin/qemu-plugin.h, the interface of emulator plugins, which no binary package holds:
# out of the source package of the QEMU that is installed.
# QEMU itself refuses a plugin whose header is of another interface version, so a near miss cannot go unnoticed.
set -eu
. "$(dirname "$0")/lib.sh"

source=$(readlink -e "$BUILD/qemu-source") || die "build/qemu-source is missing: make setup"

build() {
	tar -x --no-same-owner -C "$work" -f "$source/tarball" --wildcards '*/include/qemu/qemu-plugin.h' || die "QEMU's source has no qemu-plugin.h"
	mv "$work"/*/include/qemu/qemu-plugin.h "$1/"
}

product qemu-plugin "$(key "${source##*/}" "$here/qemu-plugin.sh")" build
