# SPDX-License-Identifier: GPL-2.0-only
# what the emulated machines consist of, beside what these need: QEMU's other devices are not built
CONFIG_Q35=y
CONFIG_HPET=y
CONFIG_VTD=y
