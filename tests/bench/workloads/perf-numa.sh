# SPDX-License-Identifier: GPL-2.0-only
# title: threads go over memory of the process and over their own (perf bench numa mem)
# from: Debian package linux-perf
# set: full
# class: master-slave and partitioned
. "$(dirname "$0")/common"

# -z: the first thread writes zeroes to what all use; -s: the number of loops ends it, not this time
measured perf bench numa mem -p 1 -t "$THREADS" -P "$(by_size 8 48 64)" -T "$(by_size 1 16 16)" -l "$(by_size 1 2 4)" -s 100000 \
	-z -q -R -W -C "$cpu_list"
as_said "GB data processed, total"
ok
