#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# debian-host.sh: build/debian-host/, a host with our packages for QEMU: disk, of which Debian 13 boots, and xen, vmlinuz and
# initrd.img, as they lie on it.  It is installed as docs/howto.md says.  On it is a guest, /srv/guest/: Debian 13,
# whose root has no password.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/roots.sh"

for part in deb debian-root; do
	[ -e "$BUILD/$part" ] || die "build/$part is missing: make setup"
done
deb=$(readlink -e "$BUILD/deb") tree=$(readlink -e "$BUILD/debian-root")
mapfile -t sources < <(find "$ROOT/tests/host/disk" -type f ! -name '.*' | LC_ALL=C sort)
sources+=("$ROOT/tests/boot/images/agent")
typed=$("$ROOT/tests/packaging/typed" "$ROOT/docs/howto.md")
wanted=$(key "${deb##*/}" "${tree##*/}" "${sources[@]}" "$typed" "$here/debian-host.sh" "$here/roots.sh")

# disk ROOT.tar DIR MiB [FILE…]: DIR/disk, a file system of that size, DIR/vmlinuz and DIR/initrd.img, as they lie on it; the files are
# put into its /srv/guest.  fakeroot gives files owners without being root.
disk() {
	# shellcheck disable=SC2016
	fakeroot bash -eu -c 'mkdir "$2/root"
		tar -x --numeric-owner -C "$2/root" -f "$1"
		mkdir -p "$2/root/dev" "$2/root/srv/guest"
		[ $# = 3 ] || mv -t "$2/root/srv/guest" "${@:4}"
		truncate -s "$3M" "$2/disk"
		/sbin/mkfs.ext4 -q -E root_owner=0:0,lazy_itable_init=0 -O ^has_journal -d "$2/root" "$2/disk"' disk "$@"
	cp "$2"/root/boot/vmlinuz-* "$2/vmlinuz"
	cp "$2"/root/boot/initrd.img-* "$2/initrd.img"
}

bring() { # OUT FILE…
	local out=$1 work=${1%/*}
	mkdir "$work/files" "$work/guest" "$work/host"
	cp "${@:2}" "$work/files/"
	printf '%s\n' "$typed" >"$work/files/typed-lines"
	echo "$wanted" | tee "$work/files/image-id" >"$out/image-id"
	# its root has no password: a test logs in on its console
	in_root "$tree/root.tar.zst" "$work/guest.tar" "copy-in $work/files /" "chroot \"\$1\" /files/bootable guest /dev/xvda xen-blkfront ext4" \
		"chroot \"\$1\" passwd --delete root" "rm -r \"\$1/files\""
	disk "$work/guest.tar" "$work/guest" 1200
	in_root "$tree/root.tar.zst" "$work/host.tar" "copy-in $work/files /" "mkdir -p \"\$1/srv/xen-numa-policy\" \"\$1/srv/debian\"" \
		"sync-in $deb /srv/xen-numa-policy" "sync-in $tree/debs /srv/debian" "chroot \"\$1\" /files/install"
	disk "$work/host.tar" "$work/host" 4096 "$work"/guest/{disk,vmlinuz,initrd.img}
	gzip -dc "$work"/host/root/boot/xen-4.*-amd64.gz >"$out/xen"
	mv -t "$out" "$work"/host/{disk,vmlinuz,initrd.img}
	chmod -R u+rwX "$work/host/root" "$work/guest/root"
}
export -f disk bring
export deb tree typed wanted

build() {
	need_disk 8000 "the disk of a host"
	run_step debian-host 120 "installing the packages on the disk of a host" bring "$1" "${sources[@]}"
}

product debian-host "$wanted" build
