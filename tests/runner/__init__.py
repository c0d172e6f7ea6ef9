# SPDX-License-Identifier: GPL-2.0-only
"""How our tests are run: which, in what order, side by side with what, for how long, and what is kept of the results."""
