#!/bin/bash
# images.sh: build/images/, the initial file systems of dom0 and guests; made by tests/boot/images, which knows when they are stale.
set -eu
. "$(dirname "$0")/lib.sh"

exec 9>"$BUILD/.images.lock"
flock -n 9 || { say "waiting for another run that makes the images …"; flock 9; }
run_step images 5 "making the images" "$ROOT/tests/boot/images/make-images" "$BUILD/images"
