# SPDX-License-Identifier: GPL-2.0-only
# xen-objects.mk: the OBJECTS of a configured Xen, and of its build what comes before the first of them; or, of one that is built, all
# that is in the directories PARTS: make -C OBJECT-DIR --include-dir SOURCE/xen.
# Its own Makefile has each of them for a goal, too, but not the headers that are generated.
export root-make-done := y
export abs_srctree := $(SOURCE)/xen
export abs_objtree := $(CURDIR)
include $(abs_srctree)/Makefile

directories := $(sort $(patsubst %/,%,$(dir $(OBJECTS))))
in = $(foreach object,$(OBJECTS),$(if $(filter $1/,$(dir $(object))),$(object)))

objects: $(directories:%=in-%)
headers: outputmakefile asm-generic
	$(Q)$(MAKE) $(build)=tools
	$(Q)$(MAKE) $(build)=. include/xen/compile.h
	$(Q)$(MAKE) $(build)=include XEN_COMPILE_ARCH= all
	$(Q)$(MAKE) $(build)=arch/$(SRCARCH) include
	$(Q)$(MAKE) $(build)=. arch/$(SRCARCH)/include/asm/asm-offsets.h
$(directories:%=in-%): in-%: headers
	$(Q)$(MAKE) $(build)=$* $(call in,$*)

parts: $(PARTS:%=part-%)
part-include:
	$(Q)$(MAKE) $(build)=include all
$(patsubst %,part-%,$(filter-out include,$(PARTS))): part-%: $(filter part-include,$(PARTS:%=part-%))
	$(Q)$(MAKE) $(build)=$* need-builtin=1

.PHONY: objects headers $(directories:%=in-%) parts $(PARTS:%=part-%)
