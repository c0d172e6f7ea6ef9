#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# trees.sh: build/trees/xen and linux for the tests: Linux only where they look, unless it is there whole (make trees); the builds do
# not use them.  A tree that holds work is left alone.
set -eu
. "$(dirname "$0")/lib.sh"

started=$SECONDS
for name in xen linux; do
	options=()
	[ ! -d "$BUILD/trees/$name/.git" ] || options+=(--gently)
	[ "$name" != linux ] || options+=(--only "$here/linux-tree.paths")
	"$here/../patchqueue/pq" import "${options[@]}" "$name"
done
say "trees: there after $((SECONDS - started)) s"
