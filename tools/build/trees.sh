#!/bin/bash
# trees.sh: build/trees/xen and linux, for people to read and edit, and for the unit tests; the builds do not use them.
# A tree that holds work is left alone.
set -eu
. "$(dirname "$0")/lib.sh"

for name in xen linux; do
	gently=()
	[ ! -d "$BUILD/trees/$name/.git" ] || gently=(--gently)
	"$here/../patchqueue/pq" import "${gently[@]}" "$name"
done
