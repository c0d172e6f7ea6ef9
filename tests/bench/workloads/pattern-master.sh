# SPDX-License-Identifier: GPL-2.0-only
# title: one thread initializes, all use
# from: tests/bench/programs/patterns.c
# set: quick full
# class: master-slave
. "$(dirname "$0")/common"

measured patterns master "$cpu_list" "$(by_size 8 128 256)" "$(by_size 1 4 6)"
as_said "all lines right"
ok
