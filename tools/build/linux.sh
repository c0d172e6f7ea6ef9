#!/bin/bash
# linux.sh: build/linux/bzImage, the one kernel of dom0 and guests, with what tests/boot/images/linux.config names and nothing more.
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
	# not merged afterwards: an option that this makes visible would come in by its own default
	make ARCH=x86_64 KCONFIG_ALLCONFIG="$fragment" allnoconfig
	while read -r line; do
		case $line in
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
