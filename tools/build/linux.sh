#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# linux.sh: build/linux/bzImage, the one kernel of dom0 and guests, with our series and what tests/boot/images/linux.config names.
set -eu
. "$(dirname "$0")/lib.sh"

fragment=$ROOT/tests/boot/images/linux.config
[ -f "$fragment" ] || die "$fragment is missing"
found=$("$here/../patchqueue/pq" commit linux series)
read -r repo commit <<<"$found"

compile() {
	local dir=${1%/*}
	unpack "$repo" "$commit" "$dir/source" .
	"$here/kernel.sh" "$dir/source" "$dir/source" "$fragment" "$MAKE_JOBS" bzImage
	cd "$dir/source"
	cp arch/x86/boot/bzImage vmlinux .config "$1/"
}
export -f compile unpack
export repo commit here fragment MAKE_JOBS
# a series without any patch has no option to ask for
compgen -G "$ROOT/linux-guest-patches/*.patch" >/dev/null || export MAY_LACK=XEN_NUMA_POLICY

build() {
	need_disk 4000 "building Linux"
	run_step linux 300 "building Linux" compile "$1"
}

product linux "$(kernel_key "$repo" "$commit" "$fragment")" build
