# title: processes fill memory with zeroes and ones, read it again and verify it (stress-ng --vm)
# from: Debian package stress-ng
# set: full
# class: partitioned
. "$(dirname "$0")/common"

# not pinned one by one, stress-ng cannot: the kernel spreads the processes over these CPUs
measured numactl --physcpubind="$cpu_list" stress-ng --vm "$THREADS" --vm-bytes "$(by_size 16 128 256)m" --vm-method zero-one \
	--vm-ops "$(by_size 100 20000 60000)" --vm-keep --verify --timeout 0
as_said "\] successful run completed"
ok
