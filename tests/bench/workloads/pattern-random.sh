# SPDX-License-Identifier: GPL-2.0-only
# title: all threads read everywhere
# from: tests/bench/programs/patterns.c
# set: full
# class: shared
. "$(dirname "$0")/common"

measured patterns random "$cpu_list" "$(by_size 8 128 256)" "$(by_size 1 4 4)"
as_said "all lines right"
ok
