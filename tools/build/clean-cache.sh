#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# clean-cache.sh [--all]: drops from the cache what nobody used for 14 days, and all but the latest products of each kind.
set -eu
. "$(dirname "$0")/lib.sh"

keep=6
if [ "${1:-}" = --all ]; then
	rm -rf "$CACHE"
	exit
fi
cd "$CACHE"
# a scratch directory carries the number of the process that made it
for dir in tmp/*; do
	[ -d "$dir" ] || continue
	owner=${dir#tmp/*.}
	kill -0 "${owner%%.*}" 2>/dev/null || rm -rf "$dir"
done
for kind in products/*/ git/ bisect/; do
	[ -d "$kind" ] || continue
	find "$kind" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
done
for kind in products/*/; do
	[ -d "$kind" ] || continue
	# newest first; a name is a hexadecimal key
	# shellcheck disable=SC2012
	ls -1t "$kind" | tail -n +$((keep + 1)) | sed "s|^|$kind|" | xargs -r rm -rf
done
find src apt -maxdepth 1 -mindepth 1 -mtime +60 -exec rm -rf {} + 2>/dev/null || :
