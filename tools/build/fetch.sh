#!/bin/bash
# fetch.sh xen|linux: prints the path of the source tarball that its BASE names, downloaded when it is not in the cache.
# The pinned version comes first, by the archive's index, then where its pool keeps what the index has dropped; then Debian's snapshot
# archive; then the newest version of the same branch, with a warning.
set -eu
. "$(dirname "$0")/lib.sh"
. "$here/apt.sh"

case ${1:-} in
xen | linux) ;;
*) die "fetch.sh xen|linux" ;;
esac
series=$1
file=$(base_field "$series" file)
sum=$(base_field "$series" sha256)
version=$(base_field "$series" version)
[ -n "$file" ] && [ -n "$sum" ] && [ -n "$version" ] || die "BASE of $series lacks file=, sha256= or version="

good() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$sum" ]; }

# take PATH…: the first that is what BASE wants goes to the cache
take() {
	local path
	for path; do
		if good "$path"; then
			# apt leaves a link when the mirror is a directory
			cp -L "$path" "$CACHE/src/$file.new" && mv "$CACHE/src/$file.new" "$CACHE/src/$file" || die "cannot write in $CACHE/src"
			found=$CACHE/src/$file
			return
		fi
	done
	return 1
}

# source_lists NAME: a private apt that knows the source packages of a suite, given the lines of it
source_lists() {
	private_apt "$1"
	apt-get "${private[@]}" -o APT::Update::Error-Mode=any update >>"$apt_log" 2>&1
}

from_archive() {
	source_lists "$suite" <<-END || say "$series: the archive is not reachable or not complete, see $apt_log"
		deb-src $mirror $suite main
		deb-src $mirror $suite-updates main
		deb-src $security $suite-security main
	END
	download_source "$series" "$version" "$work"
	take "$work/$file"
}

# For some weeks the pool holds what the index has forgotten.  BASE's hash is what makes it good.
from_pool() {
	local place path=${series:0:1}/$series/${file//+/%2b}
	for place in "$mirror/pool/main" "$security/pool/updates/main"; do
		/usr/lib/apt/apt-helper "${private[@]}" download-file "$place/$path" "$work/$file" "SHA256:$sum" >>"$apt_log" 2>&1 || :
		take "$work/$file" && say "$series: $version has left the archive's index, its pool still has it" && return
	done
	return 1
}

# the snapshot archive sits beside the mirror's host name where that is Debian's own
from_snapshot() {
	local uri host
	uri=$mirror
	host=${uri#*://}
	host=${host%%/*}
	case $host in
	*.debian.org) ;;
	*) say "$series: the mirror $host has no snapshot archive"; return 1 ;;
	esac
	uri=${uri%%://*}://snapshot.${host#*.}/archive
	source_lists "$suite-snapshot" <<-END || { say "$series: the snapshot archive is not reachable"; return 1; }
		deb-src [check-valid-until=no] $uri/debian/$snapshot $suite main
		deb-src [check-valid-until=no] $uri/debian-security/$snapshot $suite-security main
	END
	download_source "$series" "$version" "$work"
	take "$work/$file"
}

newest() {
	local best
	source_lists "$suite" <<-END || :
		deb-src $mirror $suite main
		deb-src $security $suite-security main
	END
	best=$(newest_source "$series" "^${branch//./\\.}")
	[ -n "$best" ] || return 1
	download_source "$series" "$best" "$work"
	for path in "$work/$series"_*.orig.tar.*z; do
		[ -s "$path" ] || continue
		cp "$path" "$CACHE/src/${path##*/}.new" && mv "$CACHE/src/${path##*/}.new" "$CACHE/src/${path##*/}" ||
			die "cannot write in $CACHE/src"
		found=$CACHE/src/${path##*/}
		say "WARNING: $series $version is gone from the archive; $best is used instead, and BASE does not match"
		return
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
say "downloading the sources of $series ($version)"
good "$CACHE/src/$file" && found=$CACHE/src/$file
[ -n "$found" ] || from_archive || from_pool || from_snapshot || newest ||
	die "cannot download $series $version: no network? XEN_SRC= and LINUX_SRC= take a local git tree ($apt_log)"
printf '%s\n' "$found"
