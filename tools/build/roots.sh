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

# make_root SOURCES FILE.tar.zst PACKAGES HOOK…: such a root with these packages; hooks are mmdebstrap's, run when it is complete.
# What the user's apt is told of proxies counts.
make_root() {
	local sources=$1 file=$2 packages=$3 hook hooks=() proxies
	shift 3
	for hook; do
		hooks+=("--customize-hook=$hook")
	done
	proxies=$(apt-config dump | grep -E '^Acquire::https?::Proxy' || :)
	env -u MAKEFLAGS mmdebstrap --variant=minbase --include="$packages" --skip=output/dev ${proxies:+--aptopt="$proxies"} \
		--aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Retries "3"' --dpkgopt=force-unsafe-io "${hooks[@]}" \
		"$release" "$file" - <<<"$sources"
}

# in_root FILE.tar.zst OUT HOOK…: runs mmdebstrap's hooks, one after the other, in a copy of such a root, which OUT keeps, a .tar;
# /dev/null keeps nothing
in_root() {
	local file=$1 out=$2 hook hooks=()
	shift 2
	for hook; do
		hooks+=("--customize-hook=$hook")
	done
	env -u MAKEFLAGS mmdebstrap --variant=custom --skip=update,cleanup,output/dev \
		--setup-hook="zstd -dcq $file | tar -x --numeric-owner -C \"\$1\" && mkdir -p \"\$1/dev\"" "${hooks[@]}" '' "$out" </dev/null
}

# build_package ROOT DIRECTORY PLACE OUT HOOK…: the packages of a source, after these hooks.  It lies in DIRECTORY as PLACE will
# have it in the root: unpacked in source/, a tarball that it needs beside.
build_package() {
	local directory=$2 place=$3 out=$4
	in_root "$1" /dev/null "${@:5}" "mkdir -p \"\$1$place\"" "sync-in $directory $place" "copy-in $ROOT/packaging/build /srv" \
		"chroot \"\$1\" /srv/build $place/source $JOBS" "sync-out $place $out"
}
export -f make_root in_root build_package
export release ROOT JOBS
