# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# What there is to know of the host, in numbers and words of our own.

info() { sed -n "s/^$1 *: *//p" "$work/info" | head -n 1; }

need_host() {
	[ "$(id -u)" = 0 ] || die "run this as root"
	for need in awk sed xl xenstore-read; do
		command -v $need >/dev/null || die "there is no $need in PATH; run this in dom0, with Xen's tools"
	done
	xl info -n >"$work/info" 2>/dev/null || die "'xl info -n' fails: run this in dom0, and see that xenstored runs"
	for need in vmlinux guest.cpio smp-guest; do
		[ -r "$here/guest/$need" ] || die "there is no $here/guest/$need: unpack what make-kit has packed"
	done
}

# A column of the table numa_info of `xl info -n`: node: memsize memfree distances
node_column() {
	awk -v column="$1" '/^numa_info/ { in_it = 1; next } in_it && /^node:/ { next }
		in_it && $1 ~ /^[0-9]+:$/ && $2 > 0 { printf "%s%s", n++ ? " " : "", $column } in_it && !/^ *(node|[0-9]+):/ { exit }' "$work/info"
}

check_host() {
	version="$(info xen_major).$(info xen_minor)$(info xen_extra | sed -n 's/^\(\.[0-9]*\).*/\1/p')"
	emit check.xen "$version"
	if xl dmesg 2>/dev/null | grep -q 'debug=y'; then emit check.debug yes; else emit check.debug no; fi
	if xl numa-policy list --brief --raw >"$work/list" 2>"$work/list.err"; then series=yes; else series=no; fi
	emit check.series $series
	default_policy=$(info xen_commandline | tr ' ' '\n' | sed -n 's/^numa-policy=//p' | tail -n 1)
	emit check.default_policy "${default_policy:-none}"
	emit check.linux "$(uname -r | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')"
	dom0=$(awk 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "id") id = i; if ($i == "type") type = i } next }
		$id == 0 { print $type }' "$work/list")
	case $dom0 in PVH | HVM) dom0=PVH ;; esac
	emit check.dom0 "${dom0:-PV}"
	check_cpu
	emit check.cpus "$(info nr_cpus)"
	nodes=$(node_column 2 | wc -w | tr -d ' ')
	emit check.nodes "$nodes"
	emit check.node_mib "$(node_column 2)"
	emit check.free_mib "$(node_column 3)"
	emit check.distances "$(node_column 4 | cut -d' ' -f1 | tr , ' ')"
	case $(info virt_caps) in *hvm_directio*) emit check.iommu yes ;; *) emit check.iommu no ;; esac
	if xl numa-policy top --count 1 2>/dev/null | head -n 1 | grep -q 'carrefourd: period'; then carrefourd=yes; else carrefourd=no; fi
	emit check.carrefourd $carrefourd
	emit check.command "$(xl numa-policy --version 2>/dev/null | sed 's/^xl-numa-policy //')"
}

check_cpu() {
	case $(sed -n 's/^vendor_id[^:]*: *//p' /proc/cpuinfo | head -n 1) in
	AuthenticAMD) vendor=AMD paging=NPT ;;
	HygonGenuine) vendor=Hygon paging=NPT ;;
	GenuineIntel) vendor=Intel paging=EPT ;;
	*) vendor=other paging=NPT ;;
	esac
	emit check.vendor $vendor
	emit check.cpu "$(awk -F': *' '/^cpu family/ { f = $2 } /^model[ \t]*:/ { m = $2 } /^stepping/ { print f "/" m "/" $2; exit }' /proc/cpuinfo)"
	case " $(info virt_caps) " in *' hap '*) ;; *) paging=none ;; esac
	emit check.paging $paging
}

# Says what is there, and ends here if the rest would be of no use.
tell_host() {
	say "Xen $version, $nodes NUMA nodes, nested paging: $paging, carrefourd runs: $carrefourd"
	[ $series = yes ] || die "$(sed 's/^xl numa-policy[a-z ]*: //' "$work/list.err" | tail -n 1)"
	[ $paging != none ] || die "Xen has no nested paging (hap is not in virt_caps of 'xl info'): policies need it"
	[ "$nodes" -gt 1 ] || say "this host has one node with memory: placement cannot be seen, content can be tested all the same"
	[ $carrefourd = yes ] || say "carrefourd does not run: its steps are left out; 'systemctl start carrefourd' starts it"
}

# Two VMs at a time, and what Xen and dom0 want to have left.
need_memory() {
	free=$(info free_memory)
	[ "${free:-0}" -ge $((2 * memory + 512)) ] ||
		die "Xen has ${free:-no} MiB of free memory, and two VMs of $memory MiB need $((2 * memory + 512)); give less by --memory, or less to dom0"
}

BAD='panic|assertion|bug|warning|warn_on|fault|unhandled|errors?'
# What guests say on Xen's console is theirs.
log_errors() { xl dmesg 2>/dev/null | grep -v '^(d[0-9]' | grep -E -i -w -c "$BAD"; }

mark_log() { errors_before=$(log_errors); }

# The log is a ring: fewer than before means that it has come round.
look_at_log() {
	errors=$(($(log_errors) - errors_before))
	[ $errors -ge 0 ] || errors=0
	emit hostile.xen_lines $errors
}
