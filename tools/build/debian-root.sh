#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# debian-root.sh: build/debian-root/: root.tar.zst, a root of Debian 13 as a host has it, without Xen; debs/, a repository of
# Debian's own Xen, and of all that it and our packages need.  Fetched once; tools/build/clean-cache.sh --all makes the next run take
# newer ones.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"
. "$here/roots.sh"

host=busybox,dbus,initramfs-tools,iproute2,kmod,libpam-systemd,linux-image-amd64,procps,systemd,systemd-sysv,udev
# of what our packages need, all that is not Xen's
needs=(xen-system-amd64 dkms linux-headers-amd64 libsmartcols1 libyajl2)

bring() {
	make_root "$2" "$1/root.tar.zst" "$host" \
		"chroot \"\$1\" apt-get -y -q --download-only install ${needs[*]}" "sync-out /var/cache/apt/archives $1/debs"
	rm -rf "$1/debs/lock" "$1/debs/partial"
	(cd "$1/debs" && dpkg-scanpackages --multiversion . >Packages)
}
export -f bring

build() {
	check_distribution
	need_disk 2000 "a root of Debian's $release"
	run_step debian-root 150 "making a root of Debian's $release, as a host has it" \
		bash -eu -c "$(declare -p host needs); bring \"\$@\"" debian-root "$1" "$(debian_sources)"
}

product debian-root "$(key "$here/debian-root.sh" "$here/roots.sh")" build
