# SPDX-License-Identifier: GPL-2.0-only
# title: linear equations (HPL)
# from: Debian package hpcc
# set: full
# class: partitioned, fits caches
. "$(dirname "$0")/common"
. "$(dirname "$0")/hpcc"

hpcc HPL "$(by_size 128 500 800)"
ok
