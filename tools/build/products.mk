# SPDX-License-Identifier: GPL-2.0-only
# What is made of what, for setup.sh: a target a product or download, made by the script beside that knows when it is stale; then
# what each verb needs.  Several are made at once, under one jobserver; what is listed first is begun first.
# A step that fails ends all others: setup.sh has given make a process group of its own.
SHELL := /bin/bash
here := $(dir $(lastword $(MAKEFILE_LIST)))
root := $(here)../..
step = @$(nice) $(here)$1 >/dev/null 2>&8 || { kill -- -$$PPID; false; }
# of builds that are made by make: it passes the jobserver on
build = +$(step)

XEN := debug release off optional stock fault
# of make soak alone
SANITIZED := ubsan
IMAGES := base debian hvm demo stock

# packages are made of the Xen that BASE names, and of no other
PACKAGES := $(if $(XEN_SRC),,deb debian-host)

all: test soak bench images
test: $(XEN:%=xen-%) images-debian images-hvm qemu qemu-plugin workloads trees deb-quick
soak: test $(SANITIZED:%=xen-%) images-stock $(PACKAGES)
check: trees xen-tools
bench: xen-release xen-stock images-base qemu qemu-plugin workloads
demo: repair-shown

# the demo itself: its first half as soon as it can be shown, while what the second one needs is made
place-shown: xen-release images-demo
	@env -u MAKEFLAGS $(root)/tests/boot/demo.py place 2>&8 || { kill -- -$$PPID; false; }
repair-shown: place-shown qemu qemu-plugin workloads
	@env -u MAKEFLAGS $(root)/tests/boot/demo.py repair 2>&8 || { kill -- -$$PPID; false; }

# what is shown first is built first, and what is built meanwhile gives way to it
ifneq ($(filter demo,$(MAKECMDGOALS)),)
qemu workload-packages: | xen-release images-demo
qemu workload-packages workloads: private nice := nice -n 19
endif

# downloads; Debian's packages need root, and one after the other
packages:
	$(call step,packages.sh)
fetch-xen:
	$(call step,fetch.sh xen)
# they share an apt
fetch-xen-packaging: | fetch-xen
	$(call step,fetch.sh xen-packaging)
fetch-linux: | fetch-xen
	$(call step,fetch.sh linux)
qemu-source workload-packages debian-kernel device-model deb-root debian-root: packages
	$(call step,$@.sh)

series-xen: $(if $(XEN_SRC),,fetch-xen)
series-linux: $(if $(LINUX_SRC),,fetch-linux)
series-xen series-linux: series-%: packages
	$(call step,series.sh $*)
trees: series-xen series-linux
	$(call step,trees.sh)

$(XEN:%=xen-%) $(SANITIZED:%=xen-%): xen-%: series-xen
	$(call build,xen.sh $*)
# built at the same place, and by then mostly in ccache
xen-fault: | xen-debug
xen-tools xen-tools-stock: series-xen
linux: series-linux
bin: xen-tools
workloads: workload-packages
xen-tools linux bin workloads:
	$(call build,$@.sh)
xen-tools-stock:
	$(call build,xen-tools.sh stock)
guest-module: debian-kernel
qemu-plugin qemu: qemu-source
deb-quick: xen-tools
guest-module qemu-plugin qemu deb-quick:
	$(call step,$@.sh)

# one after the other: each takes all cores
deb-root: fetch-xen-packaging
deb-xen: deb-root fetch-xen
deb-own: deb-xen
deb: deb-own
debian-host: deb debian-root
deb-xen deb-own deb debian-host:
	$(call step,$@.sh)

images: $(IMAGES:%=images-%)
images-base: xen-tools bin linux
images-debian: images-base guest-module
images-hvm: images-base device-model
images-demo: xen-tools bin debian-kernel
images-stock: images-base xen-tools-stock
$(IMAGES:%=images-%): images-%:
	$(call build,images.sh $*)

.PHONY: all test soak check bench demo place-shown repair-shown packages fetch-xen fetch-xen-packaging fetch-linux series-xen series-linux trees \
	$(XEN:%=xen-%) $(SANITIZED:%=xen-%) xen-tools xen-tools-stock linux bin debian-kernel device-model guest-module qemu-source qemu-plugin qemu workload-packages workloads \
	images $(IMAGES:%=images-%) deb-root deb-xen deb-own deb debian-root debian-host deb-quick
