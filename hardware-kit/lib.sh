# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# The report, steps with their verdicts, and waiting.  Nothing gets into the report but by emit().

POLICIES='none round-4k round-2m round-1g first-touch'
TAB=$(printf '\t')

say() { echo "kit: $*"; }
die() { echo "kit: $*" >&2; exit 1; }

# emit KEY VALUE: a line of the report, if keys knows the key and the value has the form that is told there.
emit() {
	if ! awk -F "$TAB" -v key="$1" -v value="$2" '
		!/^#/ && NF == 3 {
			gsub(/\./, "\\.", $1)
			gsub(/POLICY/, "(none|round-4k|round-2m|round-1g|first-touch)", $1)
			if (key ~ "^(" $1 ")$") { known = 1; good = value ~ "^(" $2 ")$"; exit }
		}
		END { exit !(known && good) }' "$here/keys"
	then
		say "left out of the report: $1 has no value that may be told"
		return 0
	fi
	echo "$1: $2" >>"$lines"
}

# step NAME FUNCTION…: runs it; a verdict, and for fail and skip the reason, which is one of our own words.
step() {
	step_name=$1
	shift
	rm -f "$work/reason" "$work/verdict"
	printf '%-28s' "$step_name"
	if ("$@") >>"$work/$step_name.log" 2>&1; then
		verdict=$(cat "$work/verdict" 2>/dev/null || echo pass)
	else
		verdict=fail
	fi
	destroy_vms "$step_name"
	emit "$step_name" "$verdict"
	if [ "$verdict" = pass ]; then
		echo pass
		return
	fi
	[ "$verdict" = skip ] || failed=yes
	reason=$(cat "$work/reason" 2>/dev/null || echo 'it ended early')
	emit "$step_name.reason" "$reason"
	echo "$verdict: $reason"
}

# Within a step.
fail() { echo "$*" >"$work/reason"; exit 1; }
skip() { echo "$*" >"$work/reason"; echo skip >"$work/verdict"; exit 0; }

now() { cut -d' ' -f1 /proc/uptime; }
since() { awk -v from="$1" '{ printf "%.2f\n", $1 - from }' /proc/uptime; }

# until_true SECONDS COMMAND…
until_true() {
	until_left=$1
	shift
	until "$@"; do
		until_left=$((until_left - 1))
		[ $until_left -gt 0 ] || return 1
		sleep 1
	done
}

# field FILE NAME: the first row's value in a table of --raw, whose first line has the names.
field() {
	awk -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } at { print $at; exit }' "$1"
}

end_report() {
	{
		echo "numa-policy hardware report 1"
		cat "$lines"
		echo "end: $(wc -l <"$lines" | tr -d ' ')"
	} >"$1" || die "cannot write $1"
	say "the report is in $1: read it, and send it to where you got this copy"
	[ "$failed" = no ] || { say "something failed; what it said stays in $work, which is yours: it has names"; keep_work=yes; exit 1; }
}

failed=no keep_work=no
finish() {
	trap - EXIT
	destroy_vms all
	[ $keep_work = yes ] || rm -rf "$work"
}
