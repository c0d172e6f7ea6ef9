#!/bin/bash
# workloads.sh: build/workloads/, the initial file system in which the placement bench runs its workloads.
# Its programs are Debian 12's, whatever Debian is the host: the figures of two hosts then compare.  They are unpacked, not
# installed.  The packages are fetched once; tools/build/clean-cache.sh --all makes the next run take newer ones.
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

product workload-packages "$(key "$release" "$images/packages" "$images/gather.py" "$here/workloads.sh")" gather
tree=$(readlink -e "$BUILD/workload-packages")

pack() { run_step workloads 30 "making the image of the workloads" "$images/make-image" "$tree" "$1"; }

mapfile -t sources < <(find "$ROOT"/tests/bench/{images,programs,workloads} "$ROOT"/tests/boot/images/{agent,guest-init} \
	-type f ! -name '.*' ! -name '*.pyc' ! -name '*.md' ! -name "test_*" | LC_ALL=C sort)
product workloads "$(key "${tree##*/}" "${sources[*]##*/}" "${sources[@]}" /bin/busybox "$(compiler)")" pack
