# SPDX-License-Identifier: GPL-2.0-only
"""Boots Xen, dom0 and guests on an emulated NUMA machine and drives them; see README.md."""
