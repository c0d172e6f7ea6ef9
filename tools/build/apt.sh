# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A private apt beside the user's: own sources, own lists, nothing of the system's configuration changed.
# The mirror is the one the user's own sources name.  Sourced after lib.sh.

# shellcheck disable=SC2034  # the caller reads it
# of each step its own: several download at once
apt_log=$BUILD/logs/apt-$(basename "$0" .sh).log

# Which Debian is this?  PQ_OS_RELEASE is for the tests.
check_distribution() {
	local id version name
	id=$(sed -n 's/^ID=//p' "${PQ_OS_RELEASE:-/etc/os-release}" | tr -d '"')
	version=$(sed -n 's/^VERSION_ID=//p' "${PQ_OS_RELEASE:-/etc/os-release}" | tr -d '"')
	name=$(sed -n 's/^PRETTY_NAME=//p' "${PQ_OS_RELEASE:-/etc/os-release}" | tr -d '"')
	[ "$id" = debian ] && [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "this runs on Debian 12 and 13, amd64; here is ${name:-something else} on $(uname -m)"
	case $version in
	12) codename=bookworm ;;
	13) codename=trixie ;;
	*) die "this runs on Debian 12 and 13; here is ${name:-Debian $version}" ;;
	esac
}

# The user's Debian repositories, "URI suite" a line; apt itself reads both kinds of source file.  Without the option it
# tells only of those it has lists of, and a fresh container has none.
user_sources() {
	# shellcheck disable=SC2016
	apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk '$3 == "main" { print $1, $2 }' | sort -u
}

# mirror: the URI that serves the user's own release
mirror() {
	local uri
	uri=$(user_sources | awk -v want="$codename" '$2 == want || $2 == "stable" || $2 == "oldstable" { print $1 }' | head -n1)
	[ -n "$uri" ] || die "no apt source for Debian $codename with the component main: see sources.list(5)"
	printf '%s\n' "${uri%/}"
}

# security_mirror: where security updates come from; Debian puts them beside the archive
security_mirror() {
	local uri
	uri=$(user_sources | awk -v want="$codename-security" '$2 == want || $2 ~ /-security$/ { print $1 }' | head -n1)
	[ -n "$uri" ] || uri=$(mirror)-security
	printf '%s\n' "${uri%/}"
}

# read_lists: after private_apt; fails when nothing of the archive is reached, so that old lists are not taken for it
read_lists() {
	local said
	said=$(apt-get "${private[@]}" -o APT::Update::Error-Mode=any update 2>&1) ||
		say "the archive is not reachable or not complete, see $apt_log"
	printf '%s\n' "$said" >>"$apt_log"
	grep -Eq '^(Get|Hit):' <<<"$said"
}

# listed PACKAGE REGEX: its versions in the index that match, the newest first
listed() {
	apt-cache "${private[@]}" showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | grep -E "$2" | sort -ruV
}

# listed_tarball PACKAGE VERSION [debian]: "URI NAME SHA256:SUM" of its upstream tarball, or of its packaging, as the index has it, or
# nothing
listed_tarball() {
	# apt leaves out what the working directory has
	(cd / && apt-get "${private[@]}" source --print-uris "$1=$2" 2>>"$apt_log") |
		sed -n "s/^'\([^']*\)' \($1_[^ ]*\.${3:-orig}\.tar\.[a-z0-9]*\) [0-9]* \(SHA256:[0-9a-f]*\)\$/\1 \2 \3/p"
}

# download_file URI PATH SHA256:SUM: a file with that hash, or none
download_file() {
	/usr/lib/apt/apt-helper "${private[@]}" download-file "$@" >>"$apt_log" 2>&1 && return
	rm -f "$2"
	return 1
}

# download_source PACKAGE VERSION DIR: its upstream tarball, whole, or none: an index may list what its pool has not
download_source() {
	local uri name sum
	read -r uri name sum < <(listed_tarball "$1" "$2") && download_file "$uri" "$3/$name" "$sum"
}

# private_apt NAME: reads source lines from standard input; afterwards "${private[@]}" are the options that make any
# apt command use them.  The package status stays the system's, so that installing works.
private_apt() {
	local dir=$CACHE/apt/$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=
	mkdir -p "$dir/parts" "$dir/lists/partial" "$dir/cache/archives/partial" || die "cannot write in $dir"
	# without that file the keys that apt trusts in general count
	[ -e $keyring ] && signed=" signed-by=$keyring"
	sed "s|^\(deb[a-src-]*\) \(\[\([^]]*\)\] \)\{0,1\}|\1 [\3$signed] |; s|\[ *|[|; s|\[\] ||" >"$dir/parts/private.list"
	private=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$dir/parts" -o Dir::State::Lists="$dir/lists"
		-o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root -o APT::Get::List-Cleanup=true
		-o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -q)
}
