# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What every script here needs: places, messages, logged steps with progress, the product cache.
# Sourced, not run.  Products live in the cache, one directory a content key; build/ holds symlinks to them.

# Debian's tools only: no pyenv, no /usr/local; its compilers by way of ccache
PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin
export PATH LC_ALL=C.UTF-8
# Of the user's make options nothing, of the make that setup.sh runs who hands out jobs: what is built side by side shares them.
jobserver=
[ -z "${SETUP_STARTED:-}" ] || ! [[ ${MAKEFLAGS:-} =~ --jobserver-[a-z]+=[^[:space:]]+ ]] || jobserver=${BASH_REMATCH[0]}
unset MAKEFLAGS MAKELEVEL MFLAGS
[ -z "$jobserver" ] || export MAKEFLAGS=" $jobserver"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=${PQ_ROOT:-$(cd "$here/../.." && pwd)}
[ -n "${XDG_CACHE_HOME:-}${HOME:-}" ] || HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/xen-numa-policy
BUILD=$ROOT/build
# ours alone: what the user has set up for ccache is not read, nor is what we compile kept there
unset "${!CCACHE_@}"
export CCACHE_CONFIGPATH=/dev/null CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=3G CCACHE_COMPILERCHECK=content
# Headers are told by the compiler as it compiles: to preprocess each file first would cost a third of a build, and find nothing more.
export CCACHE_DEPEND=1
JOBS=${JOBS:-$(nproc)}
# what a build's make is told with -j: nothing if a jobserver tells it
MAKE_JOBS=$JOBS
[ -z "$jobserver" ] || MAKE_JOBS=

# with the seconds since setup.sh began, if it runs us
say() {
	local clock=
	[ -z "${SETUP_STARTED:-}" ] || printf -v clock '[%4d s] ' $((EPOCHSECONDS - SETUP_STARTED))
	printf '%s\n' "$clock${STEP:+[$STEP] }$*" >&2
}
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# make takes such a name apart, and so do the builds of Xen and Linux
case $ROOT$CACHE in
*[[:space:]:]*) die "the path of the clone ($ROOT) and of the cache ($CACHE) may not have a space or a colon in it" ;;
esac

mkdir -p "$CACHE/products" "$CACHE/locks" "$CACHE/tmp" "$CACHE/times" "$CACHE/src" "$BUILD/logs" 2>/dev/null ||
	die "cannot write in $CACHE and $BUILD"

# base_field SERIES FIELD: a line of its BASE file
base_field() {
	local directory=xen-patches
	case $1 in
	linux) directory=linux-guest-patches ;;
	xen-packaging) directory=packaging/xen ;;
	esac
	sed -n "s/^$2=//p" "$ROOT/$directory/BASE"
}

# need_disk MiB WHAT: room in the cache and in the clone
need_disk() {
	local place free
	for place in "$CACHE" "$BUILD"; do
		free=$(df -Pm "$place" | awk 'NR == 2 { print $4 }')
		[ "$free" -ge "$1" ] || die "$2 needs $1 MiB of disk, $place has $free: free some and run again"
	done
}

# run_step NAME USUAL-SECONDS WHAT COMMAND…: a program or an exported function; full output in build/logs/NAME.log; a line
# when it starts, each 30 s and when it ends; the end of the output on failure.
run_step() {
	local name=$1 usual=$2 what=$3 log=$BUILD/logs/$1.log start=$SECONDS next=30 pause=0.05 pid status=0
	shift 3
	[ -s "$CACHE/times/$name" ] && usual=$(cat "$CACHE/times/$name")
	say "$what … about $usual s"
	# a process group of its own, so that a stop reaches all of it; and a session of its own, which Linux must be told how nice it is
	setsid bash -eu -o pipefail -c '{ nice >/proc/self/autogroup; } 2>/dev/null || :; "$@"' step "$@" >"$log" 2>&1 </dev/null 9>&- &
	pid=$!
	# shellcheck disable=SC2064
	trap "kill -TERM -$pid 2>/dev/null; wait; cleanup; exit 130" HUP INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		sleep "$pause"
		[ "$SECONDS" = "$start" ] || pause=0.5
		if [ $((SECONDS - start)) -ge "$next" ]; then
			say "$what … $((SECONDS - start)) s of about $usual s"
			next=$((next + 30))
		fi
	done
	wait "$pid" || status=$?
	trap 'cleanup; exit 130' HUP INT TERM
	if [ "$status" != 0 ]; then
		tail -n 30 "$log" >&2
		if grep -q 'No space left on device' "$log"; then
			die "$what: the disk is full: free some and run again"
		fi
		die "$what failed, all of it is in $log"
	fi
	say "$what: done in $((SECONDS - start)) s"
	echo $((SECONDS - start)) >"$CACHE/times/$name" || die "cannot write in $CACHE/times"
}

