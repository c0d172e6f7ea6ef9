#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# debian-kernel.sh: build/debian-kernel/, the kernel that Debian 13 has: vmlinuz, vmlinux, its release, modules/ for a dom0, and tree/, what
# a module for it is built with: its headers, Debian 13's compiler and make, busybox as the shell; to chroot into.
# Packages are unpacked, not installed.  They are fetched once; tools/build/clean-cache.sh --all makes the next run take newer ones.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

suite=trixie

# number FILE OFFSET BYTES: as the header of a kernel has it, see Linux's Documentation/arch/x86/boot.rst
number() { od -An -v -tu"$3" -j"$2" -N"$3" "$1" | tr -d ' '; }

# decompressed VMLINUZ: the ELF file in it; its last four bytes are its size
decompressed() {
	local begin=$((($(number "$1" 0x1f1 1) + 1) * 512 + $(number "$1" 0x248 4))) bytes=$(($(number "$1" 0x24c 4) - 4)) unpack
	case $(od -An -tx1 -j$begin -N4 "$1" | tr -d ' ') in
	fd377a58) unpack='xz -dc --single-stream' ;;
	28b52ffd) unpack='zstd -dcq' ;;
	1f8b*) unpack='gzip -dc' ;;
	*) echo "${1##*/} is compressed in a way that is not known here"; return 1 ;;
	esac
	head -c $((begin + bytes)) "$1" | tail -c $bytes | $unpack
}

# unpack_kernel OUT DEB: and the modules without which no tool can talk to Xen
unpack_kernel() {
	local image=${1%/*}/image module
	mkdir "$image" "$1/modules"
	dpkg-deb --fsys-tarfile "$2" | tar -x --wildcards -C "$image" './boot/vmlinuz-*' '*/kernel/drivers/xen/*'
	mv "$image"/boot/vmlinuz-* "$1/vmlinuz"
	decompressed "$1/vmlinuz" >"$1/vmlinux"
	for module in xen-evtchn xen-gntdev xen-privcmd xenfs; do
		find "$image" -name "$module.ko.xz" -exec xz -dc {} + >"$1/modules/$module.ko"
		[ -s "$1/modules/$module.ko" ] || { echo "$2 has no module $module"; return 1; }
	done
}

unpack_packages() { # OUT DEBS
	local deb
	mkdir -p "$1/tree/usr"/{bin,sbin,lib,lib64} "$1/tree"/{dev,tmp}
	for deb in bin sbin lib lib64; do
		ln -s "usr/$deb" "$1/tree/$deb"
	done
	for deb in "$2"/*.deb; do
		case ${deb##*/} in
		linux-image-*) unpack_kernel "$1" "$deb" ;;
		*) dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner --exclude './usr/share/*' -C "$1/tree" ;;
		esac
		deb=${deb##*/}
		printf '%s\n' "${deb%_*.deb}" >>"$1/versions"
	done
	cp /bin/busybox "$1/tree/usr/bin/"
	for deb in $(/bin/busybox --list); do
		[ -e "$1/tree/usr/bin/$deb" ] || ln -s busybox "$1/tree/usr/bin/$deb"
	done
}
export -f number decompressed unpack_kernel unpack_packages

gather() {
	local abi debs=$work/debs packages
	check_distribution
	need_disk 1200 "the kernel of Debian's $suite"
	: >"$apt_log"
	private_apt debian-kernel <<-END
		deb $(mirror) $suite main
		deb $(mirror) $suite-updates main
		deb $(security_mirror) $suite-security main
	END
	# as if nothing were installed, or what is would not be downloaded
	private+=(-o Dir::State::status=/dev/null -o APT::Architecture=amd64)
	run_step debian-kernel-lists 20 "reading the package lists of Debian's $suite" apt-get "${private[@]}" update
	abi=$(apt-cache "${private[@]}" show --no-all-versions linux-headers-amd64 | sed -n 's/^Depends:.*linux-headers-\([^ ,]*\)-amd64.*/\1/p')
	[ -n "$abi" ] || die "linux-headers-amd64 of $suite does not say which kernel it is for"
	mapfile -t packages < <(apt-get "${private[@]}" -s --no-install-recommends install gcc-14 make "linux-kbuild-$abi" 2>>"$apt_log" |
		awk '$1 == "Inst" { print $2 }')
	[ ${#packages[@]} != 0 ] || die "gcc-14, make and linux-kbuild-$abi of $suite cannot be had together, see $apt_log"
	mkdir "$debs"
	(cd "$debs" && run_step debian-kernel-packages 60 "downloading the kernel of Debian's $suite" \
		apt-get "${private[@]}" download "${packages[@]}" "linux-headers-$abi-common" "linux-headers-$abi-amd64" "linux-image-$abi-amd64")
	run_step debian-kernel 20 "unpacking it" unpack_packages "$1" "$debs"
	[ -s "$1/vmlinux" ] || die "linux-image-$abi-amd64 has no kernel in it"
	printf '%s\n' "$abi-amd64" >"$1/release"
}

product debian-kernel "$(key "$suite" "$here/debian-kernel.sh" /bin/busybox)" gather
