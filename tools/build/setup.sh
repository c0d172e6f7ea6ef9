#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# setup.sh TARGET…: makes these of products.mk and all that they need, from a fresh Debian on.  What is there already is not done again.
set -eu
. "$(dirname "$0")/lib.sh"
export SETUP_STARTED=$EPOCHSECONDS

# The steps speak through 8, without what their shells say when they are ended; what make says of them nobody needs to read.
log=$BUILD/logs/setup.log
exec 8> >(trap '' HUP INT TERM; exec sed -u '/\(^\|: line [0-9]*: *[0-9]* \)Terminated/d' >&2)
speaker=$!
# One more than there are cores, as some wait for the network or for the disk.
setsid make -s -f "$here/products.mk" -j"$((JOBS + 1))" "$@" 2>"$log" &
make=$!
# nobody can speak any more when all have ended
all_ended() { exec 8>&-; wait "$speaker"; }
# shellcheck disable=SC2064
trap "kill -TERM -$make 2>/dev/null; all_ended; exit 130" HUP INT TERM
status=0
wait "$make" || status=$?
all_ended
if [ "$status" != 0 ]; then
	# of a target that there is not no step has told
	sed -n 's/^make: \*\*\* \(No rule.*\)/error: \1/p' "$log" >&2
	exit 1
fi
trap - HUP INT TERM
"$here/clean-cache.sh"
say "all is done: build/"
