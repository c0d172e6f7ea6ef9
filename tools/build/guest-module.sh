#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-module.sh: build/guest-module/, linux-guest-module for Debian 13's kernel, and the modules of its tests.
set -eu
. "$(dirname "$0")/lib.sh"

kernel=$(readlink -e "$BUILD/debian-kernel") || die "build/debian-kernel is missing: make setup"
directories=("$ROOT/linux-guest-module" "$ROOT/tests/boot/modules")

compile() { # OUT DIRECTORY…: in a copy of the tree, which are links, as the build writes into it
	local out=$1 tree=${1%/*}/tree directory
	shift
	cp -al "$kernel/tree" "$tree"
	for directory; do
		mkdir -p "$tree/build/${directory##*/}"
		cp "$directory"/Makefile "$directory"/*.[ch] "$tree/build/${directory##*/}/"
		enter "$tree" /usr/bin/make -C "/build/${directory##*/}" KDIR="/usr/src/linux-headers-$(cat "$kernel/release")" modules
		strip --strip-debug "$tree/build/${directory##*/}"/*.ko
		cp "$tree/build/${directory##*/}"/*.ko "$out/"
	done
}

# enter TREE COMMAND…: root makes the one device that a compiler needs; others borrow it in a namespace of their own
enter() {
	if [ "$(id -u)" = 0 ]; then
		[ -e "$1/dev/null" ] || mknod -m 666 "$1/dev/null" c 1 3
		chroot "$@"
	else
		touch "$1/dev/null"
		# shellcheck disable=SC2016
		unshare --user --map-root-user --mount sh -eu -c 'mount --bind /dev/null "$1/dev/null"; exec chroot "$@"' enter "$@"
	fi
}
export -f compile enter
export kernel

build() { run_step guest-module 10 "building the module for Debian's kernel" compile "$1" "${directories[@]}"; }

mapfile -t sources < <(find "${directories[@]}" -type f \( -name Makefile -o -name '*.[ch]' \) | LC_ALL=C sort)
product guest-module "$(key "${kernel##*/}" "$here/guest-module.sh" "${sources[@]}")" build
