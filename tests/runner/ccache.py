# SPDX-License-Identifier: GPL-2.0-only
"""What tests compile is kept by ccache, as what is built: see tools/build/lib.sh, which has the same settings."""

import os
from pathlib import Path

COMPILERS = "/usr/lib/ccache"


def use(env, cache):
    """For all that is started with this environment.  Nothing that the user has set for ccache counts."""
    for name in [name for name in env if name.startswith("CCACHE_")]:
        del env[name]
    env.update(CCACHE_CONFIGPATH=os.devnull, CCACHE_DIR=str(Path(cache, "ccache")), CCACHE_MAXSIZE="3G",
               CCACHE_COMPILERCHECK="content")
    if COMPILERS not in env["PATH"].split(":"):
        env["PATH"] = f"{COMPILERS}:{env['PATH']}"
