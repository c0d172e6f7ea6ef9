#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hypervisor.sh SOURCE-DIR OBJECT-DIR FRAGMENT [JOBS]: configures and builds one hypervisor out of tree; JOBS is empty under a jobserver.
# Every option of the fragment must end up in .config, else it fails: a misspelt option would test nothing.
# MAY_LACK=OPTION excuses one that these sources do not know yet.
set -eu

source=$1 objects=$2 fragment=$3 jobs=${4-$(nproc)}
# nothing of the moment or of the machine in the binary: the same sources give the same bytes
export XEN_WHOAMI=build XEN_DOMAIN=localdomain XEN_BUILD_HOST=localhost XEN_BUILD_DATE=1970-01-01 XEN_BUILD_TIME=00:00:00
export PYTHON=/usr/bin/python3

mkdir -p "$objects"
make=(make -C "$source/xen" O="$objects" XEN_TARGET_ARCH=x86_64)
if ! cmp -s "$fragment" "$objects/.fragment"; then
	rm -f "$objects/.config" "$objects/.fragment"
fi
if ! [ -e "$objects/.fragment" ]; then
	# the fragment comes last and wins
	"${make[@]}" "$(sed -n 's/^# base: //p' "$fragment" | grep . || echo defconfig)"
	cat "$fragment" >>"$objects/.config"
	cp "$fragment" "$objects/.fragment"
fi
"${make[@]}" olddefconfig
while read -r line; do
	case $line in
	CONFIG_*=n) line="# ${line%=n} is not set" ;;
	CONFIG_* | '# CONFIG_'*' is not set') ;;
	*) continue ;;
	esac
	option=${line#\# }
	option=${option%% *}
	option=${option%%=*}
	case $line in
	"CONFIG_${MAY_LACK:-none}="*) ! grep -rqx "config $MAY_LACK" "$source/xen" --include=Kconfig* || grep -qxF "$line" "$objects/.config" ;;
	# an option that is off may also be unknown or hidden
	'# '*) ! grep -q "^$option=" "$objects/.config" ;;
	*) grep -qxF "$line" "$objects/.config" ;;
	esac || { echo "$fragment: \"$line\" is not in the resulting .config"; exit 1; }
done <"$fragment"
"${make[@]}" ${jobs:+-j"$jobs"}
