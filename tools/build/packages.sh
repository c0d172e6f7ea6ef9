#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# packages.sh: installs the Debian packages that are missing, and nothing when none is.
# The user's apt configuration stays as it is, also for QEMU, which Debian 12 has in its backports.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

check_distribution
missing=()
while read -r package; do
	case $package in '#'* | '') continue ;; esac
	installed "$package" || missing+=("$package")
done <"$here/packages.list"
# older ones lack what the plugin and the emulated machine need
qemu=
if ! dpkg --compare-versions "$(dpkg-query -W -f '${Version}' qemu-system-x86 2>/dev/null || echo 0)" ge 1:10; then
	qemu="qemu-system-x86"
fi
if [ ${#missing[@]} = 0 ] && [ -z "$qemu" ]; then
	say "packages: nothing to do"
	exit
fi

say "packages: to be installed: ${missing[*]} $qemu"
root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || die "installing packages needs root or sudo"
	sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; } || die "installing packages needs root or a sudo that lets you"
	root=(sudo -n)
fi
need_disk 1500 "installing packages"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2206  # root= may be empty
apt=(${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300
	-o Acquire::Retries=3 --no-install-recommends)

if [ ${#missing[@]} != 0 ] || [ "$codename" = trixie ]; then
	run_step packages-update 20 "reading the package lists" "${apt[@]}" update
	[ "$codename" = bookworm ] || missing+=(${qemu:+"$qemu"})
	[ ${#missing[@]} = 0 ] || run_step packages 90 "installing packages" "${apt[@]}" install "${missing[@]}"
fi
if [ -n "$qemu" ] && [ "$codename" = bookworm ]; then
	private_apt bookworm-backports < <(
		user_sources | awk -v main="$codename" 'index($2, main) == 1 { print "deb", $1, $2, "main" }'
		printf 'deb %s bookworm-backports main\n' "$(mirror)"
	)
	run_step packages-qemu-lists 20 "reading the package lists with backports" "${apt[@]}" "${private[@]}" update
	run_step packages-qemu 60 "installing QEMU from bookworm-backports" \
		"${apt[@]}" "${private[@]}" -t bookworm-backports install "$qemu"
fi
for package in "${missing[@]}" ${qemu:+"$qemu"}; do
	installed "$package" || die "$package did not get installed"
done
# Debian starts what is a service; these are for tests, which start their own
for package in prometheus prometheus-node-exporter; do
	if [ -d /run/systemd/system ] && [[ " ${missing[*]} " == *" $package "* ]]; then
		${root[@]+"${root[@]}"} systemctl disable --now "$package" >/dev/null 2>&1 || die "$package was installed and cannot be stopped"
	fi
done
