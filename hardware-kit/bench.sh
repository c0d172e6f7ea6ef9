# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# Real time: a VM over all nodes, with a vCPU or two on each, by policy.

run_bench() {
	bench=30
	[ $quick = no ] || bench=10
	cpus=$(info nr_cpus)
	vcpus=$((2 * nodes))
	[ "$vcpus" -le "${cpus:-1}" ] || vcpus=$nodes
	[ "$vcpus" -le 32 ] || vcpus=32
	bench_vcpus=$vcpus
	emit bench.vcpus "$bench_vcpus"
	emit bench.mib "$memory"
	for policy in $POLICIES; do
		step bench.$policy bench_of $policy
	done
	step bench.rebalance bench_rebalance
}

# of lines "… second S: N WHAT, …": N a second, but for the first three
per_second() {
	tr -d '\r' <"$work/$1.console" | awk -v form="$2" '$0 ~ form {
			for (i = 1; i < NF; i++) if ($i == "second") { s = $(i + 1); sub(":", "", s); n = $(i + 2) }
			if (s >= 3 && !begun) { begun = 1; s0 = s; n0 = n }
		}
		END { if (s > s0) printf "%.1f\n", (n - n0) / (s - s0) }'
}

bench_of() {
	# memory-writer's memory is touched by one thread first, memory-churn's by the one that uses it
	command="timeout $bench memory-writer $((memory / 2)); timeout $bench memory-churn $((memory / 4))"
	linux_vm "$1" "$1" "$memory" "$bench_vcpus" "$command"
	wait_said "$1" 'command ended' $((limit + 2 * bench)) "the guest does not come to its end"
	emit "bench.$1.create_s" "$(cat "$work/created")"
	emit "bench.$1.passes" "$(per_second "$1" 'memory-writer: second')"
	emit "bench.$1.freed" "$(per_second "$1" 'memory-churn: second' | sed 's/\..*//')"
	[ "$(wrong_words "$1")" = 0 ] || fail "words were wrong"
}

bench_rebalance() {
	[ "$nodes" -gt 1 ] || skip "there is one node"
	linux_vm move "round-2m,nodes=$(half 1)" "$memory" "$bench_vcpus" "memory-writer $((memory / 2))"
	wait_said move 'words wrong' $limit "the guest has not filled its memory"
	move_vm move round-2m "$(half 2)"
	emit bench.rebalance.moved_mib "$(moved_mib)"
	emit bench.rebalance.mib_per_s "$(awk -v bytes="$(field "$work/moved" moved_bytes)" -v s="$(field "$work/moved" seconds)" \
		'BEGIN { if (s > 0) printf "%d\n", bytes / 1048576 / s }')"
	show_vm move
	emit bench.rebalance.longest_pause_us "$(field "$work/shown" longest_pause_ns | awk '{ printf "%d\n", $1 / 1000 }')"
	emit bench.rebalance.longest_locked_us "$(field "$work/shown" longest_locked_ns | awk '{ printf "%d\n", $1 / 1000 }')"
	two_rounds move
	[ "$(wrong_words move)" = 0 ] || fail "words were wrong"
}
