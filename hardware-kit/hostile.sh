# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# Guests that ask Xen for what they may not have, and tell it nonsense, beside one that verifies its own memory.

run_hostile() {
	flood=30
	[ $quick = no ] || flood=8
	(linux_vm witness round-4k 256 1 "memory-pattern hold") >>"$work/witness.log" 2>&1
	step hostile.domctl hostile_domctl
	step hostile.garbage hostile_events "garbage 2 $flood" 'batches of garbage, [0-9]+ refused' ', 0 refused'
	step hostile.flood hostile_events "flood 1 8" "second $flood: flooded" flooded
	step hostile.errors hostile_events errors 'errors done' 'errors done'
	step hostile.probe hostile_probe
	step hostile.witness hostile_witness
	(destroy_vms all)
}

hostile_domctl() {
	linux_vm domctl first-touch 256 1 guest-domctl
	wait_said domctl 'guest-domctl: [0-9]+ calls' $limit "the guest said nothing"
	said domctl ' 0 not denied' || fail "calls were not denied"
}

# hostile_events ARGUMENTS ENDED GOOD: what its last line is like, and what is in it if all was right.
hostile_events() {
	bare_vm events first-touch 256 2 "memory-events $1"
	wait_said events ready $limit "the guest does not start"
	answer events
	wait_said events "$2" $limit "the guest does not come to its end"
	last_line events "$2" | grep -q "$3" || fail "xen took what it should refuse"
	! said events WRONG || fail "xen answered otherwise than it should"
}

# From dom0: garbage in each field of the toolstack's calls, for a domain of its own.
hostile_probe() {
	"$here/guest/domctl-probe" 2>&1 | grep -q '^usage' || skip "domctl-probe does not run with these libraries"
	"$here/guest/domctl-probe" 4711 | tee "$work/probe" || :
	grep -q 'all answered' "$work/probe" || fail "a call was answered otherwise than it should"
}

hostile_witness() {
	[ -e "$work/witness.console" ] || fail "the vm could not be made"
	wait_said witness 'words wrong' $limit "the guest said nothing"
	two_rounds witness
	[ "$(wrong_words witness)" = 0 ] || fail "words were wrong"
}
