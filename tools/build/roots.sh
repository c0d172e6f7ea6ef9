# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Roots of Debian 13, packed, and work in them.  mmdebstrap makes and enters them, as root, or as a user in a namespace.
# Sourced after lib.sh and apt.sh.

# of packages, and of the host that they are tested on
release=trixie

# debian_sources: as an apt of that release is to have them; the user's mirror, its updates and security updates
debian_sources() {
	printf 'deb %s main\n' "$(mirror) $release" "$(mirror) $release-updates" "$(security_mirror) $release-security"
}

# make_root SOURCES FILE.tar.zst PACKAGES HOOK…: such a root with these packages.  Hooks are mmdebstrap's, run when it is complete.
# What the user's apt is told of proxies counts.
make_root() {
	local sources=$1 file=$2 packages=$3 proxies
	shift 3
	proxies=$(apt-config dump | grep -E '^Acquire::https?::Proxy' || :)
	env -u MAKEFLAGS mmdebstrap --variant=minbase --include="$packages" --skip=output/dev ${proxies:+--aptopt="$proxies"} \
		--aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Retries "3"' --dpkgopt=force-unsafe-io \
		"${@/#/--customize-hook=}" "$release" "$file" - <<<"$sources"
}

# in_root FILE.tar.zst OUT HOOK…: runs mmdebstrap's hooks, one after the other, in a copy of such a root, which OUT keeps, a .tar;
# /dev/null keeps nothing
in_root() {
	local file=$1 out=$2
	shift 2
	env -u MAKEFLAGS mmdebstrap --variant=custom --skip=update,cleanup,output/dev \
		--setup-hook="zstd -dcq $file | tar -x --numeric-owner -C \"\$1\" && mkdir -p \"\$1/dev\"" \
		"${@/#/--customize-hook=}" '' "$out" </dev/null
}

# build_package ROOT DIRECTORY PLACE OUT HOOK…: the packages of a source, after these hooks.  It lies in DIRECTORY as PLACE will
# have it in the root: unpacked in source/, a tarball that it needs beside.
build_package() {
	local directory=$2 place=$3 out=$4
	in_root "$1" /dev/null "${@:5}" "mkdir -p \"\$1$place\"" "sync-in $directory $place" "copy-in $ROOT/packaging/build /srv" \
		"chroot \"\$1\" /srv/build $place/source $JOBS" "sync-out $place $out"
}

# compile_packages NAME MiB USUAL WHAT PLACE OUT: a step.  compile OUT PLACE, an exported function, makes packages at PLACE in a root.
compile_packages() {
	need_disk "$2" "$4"
	run_step "$1" "$3" "$4" compile "$6" "$5"
}

# product_of_packages NAME MiB USUAL WHAT KEY [again DIR]: build/NAME is what compile makes.  `again` makes it a second time, at
# another place, into DIR: the bytes must be the same.
product_of_packages() {
	case $#:${6:-} in
	5:) product "$1" "$5" compile_packages "$1" "$2" "$3" "$4" /build ;;
	7:again)
		work=$CACHE/tmp/$1-again.$$
		mkdir -p "$work/out" || die "cannot write in $CACHE"
		compile_packages "$1-again" "$2" "$3" "$4 again" /home/another/place "$work/out"
		cp -r "$work/out/." "$7/"
		;;
	*) die "usage: $1.sh [again DIR]" ;;
	esac
}
export -f make_root in_root build_package
export release ROOT JOBS
