#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bin.sh: build/bin/, our own programs, built against build/xen-tools.
set -eu
. "$(dirname "$0")/lib.sh"

programs=(tools/xl-numapolicy carrefour-user)
tools=$(readlink -e "$BUILD/xen-tools") || die "build/xen-tools is missing: make setup"

compile() {
	local program
	for program in "${programs[@]}"; do
		mkdir -p "${1%/*}/objects/$program"
		make -C "$ROOT/$program" XEN_TOOLS="$tools" BUILD="${1%/*}/objects/$program" ${MAKE_JOBS:+-j"$MAKE_JOBS"} all
		# what is left beside objects are programs, their man pages and what systemd is to know
		find "${1%/*}/objects/$program" -maxdepth 1 -type f ! -name '*.[aod]' -exec cp -t "$1" {} +
	done
}

build() {
	# an array cannot be exported
	run_step bin 5 "building our programs" bash -eu -c "$(declare -p programs); $(declare -f compile); compile \"\$1\"" bin "$1"
}
export ROOT MAKE_JOBS tools

mapfile -t sources < <(cd "$ROOT" && find "${programs[@]}" common -type f ! -name '.*' | LC_ALL=C sort | sed "s|^|$ROOT/|")
product bin "$(key "${sources[@]}" "$ROOT/VERSION" "${tools##*/}" "$here/bin.sh" "$here/xen-tools.mk" "$(compiler)")" build
