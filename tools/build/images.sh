#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# images.sh [PART]: build/images-PART/, initial file systems of dom0 and guests: base (default), debian, hvm, stock or demo.
# Made by tests/boot/images, which knows what goes into them.
set -eu
. "$(dirname "$0")/lib.sh"

part=${1:-base}
make_images=$ROOT/tests/boot/images/make-images
# what they are appended to
case $part in debian | hvm | stock) "$here/images.sh" base ;; esac
id=$("$make_images" --id "$part")

build() {
	run_step "images-$part" 10 "making the images ($part)" "$make_images" "$1" "$part"
	[ "$(cat "$1/image-id")" = "$id" ] || die "what goes into the images ($part) changed as they were made: run again"
}

product "images-$part" "$id" build
