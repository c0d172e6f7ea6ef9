/* SPDX-License-Identifier: GPL-2.0-only */
#include "store/switches.h"

const char *auto_mode_name(enum auto_mode mode)
{
	static const char *const modes[NR_AUTO_MODES] = { "off", "advise", "on" };

	return modes[mode];
}
