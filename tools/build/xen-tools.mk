# SPDX-License-Identifier: GPL-2.0-only
# How our programs find the Xen tools that they are built against. Included with xen_libraries set to names of
# pkg-config; gives XEN_CFLAGS, XEN_LIBS and XEN_LDFLAGS.
#
#   XEN_TOOLS=DIR    tools installed with DESTDIR=DIR; without it, those of this system

# The .pc files of a DESTDIR tree name paths without DESTDIR; that is what the
# sysroot is for.
ifdef XEN_TOOLS
xen_tools := $(abspath $(XEN_TOOLS))
xen_pc := $(firstword $(wildcard $(foreach d,usr/local/lib usr/lib usr/local/lib64 usr/lib64,\
	$(xen_tools)/$(d)/pkgconfig/xenlight.pc)))
ifeq ($(xen_pc),)
$(error no xenlight.pc below XEN_TOOLS=$(XEN_TOOLS): install the Xen tools there with DESTDIR first)
endif
xen_config := PKG_CONFIG_SYSROOT_DIR=$(xen_tools) \
	PKG_CONFIG_LIBDIR=$(dir $(xen_pc)) pkg-config
# These libraries need more Xen libraries, which the linker must find, too.
XEN_LDFLAGS := -Wl,-rpath-link,$(patsubst %/pkgconfig/,%,$(dir $(xen_pc)))
else
xen_config := pkg-config
endif
XEN_CFLAGS := $(shell $(xen_config) --cflags $(xen_libraries))
XEN_LIBS := $(shell $(xen_config) --libs $(xen_libraries))
