# shellcheck shell=bash
# The source package of the QEMU that is installed; sourced after apt.sh.

version=$(dpkg-query -W -f '${source:Version}' qemu-system-x86 2>/dev/null) || die "qemu-system-x86 is not installed: make packages"

source_of() { # VERSION
	local path
	download_source qemu "$1" "$work"
	for path in "$work"/qemu_*.orig.tar.*z; do
		[ -s "$path" ] && tarball=$path && return
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

# download_qemu: afterwards "$tarball" is its path
download_qemu() {
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
}
