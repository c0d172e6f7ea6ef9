#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deb-own.sh: build/deb-own/, packages of the command, the daemon and the module for guests, and their source package.
# deb-own.sh again DIR: a second time, at another place, into DIR: the bytes must be the same.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/roots.sh"

tree=$(readlink -e "$BUILD/deb-root") || die "build/deb-root is missing: make deb"
xen=$(readlink -e "$BUILD/deb-xen") || die "build/deb-xen is missing: make deb"
parts=(VERSION carrefour-user common linux-guest-module tools/build/xen-tools.mk tools/xl-numapolicy)
# what is made where its source is does not belong to it
mapfile -t sources < <(cd "$ROOT" && find "${parts[@]}" -type f ! -name '.*' ! -name '*.[ado158]' ! -name '*.ko' \
	! -name carrefourd.service ! -name carrefour.conf.pod ! -perm -u+x | LC_ALL=C sort)
mapfile -t packaging < <(find "$ROOT"/packaging/{build,changelog,debian} -type f | LC_ALL=C sort)
version=$(cat "$ROOT/VERSION")

compile() { # OUT PLACE SOURCE…
	local directory=${1%/*}/own hook
	mkdir -p "$directory/source"
	(cd "$ROOT" && cp --parents -t "$directory/source" "${@:3}")
	cp -r "$ROOT/packaging/debian" "$directory/source/"
	"$ROOT/packaging/changelog" xen-numa-policy "$version" "See CHANGELOG.md." >"$directory/source/debian/changelog"
	# shellcheck disable=SC2016
	hook='chroot "$1" find /xen -name "libxen*.deb" ! -name "*-dbgsym_*" -exec dpkg -i {} +'
	build_package "$tree/root.tar.zst" "$directory" "$2" "$1" "mkdir \"\$1/xen\"" "sync-in $xen /xen" "$hook"
}
export -f compile
export tree xen version

build() {
	need_disk 2000 "building packages"
	run_step deb-own 60 "building our packages" compile "$1" /build "${sources[@]}"
}

if [ "${1:-}" = again ]; then
	work=$CACHE/tmp/deb-own-again.$$
	mkdir -p "$work/out"
	run_step deb-own-again 60 "building our packages again" compile "$work/out" /home/another/place "${sources[@]}"
	cp -r "$work/out/." "$2/"
	exit
fi
cd "$ROOT"
entry=$("$ROOT/packaging/changelog" own "$version" .)
product deb-own \
	"$(key "${tree##*/}" "${xen##*/}" "${sources[@]}" "${packaging[@]}" "$entry" "$here/deb-own.sh" "$here/roots.sh")" build
