#!/bin/bash
# xen.sh debug|release|off|stock: build/xen-VARIANT/ with xen, xen-syms and .config.
set -eu
. "$(dirname "$0")/lib.sh"

variant=$1
fragment=$here/xen-$variant.config
[ -f "$fragment" ] || die "no hypervisor is called $variant"
what=series
[ "$variant" = stock ] && what=base
found=$("$here/../patchqueue/pq" commit xen "$what")
read -r repo commit <<<"$found"
mapfile -t paths <"$here/xen.paths"

compile() {
	local out=$1 dir=${1%/*}
	unpack "$repo" "$commit" "$dir/source" "${@:2}"
	"$here/hypervisor.sh" "$dir/source" "$dir/objects" "$fragment" "$JOBS"
	cp "$dir/objects/xen" "$dir/objects/xen-syms" "$dir/objects/.config" "$out/"
}
export -f compile unpack
export repo commit here fragment JOBS

build() {
	need_disk 1000 "building Xen"
	run_step "xen-$variant" 115 "building Xen ($variant)" compile "$1" "${paths[@]}"
}

product "xen-$variant" "$(key "$(tree_key "$repo" "$commit" "${paths[@]}")" "$here/hypervisor.sh" "$fragment" "$(compiler)")" build
