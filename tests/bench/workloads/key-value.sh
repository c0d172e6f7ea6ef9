# title: a key-value server with a thread a CPU, and as many clients that read all of it (memcached)
# from: Debian packages memcached, libmemcached-tools
# set: full
# class: shared
. "$(dirname "$0")/common"

keys=$(by_size 200 4000 12000)
export THREADS keys
# shellcheck disable=SC2016  # the inner shell expands it
measured numactl --physcpubind="$cpu_list" sh -c '
	memcached -u root -l 127.0.0.1 -U 0 -t "$THREADS" -m 512 &
	until printf "quit\r\n" | nc 127.0.0.1 11211; do sleep 0.1; done
	memcslap --servers=127.0.0.1 --concurrency="$THREADS" --execute-number="$keys" --test=mget --noreply
	status=$?
	printf "stats\r\nquit\r\n" | nc 127.0.0.1 11211
	kill $!
	exit $status'
as_said "STAT curr_items $keys"
as_said "STAT get_hits $((keys * THREADS))"
as_said "STAT get_misses 0"
ok
