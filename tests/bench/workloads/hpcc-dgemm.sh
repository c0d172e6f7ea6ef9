# SPDX-License-Identifier: GPL-2.0-only
# title: product of matrices in every process
# from: Debian package hpcc
# set: full
# class: partitioned, fits caches
. "$(dirname "$0")/common"
. "$(dirname "$0")/hpcc"

hpcc StarDGEMM "$(by_size 128 900 1100)"
ok
