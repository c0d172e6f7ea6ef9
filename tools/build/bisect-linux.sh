# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# How a patch of the series of Linux is built: a small kernel, with the option and without; sourced by bisect.sh.
# Both in one object directory: kbuild knows which files go by the option, so that the second costs little.

sources=
cp "$here/bisect-linux.config" "$place/on.config"
grep -v '^CONFIG_XEN_NUMA_POLICY' "$place/on.config" >"$place/off.config"
variant_key() { kernel_key "$repo" "$1" "$place/$2.config"; } # COMMIT VARIANT
build_variant() { "$here/kernel.sh" "$place/source" "$place/objects-$1" "$place/$1.config" "$2" vmlinux; } # VARIANT JOBS

# A build that fails is tried again from nothing before it counts: the fault may be what an earlier one left behind.
kernel() { # FRAGMENT
	"$here/kernel.sh" "$place/source" "$place/objects" "$1" "$JOBS" vmlinux && return
	rm -rf "${place:?}/objects"
	"$here/kernel.sh" "$place/source" "$place/objects" "$1" "$JOBS" vmlinux
}
export -f build_variant kernel
# the first patches come before the option
export here place JOBS MAY_LACK=XEN_NUMA_POLICY

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
