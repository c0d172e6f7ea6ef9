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

# download_source PACKAGE VERSION DIR: after private_apt.  Judge by the files: apt fails for a .dsc that it cannot get while the
# tarball is there.
download_source() {
	(cd "$3" && apt-get "${private[@]}" source --download-only "$1=$2" >>"$apt_log" 2>&1) || :
}

# newest_source PACKAGE REGEX: its newest version that matches, or nothing
newest_source() {
	apt-cache "${private[@]}" showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' |
		grep -E "$2" | sort -V | tail -n 1
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
