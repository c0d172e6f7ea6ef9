#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fetch.sh xen|linux|xen-packaging: prints the path of the source tarball, or of Debian's packaging, that its BASE names, downloaded
# when it is not in the cache.  The pinned version comes first: by the archive's index, then where its pools keep what the index does
# not lead to, then from Debian's snapshot archive.  Then, of sources, the newest version of the same branch that can be had, with a
# warning.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

case ${1:-} in
xen | linux) kind=orig way_out="${1^^}_SRC=DIR takes a local git tree of $1 $(base_field "$1" newest | sed 's/\.$//') instead" ;;
xen-packaging) kind=debian way_out="without Debian's packaging there are no packages of Xen" ;;
*) die "fetch.sh xen|linux|xen-packaging" ;;
esac
series=$1
package=${series%-packaging}
file=$(base_field "$series" file)
sum=$(base_field "$series" sha256)
version=$(base_field "$series" version)
[ -n "$file" ] && [ -n "$sum" ] && [ -n "$version" ] || die "BASE of $series lacks file=, sha256= or version="

good() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$sum" ]; }

# keep NAME: what was downloaded goes to the cache
keep() {
	# apt leaves a link when the mirror is a directory
	cp -L "$work/$1" "$CACHE/src/$1.new" && mv "$CACHE/src/$1.new" "$CACHE/src/$1" || die "cannot write in $CACHE/src"
	found=$CACHE/src/$1
}

read_index() {
	private_apt "$suite" <<-END
		deb-src $mirror $suite main
		deb-src $mirror $suite-updates main
		deb-src $security $suite-security main
	END
	read_lists
}

from_index() {
	local uri name
	read -r uri name _ < <(listed_tarball "$package" "$version" "$kind") && [ "$name" = "$file" ] || return 1
	download_file "$uri" "$work/$file" "SHA256:$sum" && keep "$file"
}

# from_pool PLACE…: for some weeks a pool holds what the index has forgotten
from_pool() {
	local place path=${package:0:1}/$package/${file//+/%2b}
	for place; do
		download_file "$place/$path" "$work/$file" "SHA256:$sum" || continue
		say "$series: the archive's index does not lead to $version, $place still has it"
		keep "$file"
		return
	done
	return 1
}

# the snapshot archive is a neighbour of the mirror's host where that is Debian's own
from_snapshot() {
	local host=${mirror#*://} archive
	host=${host%%/*}
	case $host in
	*.debian.org) ;;
	*) say "$series: the mirror ${host:-$mirror} has no snapshot archive"; return 1 ;;
	esac
	archive=${mirror%%://*}://snapshot.${host#"${host%.*.*}".}/archive
	from_pool "$archive/debian/$snapshot/pool/main" "$archive/debian-security/$snapshot/pool/updates/main" && return
	say "$series: the snapshot archive is not reachable or has it not, see $apt_log"
	return 1
}

# the newest version of the branch that can be had; $tried are those that cannot
newest() {
	local other uri name hash hashes=" SHA256:$sum "
	[ -n "$branch" ] || return 1
	for other in $(listed "$series" "^${branch//./\\.}"); do
		read -r uri name hash < <(listed_tarball "$series" "$other") || continue
		if [[ $hashes != *" $hash "* ]] && download_file "$uri" "$work/$name" "$hash"; then
			say "WARNING: $series cannot be had as $tried; $other is used instead, and BASE does not match"
			keep "$name"
			return
		fi
		hashes+="$hash "
		[ "$other" = "$version" ] || tried+=", $other"
	done
	return 1
}

if good "$CACHE/src/$file"; then
	touch "$CACHE/src/$file"
	printf '%s\n' "$CACHE/src/$file"
	exit
fi

suite=$(base_field "$series" suite)
snapshot=$(base_field "$series" snapshot)
branch=$(base_field "$series" newest)
exec 9>"$CACHE/locks/fetch"
flock -n 9 || { say "waiting for another run that downloads …"; flock 9; }
check_distribution
mirror=$(mirror)
security=$(security_mirror)
need_disk 400 "downloading the sources of $series"
: >"$apt_log"
work=$CACHE/tmp/fetch.$$
mkdir -p "$work"
found=
tried=$version
offline=" (no network?)"
say "downloading the sources of $series ($version)"
if good "$CACHE/src/$file"; then
	found=$CACHE/src/$file
else
	read_index && offline=
	{ [ -z "$offline" ] && from_index; } || from_pool "$mirror/pool/main" "$security/pool/updates/main" || from_snapshot ||
		{ [ -z "$offline" ] && newest; } ||
		die "cannot download $series$offline, tried $tried:" \
			"$way_out ($apt_log)"
fi
printf '%s\n' "$found"
