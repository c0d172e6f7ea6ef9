#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# toolstack.sh SOURCE-DIR DESTDIR [JOBS]: the part of the Xen tools that a dom0 needs to run PV and PVH guests; JOBS is empty under a
# jobserver.
set -eu

source=$1 destination=$2 jobs=${3-$(nproc)}
export PYTHON=/usr/bin/python3
"$(dirname "$0")/tools-configure.sh" "$source"
cd "$source"
# tools/Makefile, which is not used here, would make it
mkdir -p "$destination/usr/local/lib/pkgconfig"
make=(make XEN_TARGET_ARCH=x86_64 DESTDIR="$destination" ${jobs:+-j"$jobs"} install)
"${make[@]}" -C tools/include
for library in toolcore toollog evtchn gnttab call foreignmemory devicemodel hypfs ctrl guest store stat vchan light util; do
	[ ! -d "tools/libs/$library" ] || "${make[@]}" -C "tools/libs/$library"
done
for part in xenstored xs-clients console helpers xl misc flask; do
	"${make[@]}" -C "tools/$part"
done
