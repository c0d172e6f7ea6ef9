# SPDX-License-Identifier: GPL-2.0-only
# title: a key-value server with a thread a CPU, and twice as many clients that read all of it (memcached)
# from: Debian packages memcached, libmemcached-tools
# set: full
# class: shared
. "$(dirname "$0")/common"

# of 2.7 KB; a client asks for all keys at once and only then reads, so they must fit the buffers of its connection, and it gives up
# when nothing has come for 5 s
keys=$(by_size 100 250 400)
clients=$((2 * THREADS))
export THREADS keys clients
# shellcheck disable=SC2016  # the inner shell expands it
measured numactl --physcpubind="$cpu_list" sh -c '
	memcached -u root -l 127.0.0.1 -U 0 -t "$THREADS" -m 512 &
	until printf "quit\r\n" | nc 127.0.0.1 11211 2>/dev/null; do sleep 0.1; done
	memcslap --servers=127.0.0.1 --concurrency="$clients" --execute-number="$keys" --test=mget --noreply
	status=$?
	printf "stats\r\nquit\r\n" | nc 127.0.0.1 11211
	# it takes its time to end when told to, and the next run has the same port
	kill -KILL $!
	wait $!
	exit $status'
# less where a client gave up
as_said "Time to mget *$((keys * clients)) keys by"
as_said "STAT curr_items $keys"
as_said "STAT get_hits $((keys * clients))"
as_said "STAT get_misses 0"
ok
