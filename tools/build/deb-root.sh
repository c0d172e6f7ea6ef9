#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deb-root.sh: build/deb-root/root.tar.zst, a root of Debian 13 with all that packages of Xen and of ours are built with, lintian
# among it.  Fetched once; tools/build/clean-cache.sh --all makes the next run take newer ones.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/roots.sh"

packaging=$("$here/fetch.sh" xen-packaging)
control=$ROOT/packaging/debian/control

# ours lacks what is made of Xen's packages
bring() {
	local sources=${1%/*}/sources
	mkdir -p "$sources/xen" "$sources/own/debian"
	tar -xJf "$packaging" -C "$sources/xen" debian/control
	sed '/^ libxen-numa-policy-dev,$/d' "$control" >"$sources/own/debian/control"
	make_root "$2" "$1/root.tar.zst" dpkg-dev,gcc,libc6-dev,make,lintian "copy-in $sources /" \
		"chroot \"\$1\" apt-get -y -q build-dep /sources/xen /sources/own" "rm -r \"\$1/sources\""
}
export -f bring
export packaging control

build() {
	check_distribution
	need_disk 2000 "a root to build packages in"
	run_step deb-root 120 "making a root of Debian's $release to build packages in" bring "$1" "$(debian_sources)"
}

product deb-root "$(key "$release" "$packaging" "$control" "$here/deb-root.sh" "$here/roots.sh")" build
