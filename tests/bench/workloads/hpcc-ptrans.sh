# SPDX-License-Identifier: GPL-2.0-only
# title: transposition of a matrix that all processes share out
# from: Debian package hpcc
# set: full
# class: partitioned, exchanges
. "$(dirname "$0")/common"
. "$(dirname "$0")/hpcc"

hpcc PTRANS "$(by_size 256 2048 2900)"
ok
