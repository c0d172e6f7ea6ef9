# SPDX-License-Identifier: GPL-2.0-only
# title: processes fill memory with zeroes and ones, read it again and verify it (stress-ng --vm)
# from: Debian package stress-ng
# set: full
# class: partitioned
. "$(dirname "$0")/common"

# one stress-ng for each CPU, as it cannot pin its own processes
# shellcheck disable=SC2016  # the inner shell expands it
measured sh -c 'for cpu in $0; do
		numactl --physcpubind="$cpu" stress-ng --vm 1 --vm-bytes "$1" --vm-method zero-one --vm-ops "$2" --vm-keep --verify \
			--timeout 0 &
		all="$all $!"
	done
	for one in $all; do wait "$one" || exit; done' \
	"$CPUS" "$(($(by_size 16 128 256) * 1024 / THREADS))k" "$(($(by_size 100 20000 60000) / THREADS))"
[ "$(grep -c "\] successful run completed" "$result")" = "$THREADS" ] ||
	failed "its output has no \"successful run completed\" of each of $THREADS processes"
ok
