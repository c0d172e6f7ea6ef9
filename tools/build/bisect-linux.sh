# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# How a patch of the series of Linux is built: a small kernel, with the option and without; sourced by bisect.sh.
# Both in one object directory: kbuild knows which files go by the option, so that the second costs little.

sources=
inputs() { echo .; }
cp "$here/bisect-linux.config" "$place/on.config"
grep -v '^CONFIG_XEN_NUMA_POLICY' "$place/on.config" >"$place/off.config"
variant_key() { kernel_key "$repo" "$1" "$place/$2.config"; } # COMMIT VARIANT
build_variant() { "$here/kernel.sh" "$place/source" "$place/objects-$1" "$place/$1.config" "$2" vmlinux; } # VARIANT JOBS

# The quick bisect builds the directories of the files that the series touches, not a whole kernel.  What these files need of others the
# kernel of the tests has, or the sources without the series need it, too.
needed() {
	[ -n "$ours" ] || die "bisect: the series of $name touches no file that is compiled, so nothing is checked"
	"$here/linux.sh"
}
outside_key() { variant_key "$tip" on; }
whole_variant() { build_variant "$@"; }

directories() { # VARIANT JOBS
	local goals
	mapfile -t goals < <(dirname $ours | sort -u | sed 's,$,/,')
	"$here/kernel.sh" "$place/source" "$place/objects-$1" "$place/$1.config" "$2" prepare
	make -C "$place/source" ARCH=x86_64 O="$place/objects-$1" -j"$2" "${goals[@]}"
}

# needs VARIANT: what the files that the series touches leave undefined; defines VARIANT: what is defined in their directories
needs() (
	local objects file
	cd "$place/objects-$1" || return
	# an object that is in no archive is of another patch
	mapfile -t objects < <(archives | xargs -n1 ar t | grep -xF -f <(for file in $ours; do object "$file"; done))
	nm -u "${objects[@]}" | awk '$1 == "U" { print $2 }' | LC_ALL=C sort -u
)
defines() (
	cd "$place/objects-$1" || return
	archives | xargs nm --defined-only | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | LC_ALL=C sort -u
)
archives() { dirname $ours | sort -u | sed 's,$,/built-in.a,'; }

base_variant() { # JOBS
	local checkout=(git -c safe.directory='*' -C "$place/source" checkout -q --force --detach)
	"${checkout[@]}" "$tip"
	directories on "$1"
	defines on >"$place/own"
	"${checkout[@]}" "$base"
	directories on "$1"
	{ nm -g --defined-only "$BUILD/linux/vmlinux" | awk '{ print $3 }'; needs on; } | LC_ALL=C sort -u |
		LC_ALL=C comm -23 - "$place/own" >"$place/outside-on"
}

quick_variant() { # VARIANT JOBS
	local missing
	directories "$1" "$2"
	missing=$(needs "$1" | LC_ALL=C comm -23 - <(defines "$1" | LC_ALL=C sort -u - "$place/outside-$1"))
	[ -z "$missing" ] || { printf 'undefined references to %s\n' "${missing//$'\n'/, }"; return 1; }
}

# A build that fails is tried again from nothing before it counts: the fault may be what an earlier one left behind.
kernel() { # FRAGMENT
	"$here/kernel.sh" "$place/source" "$place/objects" "$1" "$JOBS" vmlinux && return
	rm -rf "${place:?}/objects"
	"$here/kernel.sh" "$place/source" "$place/objects" "$1" "$JOBS" vmlinux
}
export -f build_variant whole_variant directories needs defines archives base_variant quick_variant kernel
# the first patches come before the option
export here place tip JOBS BUILD MAY_LACK=XEN_NUMA_POLICY

build_patch() { # COMMIT SUBJECT
	local variant wanted
	for variant in on off; do
		wanted=$(variant_key "$1" "$variant")
		known "$wanted" && continue
		need_disk 3000 "bisect"
		checkout source "$1"
		run_step "bisect-linux-$variant" 40 "$2 ($variant)" kernel "$place/$variant.config"
		passes "$wanted"
	done
}

build_rest() { :; }
