# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The quick bisect: on and off, what the series touches compiles at each patch, and finds its symbols; sourced by bisect.sh, after bisect-NAME.sh.
#
# The sources without the series are built once.  kbuild is then made to forget which headers their objects were made from.  So a build
# compiles the files that the patch touches, and those that the series adds where a header of theirs changes, and looks whether the rest
# has what they leave undefined: a symbol that is used before its definition is seen.  Not seen is a header that breaks a file which this
# patch does not touch and the series does not add, and which a later patch mends: that is for the exact bisect.
#
# bisect-NAME.sh says how:
#   inputs                       paths of all that goes into a build
#   needed                       makes what base_variant takes from elsewhere; outside_key is a key of that
#   base_variant JOBS            builds objects-on of the sources without the series, and writes outside-on: symbols that others provide
#   quick_variant VARIANT JOBS   builds again what is not the same, the files in changes, and looks for undefined symbols
#   whole_variant VARIANT JOBS   builds all, and is what counts if quick_variant fails

# touched PATCHES GLOB…: the sources that commits touch and leave there
touched() { "${git[@]}" -C "$repo" log --no-renames --diff-filter=d --name-only --format= "$1" -- "${@:2}" | grep . | LC_ALL=C sort -u; }

base=$("${git[@]}" -C "$repo" rev-parse refs/heads/base)
ours=$(touched "$base..$tip" "$sources*.c" "$sources*.S")
added=$(LC_ALL=C comm -13 <("${git[@]}" -C "$repo" ls-tree -r --name-only "$base" | LC_ALL=C sort) <(printf '%s\n' "$ours"))
last_key=$(variant_key "$base" on)
# not what the series adds: what it adds at a patch is in that patch's sources
base_key=$(key "$last_key" "$here/bisect-quick.sh" "$here/bisect-$name.sh" "$here/rebuild.py" "$here/xen-objects.mk")
records=()

# object FILE: what it is compiled to, below an object directory
object() {
	local file=${1#"$sources"}
	printf '%s\n' "${file%.*}.o"
}

# settle VARIANT: the headers of all but the added files are forgotten
settle() {
	local file
	(
		cd "$place/objects-$1" || exit
		for file in $added; do
			file=$(object "$file")
			printf './%s/.%s.cmd\n' "$(dirname "$file")" "${file##*/}"
		done | sed 's,^\./\./,./,' >"$place/kept-$1"
		{ grep -rl '^deps_' --include='.*.o.cmd' . || :; } | { grep -vxF -f "$place/kept-$1" || :; } | xargs -r sed -i '/^deps_.* :=/,$d'
	)
}

without_series() {
	base_variant "$JOBS"
	settle on
	# the option is not there yet: one is as good as the other
	cp -a "$place/objects-on" "$place/objects-off"
	cp "$place/outside-on" "$place/outside-off"
}

base_objects() {
	local wanted
	wanted=$(key "$base_key" "$(outside_key)")
	[ "$(cat "$place/base" 2>/dev/null)" != "$wanted" ] || return 0
	need_disk 3000 "bisect"
	needed
	rm -rf "$place/base" "$place"/objects-*
	checkout source "$base"
	run_step "bisect-$name-base" 120 "the sources without the series" without_series
	echo "$base" >"$place/built"
	echo "$wanted" >"$place/base"
}

# on_and_off FILE…: builds both ways side by side, and notes in which of them the files are.  A failure counts when all of it, built from
# nothing, fails, too.
on_and_off() {
	local variant jobs file object started=() failed=() made=()
	for file; do
		object=$(object "$file")
		rm -f "$place/objects-on/$object" "$place/objects-off/$object"
	done
	# with the option off there is less to do
	for variant in on off; do
		[ "$variant" = on ] && jobs=$JOBS || jobs=$(((JOBS + 1) / 2))
		bash -eu -o pipefail -c 'quick_variant "$@"' quick "$variant" "$jobs" >"$place/$variant.log" 2>&1 &
		started+=($!)
	done
	for variant in on off; do
		wait "${started[0]}" || failed+=("$variant")
		started=("${started[@]:1}")
	done
	for variant in "${failed[@]}"; do
		cat "$place/$variant.log"
		echo "with the option $variant this fails: once more, from nothing"
		rm -rf "$place/objects-$variant"
		bash -eu -o pipefail -c 'whole_variant "$@"' whole "$variant" "$JOBS" ||
			{ echo "the patch does not build with the option $variant"; return 1; }
	done
	settle on
	settle off
	for file; do
		object=$(object "$file")
		made=()
		for variant in on off; do
			[ ! -e "$place/objects-$variant/$object" ] || made+=("$variant $file")
		done
		[ ${#made[@]} != 0 ] || made=("neither $file")
		printf '%s\n' "${made[@]}"
	done >"$place/made"
}
export -f object settle without_series on_and_off
export sources base ours added

# changes FROM TO: files that go into a build and are not the same, if it is known what was built last
changes() {
	local inputs
	mapfile -t inputs < <(inputs)
	"${git[@]}" -C "$repo" diff --no-renames --name-status "$1" "$2" -- "${inputs[@]}" 2>/dev/null || echo "M	unknown"
}

build_patch() { # COMMIT SUBJECT
	local files wanted from
	wanted=$(variant_key "$1" on)
	if [ "$wanted" != "$last_key" ]; then
		last_key=$wanted
		mapfile -t files < <(touched "$1^..$1" "$sources*.c" "$sources*.S")
		wanted=$(key "$base_key" "$wanted" "$(variant_key "$1" off)" "${files[*]}")
		if ! known "$wanted"; then
			base_objects
			# a build that failed, or was killed, leaves nothing that a later one relies on
			from=$(cat "$place/built" 2>/dev/null || :)
			rm -f "$place/built"
			changes "$from" "$1" >"$place/changes"
			checkout source "$1"
			run_step "bisect-$name-quick" 10 "$2" on_and_off "${files[@]}"
			echo "$1" >"$place/built"
			passes "$wanted" "$(cat "$place/made")"
		fi
		records+=("$passed/$wanted")
	fi
	build_rest "$@"
}

# count WORD: files that the records tell of under this word
count() { cat "${records[@]}" </dev/null | grep -c "^$1 " || :; }

conclude() {
	[ "$(count 'on\|off\|tools')" != 0 ] || die "bisect: no file that the series of $name touches was compiled, so nothing is checked"
	say "bisect: ${#commits[@]} patches, what they touch compiles and finds its symbols: $(count on) files with the option on, $(count off) off," \
		"$(count neither) in neither; $(count tools) files of the tools compile; $built checks were made, the others had passed before"
}
