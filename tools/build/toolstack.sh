#!/bin/bash
# toolstack.sh SOURCE-DIR DESTDIR [JOBS]: the part of the Xen tools that a dom0 needs to run PV and PVH guests; JOBS is empty under a
# jobserver.
set -eu

source=$1 destination=$2 jobs=${3-$(nproc)}
export PYTHON=/usr/bin/python3
cd "$source"
# no device model is run, but configure wants a path
[ -e config/Tools.mk ] || ./configure --disable-stubdom --disable-docs --disable-golang --disable-ocamltools --disable-pvshim \
	--disable-seabios --disable-rombios --disable-ovmf --disable-ipxe --disable-pygrub --disable-systemd \
	--with-system-qemu=/usr/bin/true
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
