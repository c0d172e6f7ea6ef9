#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# series.sh xen|linux: the sources and the series on them, as commits in the cache, for all builds that take them from there.
set -eu
. "$(dirname "$0")/lib.sh"

started=$SECONDS
"$here/../patchqueue/pq" commit "$1" series
say "sources of $1: there after $((SECONDS - started)) s"
