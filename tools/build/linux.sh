#!/bin/bash
# linux.sh: build/linux/bzImage, the one kernel of dom0 and guests: allnoconfig and tests/boot/images/linux.config on top.
set -eu
. "$(dirname "$0")/lib.sh"

fragment=$ROOT/tests/boot/images/linux.config
[ -f "$fragment" ] || die "$fragment is missing"
patches=("$ROOT"/linux-guest-patches/*.patch)
if [ -e "${patches[0]}" ] || [ -n "${LINUX_SRC:-}" ]; then
	found=$("$here/../patchqueue/pq" commit linux series)
	read -r repo commit <<<"$found"
	identity=$(tree_key "$repo" "$commit" .)
else
	# nothing to apply: the tarball will do, which saves making a repository of it
	repo='' commit=''
	tarball=$("$here/fetch.sh" linux)
	identity=$(sha256sum <"$tarball")
fi

compile() {
	local dir=${1%/*} line
	mkdir "$dir/source"
	if [ -n "$repo" ]; then
		unpack "$repo" "$commit" "$dir/source" .
	else
		tar -x --strip-components=1 -C "$dir/source" -f "$tarball"
	fi
	cd "$dir/source"
	export KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=build KBUILD_BUILD_HOST=localhost KBUILD_BUILD_VERSION=1
	make ARCH=x86_64 allnoconfig
	ARCH=x86_64 scripts/kconfig/merge_config.sh -m .config "$fragment"
	make ARCH=x86_64 olddefconfig
	while read -r line; do
		case $line in
		# "=n" is a wish: allnoconfig leaves on what only an expert may turn off
		CONFIG_*=n) ;;
		CONFIG_*) grep -qxF "$line" .config ;;
		*) continue ;;
		esac || { echo "$fragment: \"$line\" is not in the resulting .config"; exit 1; }
	done <"$fragment"
	make ARCH=x86_64 -j"$JOBS" bzImage
	cp arch/x86/boot/bzImage vmlinux .config "$1/"
}
export -f compile unpack
export repo commit tarball fragment JOBS

build() {
	need_disk 4000 "building Linux"
	run_step linux 300 "building Linux" compile "$1"
}

product linux "$(key "$identity" "$here/linux.sh" "$fragment" "$(compiler)")" build
