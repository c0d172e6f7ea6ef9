#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# clang.sh: build/clang/compiled, the files of Xen that the series touches, each with the option it compiles with: on, off.  As Xen's own
# build has it, with clang=y: it finds out which assembler that needs, and takes each warning for an error.
set -eu
. "$(dirname "$0")/lib.sh"

found=$("$here/../patchqueue/pq" commit xen series)
read -r repo commit <<<"$found"
mapfile -t paths <"$here/xen.paths"
on=$(changed "$repo" "$commit" AM 'xen/*.c') off=$(changed "$repo" "$commit" M 'xen/*.c')
[ -n "$on" ] || die "clang: the series touches no file of Xen"

configure() { # OBJECT-DIR FRAGMENT
	local make=(make -C "$place/source/xen" O="$1")
	mkdir "$1"
	"${make[@]}" allnoconfig
	cat "$2" >>"$1/.config"
	"${make[@]}" olddefconfig
	! grep '^CONFIG_' "$2" | grep -vxF -f "$1/.config" || { echo "not in the resulting .config"; return 1; }
}

objects() { # VARIANT FILE…
	local files=("${@:2}")
	files=("${files[@]#xen/}")
	make -C "$place/$1" --include-dir="$place/source/xen" -f "$here/xen-objects.mk" \
		SOURCE="$place/source" OBJECTS="${files[*]/%.c/.o}" -j"$JOBS" objects
}

compile() { # OUT PATH…
	local file
	export clang=y XEN_TARGET_ARCH=x86_64 PYTHON=/usr/bin/python3
	build_place clang
	unpack "$repo" "$commit" "$place/source" "${@:2}"
	sed 's/^CONFIG_NUMA_POLICY=y/# CONFIG_NUMA_POLICY is not set/' "$here/bisect-on.config" >"$place/off.config"
	configure "$place/on" "$here/bisect-on.config"
	configure "$place/off" "$place/off.config"
	objects on $on
	objects off $off
	for file in $on; do echo "on $file"; done >>"$1/compiled"
	for file in $off; do echo "off $file"; done >>"$1/compiled"

	# gcc says nothing of this
	echo 'int planted(int n); int planted(int n) { n = n; return n; }' >>"$place/source/$file"
	! objects on "$file" || { echo "a mistake in $file was not seen"; return 1; }
}
export -f compile configure objects build_place unpack
export repo commit here CACHE JOBS on off

build() {
	need_disk 1000 "compiling with clang"
	run_step clang 40 "what the series of Xen touches, with clang" compile "$1" "${paths[@]}"
}

product clang "$(key "$(tree_key "$repo" "$commit" "${paths[@]}")" "$on" "$off" "$here/clang.sh" "$here/xen-objects.mk" \
	"$here/bisect-on.config" "$(clang --version)")" build
