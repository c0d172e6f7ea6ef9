#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# xen-tools.sh [stock]: build/xen-tools/, the tree that installing the patched Xen tools leaves (usr/local/…), or
# build/xen-tools-stock/, that of the tools without the series.
set -eu
. "$(dirname "$0")/lib.sh"

name=xen-tools what=series
if [ "${1-}" = stock ]; then
	name=xen-tools-stock what=base
fi
found=$("$here/../patchqueue/pq" commit xen "$what")
read -r repo commit <<<"$found"
# Only these are unpacked: that the build passes shows that the key misses nothing, and a change of the hypervisor costs no build here.
mapfile -t paths <"$here/xen-tools.paths"

compile() {
	local dir=${1%/*}
	unpack "$repo" "$commit" "$dir/source" "${@:2}"
	# configure knows the tree by this file, and uses nothing of it
	: >"$dir/source/xen/common/kernel.c"
	"$here/toolstack.sh" "$dir/source" "$1" "$MAKE_JOBS"
}
export -f compile unpack
export repo commit here MAKE_JOBS

build() {
	need_disk 1000 "building the Xen tools"
	run_step "$name" 95 "building the Xen tools ($what)" compile "$1" "${paths[@]}"
}

product "$name" "$(tools_key "$repo" "$commit")" build
