#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deb-own.sh: build/deb-own/, packages of the command, the daemon and the module for guests, and their source package.
# deb-own.sh again DIR: a second time, at another place, into DIR: the bytes must be the same.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/roots.sh"
. "$here/own-source.sh"

tree=$(readlink -e "$BUILD/deb-root") || die "build/deb-root is missing: make deb"
xen=$(readlink -e "$BUILD/deb-xen") || die "build/deb-xen is missing: make deb"

compile() { # OUT PLACE
	local directory=${1%/*}/own hook
	unpack_own "$directory/source"
	# shellcheck disable=SC2016
	hook='chroot "$1" find /xen -name "libxen*.deb" ! -name "*-dbgsym_*" -exec dpkg -i {} +'
	build_package "$tree/root.tar.zst" "$directory" "$2" "$1" "mkdir \"\$1/xen\"" "sync-in $xen /xen" "$hook"
}
export -f compile
export tree xen

product_of_packages deb-own 2000 60 "building our packages" \
	"$(key "${tree##*/}" "${xen##*/}" "$(own_key)" "$ROOT/packaging/build" "$here/deb-own.sh" "$here/roots.sh")" "$@"
