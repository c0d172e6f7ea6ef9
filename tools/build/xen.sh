#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# xen.sh debug|release|off|optional|stock|ubsan|fault: build/xen-VARIANT/ with xen, xen-syms and .config, and objects/ where the fragment
# says "# keep: objects".  fault is debug with a patch on top, which is for tests and not in the series.
set -eu
. "$(dirname "$0")/lib.sh"

variant=$1 like=$1 patch=
if [ "$variant" = fault ]; then
	like=debug patch=$ROOT/tests/bare/fault/alloc-fault.patch
fi
fragment=$here/xen-$like.config
[ -f "$fragment" ] || die "no hypervisor is called $variant"
what=series
[ "$variant" = stock ] && what=base
found=$("$here/../patchqueue/pq" commit xen "$what")
read -r repo commit <<<"$found"
mapfile -t paths <"$here/xen.paths"

compile() {
	local out=$1
	# where what it is like is built, too, of which ccache knows most files
	build_place "xen-$like"
	unpack "$repo" "$commit" "$place/source" "${@:2}"
	[ -z "$patch" ] || patch -d "$place/source" -p1 --fuzz=0 -i "$patch"
	"$here/hypervisor.sh" "$place/source" "$place/objects" "$fragment" "$MAKE_JOBS"
	cp "$place/objects/xen" "$place/objects/xen-syms" "$place/objects/.config" "$out/"
	grep -qx '# keep: objects' "$fragment" || return 0
	# what is linked of others is not kept, it would be twice what it is made of
	mkdir "$out/objects"
	(cd "$place/objects" && find . -name '*.o' ! -name 'built_in*.o' ! -name 'prelink*.o' \
		! -name buildid.o ! -path './tools/*' -exec cp --parents -t "$out/objects" {} +)
	find "$out/objects" -name '*.o' -exec strip -g {} +
}
export -f compile build_place unpack
export repo commit here like patch fragment CACHE MAKE_JOBS
# a series without any patch has no option to ask for
compgen -G "$ROOT/xen-patches/*.patch" >/dev/null || export MAY_LACK=NUMA_POLICY

build() {
	need_disk 1000 "building Xen"
	run_step "xen-$variant" 115 "building Xen ($variant)" compile "$1" "${paths[@]}"
}

wanted=$(hypervisor_key "$repo" "$commit" "$fragment")
[ -z "$patch" ] || wanted=$(key "$wanted" "$patch")
product "xen-$variant" "$wanted" build
