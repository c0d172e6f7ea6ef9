#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# workloads.sh: build/workloads/, the initial file system in which the placement bench runs its workloads: their packages, and our programs.
set -eu
. "$(dirname "$0")/lib.sh"

images=$ROOT/tests/bench/images
tree=$(readlink -e "$BUILD/workload-packages") || die "build/workload-packages is missing: make setup"

pack() { run_step workloads 30 "making the image of the workloads" "$images/make-image" "$tree" "$1"; }

mapfile -t sources < <(find "$ROOT"/tests/bench/{images,programs,workloads} "$ROOT"/tests/boot/images/{agent,guest-init} \
	-type f ! -name '.*' ! -name '*.pyc' ! -name '*.md' ! -name "test_*" | LC_ALL=C sort)
product workloads "$(key "${tree##*/}" "${sources[*]##*/}" "${sources[@]}" /bin/busybox "$(compiler)")" pack
