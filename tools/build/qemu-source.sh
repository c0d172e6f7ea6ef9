#!/bin/bash
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

# the newest of the same major version: plugins' interface lives as long
newest() {
	local major=${version#*:} best
	best=$(newest_source qemu "^([0-9]+:)?${major%%.*}\.")
	[ -n "$best" ] && source_of "$best" || return 1
	say "WARNING: the source of QEMU $version is gone from the archive; $best is taken instead"
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
	apt-get "${private[@]}" update >>"$apt_log" 2>&1 || say "QEMU's source: the archive is not complete, see $apt_log"
	source_of "$version" || newest || die "cannot download the source of QEMU $version: no network? ($apt_log)"
	mv "$tarball" "$1/tarball"
	printf '%s\n' "$taken" >"$1/version"
	say "the source of QEMU: there after $((SECONDS - started)) s"
}

product qemu-source "$(key "$version")" download
