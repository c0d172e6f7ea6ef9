#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deb-quick.sh: build/deb-quick/, our own packages for make test, which builds none of Xen: made on this Debian, of build/xen-tools.
# Nobody installs them; what is installed is made by deb-own.sh, in a root of Debian 13.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/own-source.sh"

tools=$(readlink -e "$BUILD/xen-tools") || die "build/xen-tools is missing: make setup"

compile() { # OUT
	local source=${1%/*}/source libraries=$tools/usr/local/lib library
	unpack_own "$source"
	# a package that Debian's dpkg could name for each library: there is none
	for library in "$libraries"/lib*.so.*; do
		sed -n 's/^.* SONAME *\(lib.*\)\.so\.\([0-9.]*\)$/\1 \2 xen-numa-policy-libs/p' < <(objdump -p "$library")
	done | LC_ALL=C sort -u >"$source/debian/shlibs.local"
	cd "$source"
	XEN_TOOLS=$tools LD_LIBRARY_PATH=$libraries DPKG_DEB_COMPRESSOR_LEVEL=1 DEB_BUILD_OPTIONS="noautodbgsym parallel=1" \
		dpkg-buildpackage --build=binary --no-check-builddeps -us -uc
	cp ../*.deb "$1/"
}
export -f compile
export tools

build() {
	run_step deb-quick 20 "building our packages as the quick tests take them" compile "$1"
}

product deb-quick "$(key "$(own_key)" "${tools##*/}" "$here/deb-quick.sh" "$(compiler)" "$(dpkg-query -W debhelper dh-dkms dpkg-dev)")" build
