#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deb-xen.sh: build/deb-xen/, Debian's packages of Xen with the series, and their source package.
# deb-xen.sh again DIR: a second time, at another place, into DIR: the bytes must be the same.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/roots.sh"

[ -z "${XEN_SRC:-}" ] || die "packages are made of the Xen that xen-patches/BASE names, not of XEN_SRC=$XEN_SRC: leave it out"
tree=$(readlink -e "$BUILD/deb-root") || die "build/deb-root is missing: make deb"
orig=$("$here/fetch.sh" xen)
packaging=$("$here/fetch.sh" xen-packaging)
[ "${orig##*/}" = "$(base_field xen file)" ] ||
	die "packages can be made of $(base_field xen file) alone, and ${orig##*/} is what can be had"
version=$(base_field xen-packaging version)+numa$(cat "$ROOT/VERSION")

compile() { # OUT PLACE
	local directory=${1%/*}/xen
	mkdir -p "$directory/source"
	cp "$orig" "$directory/"
	tar -xJf "$orig" --strip-components 1 --no-same-owner -C "$directory/source"
	tar -xJf "$packaging" --no-same-owner -C "$directory/source"
	"$ROOT/packaging/changelog" xen "$version" "NUMA placement of VMs, by xen-numa-policy." >"$directory.entry"
	"$ROOT/packaging/xen/adapt" "$directory/source/debian" "$ROOT/xen-patches" "$directory.entry"
	build_package "$tree/root.tar.zst" "$directory" "$2" "$1"
}
export -f compile
export tree orig packaging version

build() {
	need_disk 4000 "building the packages of Xen"
	run_step deb-xen 400 "building the packages of Xen" compile "$1" /build
}

if [ "${1:-}" = again ]; then
	work=$CACHE/tmp/deb-xen-again.$$
	mkdir -p "$work/out"
	run_step deb-xen-again 400 "building the packages of Xen again" compile "$work/out" /home/another/place
	cp -r "$work/out/." "$2/"
	exit
fi
mapfile -t sources < <(find "$ROOT"/packaging/{build,changelog,xen} "$ROOT"/xen-patches/*.patch -type f | LC_ALL=C sort)
entry=$("$ROOT/packaging/changelog" xen "$version" .)
product deb-xen "$(key "${tree##*/}" "$orig" "$packaging" "${sources[@]}" "$entry" "$here/deb-xen.sh" "$here/roots.sh")" build