work=
cleanup() { [ -z "$work" ] || rm -rf "$work"; }
trap cleanup EXIT
trap 'cleanup; exit 130' HUP INT TERM

# key FILE-OR-WORD…: a content key over files (by content) and words
key() {
	local part
	for part in "$@"; do
		if [ -f "$part" ]; then sha256sum <"$part"; else printf '%s\n' "$part"; fi
	done | sha256sum | cut -c1-24
}

compiler() { gcc --version | head -n1; ld --version | head -n1; }

# product NAME KEY COMMAND…: build/NAME becomes a symlink to the product of that key.  COMMAND gets a directory to fill; it
# is renamed into place when the command has succeeded, so that a killed build never passes as a finished one.
product() {
	local name=$1 dir=$CACHE/products/$1/$2
	shift 2
	exec 9>"$CACHE/locks/$name"
	flock -n 9 || { say "waiting for another run that makes $name …"; flock 9; }
	if [ -d "$dir" ]; then
		say "$name: nothing to do"
	else
		work=$CACHE/tmp/$name.$$
		rm -rf "$work"
		mkdir -p "$work/out" "${dir%/*}" || die "cannot write in $CACHE"
		"$@" "$work/out"
		mv -T "$work/out" "$dir" || die "cannot write in $CACHE"
		rm -rf "$work"
		work=
	fi
	touch "$dir"
	rm -rf "${BUILD:?}/$name.new"
	ln -sT "$dir" "$BUILD/$name.new" && mv -T "$BUILD/$name.new" "$BUILD/$name" || die "cannot write in $BUILD"
	exec 9>&-
}

# changed REPO COMMIT FILTER GLOB: files that the series of patches adds or changes, by git's --diff-filter
changed() { git -c safe.directory='*' -C "$1" diff --no-renames --diff-filter="$3" --name-only refs/heads/base "$2" -- "$4"; }

# build_place NAME: sets place to an empty directory that is gone when this shell ends.  Its path is always the same: paths get into what is
# built, so the same sources give the same bytes, and ccache knows a file again.  What a killed run left behind, and still builds, is waited for.
build_place() {
	place=$CACHE/build/$1
	exec 8>"$CACHE/locks/build-$1"
	flock 8
	trap 'rm -rf "$place"' EXIT
	rm -rf "$place" && mkdir -p "$place"
}

# unpack REPO COMMIT DIR [PATH…]: sources without git; only those paths, so that a key over the paths is a key over the build
unpack() {
	local repo=$1 commit=$2 dir=$3
	shift 3
	mkdir -p "$dir" || return
	git -c safe.directory='*' -C "$repo" archive --format=tar "$commit" -- "$@" | tar -x -C "$dir"
}

# tree_key REPO COMMIT PATH…: hashes of what is at these paths
tree_key() {
	local repo=$1 commit=$2
	shift 2
	printf "$commit:%s\n" "$@" | git -c safe.directory='*' -C "$repo" cat-file --batch-check='%(objectname)' |
		sed "s/^$commit:\(.*\) missing\$/no \1/"
}

# hypervisor_key REPO COMMIT FRAGMENT, kernel_key (likewise) and tools_key REPO COMMIT: all that goes into such a build
hypervisor_key() {
	local paths
	mapfile -t paths <"$here/xen.paths"
	key "$(tree_key "$1" "$2" "${paths[@]}")" "$here/hypervisor.sh" "$3" "$(compiler)"
}

kernel_key() {
	key "$(tree_key "$1" "$2" "")" "$here/kernel.sh" "$3" "$(compiler)"
}

tools_key() {
	local paths
	mapfile -t paths <"$here/xen-tools.paths"
	key "$(tree_key "$1" "$2" "${paths[@]}")" "$here/toolstack.sh" "$here/tools-configure.sh" "$(compiler)"
}
