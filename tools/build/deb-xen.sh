#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deb-xen.sh: build/deb-xen/, Debian's packages of Xen with the series, and their source package.
# deb-xen.sh again DIR: a second time, at another place, into DIR: the bytes must be the same.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/roots.sh"
. "$here/xen-source.sh"

tree=$(readlink -e "$BUILD/deb-root") || die "build/deb-root is missing: make deb"

compile() { # OUT PLACE
	unpack_xen "${1%/*}/xen"
	build_package "$tree/root.tar.zst" "${1%/*}/xen" "$2" "$1"
}
export -f compile
export tree

product_of_packages deb-xen 4000 400 "building the packages of Xen" \
	"$(key "${tree##*/}" "$(xen_key)" "$ROOT/packaging/build" "$here/deb-xen.sh" "$here/roots.sh")" "$@"
