#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sparse.sh: build/sparse/checked, the files of Linux that the series touches, when sparse says no more of them than without the series,
# wherever in a file that is.
set -eu
. "$(dirname "$0")/lib.sh"

found=$("$here/../patchqueue/pq" commit linux series)
read -r repo commit <<<"$found"
all=$(changed "$repo" "$commit" AM '*.c') before=$(changed "$repo" "$commit" M '*.c') headers=$(changed "$repo" "$commit" M '*.h')
[ -n "$all" ] || die "sparse: the series touches no file of Linux"

# said FILE…: what sparse says, without where it is
said() {
	rm -f "${@/%.c/.o}"
	make ARCH=x86_64 C=1 -j"$JOBS" "${@/%.c/.o}" 2>&1 >/dev/null | tee -a /dev/stderr | sed -E 's/^([^:]+):[0-9]+:[0-9]+: /\1: /' | LC_ALL=C sort
}

check() { # OUT
	local file
	build_place sparse
	# most of Linux is drivers
	unpack "$repo" "$commit" "$place" . ':!drivers/[!x]*.[ch]' ':!sound/*.[ch]' ':!tools/testing' ':!Documentation/*.*' ':!fs/*/*.c'
	cd "$place"
	make ARCH=x86_64 KCONFIG_ALLCONFIG="$here/bisect-linux.config" allnoconfig
	make ARCH=x86_64 -j"$JOBS" prepare
	said $all >with
	# a mistake of the kind that sparse is for
	file=${all##*$'\n'}
	echo 'int planted(const int __user *p); int planted(const int __user *p) { return *p; }' >>"$file"
	said "$file" | grep noderef >/dev/null || { echo "a mistake in $file was not seen"; return 1; }
	git -c safe.directory='*' -C "$repo" archive refs/heads/base $before $headers | tar -x
	said $before >without
	LC_ALL=C comm -23 with without >"$1/more"
	[ ! -s "$1/more" ] || { cat "$1/more"; return 1; }
	printf '%s\n' $all >"$1/checked"
}
export -f check said build_place unpack
export repo commit here CACHE JOBS all before headers

build() {
	need_disk 2500 "sparse"
	run_step sparse 40 "what the series of Linux touches, by sparse" check "$1"
}

product sparse "$(key "$(tree_key "$repo" "$commit" "")" "$here/sparse.sh" "$here/bisect-linux.config" "$(sparse --version)" "$(compiler)")" build
