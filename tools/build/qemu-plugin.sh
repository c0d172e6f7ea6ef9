#!/bin/bash
# qemu-plugin.sh: build/qemu-plugin/qemu-plugin.h, the interface of emulator plugins, which no binary package holds:
# out of the source package of the QEMU that is installed.
# QEMU itself refuses a plugin whose header is of another interface version, so a near miss cannot go unnoticed.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

version=$(dpkg-query -W -f '${source:Version}' qemu-system-x86 2>/dev/null) || die "qemu-system-x86 is not installed: make packages"

source_of() { # VERSION
	local path
	download_source qemu "$1" "$work"
	for path in "$work"/qemu_*.orig.tar.*z; do
		[ -s "$path" ] && tarball=$path && return
	done
	return 1
}

# the newest of the same major version: the interface lives as long
newest() {
	local major=${version#*:} best
	best=$(newest_source qemu "^([0-9]+:)?${major%%.*}\.")
	[ -n "$best" ] && source_of "$best" || return 1
	say "WARNING: the source of QEMU $version is gone from the archive; its interface is taken from $best"
}

build() {
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
	apt-get "${private[@]}" update >>"$apt_log" 2>&1 || say "QEMU's source: the archive is not complete, see $apt_log"
	source_of "$version" || newest || die "cannot download the source of QEMU $version: no network? ($apt_log)"
	tar -x --no-same-owner -C "$work" -f "$tarball" --wildcards '*/include/qemu/qemu-plugin.h' || die "$tarball has no qemu-plugin.h"
	mv "$work"/*/include/qemu/qemu-plugin.h "$1/"
}

product qemu-plugin "$(key "$version")" build
