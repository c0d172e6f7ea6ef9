#!/bin/bash
# setup.sh: all that demo, tests and benchmarks need, from a fresh Debian on.  What is there already is not done again.
set -eu
. "$(dirname "$0")/lib.sh"

steps=(packages.sh "fetch.sh xen" "fetch.sh linux" trees.sh xen-tools.sh "xen.sh debug" "xen.sh release" "xen.sh off"
	"xen.sh optional" "xen.sh stock" linux.sh bin.sh debian-kernel.sh guest-module.sh "images.sh base" "images.sh plain"
	"images.sh debian" qemu-plugin.sh qemu.sh workloads.sh)
started=$SECONDS
number=0
for step in "${steps[@]}"; do
	number=$((number + 1))
	read -ra command <<<"$step"
	STEP="$number/${#steps[@]}" "$here/${command[0]}" "${command[@]:1}" >/dev/null
done
"$here/clean-cache.sh"
say "everything is there after $((SECONDS - started)) s: build/"
