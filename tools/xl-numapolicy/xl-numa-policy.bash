# SPDX-License-Identifier: GPL-2.0-only
# bash completion for xl numa-policy, and for xl-numa-policy under its own name.
#
# xl's own completion calls _xl_NAME for a command that is a program xl-NAME.
# Commands, options and policies come from the help of the program, so that there
# is no second list of them.

# _xl_numa_policy_names TITLE ARGUMENT...: what the help lists under TITLE
_xl_numa_policy_names()
{
	local title=$1
	shift
	xl-numa-policy "$@" 2>/dev/null |
		sed -n "/^$title:\$/,/^\$/s/^  *\(-[a-z], \)\{0,1\}\([a-z0-9-]\{1,\}\)\( .*\)\{0,1\}\$/\2/p"
}

# Guests that can have a policy. In raw output other blanks are escapes.
_xl_numa_policy_guests()
{
	xl-numa-policy list --raw 2>/dev/null |
		awk 'NR > 1 && $4 != "-" && $1 != "-" && $1 !~ /\\/ { print $1 }'
}

_xl_numa_policy()
{
	local cur=${COMP_WORDS[COMP_CWORD]} i=1 command='' arguments=0

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
		--nodes | --weights | --max-pause-us | --max-mb-per-s | --seconds | --count)
			# The value is the next word, or comes after "=".
			[[ ${COMP_WORDS[i + 1]} == = ]] || ((i++))
			;;
		= | :)	# bash makes words of what is around them
			((i++)) ;;
		-* | +*)	;;
		*)
			if [[ -z $command ]]; then
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

	local words=
	case $command:$arguments:$cur in
	:0:-*)
		words=$(_xl_numa_policy_names Options list --help) ;;
	:0:* | help:0:*)
		words=$(_xl_numa_policy_names Commands help) ;;
	help:*)	;;
	set:*:+*)
		words='+carrefour +auto +auto=advise' ;;
	*:-*)
		words=$(_xl_numa_policy_names Options "$command" --help)
		[[ $command != set || $cur == --* ]] || words+=' -carrefour -auto'
		;;
	show:0:* | set:0:* | rebalance:0:* | where:0:* | explain:0:* | record:0:*)
		words=$(_xl_numa_policy_guests) ;;
	set:1:*)
		words=$(_xl_numa_policy_names Policies set --help) ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _xl_numa_policy xl-numa-policy
