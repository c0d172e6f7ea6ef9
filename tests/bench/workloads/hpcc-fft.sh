# SPDX-License-Identifier: GPL-2.0-only
# title: Fourier transform over all processes
# from: Debian package hpcc
# set: full
# class: partitioned, exchanges
. "$(dirname "$0")/common"
. "$(dirname "$0")/hpcc"

hpcc MPIFFT "$(by_size 256 2048 2900)"
ok
