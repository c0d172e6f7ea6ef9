#!/bin/bash
# trees.sh: build/trees/xen, for people to read and edit; the builds do not use it.  A tree that holds work is left alone.
set -eu
. "$(dirname "$0")/lib.sh"

if [ -d "$BUILD/trees/xen/.git" ]; then
	exec "$here/../patchqueue/pq" import --gently xen
fi
exec "$here/../patchqueue/pq" import xen
