# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The source package of the command, the daemon and the module for guests.  Sourced after lib.sh.

# own_sources: files of the repository that it has.  What is made where its source is does not belong to it.
own_sources() {
	(cd "$ROOT" && find VERSION carrefour-user common linux-guest-module tools/build/xen-tools.mk tools/xl-numapolicy -type f \
		! -name '.*' ! -name '*.[ado158]' ! -name '*.ko' ! -name carrefourd.service ! -name carrefour.conf.pod ! -perm -u+x |
		LC_ALL=C sort)
}

own_entry() { "$ROOT/packaging/changelog" xen-numa-policy "$(cat "$ROOT/VERSION")" "See CHANGELOG.md."; }

# own_key: of all that it is made of
own_key() {
	local sources packaging
	mapfile -t sources < <(own_sources)
	mapfile -t packaging < <(find "$ROOT/packaging/debian" -type f | LC_ALL=C sort)
	(cd "$ROOT" && key "${sources[@]}" "${packaging[@]}" "$(own_entry)" "$here/own-source.sh")
}

# unpack_own DIR
unpack_own() {
	mkdir -p "$1"
	(cd "$ROOT" && own_sources | xargs -d '\n' cp --parents -t "$1")
	cp -r "$ROOT/packaging/debian" "$1/"
	own_entry >"$1/debian/changelog"
}
export -f own_sources own_entry unpack_own
export ROOT
