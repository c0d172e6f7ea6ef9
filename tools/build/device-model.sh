#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# device-model.sh: build/device-model/, Debian 13's QEMU for HVM guests with all that it needs, for a dom0 that has nothing of it:
# qemu, lib/ with its own loader, share/, hvmloader, SeaBIOS and OVMF.
# Packages are unpacked, not installed.  They are fetched once; tools/build/clean-cache.sh --all makes the next run take newer ones.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

suite=trixie

# unpack_model OUT DEBS
unpack_model() {
	local tree=${1%/*}/tree lib deb
	mkdir -p "$tree/usr/lib" "$tree/usr/lib64" "$1/lib" "$1/share/keymaps"
	ln -s usr/lib "$tree/lib"
	ln -s usr/lib64 "$tree/lib64"
	for deb in "$2"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner --exclude './usr/share/doc*' -C "$tree"
		deb=${deb##*/}
		printf '%s\n' "${deb%_*.deb}" >>"$1/versions"
	done
	cp "$tree/usr/libexec/xen-qemu-system-i386" "$1/qemu"
	# by its own loader, as it is for another libc than the one here
	"$tree/lib64/ld-linux-x86-64.so.2" --library-path "$tree/usr/lib/x86_64-linux-gnu" --list "$1/qemu" |
		awk '$2 == "=>" { print $3 } $1 ~ "/ld-linux" { print $1 }' | sort -u |
		while read -r lib; do
			case $lib in "$tree"/*) ;; *) lib=$tree$lib ;; esac
			cp -L "$lib" "$1/lib/"
		done
	cp "$tree/usr/share/qemu/keymaps/en-us" "$1/share/keymaps/"
	cp -L "$tree/usr/share/seabios/"{bios-256k.bin,vgabios-stdvga.bin,vgabios-cirrus.bin} "$tree/usr/share/qemu/linuxboot_dma.bin" "$1/share/"
	cp -L "$tree/usr/share/ovmf/OVMF.fd" "$1/share/"
	cp "$(find "$tree/usr/lib" -name hvmloader | head -n1)" "$1/"
}
export -f unpack_model

gather() {
	local debs=$work/debs packages
	check_distribution
	need_disk 1200 "QEMU of Debian's $suite"
	: >"$apt_log"
	private_apt device-model <<-END
		deb $(mirror) $suite main
		deb $(mirror) $suite-updates main
		deb $(security_mirror) $suite-security main
	END
	# as if nothing were installed, or what is would not be downloaded
	private+=(-o Dir::State::status=/dev/null -o APT::Architecture=amd64)
	run_step device-model-lists 20 "reading the package lists of Debian's $suite" apt-get "${private[@]}" update
	mapfile -t packages < <(apt-get "${private[@]}" -s --no-install-recommends install qemu-system-xen 2>>"$apt_log" |
		awk '$1 == "Inst" { print $2 }')
	[ ${#packages[@]} != 0 ] || die "qemu-system-xen of $suite cannot be had, see $apt_log"
	mkdir "$debs"
	(cd "$debs" && run_step device-model-packages 60 "downloading QEMU of Debian's $suite" \
		apt-get "${private[@]}" download "${packages[@]}" xen-utils-4.20 seabios ovmf)
	run_step device-model 20 "unpacking it" unpack_model "$1" "$debs"
	for part in qemu hvmloader lib/ld-linux-x86-64.so.2 share/bios-256k.bin share/OVMF.fd; do
		[ -s "$1/$part" ] || die "Debian's packages have no $part: see $1"
	done
}

product device-model "$(key "$suite" "$here/device-model.sh")" gather
