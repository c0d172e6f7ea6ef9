# SPDX-License-Identifier: GPL-2.0-only
# title: each thread has its own part
# from: tests/bench/programs/patterns.c
# set: quick full
# class: partitioned
. "$(dirname "$0")/common"

measured patterns partitioned "$cpu_list" "$(by_size 8 128 256)" "$(by_size 1 4 6)"
as_said "all lines right"
ok
