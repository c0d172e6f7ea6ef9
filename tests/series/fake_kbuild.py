# SPDX-License-Identifier: GPL-2.0-only
"""Trees that only pretend to be Xen and Linux, and build in a second by what bisect knows of kbuild."""
from tiny_tree import SOURCE

# a small kbuild: what an object was made of, and how, is in .NAME.o.cmd, and an option chooses files and is known to all of them
RULES = r"""
-include .config
OPTION := $(filter y,$(CONFIG_NUMA_POLICY))
include $(abs_srctree)/$(obj)/Makefile
saved = @printf '%s\n' 'cmd_$@ := $(1)' >$(@D)/.$(@F).cmd && $(1)
$(obj)/built_in.o: $(addprefix $(obj)/,$(obj-y)) FORCE
	$(call saved,ld -r -o $@ $(filter %.o,$^))
$(obj)/%.o: $(abs_srctree)/$(obj)/%.c
	$(call saved,gcc -Wall -Werror -ffreestanding $(if $(OPTION),-DOPTION) -MMD -MP -MF $(@D)/.$*.o.d -c $< -o $@ && echo $*.c >>compiled)
	@printf '\n%s\n' 'source_$@ := $<' '' 'deps_$@ := \' >>$(@D)/.$*.o.cmd
	@sed '/^[^ ]*:$$/d; s/^[^:]*: //; s/\\$$//; s/ /\n/g' $(@D)/.$*.o.d | sed -n 's/..*/  & \\/p' >>$(@D)/.$*.o.cmd
	@printf '\n%s\n' '$@: $$(deps_$@)' >>$(@D)/.$*.o.cmd && rm $(@D)/.$*.o.d
$(obj)/%/built_in.o: FORCE
	@mkdir -p $(@D) && $(MAKE) $(build)=$(obj)/$* need-builtin=1
-include $(wildcard $(obj)/.*.o.cmd)
FORCE:
"""
XEN_MAKEFILE = r"""
ifdef SOURCE
O := $(abs_objtree)
else
abs_srctree := $(CURDIR)
endif
export abs_srctree O
export build := -f $(abs_srctree)/Rules.mk obj
all:
	@mkdir -p $(O)/common
	$(MAKE) -C $(O) $(build)=common need-builtin=1
	cd $(O) && ld -r -o prelink.o common/built_in.o
	echo 'cmd_prelink.o := ld -r -o prelink.o common/built_in.o' >$(O)/.prelink.o.cmd
	cd $(O) && ld -e 0 -o linked prelink.o && cp linked xen && cp linked xen-syms
	echo whole >>$(O)/whole
defconfig allnoconfig: ; @mkdir -p $(O) && : >$(O)/.config
olddefconfig: ; @:
FORCE:
.PHONY: all defconfig allnoconfig olddefconfig
"""
LINUX_MAKEFILE = r"""
O ?= .
-include $(O)/.config
OPTION := $(filter y,$(CONFIG_XEN_NUMA_POLICY))
OBJS := mm/main.o mm/other.o $(if $(OPTION),$(patsubst %.c,%.o,$(wildcard mm/policy.c)))
vmlinux: mm/ far.o
	cd $(O) && ld -e 0 -o vmlinux $(OBJS) far.o && mkdir -p arch/x86/boot && cp vmlinux arch/x86/boot/bzImage
mm/: $(OBJS)
	cd $(O) && rm -f mm/built-in.a && ar cDPrST mm/built-in.a $(OBJS)
$(OBJS) far.o: %.o: %.c FORCE
	mkdir -p $(O)/mm && gcc -Wall -Werror -ffreestanding $(if $(OPTION),-DOPTION) -c $(CURDIR)/$*.c -o $(O)/$@
	echo $*.c >>$(O)/compiled
allnoconfig: ; @mkdir -p $(O) && cp $(KCONFIG_ALLCONFIG) $(O)/.config
prepare: ; @:
bzImage: vmlinux
FORCE:
.PHONY: FORCE vmlinux bzImage allnoconfig prepare mm/
"""
TOOLS_MAKEFILE = "install: tools.o\n%.o: %.c\n\tgcc -Wall -Werror -c $< -o $@\n"
PARTS = ["include", "libs/toolcore", "libs/light", "xenstored", "xs-clients", "console", "helpers", "xl", "misc", "flask"]
MAIN_H = "int first(void);\nint second(void);\n"
MAIN = '#include "main.h"\nint first(void) { return 1; }\n'
POLICY = '#include "main.h"\nint policy(void) { return first(); }\n'
OBJECTS = "obj-y := main.o other.o\n"
USE = POLICY + "int use(void) { return %s(); }\n"
FAKE = {
    **{name: SOURCE[name] for name in ("README", "notes")},
    "configure": ("0755", "#!/bin/sh\ntouch config/Tools.mk\n"),
    "config/Paths.mk": ("0644", "\n"),
    "Config.mk": ("0644", "\n"),
    "tools/flask/policy/x": ("0644", "\n"),
    "xen/Makefile": ("0644", XEN_MAKEFILE),
    "xen/Rules.mk": ("0644", RULES),
    "xen/Kconfig": ("0644", "config HVM\n"),
    "xen/common/Makefile": ("0644", OBJECTS),
    "xen/include/Makefile": ("0644", "all: ; @echo >>headers\n"),
    "xen/common/main.h": ("0644", MAIN_H),
    "xen/common/main.c": ("0644", MAIN),
    # no patch touches this one
    "xen/common/other.c": ("0644", '#include "main.h"\nint other(void) { return first(); }\n'),
    # no option takes this one
    "xen/common/spare.c": ("0644", "int third(void);\nint third(void) { return 3; }\n"),
    **{f"tools/{part}/Makefile": ("0644", TOOLS_MAKEFILE) for part in PARTS},
    **{f"tools/{part}/tools.c": ("0644", "int fine;\n") for part in PARTS},
}
