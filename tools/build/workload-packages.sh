#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# workload-packages.sh: build/workload-packages/, the programs that the placement bench runs as workloads, as an archive.
# They are Debian 12's, whatever Debian is the host: the figures of two hosts then compare.  They are unpacked, not installed,
# and fetched once; tools/build/clean-cache.sh --all makes the next run take newer ones.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

images=$ROOT/tests/bench/images
release=bookworm

gather() {
	check_distribution
	need_disk 500 "the packages of the workloads"
	: >"$apt_log"
	private_apt workloads <<-END
		deb $(mirror) $release main
		deb $(mirror) $release-updates main
		deb $(security_mirror) $release-security main
	END
	# as if nothing were installed, or the host's own newer versions would count
	private+=(-o Dir::State::status=/dev/null -o APT::Architecture=amd64)
	run_step workloads-lists 20 "reading the package lists of Debian's $release" apt-get "${private[@]}" update
	run_step workload-packages 60 "downloading the workloads" \
		"$images/gather.py" "$images/packages" "$work/packages" "$work/tree" "${private[@]}"
	cp "$work/tree/versions" "$1/"
	run_step workload-archive 60 "packing them" "$images/make-image" --packages "$work/tree" "$1/packages.cpio.zst"
}

product workload-packages "$(key "$release" "$images/packages" "$images/gather.py" "$here/workload-packages.sh")" gather
