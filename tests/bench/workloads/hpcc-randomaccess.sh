# SPDX-License-Identifier: GPL-2.0-only
# title: updates at random in every process's own table
# from: Debian package hpcc
# set: full
# class: partitioned
. "$(dirname "$0")/common"
. "$(dirname "$0")/hpcc"

hpcc StarRandomAccess "$(by_size 256 2048 2900)"
ok
