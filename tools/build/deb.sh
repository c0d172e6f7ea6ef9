#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deb.sh: build/deb/, a repository for apt: all packages of build/deb-xen and build/deb-own, and what makes apt prefer them.
set -eu
. "$(dirname "$0")/lib.sh"

parts=()
for part in deb-xen deb-own; do
	parts+=("$(readlink -e "$BUILD/$part")") || die "build/$part is missing: make deb"
done
preferences=$ROOT/packaging/xen-numa-policy.pref

build() {
	find "${parts[@]}" -name '*.deb' -exec cp -l -t "$1" {} +
	cp "$preferences" "$1/"
	(cd "$1" && dpkg-scanpackages --multiversion . >Packages 2>"$BUILD/logs/deb.log") ||
		die "dpkg-scanpackages failed, see $BUILD/logs/deb.log"
}

product deb "$(key "${parts[@]##*/}" "$preferences" "$here/deb.sh")" build
