# shellcheck shell=bash
# How a patch of the series of Xen is built; sourced by bisect.sh.

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
