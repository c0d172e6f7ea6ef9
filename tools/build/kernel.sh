#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernel.sh SOURCE-DIR OBJECT-DIR FRAGMENT JOBS TARGET: configures and builds one kernel; the directories may be the same, JOBS is empty under a
# jobserver.
# What the fragment does not name is off, and what it names must end up in .config, else it fails: a misspelt option would test nothing.
# MAY_LACK=OPTION excuses those that start like this one, when these sources do not know it yet.
set -eu

source=$1 objects=$2 fragment=$3 jobs=$4 target=$5
# nothing of the moment or of the machine in the binary: the same sources give the same bytes
export KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=build KBUILD_BUILD_HOST=localhost KBUILD_BUILD_VERSION=1

mkdir -p "$objects"
make=(make -C "$source" ARCH=x86_64)
[ "$source" -ef "$objects" ] || make+=(O="$objects")
# not merged afterwards: an option that this makes visible would come in by its own default
"${make[@]}" KCONFIG_ALLCONFIG="$fragment" allnoconfig
while read -r line; do
	case $line in
	"CONFIG_${MAY_LACK:-none}"*) ! grep -rqx "config $MAY_LACK" "$source/drivers/xen/Kconfig" || grep -qxF "$line" "$objects/.config" ;;
	CONFIG_*) grep -qxF "$line" "$objects/.config" ;;
	*) continue ;;
	esac || { echo "$fragment: \"$line\" is not in the resulting .config"; exit 1; }
done <"$fragment"
"${make[@]}" ${jobs:+-j"$jobs"} "$target"
