# SPDX-License-Identifier: GPL-2.0-only
# title: all threads take pages and give them back at once
# from: tests/bench/programs/page-storm.c
# set: full
# class: release storm
. "$(dirname "$0")/common"

measured page-storm "$cpu_list" 16 "$(by_size 20 100 150)"
as_said "pages released by $THREADS threads"
ok
