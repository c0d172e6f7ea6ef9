# SPDX-License-Identifier: GPL-2.0-only
# title: STREAM in every process
# from: Debian package hpcc
# set: quick full
# class: partitioned
. "$(dirname "$0")/common"
. "$(dirname "$0")/hpcc"

hpcc StarSTREAM "$(by_size 256 2900 4096)"
ok
