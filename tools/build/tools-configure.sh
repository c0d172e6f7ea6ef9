#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tools-configure.sh SOURCE-DIR: configures the Xen tools there, for the part that a dom0 needs to run PV and PVH guests.
set -eu

cd "$1"
export PYTHON=/usr/bin/python3
# no device model is run, but configure wants a path
[ -e config/Tools.mk ] || ./configure --disable-stubdom --disable-docs --disable-golang --disable-ocamltools --disable-pvshim \
	--disable-seabios --disable-rombios --disable-ovmf --disable-ipxe --disable-pygrub --disable-systemd \
	--with-system-qemu=/usr/bin/true
