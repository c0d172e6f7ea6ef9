# SPDX-License-Identifier: GPL-2.0-only
# bash completion for xl numa-policy, and for xl-numa-policy under its own name.
#
# xl's own completion calls _xl_NAME for a command that is a program xl-NAME, and
# has bash-completion load the file xl-NAME for it.
# Commands, options, switches and policies come from the help of the program, so
# that there is no second list of them.

# _xl_numa_policy_names TITLE ARGUMENT...: what the help lists under TITLE
_xl_numa_policy_names()
{
	local title=$1
	shift
	xl-numa-policy "$@" 2>/dev/null |
		sed -n "/^$title:\$/,/^\$/s/^  *\(-[a-z], \)\{0,1\}\([a-z0-9+=-]\{1,\}\)\( .*\)\{0,1\}\$/\2/p"
}

# _xl_numa_policy_takes_value OPTION: does any command's option of that name?
_xl_numa_policy_takes_value()
{
	# The help writes what it takes in capitals.
	[[ $1 == --* ]] && xl-numa-policy "${command:-list}" --help 2>/dev/null |
		grep -q -- "^ .* $1 [A-Z]"
}

# Guests that can have a policy. A name may come from anywhere, and compgen -W expands its words as the shell does, "$(...)" too:
# only names that mean themselves, as those which the command offers. --brief asks for no memory, which nobody sees here.
_xl_numa_policy_guests()
{
	xl-numa-policy list --brief --raw 2>/dev/null |
		LC_ALL=C awk 'NR > 1 && $4 != "-" && $1 ~ /^[A-Za-z0-9._][A-Za-z0-9._-]*$/ && $1 ~ /[^0-9]/ { print $1 }'
}

_xl_numa_policy()
{
	local cur=${COMP_WORDS[COMP_CWORD]} i=1 command='' arguments=0 begun=

	local IFS=$' \t\n'	# xl's own completion has another

	COMPREPLY=()
	# xl asks for no space after a word, and for file names where we have none.
	compopt +o nospace +o default 2>/dev/null

	if [[ ${COMP_WORDS[0]##*/} != xl-numa-policy ]]; then
		while [[ $i -lt $COMP_CWORD && ${COMP_WORDS[i]} != numa-policy ]]; do
			((i++))
		done
		((i++))
	fi
	for (( ; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		= | :)	# bash makes words of what is around them
			((i++)) ;;
		-* | +*)
			# Before a command there are only those of list, and no command any more.
			[[ -n $command ]] || begun=list
			# The value is the next word, or comes after "=".
			if [[ ${COMP_WORDS[i + 1]} != = ]] && _xl_numa_policy_takes_value "${COMP_WORDS[i]}"; then
				((i++))
			fi
			;;
		*)
			if [[ -z $command && -z $begun ]]; then
				command=${COMP_WORDS[i]}
			else
				((arguments++))
			fi
			;;
		esac
	done
	# In the value of an option, which is not for us to know.
	if ((i > COMP_CWORD)) || [[ $cur == = || $cur == : ]]; then
		return 0
	fi
	command=${command:-$begun}

	local words=
	case $command:$arguments:$cur in
	:0:-*)
		words="$(_xl_numa_policy_names Options list --help) --version" ;;
	:0:* | help:0:*)
		words=$(_xl_numa_policy_names Commands help) ;;
	help:*)	;;
	*:[+]*)
		words=$(_xl_numa_policy_names Switches "$command" --help) ;;
	*:-*)
		words=$(_xl_numa_policy_names Options "$command" --help)
		[[ $cur == --* ]] || words+=" $(_xl_numa_policy_names Switches "$command" --help)"
		;;
	record:1:* | replay:0:*)
		# File names, as bash has them.
		compopt -o default
		return 0
		;;
	record:0:*)
		words="all $(_xl_numa_policy_guests)" ;;
	list:*:* | show:0:* | watch:0:* | set:0:* | rebalance:0:* | compact:0:* | where:0:* | explain:0:*)
		words=$(_xl_numa_policy_guests) ;;
	set:1:*)
		words=$(_xl_numa_policy_names Policies set --help) ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _xl_numa_policy xl-numa-policy
