#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dist.sh: what is committed, as build/xen-numa-policy-VERSION.tar.gz; a commit gives the same bytes.
set -eu -o pipefail
cd "$(dirname "$0")/../.."

die() { echo "dist: $*" >&2; exit 1; }
# the user's configuration can change the bytes; a clone made by a user is packed by root, too
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git() { command git -c safe.directory="$(pwd -P)" -c tar.umask=0022 "$@"; }

version=$(cat VERSION)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(~[a-z0-9]+)?$ ]] ||
	die "VERSION says '$version': it must be like 0.2.0 or 0.2.0~dev"
changed=$(git status --porcelain | head -1)
[ -z "$changed" ] || die "not everything is committed, such as ${changed:3}"
name=xen-numa-policy-$version
mkdir -p build
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"build/$name.tar.gz.new" ||
	die "git archive failed"
mv "build/$name.tar.gz.new" "build/$name.tar.gz"
sha256sum "build/$name.tar.gz"
