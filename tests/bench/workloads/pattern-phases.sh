# SPDX-License-Identifier: GPL-2.0-only
# title: halfway each thread turns to the part of another
# from: tests/bench/programs/patterns.c
# set: full
# class: partitioned, until it changes
. "$(dirname "$0")/common"

measured patterns phases "$cpu_list" "$(by_size 8 128 256)" "$(by_size 2 4 6)"
as_said "all lines right"
ok
