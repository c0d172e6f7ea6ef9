#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# qemu-source.sh: build/qemu-source/, the tarball in the source package of the QEMU that is installed, and which version it is.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

version=$(dpkg-query -W -f '${source:Version}' qemu-system-x86 2>/dev/null) || die "qemu-system-x86 is not installed: make packages"

source_of() { # VERSION
	local path
	download_source qemu "$1" "$work"
	for path in "$work"/qemu_*.orig.tar.*z; do
		[ -s "$path" ] && tarball=$path taken=$1 && return
	done
	return 1
}

# the newest that can be had of the same major version: plugins' interface lives as long; $tried are those that cannot
newest() {
	local major=${version#*:} other
	for other in $(listed qemu "^([0-9]+:)?${major%%.*}\."); do
		if source_of "$other"; then
			say "WARNING: the source of QEMU cannot be had as $tried; $other is taken instead"
			return
		fi
		[ "$other" = "$version" ] || tried+=", $other"
	done
	return 1
}

download() {
	check_distribution
	need_disk 300 "downloading the source of QEMU"
	: >"$apt_log"
	private_apt qemu-source <<-END
		deb-src $(mirror) $codename-backports main
		deb-src $(mirror) trixie main
		deb-src $(mirror) trixie-updates main
		deb-src $(security_mirror) trixie-security main
	END
	say "downloading the source of QEMU ($version)"
	started=$SECONDS
	read_lists || die "cannot download the source of QEMU $version: no network? ($apt_log)"
	tried=$version
	source_of "$version" || newest || die "cannot download the source of QEMU, tried $tried ($apt_log)"
	mv "$tarball" "$1/tarball"
	printf '%s\n' "$taken" >"$1/version"
	say "the source of QEMU: there after $((SECONDS - started)) s"
}

product qemu-source "$(key "$version")" download
