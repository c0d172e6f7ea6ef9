# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# Guests that verify each word of their memory, while it is placed, moved, saved and sampled.

limit=600	# seconds that a guest may need for anything

run_content() {
	seconds=60 moves=4
	[ $quick = no ] || seconds=15 moves=2
	few=$nodes
	[ "$few" -le 8 ] || few=8
	free_before=$(free_mib)
	for policy in $POLICIES; do
		step content.$policy content_of $policy
	done
	step content.writer content_writer
	step content.churn content_churn
	step content.carrefour content_carrefour
	step content.save content_save
	step content.leak content_leak
}

content_of() {
	linux_vm "$1" "$1" "$memory" "$few" "memory-pattern hold"
	wait_said "$1" 'round 1: ' $limit "the guest has not filled its memory"
	emit "content.$1.pages" "$(last_line "$1" 'round [0-9]*: ' | sed -n 's/.*: \([0-9]*\) pages.*/\1/p')"
	show_vm "$1"
	[ "$(field "$work/shown" policy)" = "$1" ] || fail "the vm has another policy"
	emit "content.$1.at_home_percent" "$(field "$work/shown" at_home_percent)"
	if [ "$1" != none ]; then
		move_vm "$1" "$1" "$(half 2)"
		emit "content.$1.moved_mib" "$(moved_mib)"
	fi
	two_rounds "$1"
	right "$1" "content.$1"
}

content_writer() {
	linux_vm writer round-4k "$memory" "$few" "memory-writer $((memory / 4))"
	wait_said writer 'words wrong' $limit "the guest has not filled its memory"
	i=0
	while [ $i -lt $moves ]; do
		move_vm writer round-4k "$(half $((i % 2 + 1)))"
		i=$((i + 1))
	done
	two_rounds writer
	right writer content.writer
}

content_churn() {
	linux_vm churn first-touch "$memory" "$few" "memory-churn $((memory / 4))"
	wait_said churn "second $seconds:" $((limit + seconds)) "the guest does not go on"
	right churn content.churn
}

carrefour_moved() {
	show_vm carrefour
	case $(field "$work/shown" total_moved_bytes) in '' | 0 | -) return 1 ;; esac
}

content_carrefour() {
	[ "$carrefourd" = yes ] || skip "carrefourd does not run"
	[ "$nodes" -gt 1 ] || skip "there is one node"
	linux_vm carrefour first-touch "$memory" "$few" "memory-writer $((memory / 4))"
	wait_said carrefour 'words wrong' $limit "the guest has not filled its memory"
	xl numa-policy set "$prefix-carrefour" +carrefour || fail "carrefour cannot be switched on"
	until_true $((4 * seconds)) carrefour_moved || fail "carrefourd moved nothing"
	two_rounds carrefour
	show_vm carrefour
	emit content.carrefour.moved_mib "$(field "$work/shown" total_moved_bytes | awk '{ printf "%d\n", $1 / 1048576 }')"
	right carrefour content.carrefour
}

content_save() {
	room=$(df -Pk "$work" | awk 'NR == 2 { print int($4 / 1024) }')
	[ "${room:-0}" -ge 320 ] || skip "no room for 256 mib"
	linux_vm save round-2m 256 1 "memory-pattern hold"
	wait_said save 'round 1: ' $limit "the guest has not filled its memory"
	xl save "$prefix-save" "$work/image" || fail "xl save failed"
	xl restore -p "$work/image" || fail "xl restore failed"
	rm -f "$work/image" "$work/save.console"
	listen save
	xl unpause "$prefix-save" || fail "xl unpause failed"
	show_vm save
	[ "$(field "$work/shown" policy)" = round-2m ] || fail "the vm has another policy"
	wait_said save 'words wrong' $limit "the guest does not go on"
	two_rounds save
	right save content.save
}

free_mib() { xl info | sed -n 's/^free_memory *: *//p'; }
# xl may have taken memory from dom0 meanwhile, which makes it more.
is_back() { [ "$(free_mib)" -ge $((free_before - 64)) ]; }
content_leak() { until_true 60 is_back || fail "memory is missing"; }
