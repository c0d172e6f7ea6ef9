#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bisect.sh xen|linux [quick]: does every patch of a series build?
#
# Exact: builds every patch in turn, hypervisor or kernel with the option on and off, the whole series of Xen also without HVM, the tools
# where a patch changes them.  One work tree, so that a build is mostly incremental.
# Quick: the same for what the series touches, see bisect-quick.sh.
#
# What passed before is not built again: a pass is kept by the content of all that went in.
set -eu
. "$(dirname "$0")/lib.sh"

name=$1 how=${2:-exact}
case $name-$how in
xen-exact | xen-quick | linux-exact | linux-quick) ;;
*) die "bisect.sh xen|linux [quick]" ;;
esac

passed=$CACHE/bisect/passed place=$CACHE/bisect/$name-$how
mkdir -p "$passed" "$place"
exec 9>"$CACHE/locks/bisect"
flock -n 9 || { say "waiting for another bisect …"; flock 9; }

found=$("$here/../patchqueue/pq" commit "$name" series)
read -r repo tip <<<"$found"
git=(git -c safe.directory='*' -c advice.detachedHead=false)
mapfile -t commits < <("${git[@]}" -C "$repo" rev-list --reverse refs/heads/base.."$tip")

# known KEY: has this content passed?
known() { [ -e "$passed/$1" ] && touch "$passed/$1"; }

# checkout DIRECTORY COMMIT: only files that differ are touched, which is what make goes by
checkout() {
	[ "$(cat "$place/$1/.git/pq-base" 2>/dev/null)" = "$repo" ] || {
		rm -rf "${place:?}/$1"
		"${git[@]}" clone -q --no-checkout "$repo" "$place/$1"
		echo "$repo" >"$place/$1/.git/pq-base"
	}
	"${git[@]}" -C "$place/$1" fetch -q "$repo" "$tip"
	"${git[@]}" -C "$place/$1" checkout -q --force --detach "$2"
}

built=0
# passes KEY [WHAT]: this content has been built
passes() {
	printf '%s\n' "${2:-}" >"$passed/$1"
	built=$((built + 1))
}

conclude() { say "bisect: all ${#commits[@]} patches build; $built builds were made, the others had passed before"; }

# shellcheck source=/dev/null
. "$here/bisect-$name.sh"
# shellcheck source=tools/build/bisect-quick.sh
[ "$how" = exact ] || . "$here/bisect-quick.sh"

number=0
for commit in "${commits[@]}"; do
	number=$((number + 1))
	STEP="$number/${#commits[@]}"
	build_patch "$commit" "$("${git[@]}" -C "$repo" log -1 --format=%s "$commit")"
done
STEP=
conclude
