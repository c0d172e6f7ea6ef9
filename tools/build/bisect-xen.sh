# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# How a patch of the series of Xen is built; sourced by bisect.sh.

# where the hypervisor's sources lie, what names its option, and all that it is made of
sources=xen/
inputs() { cat "$here/xen.paths"; }
cp "$here/bisect-on.config" "$place/on.config"
sed 's/^CONFIG_NUMA_POLICY=y/# CONFIG_NUMA_POLICY is not set/' "$place/on.config" >"$place/off.config"
variant_key() { hypervisor_key "$repo" "$1" "$place/$2.config"; } # COMMIT VARIANT
# VARIANT JOBS; without the EFI binary, which would be linked three times more
build_variant() { MAKEFLAGS=' -- XEN_BUILD_PE=n' "$here/hypervisor.sh" "$place/source" "$place/objects-$1" "$place/$1.config" "$2"; }
# whole_variant VARIANT JOBS: as the sources build themselves; what is undefined before the last link is what that link provides
whole_variant() {
	build_variant "$1" "$2"
	nm -u "$place/objects-$1/prelink.o" | awk '$1 == "U" { print $2 }' >"$place/outside-$1"
}

base_variant() { whole_variant on "$1"; } # JOBS
outside_key() { :; }
needed() { :; }

# quick_variant VARIANT JOBS: for the files that are in changes, by make only what it alone knows
quick_variant() {
	local parts
	parts=$("$here/rebuild.py" plan "$place/objects-$1" prelink.o "$place/source/xen" <"$place/changes")
	if [ "$parts" = all ]; then
		whole_variant "$1" "$2"
		return
	fi
	[ -z "$parts" ] || XEN_TARGET_ARCH=x86_64 PYTHON=/usr/bin/python3 MAKEFLAGS=' -- XEN_BUILD_PE=n' make -C "$place/objects-$1" \
		--include-dir="$place/source/xen" -f "$here/xen-objects.mk" SOURCE="$place/source" PARTS="${parts//$'\n'/ }" -j"$2" parts
	"$here/rebuild.py" run "$place/objects-$1" prelink.o "$2" "$place/outside-$1"
}

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
export -f build_variant whole_variant base_variant quick_variant hypervisor toolstack
# the first patches come before the option
export here place JOBS MAY_LACK=NUMA_POLICY

build_patch() { # COMMIT SUBJECT
	local variant fragment wanted variants=(on off)
	[ "$1" != "$tip" ] || variants+=(nohvm)
	for variant in "${variants[@]}"; do
		fragment=$here/bisect-$variant.config
		wanted=$(hypervisor_key "$repo" "$1" "$fragment")
		known "$wanted" || product_of "$1" "$variant" && continue
		need_disk 1000 "bisect"
		checkout source "$1"
		run_step "bisect-xen-$variant" 50 "$2 ($variant)" hypervisor "xen-$variant" "$fragment"
		passes "$wanted"
	done
	wanted=$(tools_key "$repo" "$1")
	if ! known "$wanted" && ! [ -d "$CACHE/products/xen-tools/$wanted" ]; then
		need_disk 1000 "bisect"
		checkout tools "$1"
		run_step bisect-tools 60 "$2 (tools)" toolstack
		passes "$wanted"
	fi
}

# build_rest COMMIT SUBJECT: the quick bisect compiles the files of the tools that a patch touches
build_rest() {
	local files wanted
	mapfile -t files < <(touched "$1^..$1" 'tools/*.c')
	[ ${#files[@]} != 0 ] || return 0
	wanted=$(key "$(tools_key "$repo" "$1")" "${files[*]}" "$here/bisect-quick.sh" "$here/bisect-xen.sh")
	if ! known "$wanted"; then
		checkout tools "$1"
		run_step bisect-tools-quick 20 "$2 (tools)" tool_objects "${files[@]}"
		passes "$wanted" "$(printf 'tools %s\n' "${files[@]}")"
	fi
	records+=("$passed/$wanted")
}

# tool_objects FILE…: configured as toolstack.sh does, with the one header that is generated in another library
tool_objects() {
	local file
	"$here/tools-configure.sh" "$place/tools"
	make=(make XEN_TARGET_ARCH=x86_64 PYTHON=/usr/bin/python3 -j"$JOBS")
	cd "$place/tools" || return
	"${make[@]}" -C tools/include
	"${make[@]}" -C tools/libs/toolcore
	for file; do
		rm -f "${file%.c}.o"
		"${make[@]}" -C "${file%/*}" "$(basename "$file" .c).o"
	done
}
export -f tool_objects
