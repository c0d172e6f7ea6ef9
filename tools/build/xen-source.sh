# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The source package of Debian's Xen with the series.  Sourced after lib.sh.

[ -z "${XEN_SRC:-}" ] || die "packages are made of the Xen that xen-patches/BASE names, not of XEN_SRC=$XEN_SRC: leave it out"
orig=$("$here/fetch.sh" xen)
packaging=$("$here/fetch.sh" xen-packaging)
[ "${orig##*/}" = "$(base_field xen file)" ] ||
	die "packages can be made of $(base_field xen file) alone, and ${orig##*/} is what can be had"
entry=$("$ROOT/packaging/changelog" xen "$(base_field xen-packaging version)+numa$(cat "$ROOT/VERSION")" \
	"NUMA placement of VMs, by xen-numa-policy.")

# xen_key: of all that it is made of
xen_key() {
	local sources
	mapfile -t sources < <(find "$ROOT/packaging/xen" "$ROOT"/xen-patches/*.patch -type f | LC_ALL=C sort)
	key "$orig" "$packaging" "${sources[@]}" "$entry" "$here/xen-source.sh"
}

# unpack_xen DIR: as DIR/source, and its tarball beside
unpack_xen() {
	mkdir -p "$1/source"
	cp "$orig" "$1/"
	tar -xJf "$orig" --strip-components 1 --no-same-owner -C "$1/source"
	tar -xJf "$packaging" --no-same-owner -C "$1/source"
	"$ROOT/packaging/xen/adapt" "$1/source/debian" "$ROOT/xen-patches" "$entry"
}
export -f unpack_xen
export ROOT orig packaging entry
