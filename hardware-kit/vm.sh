# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# VMs of the kit: made of its own kernel and initial file system, without disks and network.  Each is named by the kit's process.

prefix=numa-kit-$$

# create_vm NAME POLICY MIB VCPUS KERNEL-LINES: paused; what it says goes to $work/NAME.console.
create_vm() {
	vm=$prefix-$1
	vcpus=$4
	{
		echo "name = \"$vm\""
		echo 'type = "pvh"'
		echo "memory = $3"
		echo "vcpus = $vcpus"
		echo 'tsc_mode = "native"'
		echo 'on_crash = "destroy"'
		echo "numa_policy = \"$2\""
		printf '%s\n' "$5"
		echo "cpus = [$(spread "$vcpus")]"
	} >"$work/$1.cfg"
	# before it is there: an end in the middle of this must not leave it behind
	echo "$vm" >>"$work/vms"
	begun=$(now)
	xl create -p "$work/$1.cfg" || fail "xl create failed"
	since "$begun" >"$work/created"
	listen "$1"
}

# A vCPU on each node in turn that has CPUs, so that memory is used from all of them.
spread() {
	awk -v vcpus="$1" -v list="$(cpu_nodes)" 'BEGIN { n = split(list, node, " ")
		for (i = 0; i < vcpus; i++) printf "%s\"node:%s\"", i ? ", " : "", node[i % n + 1] }'
}

cpu_nodes() {
	awk '/^cpu_topology/ { in_it = 1; next } in_it && /^cpu:/ { next } in_it && $1 !~ /^[0-9]+:$/ { exit }
		in_it && !seen[$4]++ { printf "%s%s", n++ ? " " : "", $4 }' "$work/info"
}

# Those with memory.
node_numbers() {
	awk '/^numa_info/ { in_it = 1; next } in_it && /^node:/ { next }
		in_it && $1 ~ /^[0-9]+:$/ && $2 > 0 { printf "%s%s", n++ ? " " : "", substr($1, 1, length($1) - 1) }
		in_it && !/^ *(node|[0-9]+):/ { exit }' "$work/info"
}

# linux_vm NAME POLICY MIB VCPUS COMMAND: a Linux guest that runs it, and whose kernel passes on any hypercall of a program.
linux_vm() {
	run=$(printf '%s' "$5" | base64 | tr -d '\n')
	create_vm "$1" "$2" "$3" "$4" "kernel = \"$here/guest/vmlinux\"
ramdisk = \"$here/guest/guest.cpio\"
extra = \"console=hvc0 loglevel=4 panic=1 xen_privcmd.unrestricted=1 run64=$run\""
	xl unpause "$vm" || fail "xl unpause failed"
}

# bare_vm NAME POLICY MIB VCPUS PROGRAM: a guest without an operating system.
bare_vm() {
	create_vm "$1" "$2" "$3" "$4" "kernel = \"$here/guest/smp-guest\"
extra = \"$5\""
	xl unpause "$vm" || fail "xl unpause failed"
}

# xenconsoled has a terminal for each VM, raw already; it keeps what came before somebody reads.  The reader ends with the VM.
listen() {
	vm=$prefix-$1
	id=$(xl domid "$vm") || fail "the vm has no id"
	tty=$(xenstore-read "/local/domain/$id/console/tty") || fail "the vm has no console"
	cat "$tty" >>"$work/$1.console" &
}

# answer NAME: an empty line to its console.
answer() {
	id=$(xl domid "$prefix-$1") || fail "the vm has no id"
	echo >"$(xenstore-read "/local/domain/$id/console/tty")"
}

said() { grep -E -q "$2" "$work/$1.console" 2>/dev/null; }
# The last line that has the pattern.
last_line() { grep -E "$2" "$work/$1.console" | tail -n 1 | tr -d '\r'; }
wait_said() { until_true "$3" said "$1" "$2" || fail "$4"; }

# What its programs count, in their last line: … N words wrong.
wrong_words() { last_line "$1" 'words wrong' | sed -n 's/.* \([0-9]*\) words wrong.*/\1/p'; }

right() {
	count=$(wrong_words "$1")
	[ -n "$count" ] || fail "the guest said nothing"
	emit "$2.wrong" "$count"
	[ "$count" = 0 ] || fail "words were wrong"
}

# destroy_vms STEP|all: of a step, but for the witness, which lives through several.
destroy_vms() {
	[ -e "$work/vms" ] || return 0
	: >"$work/vms.left"
	while read -r one; do
		if [ "$1" != all ] && [ "$one" = "$prefix-witness" ]; then
			echo "$one" >>"$work/vms.left"
		else
			xl destroy "$one" >/dev/null 2>&1 || :
		fi
	done <"$work/vms"
	mv "$work/vms.left" "$work/vms"
}

# Half 1 or 2 of the nodes, as --nodes takes it; all of them are both if there is one.
half() {
	node_numbers | awk -v half="$1" '{ m = int((NF + 1) / 2)
		for (i = half == 1 || NF == 1 ? 1 : m + 1; i <= (half == 1 ? m : NF); i++) printf "%s%s", n++ ? "," : "", $i }'
}

# move_vm NAME POLICY NODES: what xl says is in $work/moved.
move_vm() {
	xl numa-policy set "$prefix-$1" "$2" --nodes "$3" --rebalance --raw -q >"$work/moved" || fail "rebalance failed"
}

moved_mib() { field "$work/moved" moved_bytes | awk '{ printf "%d\n", $1 / 1048576 }'; }

show_vm() { xl numa-policy show "$prefix-$1" --raw >"$work/shown" || fail "xl numa-policy show failed"; }

# How often the guest has been through its memory.
rounds() { last_line "$1" 'words wrong' | sed -n 's/.* round \([0-9]*\):.*/\1/p; s/.*: \([0-9]*\) passes,.*/\1/p'; }
has_rounds() { n=$(rounds "$1"); [ "${n:-0}" -ge "$2" ]; }
# All memory is looked at twice from now on: what it has begun with may have been before.
two_rounds() {
	n=$(rounds "$1")
	until_true $limit has_rounds "$1" $((${n:-0} + 2)) || fail "the guest does not go on"
}
