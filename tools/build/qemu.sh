#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# qemu.sh: build/qemu/qemu-system-x86_64, the QEMU that is installed with the patches in tests/boot/qemu, and nothing in it
# that our machines do without.  Its firmware and ROMs are the installed QEMU's.
set -eu
. "$(dirname "$0")/lib.sh"

source=$(readlink -e "$BUILD/qemu-source") || die "build/qemu-source is missing: make setup"
patches=("$ROOT"/tests/boot/qemu/*.patch)
devices=$ROOT/tests/boot/qemu/devices.mak
# Debian 12's meson is too old for it
python_packages=(meson==1.5.2 pycotap==1.3.1)

compile() {
	local out=$1 work=${1%/*} tarball=$source/tarball source blob
	mkdir "$work/source" "$work/objects"
	tar -x --no-same-owner --strip-components 1 -C "$work/source" -f "$tarball"
	source=$work/source
	cat "${patches[@]}" | patch -d "$source" -p1 -F0 --no-backup-if-mismatch
	cp "$devices" "$source/configs/devices/x86_64-softmmu/ours.mak"
	# the source package lacks them, and meson unpacks them whether they are wanted or not
	sed -n "s/^ *'\(edk2-.*\.fd\)',\$/\1/p" "$source/pc-bios/meson.build" | while read -r blob; do
		bzip2 </dev/null >"$source/pc-bios/$blob.bz2"
	done
	/usr/bin/python3 -m venv "$work/venv"
	"$work/venv/bin/pip" install --quiet "${python_packages[@]}"
	cd "$work/objects"
	"$source/configure" --python="$work/venv/bin/python" --target-list=x86_64-softmmu --without-default-features \
		--without-default-devices --with-devices-x86_64=ours --enable-tcg --enable-plugins --disable-fdt --disable-debug-info \
		--disable-download --disable-docs --disable-tools --disable-install-blobs --prefix=/usr \
		--firmwarepath=/usr/share/qemu:/usr/share/seabios --with-pkgversion="Debian $version, mended"
	# it knows nothing of jobservers
	ninja -j"$JOBS" -l"$((2 * JOBS))" qemu-system-x86_64
	strip -o "$out/qemu-system-x86_64" qemu-system-x86_64
}
export -f compile

build() {
	need_disk 3000 "building QEMU"
	version=$(cat "$source/version")
	export source devices version JOBS
	run_step qemu 360 "building QEMU, mended and with instruction-based sampling" \
		bash -eu -o pipefail -c "$(declare -p python_packages patches); compile \"\$1\"" qemu "$1"
}

product qemu "$(key "${source##*/}" "${patches[@]}" "$devices" "$here/qemu.sh" "$(compiler)")" build
