#!/bin/bash
# bisect.sh xen|linux: builds every patch of a series in turn, the hypervisor with the option on and off, the whole series also
# without HVM, the tools where a patch changes them.  What passed before is not built again: a pass is kept by the content of all that
# went in.  One work tree, so that a build is mostly incremental.
set -eu
. "$(dirname "$0")/lib.sh"

name=$1
case $name in
xen) ;;
linux)
	compgen -G "$ROOT/linux-guest-patches/*.patch" >/dev/null || { say "linux: no patches, nothing to build"; exit; }
	die "linux: how to build its patches one by one is not known yet"
	;;
*) die "bisect.sh xen|linux" ;;
esac

passed=$CACHE/bisect/passed place=$CACHE/bisect/xen
mkdir -p "$passed"
exec 9>"$CACHE/locks/bisect"
flock -n 9 || { say "waiting for another bisect …"; flock 9; }

found=$("$here/../patchqueue/pq" commit xen series)
read -r repo tip <<<"$found"
mapfile -t commits < <(git -c safe.directory='*' -C "$repo" rev-list --reverse refs/heads/base.."$tip")

# known KEY: has this content passed?
known() { [ -e "$passed/$1" ] && touch "$passed/$1"; }

# product_of COMMIT VARIANT: the tests boot the whole series with the option on and off, what is built for them is not built again
product_of() {
	local product
	case $2 in
	on) product=release ;;
	off) product=off ;;
	*) return 1 ;;
	esac
	[ -d "$CACHE/products/xen-$product/$(hypervisor_key "$repo" "$1" "$here/xen-$product.config")" ]
}

# A build that fails is tried again from nothing before it counts: the fault may be what an earlier one left behind.
hypervisor() { # DIRECTORY FRAGMENT
	"$here/hypervisor.sh" "$place/source" "$place/$1" "$2" "$JOBS" && return
	rm -rf "${place:?}/$1"
	"$here/hypervisor.sh" "$place/source" "$place/$1" "$2" "$JOBS"
}

toolstack() {
	"$here/toolstack.sh" "$place/tools" "$place/tools-installed" "$JOBS" && return
	git -c safe.directory='*' -C "$place/tools" clean -qffdx
	"$here/toolstack.sh" "$place/tools" "$place/tools-installed" "$JOBS"
}
export -f hypervisor toolstack
# the first patches come before the option
export here place JOBS MAY_LACK=NUMA_POLICY

# checkout DIRECTORY COMMIT: only files that differ are touched, which is what make goes by
checkout() {
	local git=(git -c safe.directory='*' -c advice.detachedHead=false)
	mkdir -p "$place"
	[ "$(cat "$place/$1/.git/pq-base" 2>/dev/null)" = "$repo" ] || {
		rm -rf "${place:?}/$1"
		"${git[@]}" clone -q --no-checkout "$repo" "$place/$1"
		echo "$repo" >"$place/$1/.git/pq-base"
	}
	"${git[@]}" -C "$place/$1" fetch -q "$repo" "$tip"
	"${git[@]}" -C "$place/$1" checkout -q --force --detach "$2"
}

built=0
number=0
for commit in "${commits[@]}"; do
	number=$((number + 1))
	subject=$(git -c safe.directory='*' -C "$repo" log -1 --format=%s "$commit")
	STEP="$number/${#commits[@]}"
	variants=(on off)
	[ "$commit" != "$tip" ] || variants+=(nohvm)
	for variant in "${variants[@]}"; do
		fragment=$here/bisect-$variant.config
		wanted=$(hypervisor_key "$repo" "$commit" "$fragment")
		known "$wanted" || product_of "$commit" "$variant" && continue
		need_disk 1000 "bisect"
		checkout source "$commit"
		run_step "bisect-xen-$variant" 50 "$subject ($variant)" hypervisor "xen-$variant" "$fragment"
		touch "$passed/$wanted"
		built=$((built + 1))
	done
	wanted=$(tools_key "$repo" "$commit")
	if ! known "$wanted" && ! [ -d "$CACHE/products/xen-tools/$wanted" ]; then
		need_disk 1000 "bisect"
		checkout tools "$commit"
		run_step bisect-tools 60 "$subject (tools)" toolstack
		touch "$passed/$wanted"
		built=$((built + 1))
	fi
done
STEP=
say "bisect: all ${#commits[@]} patches build; $built builds were made, the others had passed before"
